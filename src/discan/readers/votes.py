# SPDX-License-Identifier: BSD-3-Clause
"""Read roll calls: Voteview's exports, and plain tables of legislators by roll calls."""

from __future__ import annotations

import logging
import math
import re
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from discan.data.answers import count_answers, observed
from discan.data.columns import number
from discan.data.corpus import Corpus
from discan.data.nouns import VOTES, Nouns
from discan.errors import InputError, LimitError, shown
from discan.readers.csv_rows import check_width, csv_rows, records
from discan.readers.guess import reader
from discan.readers.source import Source, unpacked_name
from discan.readers.tables import Exposures
from discan.typing import Array
from discan.validation import one_of

__all__ = ["read_voteview"]

log = logging.getLogger("discan")

YEA, NAY, NONE = 0, 1, -1
LARGEST_TABLE = 2**26  # legislators x roll calls
PARTIES = {"100": "D", "200": "R", "328": "I", "329": "I", "1": "Fed", "13": "DR", "29": "Whig"}
FIRST_PRESIDENT = 99_000  # Voteview's numbers of Presidents begin here

_CODES = {"": NONE, **dict.fromkeys("0789", NONE), **dict.fromkeys("123", YEA)}
_CODES |= dict.fromkeys("456", NAY)
_CODES |= {f"{text}.0": code for text, code in _CODES.items() if text}
_EXPORT = re.compile(r"((?:[hs]\d{3}|hs?all|sall)_)(votes|members|rollcalls)\.csv")
_COLUMNS = ("congress", "rollnumber", "icpsr", "cast_code")
_PLAIN = {"votes.csv", "legislators.csv", "rollcalls.csv"}


class _Files(NamedTuple):
    votes: Path
    people: Path | None
    calls: Path | None
    is_export: bool  # Voteview's own layout, one vote per line


class _Person(NamedTuple):
    name: str
    party: str
    state: str
    district: str = ""
    congress: str = ""
    chamber: str = ""
    nominate_dim1: float = math.nan  # positions that Voteview estimates
    nominate_dim2: float = math.nan


class _Call(NamedTuple):
    name: str
    session: str


class _Ballot(NamedTuple):
    """Who voted how: votes (people, calls) int8, of YEA, NAY and NONE."""

    people: list[str]
    calls: list[str]
    keys: list[str]
    votes: Array
    facts: dict[str, list[Any]]  # of the people, by title


def _is_votes(source: Source) -> bool:
    try:
        files = _find(source)
    except InputError:
        return True  # several congresses: the reader raises the error
    if files is None or files.is_export or files.people is not None:
        return files is not None
    lines = source.head.splitlines()[1:-1] or source.head.splitlines()[1:]
    cells = [cell for line in lines[:50] for cell in line.split(",")[1:]]
    # A table of 0 and 1 would have no nay among Voteview's codes.
    return all(re.fullmatch(r"\d?", cell) for cell in cells) and bool({*cells} & {*"456"})


@reader(
    "voteview",
    "roll calls: Voteview's S###_votes.csv with members and rollcalls, or votes.csv by legislator",
    sniff=_is_votes,
)
def read_voteview(
    source: Source,
    orientation: Annotated[
        str,
        "What the documents are, 'legislators' or 'rollcalls'. The groups, each of a yea and a "
        "nay, are the other.",
    ] = "legislators",
    session: Annotated[
        int | None, "Keep the roll calls of one session; needs the file of roll calls."
    ] = None,
    exposures: Exposures = True,
) -> Corpus:
    """Read roll calls: codes 1 to 3 are yea, 4 to 6 nay, others missing; no Presidents."""
    one_of("orientation", orientation, ("legislators", "rollcalls"))
    files = _find(source)
    if files is None:
        raise source.error(
            "no roll calls found; needed are S108_votes.csv with S108_members.csv and "
            "S108_rollcalls.csv, or votes.csv with legislators.csv"
        )
    if files.is_export and files.people is None:
        remark = "%s: no file of members is beside it, so members have numbers and no parties"
        log.warning(remark, source.path)
    about = _read_calls(source, files)
    ballot = (_read_export if files.is_export else _read_plain)(source, files)
    people, titles, keys, votes, facts = ballot
    if session is not None:
        kept = [j for j, k in enumerate(keys) if k in about and about[k].session == str(session)]
        if not kept:
            raise source.error(f"no roll calls of session {session}")
        titles, keys, votes = [titles[j] for j in kept], [keys[j] for j in kept], votes[:, kept]
    calls = [
        f"{title} {about[key].name}".strip() if key in about else title
        for title, key in zip(titles, keys, strict=True)
    ]
    documents, words, groups = people, titles, calls
    if orientation == "rollcalls":
        documents, words, groups, votes = calls, people, people, votes.T
        facts = {}
    cast = np.where(votes == NONE, -1, 2 * np.arange(len(words), dtype=np.int32) + votes)
    return source.corpus(
        count_answers(cast, 2 * len(words)),
        groups=np.repeat(np.arange(len(words)), 2),
        exposures=observed(votes != NONE) if exposures else None,
        document_names=documents,
        word_names=[f"{name}={vote}" for name in words for vote in ("yea", "nay")],
        group_names=groups,
        metadata=facts,
        nouns=_nouns(files, orientation),
    )


def _nouns(files: _Files, orientation: str) -> Nouns:
    """Call legislators what they are: the name of Voteview's file tells the chamber."""
    if orientation == "rollcalls":
        return Nouns("roll call", "vote", "component")
    chamber = re.match(r"([hs])(\d|all)", unpacked_name(files.votes)) if files.is_export else None
    name = {"s": "senator", "h": "representative"}[chamber[1]] if chamber else "legislator"
    return Nouns(name, VOTES.word, VOTES.component)


# ---- files ----


def _find(source: Source) -> _Files | None:
    """Find the files of the family in the folder, or beside the file."""
    match = None if source.is_folder else _EXPORT.fullmatch(source.name)
    if not (source.is_folder or match) and set(_COLUMNS) <= set(_titles(source)):
        return _renamed(source)
    if not (source.is_folder or match or source.name in _PLAIN):
        return None
    folder = source.path if source.is_folder else source.path.parent
    try:
        files = {unpacked_name(path): path for path in sorted(folder.iterdir()) if path.is_file()}
    except OSError:
        return None
    exports = {m[1] for name in files if (m := _EXPORT.fullmatch(name)) and m[2] == "votes"}
    if not source.is_folder:
        exports &= {match[1]} if match else set()
    if len(exports) > 1:
        some = ", ".join(sorted(export.strip("_") for export in exports)[:5])
        problem = f"holds the votes of {len(exports)} congresses ({some}); name one file"
        raise source.error(problem)
    if exports:
        stem = exports.pop()
        people, calls = files.get(f"{stem}members.csv"), files.get(f"{stem}rollcalls.csv")
        return _Files(files[f"{stem}votes.csv"], people, calls, True)
    if "votes.csv" in files and (source.name == "votes.csv" or "legislators.csv" in files):
        people, calls = files.get("legislators.csv"), files.get("rollcalls.csv")
        return _Files(files["votes.csv"], people, calls, False)
    return None


def _titles(source: Source) -> list[str]:
    first = source.head.lstrip("\ufeff").partition("\n")[0]
    return [title.strip().strip('"') for title in first.split(",")]


def _renamed(source: Source) -> _Files:
    """Return Voteview's votes under another name, and members and roll calls that are beside it."""
    found: list[Path | None] = []
    for kind in ("members", "rollcalls"):
        name = source.path.name.replace("votes", kind).replace("Votes", kind.capitalize())
        own = source.path.with_name(name)
        others = sorted(source.path.parent.glob(f"*{kind}*.csv*"))
        found.append(own if own != source.path and own.is_file() else None)
        if found[-1] is None and len(others) == 1:
            found[-1] = others[0]
    return _Files(source.path, found[0], found[1], True)


def _vote(source: Source, path: Path, line: int, text: str) -> int:
    code = _CODES.get(text)
    if code is None:
        raise source.error(f"vote {shown(text)} is no code from 0 to 9; correct it", line, path)
    return code


def _read_calls(source: Source, files: _Files) -> dict[str, _Call]:
    """Read what each roll call was about: by `congress number`, or by place in a plain table."""
    calls: dict[str, _Call] = {}
    if files.calls is None:
        return calls
    key = "rollnumber" if files.is_export else "date"
    for n, (_, cell) in enumerate(records(source, files.calls, needed=(key,))):
        parts = [
            cell.get("date", ""),
            cell.get("bill_number", cell.get("bill", "")),
            cell.get("vote_question", cell.get("question", "")),
        ]
        text = " ".join(part.strip() for part in parts if part and part.strip() != "n/a")
        call = _Call(text, cell.get("session", "").strip().removesuffix(".0"))
        if "congress" not in cell:
            calls[str(n)] = call
            continue
        for chamber in ("", cell.get("chamber", "")):  # numbers repeat in the other chamber
            calls[_key(cell["congress"], chamber, cell[key])] = call
    return calls


def _key(congress: str, chamber: str, call: str) -> str:
    return " ".join(part for part in (congress, chamber, call) if part)


# ---- names ----


def _surname(name: str) -> str:
    """Write a surname in capitals as people do: McCAIN -> McCain, O'NEILL -> O'Neill."""

    def word(match: re.Match[str]) -> str:
        text = match[0]
        if text[:2] == "Mc" or (text[:2] == "MC" and len(text) > 3):
            return "Mc" + text[2:].capitalize()
        inner = re.match(r"([A-Z][a-z]+)([A-Z]+)$", text)
        return inner[1] + inner[2].capitalize() if inner else text.capitalize()

    return re.sub(r"[^\W\d_]+", word, name.strip())


def _label(people: list[_Person]) -> list[str]:
    """Name legislators `McCain (R-AZ)`, with first name or district where that is not enough."""
    congresses = list(dict.fromkeys(p.congress for p in people))
    if len(congresses) > 1:  # people are in several of them
        parts = {c: iter(_label([p for p in people if p.congress == c])) for c in congresses}
        return [next(parts[p.congress]) for p in people]
    labels = [f"{_surname(p.name.partition(',')[0])} ({p.party}-{p.state})" for p in people]
    longer = [f"{_surname(p.name)} ({p.party}-{p.state})" for p in people]
    labels = _replace_repeated(labels, longer)
    places = [f"{text[:-1]}-{p.district})" for text, p in zip(labels, people, strict=True)]
    labels = _replace_repeated(labels, places)
    seen: Counter[str] = Counter()
    numbered = []
    for text in labels:
        seen[text] += 1
        numbered.append(f"{text} {seen[text]}")
    return _replace_repeated(labels, numbered)


def _facts(people: list[_Person]) -> dict[str, list[Any]]:
    """Return what is known of people, such as party and state, if there are any differences."""
    titles = [title for title in _Person._fields if title != "name"]
    facts = {title: [getattr(p, title) for p in people] for title in titles}
    return {title: column for title, column in facts.items() if len(set(map(str, column))) > 1}


def _replace_repeated(labels: list[str], others: list[str]) -> list[str]:
    times = Counter(labels)
    pairs = zip(labels, others, strict=True)
    return [other if times[text] > 1 else text for text, other in pairs]


# ---- Voteview's export ----


def _read_export(source: Source, files: _Files) -> _Ballot:
    people = _read_members(source, files.people)
    who: dict[tuple[str, str], int] = {}
    what: dict[tuple[str, str, str], int] = {}
    found: dict[tuple[int, int], int] = {}
    for line, cell in records(source, files.votes, needed=_COLUMNS):
        congress, call, icpsr = cell["congress"], cell["rollnumber"], _number(cell["icpsr"])
        if not icpsr.isdecimal() or not call.isdecimal():
            bad = call if icpsr.isdecimal() else cell["icpsr"]
            raise source.error(f"{shown(bad)} is not a whole number", line, files.votes)
        if cell.get("chamber") == "President" or int(icpsr[:9]) >= FIRST_PRESIDENT:
            continue
        if people and (congress, icpsr) not in people:
            problem = f"legislator {shown(icpsr)} is not in {files.people}; add the member"
            raise source.error(problem, line, files.votes)
        i = who.setdefault((congress, icpsr), len(who))
        j = what.setdefault((congress, cell.get("chamber", ""), call), len(what))
        if (i, j) in found:
            problem = f"a second vote of {shown(icpsr)} in roll call {call}"
            raise source.error(problem, line, files.votes)
        found[i, j] = _vote(source, files.votes, line, cell["cast_code"])
        if len(who) * len(what) > LARGEST_TABLE:
            problem = "too many votes for one table; read one congress"
            raise source.error(problem, path=files.votes, kind=LimitError)
    if not found:
        raise source.error("holds no votes of legislators", path=files.votes)
    votes = np.full((len(who), len(what)), NONE, dtype=np.int8)
    places = np.array(list(found))
    votes[places[:, 0], places[:, 1]] = list(found.values())
    return _ballot(people, list(who), list(what), votes)


def _ballot(
    people: dict[tuple[str, str], _Person],
    who: list[tuple[str, str]],
    what: list[tuple[str, str, str]],
    votes: Array,
) -> _Ballot:
    """Name legislators and roll calls, with their congress if there are several."""
    names = [number for _, number in who]
    facts: dict[str, list[Any]] = {}
    if people:
        order = {key: n for n, key in enumerate(people)}
        rows = sorted(range(len(who)), key=lambda i: order[who[i]])
        who, votes = [who[i] for i in rows], votes[rows]
        found = [people[key] for key in who]
        names, facts = _label(found), _facts(found)
    several = len({congress for congress, _, _ in what}) > 1
    if several:
        names = [f"{name} {key[0]}" for name, key in zip(names, who, strict=True)]
    if len({chamber for _, chamber, _ in what}) < 2:  # its name says nothing
        what = [(congress, "", call) for congress, _, call in what]
    calls = [_key(c if several else "", chamber, n).replace(" ", "-") for c, chamber, n in what]
    return _Ballot(names, calls, [_key(*parts) for parts in what], votes, facts)


def _read_members(source: Source, path: Path | None) -> dict[tuple[str, str], _Person]:
    people: dict[tuple[str, str], _Person] = {}
    if path is None:
        return people
    needed = ("congress", "icpsr", "state_abbrev", "party_code", "bioname")
    for _, cell in records(source, path, needed=needed):
        icpsr, party = _number(cell["icpsr"]), _number(cell["party_code"])
        people[cell["congress"], icpsr] = _Person(
            cell["bioname"].strip() or icpsr,
            PARTIES.get(party, party),
            cell["state_abbrev"].strip(),
            cell.get("district_code", "").strip(),
            cell["congress"],
            cell.get("chamber", ""),
            *(_position(cell.get(f"nominate_dim{n}", "")) for n in (1, 2)),
        )
    return people


def _position(text: str) -> float:
    found = number(text)
    return math.nan if found is None or not math.isfinite(found) else found


def _number(text: str) -> str:
    return text.strip().removesuffix(".0")


# ---- the plain layout ----


def _read_plain(source: Source, files: _Files) -> _Ballot:
    people: dict[str, tuple[str, str]] = {}
    if files.people is not None:
        for _, cell in records(source, files.people, needed=("state", "party")):
            people[next(iter(cell.values()))] = cell["party"].strip(), cell["state"].strip()
    rows = csv_rows(source, files.votes, ",")
    _, titles = next(rows, (0, []))
    if len(titles) < 2:
        raise source.error("expected a name and roll calls in the heading", 1, files.votes)
    names: list[_Person] = []
    votes: list[list[int]] = []
    for line, row in check_width(source, rows, len(titles), files.votes):
        match = re.fullmatch(r"(.*?)\s*\(([^()\s]+)[\s-]+([^()\s]+)\)", row[0].strip())
        party, state = people.get(row[0], (match[2], match[3]) if match else ("", ""))
        if state == "USA":
            continue
        names.append(_Person(match[1] if match else row[0].strip(), party, state))
        votes.append([_vote(source, files.votes, line, cell) for cell in row[1:]])
    if not votes:
        raise source.error("holds no votes of legislators", path=files.votes)
    keys = [str(j) for j in range(len(titles) - 1)]
    ballots = np.array(votes, dtype=np.int8)
    return _Ballot(_label(names), titles[1:], keys, ballots, _facts(names))
