# SPDX-License-Identifier: BSD-3-Clause
"""Read roll calls: Voteview's exports, and plain tables of legislators by roll calls."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from discan.data.corpus import Corpus
from discan.errors import InputError, LimitError
from discan.readers.csv_rows import csv_rows
from discan.readers.matrices import Triples, make_corpus, shown
from discan.readers.source import PACKED, Source, reader
from discan.typing import Array

__all__ = ["read_voteview"]

log = logging.getLogger("discan")

YEA, NAY, NONE = 0, 1, -1
LARGEST_TABLE = 2**26  # legislators x roll calls
PARTIES = {"100": "D", "200": "R", "328": "I", "329": "I", "1": "Fed", "13": "DR", "29": "Whig"}
FIRST_PRESIDENT = 99_000  # Voteview's numbers of Presidents begin here

_CODES = {
    "": NONE,
    **{str(n): YEA if n in (1, 2, 3) else NAY if n in (4, 5, 6) else NONE for n in range(10)},
}
_CODES |= {f"{text}.0": code for text, code in _CODES.items() if text}
_EXPORT = re.compile(r"((?:[hs]\d{3}|hs?all|sall)_)(votes|members|rollcalls)\.csv")
_PLAIN = ("votes", "legislators", "rollcalls")


class _Files(NamedTuple):
    votes: Path
    people: Path | None
    calls: Path | None
    export: bool  # Voteview's own layout, a line a vote


class _Person(NamedTuple):
    name: str
    party: str
    state: str
    district: str


class _Call(NamedTuple):
    name: str
    session: str


class _Ballot(NamedTuple):
    """Who voted how: votes (people, calls) int8, of YEA, NAY and NONE."""

    people: list[str]
    calls: list[str]
    keys: list[str]
    votes: Array


# ---- files ----


def _plain_name(path: Path) -> str:
    name = path.name.lower()
    for suffix in PACKED:
        name = name.removesuffix(suffix)
    return name


def _find(source: Source) -> _Files | None:
    """Find the files of the family in the folder, or beside the file."""
    match = None if source.is_folder else _EXPORT.fullmatch(source.name)
    if not (source.is_folder or match or source.name in {f"{name}.csv" for name in _PLAIN}):
        return None
    folder = source.path if source.is_folder else source.path.parent
    try:
        files = {_plain_name(path): path for path in sorted(folder.iterdir()) if path.is_file()}
    except OSError:
        return None
    exports = {m[1] for name in files if (m := _EXPORT.fullmatch(name)) and m[2] == "votes"}
    if not source.is_folder:
        exports &= {match[1]} if match else set()
    if len(exports) > 1:
        raise InputError(
            f"{source.path}: holds the votes of {len(exports)} congresses "
            f"({', '.join(sorted(e.strip('_') for e in exports)[:5])}); name one file"
        )
    if exports:
        stem = exports.pop()
        votes = files[f"{stem}votes.csv"]
        people, calls = files.get(f"{stem}members.csv"), files.get(f"{stem}rollcalls.csv")
        return _Files(votes, people, calls, True)
    if "votes.csv" in files and (source.name == "votes.csv" or "legislators.csv" in files):
        return _Files(
            files["votes.csv"], files.get("legislators.csv"), files.get("rollcalls.csv"), False
        )
    return None


def _is_votes(source: Source, head: str) -> bool:
    try:
        files = _find(source)
    except InputError:
        return True  # several: the reader says so
    if files is None or files.export or files.people is not None:
        return files is not None
    cells = [cell for line in head.splitlines()[1:3] for cell in line.split(",")[1:]]
    return bool(cells) and all(re.fullmatch(r"\d?", cell) for cell in cells[:-1])


def _records(source: Source, path: Path, needed: tuple[str, ...]) -> Iterator[Any]:
    """Yield (line, {title: cell}) of a table with a heading."""
    rows = csv_rows(source, path, ",")
    _, titles = next(rows, (0, []))
    absent = [title for title in needed if title not in titles]
    if absent:
        raise source.error(1, f"no column {', '.join(absent)}; is it a Voteview export?", path)
    for line, row in rows:
        if len(row) != len(titles):
            raise source.error(line, f"{len(row)} cells, expected {len(titles)}; correct it", path)
        yield line, dict(zip(titles, row, strict=True))


def _vote(source: Source, path: Path, line: int, text: str) -> int:
    code = _CODES.get(text)
    if code is None:
        raise source.error(line, f"vote {shown(text)} is no code from 0 to 9; correct it", path)
    return code


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
    short = [f"{_surname(p.name.partition(',')[0])} ({p.party}-{p.state})" for p in people]
    times = Counter(short)
    longer = [
        text if times[text] == 1 else f"{_surname(p.name)} ({p.party}-{p.state})"
        for text, p in zip(short, people, strict=True)
    ]
    times = Counter(longer)
    labels = [
        text if times[text] == 1 else f"{text[:-1]}-{p.district})"
        for text, p in zip(longer, people, strict=True)
    ]
    times = Counter(labels)
    seen: Counter[str] = Counter()
    for n, text in enumerate(labels):
        if times[text] > 1:
            seen[text] += 1
            labels[n] = f"{text} {seen[text]}"
    return labels


# ---- Voteview's export ----


def _read_export(source: Source, files: _Files) -> tuple[_Ballot, dict[str, _Call]]:
    people = _read_members(source, files.people)
    calls = _read_calls(source, files.calls, "rollnumber")
    who: dict[str, int] = {}
    what: dict[str, int] = {}
    found: dict[tuple[int, int], int] = {}
    columns = ("congress", "rollnumber", "icpsr", "cast_code")
    for line, cell in _records(source, files.votes, columns):
        number = cell["icpsr"].strip().removesuffix(".0")
        if not number.isdecimal() or not cell["rollnumber"].isdecimal():
            bad = cell["icpsr"] if not number.isdecimal() else cell["rollnumber"]
            raise source.error(line, f"{shown(bad)} is not a whole number", files.votes)
        if cell.get("chamber") == "President" or int(number[:9]) >= FIRST_PRESIDENT:
            continue
        if people and (cell["congress"], number) not in people:
            raise source.error(
                line,
                f"legislator {shown(number)} is not in {files.people}; add the member",
                files.votes,
            )
        i = who.setdefault(f"{cell['congress']} {number}", len(who))
        j = what.setdefault(f"{cell['congress']} {cell['rollnumber']}", len(what))
        if (i, j) in found:
            raise source.error(
                line,
                f"a second vote of {shown(number)} in roll call {cell['rollnumber']}",
                files.votes,
            )
        found[i, j] = _vote(source, files.votes, line, cell["cast_code"])
        if len(who) * len(what) > LARGEST_TABLE:
            raise LimitError(f"{files.votes}: too many votes for one table; read one congress")
    if not found:
        raise InputError(f"{files.votes}: holds no votes of legislators")
    return _ballot(people, who, what, found), calls


def _ballot(
    people: dict[tuple[str, str], _Person],
    who: dict[str, int],
    what: dict[str, int],
    found: dict[tuple[int, int], int],
) -> _Ballot:
    votes = np.full((len(who), len(what)), NONE, dtype=np.int8)
    places = np.array(list(found))
    votes[places[:, 0], places[:, 1]] = list(found.values())
    keys = [tuple(key.split(" ")) for key in who]
    if people:
        order = {key: n for n, key in enumerate(people)}
        rows = sorted(range(len(keys)), key=lambda i: order[keys[i][0], keys[i][1]])
        votes = votes[rows]
        names = _label([people[keys[i][0], keys[i][1]] for i in rows])
    else:
        names = [key[1] for key in keys]
    congresses = {key.split(" ")[0] for key in what}
    several = len(congresses) > 1
    names = [
        f"{name} {keys[i][0]}" if several else name
        for i, name in zip(rows if people else range(len(keys)), names, strict=True)
    ]
    calls = [key.replace(" ", "-") if several else key.split(" ")[1] for key in what]
    return _Ballot(names, calls, list(what), votes)


def _read_members(source: Source, path: Path | None) -> dict[tuple[str, str], _Person]:
    people: dict[tuple[str, str], _Person] = {}
    if path is None:
        return people
    needed = ("congress", "icpsr", "state_abbrev", "party_code", "bioname")
    for _, cell in _records(source, path, needed):
        number = cell["icpsr"].strip().removesuffix(".0")
        party = cell["party_code"].strip().removesuffix(".0")
        person = _Person(
            cell["bioname"].strip() or number,
            PARTIES.get(party, party),
            cell["state_abbrev"].strip(),
            cell.get("district_code", "").strip(),
        )
        people[cell["congress"], number] = person
    return people


def _read_calls(source: Source, path: Path | None, key: str) -> dict[str, _Call]:
    """Read what each roll call was about: by `congress number`, or by place in a plain table."""
    calls: dict[str, _Call] = {}
    if path is None:
        return calls
    for n, (_, cell) in enumerate(_records(source, path, (key,))):
        parts = [
            cell.get("date", ""),
            cell.get("bill_number", cell.get("bill", "")),
            cell.get("vote_question", cell.get("question", "")),
        ]
        text = " ".join(part.strip() for part in parts if part and part.strip() != "n/a")
        place = f"{cell['congress']} {cell[key]}" if "congress" in cell else str(n)
        calls[place] = _Call(text, cell.get("session", "").strip().removesuffix(".0"))
    return calls


# ---- the plain layout ----


def _read_plain(source: Source, files: _Files) -> tuple[_Ballot, dict[str, _Call]]:
    calls = _read_calls(source, files.calls, "date")
    people: dict[str, tuple[str, str]] = {}
    if files.people is not None:
        for _, cell in _records(source, files.people, ("state", "party")):
            name = next(iter(cell.values()))
            people[name] = (cell["party"].strip(), cell["state"].strip())
    rows = csv_rows(source, files.votes, ",")
    _, titles = next(rows, (0, []))
    if len(titles) < 2:
        raise source.error(1, "expected a name and roll calls in the heading", files.votes)
    names: list[_Person] = []
    votes: list[list[int]] = []
    for line, row in rows:
        if len(row) != len(titles):
            raise source.error(
                line, f"{len(row)} cells, expected {len(titles)}; correct it", files.votes
            )
        match = re.fullmatch(r"(.*?)\s*\(([^()\s]+)[\s-]+([^()\s]+)\)", row[0].strip())
        party, state = people.get(row[0], (match[2], match[3]) if match else ("", ""))
        if state == "USA":
            continue
        names.append(_Person(match[1] if match else row[0].strip(), party, state, ""))
        votes.append([_vote(source, files.votes, line, cell) for cell in row[1:]])
    if not votes:
        raise InputError(f"{files.votes}: holds no votes of legislators")
    keys = [str(j) for j in range(len(titles) - 1)]
    table = np.array(votes, dtype=np.int8)
    return _Ballot(_label(names), titles[1:], keys, table), calls


# ---- the reader ----


@reader(
    "voteview",
    "roll calls: Voteview's S###_votes.csv with members and rollcalls, or votes.csv by legislator",
    sniff=_is_votes,
)
def read_voteview(
    source: Source,
    orientation: str = "legislators",
    session: int | None = None,
    exposures: bool = True,
) -> Corpus:
    """Read roll calls: codes 1 to 3 are yea, 4 to 6 nay, others missing; no Presidents.

    Parameters
    ----------
    source : Source
        A folder, or one of the files in it.
    orientation : "legislators" or "rollcalls"
        What the documents are; the groups, each of a yea and a nay, are the other.
    session : int, optional
        Keep the roll calls of one session; needs the file of roll calls.
    exposures : bool
        Give a document exposure 0 to the groups it has no vote in.
    """
    if orientation not in ("legislators", "rollcalls"):
        raise InputError(f"orientation={orientation!r}; use 'legislators' or 'rollcalls'")
    files = _find(source)
    if files is None:
        raise InputError(
            f"{source.path}: no roll calls found; needed are S108_votes.csv with S108_members.csv "
            "and S108_rollcalls.csv, or votes.csv with legislators.csv"
        )
    ballot, about = (_read_export if files.export else _read_plain)(source, files)
    people, titles, keys, votes = ballot
    if session is not None:
        kept = [
            j for j, key in enumerate(keys) if key in about and about[key].session == str(session)
        ]
        if not kept:
            raise InputError(f"{source.path}: no roll calls of session {session}")
        titles, keys, votes = [titles[j] for j in kept], [keys[j] for j in kept], votes[:, kept]
    calls = [
        f"{title} {about[key].name}".strip() if key in about else title
        for title, key in zip(titles, keys, strict=True)
    ]
    if orientation == "rollcalls":
        return _make(source, votes.T, calls, people, people, exposures)
    return _make(source, votes, people, titles, calls, exposures)


def _make(
    source: Source,
    votes: Array,
    documents: list[str],
    words: list[str],
    groups: list[str],
    exposures: bool,
) -> Corpus:
    rows, columns = np.nonzero(votes != NONE)
    triples = Triples()
    cast = votes[rows, columns].astype(np.int32)
    triples.add(rows, 2 * columns + cast, np.ones(len(rows), dtype=np.int32))
    observed = votes != NONE
    return make_corpus(
        source,
        triples.table(len(documents), 2 * len(words)),
        groups=np.repeat(np.arange(len(words)), 2),
        exposures=observed if exposures and not observed.all() else None,
        document_names=documents,
        word_names=[f"{name}={vote}" for name in words for vote in ("yea", "nay")],
        group_names=groups,
    )
