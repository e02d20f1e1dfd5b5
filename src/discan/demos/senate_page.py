# SPDX-License-Identifier: BSD-3-Clause
"""Show the blocs of a chamber: a description of them, and a page to look at."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discan.demos.terminal import clean, colours
from discan.errors import StorageError
from discan.typing import Array

__all__ = ["Blocs", "page", "write_page"]

PARTIES = {"D": "Democrats", "R": "Republicans", "I": "Independents"}
PARTY_COLOURS = {"D": "#174f8c", "R": "#b0460f", "I": "#3f3f3f"}
EMPTY_COLOUR = "#c9c9c9"


@dataclass(frozen=True, eq=False)
class Blocs:
    """What was found: blocs from one wing to the other, then those left all but empty.

    Attributes
    ----------
    title, description : str
    method : tuple of str
        Sentences that say how it was done.
    members, parties : (I,) arrays of str
    order : (I,) array
        Members from one wing to the other.
    explained : float
        Share of the variance of the votes that the order's principal component explains.
    membership : (I, K) array
        Rows sum to 1.
    outcome, agreement : (K,) arrays
        Share of each bloc in the outcome, and part of the outcomes that its majority wanted.
    seen, n_chains : (K,) array, int
        In how many of the chains the bloc was found.
    yea : (G, K) array
        Chance that a member of the bloc votes yea.
    votes : dict of (G,) arrays
        number, date, title, question, result, yeas, nays.
    """

    title: str
    description: str
    method: tuple[str, ...]
    members: Array
    parties: Array
    order: Array
    explained: float
    membership: Array
    outcome: Array
    agreement: Array
    seen: Array
    n_chains: int
    yea: Array
    votes: dict[str, Array]

    @property
    def seats(self) -> Array:
        """Number of members of each bloc, in parts of members, (K,)."""
        return np.asarray(self.membership.sum(axis=0))

    @property
    def used(self) -> Array:
        """Numbers of the blocs of at least one seat."""
        return np.flatnonzero(self.seats >= 1.0)

    @property
    def letters(self) -> list[str]:
        """A name for each bloc: A, B, ..."""
        n = len(self.seats)
        return [chr(65 + k) if n <= 26 else str(k + 1) for k in range(n)]

    @property
    def colours(self) -> list[str]:
        """A colour for each bloc; grey for those left empty."""
        shades = [EMPTY_COLOUR] * len(self.seats)
        for k, colour in zip(self.used, colours(len(self.used)), strict=True):
            shades[k] = colour
        return shades

    def party_mix(self, k: int) -> dict[str, float]:
        """Seats of each party in a bloc, the largest first; less than 0.05 left out."""
        seats = {p: float(self.membership[self.parties == p, k].sum()) for p in set(self.parties)}
        return {p: n for p, n in sorted(seats.items(), key=lambda x: (-x[1], x[0])) if n >= 0.05}

    def typical(self, k: int, n: int) -> list[int]:
        """Members with the largest part in a bloc, at least one half of the largest."""
        share = self.membership[:, k]
        most = np.argsort(-share, kind="stable")[:n]
        return [int(i) for i in most if share[i] >= 0.5 * share[most[0]]]

    def apart(self, k: int, n: int) -> list[int]:
        """Roll calls that set a bloc apart: where it is furthest from every other bloc in use."""
        others = self.yea[:, [other for other in self.used if other != k]]
        if not others.shape[1]:
            return []
        mine = self.yea[:, k]
        distance = np.maximum(mine - others.max(axis=1), others.min(axis=1) - mine)
        return [int(g) for g in np.argsort(-distance, kind="stable")[:n]]


def page(blocs: Blocs) -> str:
    """Make a page of HTML that holds everything it needs: no script, nothing fetched."""
    n_used, n_blocs = len(blocs.used), len(blocs.seats)
    empty = [blocs.letters[k] for k in range(n_blocs) if k not in blocs.used]
    left_over = ""
    if empty:
        left_over = (
            f" {n_blocs} blocs were allowed; the votes leave {_listed(empty)} all but empty "
            f"({blocs.seats[[k for k in range(n_blocs) if k not in blocs.used]].sum():.1f} seats)."
        )
    return _PAGE.format(
        style=_STYLE,
        title=_text(blocs.title),
        description=_text(blocs.description),
        found=f"{n_used} blocs hold {blocs.seats[blocs.used].sum():.1f} of the "
        f"{len(blocs.members)} seats.{left_over}",
        legend=_legend(blocs),
        structure=_structure(blocs),
        explained=f"{blocs.explained:.0%}",
        cards="".join(_card(blocs, k) for k in blocs.used),
        outcome=_outcome(blocs),
        votes="".join(_votes(blocs, k) for k in blocs.used),
        method="".join(f"<p>{_text(sentence)}</p>" for sentence in blocs.method),
    )


def write_page(path: str | os.PathLike[str], text: str) -> Path:
    """Write a page, all or nothing: a reader never meets half of it."""
    path = Path(path)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with draft.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise StorageError(f"{path}: {error.strerror or error}") from None
    return path


# ---- parts of the page ----


def _legend(blocs: Blocs) -> str:
    keys = [
        f'<span class="key"><i style="background:{blocs.colours[k]}"></i>Bloc {blocs.letters[k]}, '
        f"{blocs.seats[k]:.1f} seats</span>"
        for k in range(len(blocs.seats))
    ]
    parties = [
        f'<span class="key" style="color:{_party_colour(p)}"><b>{_text(p)}</b>&nbsp;'
        f"{_text(PARTIES.get(p, p))}</span>"
        for p in _parties(blocs)
    ]
    return f'<p class="legend">{"".join(keys)}<span class="gap"></span>{"".join(parties)}</p>'


def _structure(blocs: Blocs) -> str:
    """A column for each member, stacked by bloc, names beneath."""
    step, height, left, top = 11, 230, 44, 12
    width = left + step * len(blocs.order) + 4
    names = [clean(blocs.members[i]) for i in blocs.order]
    below = 16 + 5.6 * max(map(len, names))
    parts = [
        f'<svg viewBox="0 0 {width} {top + height + below:.0f}" role="img" class="wide" '
        'aria-label="Membership of every senator, from one wing to the other">'
    ]
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = top + height * (1 - share)
        parts.append(
            f'<line x1="{left - 5}" x2="{width - 4}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>'
            f'<text x="{left - 9}" y="{y + 3.5:.1f}" class="tick" text-anchor="end">'
            f"{share:.0%}</text>"
        )
    for column, i in enumerate(blocs.order):
        x = left + step * column
        described = ", ".join(
            f"{blocs.letters[k]} {blocs.membership[i, k]:.0%}"
            for k in np.argsort(-blocs.membership[i], kind="stable")
            if blocs.membership[i, k] >= 0.005
        )
        name = _text(blocs.members[i])
        parts.append(f"<g><title>{name}: {described}</title>")
        y = float(top + height)
        for k, share in enumerate(blocs.membership[i]):
            tall = height * share
            y -= tall
            if tall >= 0.05:
                parts.append(
                    f'<rect x="{x + 0.5}" y="{y:.2f}" width="{step - 1}" height="{tall:.2f}" '
                    f'fill="{blocs.colours[k]}"/>'
                )
        middle, foot = x + step / 2 + 3.2, top + height + 6
        parts.append(
            f'<text transform="translate({middle:.1f},{foot}) rotate(-90)" text-anchor="end" '
            f'class="name" fill="{_party_colour(blocs.parties[i])}">{name}</text></g>'
        )
    return "".join([*parts, "</svg>"])


def _card(blocs: Blocs, k: int) -> str:
    mix = blocs.party_mix(k)
    bar = "".join(
        f'<i style="flex:{n:.3f};background:{_party_colour(p)}"></i>' for p, n in mix.items()
    )
    members = "".join(
        f'<li style="color:{_party_colour(blocs.parties[i])}"><span>{_text(blocs.members[i])}'
        f"</span><span>{blocs.membership[i, k]:.0%}</span></li>"
        for i in blocs.typical(k, 8)
    )
    counted = ", ".join(f"{_text(p)} {n:.1f}" for p, n in mix.items())
    return (
        f'<article style="border-top-color:{blocs.colours[k]}"><h3>Bloc {blocs.letters[k]}'
        f"<small>{blocs.seats[k]:.1f} seats</small></h3>"
        f'<div class="bar">{bar}</div><p class="small">{counted}. Found in {blocs.seen[k]} of '
        f"{blocs.n_chains} runs.</p><h4>Most typical</h4><ul>{members}</ul></article>"
    )


def _outcome(blocs: Blocs) -> str:
    """Two stacked bars, seats above and outcome below, and how often each majority won."""
    seats = blocs.seats / blocs.seats.sum()
    rows = "".join(
        f'<div class="stack"><b>{label}</b><div class="bar tall">'
        + "".join(
            f'<i style="flex:{share:.4f};background:{blocs.colours[k]};color:'
            f'{_ink(blocs.colours[k])}">'
            + (f"{blocs.letters[k]} {share:.0%}" if share >= 0.045 else "")
            + "</i>"
            for k, share in enumerate(shares)
        )
        + "</div></div>"
        for label, shares in (("Seats", seats), ("Outcome", blocs.outcome))
    )
    shares = ", ".join(f"{blocs.letters[k]} {blocs.outcome[k]:.0%}" for k in blocs.used)
    wins = ", ".join(f"{blocs.letters[k]} {blocs.agreement[k]:.0%}" for k in blocs.used)
    return (
        f"{rows}<p>Share of the outcome: {shares}. A plainer count beside it, the outcomes that "
        f"the majority of each bloc wanted: {wins}.</p>"
    )


def _votes(blocs: Blocs, k: int) -> str:
    rows = []
    for g in blocs.apart(k, 4):
        facts = {name: _text(column[g]) for name, column in blocs.votes.items()}
        rows.append(
            f"<tr><td>{facts['title']}<br><small>No. {facts['number']}, {facts['date']}. "
            f"{facts['question']}: {facts['result'].lower()}, {facts['yeas']} to {facts['nays']}."
            f"</small></td><td>{_dots(blocs, g, k)}</td></tr>"
        )
    return (
        f'<tbody><tr><th colspan="2"><i style="background:{blocs.colours[k]}"></i>Bloc '
        f"{blocs.letters[k]}</th></tr>{''.join(rows)}</tbody>"
    )


def _dots(blocs: Blocs, g: int, k: int) -> str:
    """A scale from nay to yea with a lettered dot for each bloc, stacked where they meet."""
    width, radius, margin = 300, 8, 12
    scale = width - 2 * margin
    placed: list[tuple[float, int, int]] = []
    for other in sorted(blocs.used, key=lambda other: blocs.yea[g, other]):
        x = margin + scale * float(blocs.yea[g, other])
        taken = {row for at, row, _ in placed if x - at < 2 * radius + 1}
        row = next(row for row in range(len(placed) + 1) if row not in taken)
        placed.append((x, row, int(other)))
    tall = (max(row for _, row, _ in placed) + 1) * (2 * radius + 1) + 6
    axis = tall - radius - 4
    parts = [
        f'<svg viewBox="0 0 {width} {tall}" width="{width}" height="{tall}" role="img" '
        f'aria-label="Chance of a yea in each bloc">'
        f'<line x1="{margin}" x2="{width - margin}" y1="{axis}" y2="{axis}" class="axis"/>'
    ]
    for x, row, other in placed:
        y = axis - row * (2 * radius + 1)
        colour = blocs.colours[other]
        ring = ' stroke="#111" stroke-width="2"' if other == k else ""
        parts.append(
            f"<g><title>Bloc {blocs.letters[other]}: yea {blocs.yea[g, other]:.0%}</title>"
            f'<circle cx="{x:.1f}" cy="{y}" r="{radius}" fill="{colour}"{ring}/>'
            f'<text x="{x:.1f}" y="{y + 3.6:.1f}" text-anchor="middle" class="dot" '
            f'fill="{_ink(colour)}">{blocs.letters[other]}</text></g>'
        )
    return "".join([*parts, "</svg>"])


# ---- details ----


def _text(value: Any) -> str:
    """Make any value safe as text or as a quoted attribute."""
    return html.escape(clean(value), quote=True)


def _parties(blocs: Blocs) -> list[str]:
    return sorted(map(str, set(blocs.parties)), key=lambda p: [*PARTIES, p].index(p))


def _party_colour(party: Any) -> str:
    return PARTY_COLOURS.get(str(party), "#3f3f3f")


def _ink(colour: str) -> str:
    """Black or white, whichever is read more easily on the colour."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#fff" if 0.299 * red + 0.587 * green + 0.114 * blue < 140 else "#111"


def _listed(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


_STYLE = """
:root{color-scheme:light}
*{box-sizing:border-box}
body{margin:0 auto;padding:2.2rem 1.5rem 3rem;max-width:1240px;background:#fff;color:#1c1c1c;
font:16px/1.5 "Segoe UI","Helvetica Neue",Helvetica,Arial,"Liberation Sans","DejaVu Sans",
sans-serif}
h1{font-size:2.1rem;line-height:1.15;margin:0 0 .4rem;letter-spacing:-.01em}
h2{font-size:1.3rem;margin:2.6rem 0 .3rem}
h3{margin:0 0 .5rem;font-size:1.1rem;display:flex;justify-content:space-between;
align-items:baseline}
h3 small{font-weight:400;color:#555}
h4{margin:.7rem 0 .2rem;font-size:.85rem;color:#555;font-weight:600}
p{max-width:100ch;margin:.4rem 0}
.lead{font-size:1.1rem}
.small,small{font-size:.85rem;color:#555}
.legend{max-width:none;display:flex;flex-wrap:wrap;gap:.3rem 1.3rem;font-size:.9rem;
margin:1rem 0 .5rem}
.key i,th i{display:inline-block;width:.95em;height:.95em;margin-right:.4em;vertical-align:-.1em;
border-radius:2px}
.gap{flex:1}
figure{margin:0}
figcaption{font-size:.9rem;color:#444;max-width:130ch;margin-top:.5rem}
.scroll{overflow-x:auto}
.wide{display:block;width:100%;min-width:1060px;height:auto}
svg text{font-family:inherit}
.grid{stroke:#e3e3e3;stroke-width:1}
.tick{font-size:10px;fill:#666}
.name{font-size:10px}
.axis{stroke:#bbb;stroke-width:1.5}
.dot{font-size:10px;font-weight:700}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(230px,1fr));gap:1.1rem;margin-top:.9rem}
article{border:1px solid #ddd;border-top:7px solid #999;border-radius:5px;padding:.9rem 1rem}
ul{list-style:none;margin:0;padding:0;font-size:.93rem}
li{display:flex;justify-content:space-between}
.bar{display:flex;height:10px;border-radius:3px;overflow:hidden}
.bar i{display:block;font-style:normal;min-width:0}
.tall{height:34px;flex:1}
.tall i{display:flex;align-items:center;justify-content:center;font-size:.85rem;font-weight:600;
white-space:nowrap}
.stack{display:flex;align-items:center;gap:1rem;margin:.5rem 0}
.stack b{width:5rem;text-align:right;font-weight:600}
table{border-collapse:collapse;width:100%;margin-top:.6rem}
td{padding:.45rem .8rem .45rem 0;border-top:1px solid #e6e6e6;vertical-align:middle;
font-size:.95rem;line-height:1.35}
td:last-child,thead th:last-child{width:320px;padding-right:0}
th{text-align:left;padding:1.1rem 0 .35rem}
thead th{font-weight:400;font-size:.85rem;color:#555;padding:.2rem 0 0}
.ends{display:flex;justify-content:space-between;width:300px}
footer{margin-top:2.6rem;border-top:1px solid #ddd;padding-top:.8rem;font-size:.9rem;color:#444}
"""

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
<p class="lead">{description} {found}</p>

<h2>Every senator, from one wing to the other</h2>
{legend}
<figure><div class="scroll">{structure}</div>
<figcaption>A column is a senator; its colours are the parts of that senator’s votes that each bloc
accounts for. The order from left to right is not taken from the blocs: it is the first principal
component of the centred votes (yea +1, nay −1, not voting 0 after the mean of each roll call is
taken off), which explains {explained} of their variance. Hold the pointer over a column for
figures.</figcaption></figure>

<h2>The blocs</h2>
<p>A senator may belong to several blocs, so seats come in parts. Percentages are parts of that
senator’s votes.</p>
<div class="cards">{cards}</div>

<h2>Whose outcome?</h2>
<p>Take what the Senate decided on each roll call as the ballot of one more voter, and describe that
voter by the same blocs.</p>
{outcome}
<p class="small">The shares say whose votes the outcomes look like. They do not say who brought them
about: a bloc that sits between the others and wins may have decided, or merely agreed. Some
questions need three fifths or two thirds, so a minority can carry a “rejected”.</p>

<h2>Votes that set a bloc apart</h2>
<p>Roll calls on which a bloc stands furthest from every other bloc. A dot is the chance that a
member of the bloc votes yea; the bloc in question has a ring.</p>
<table><thead><tr><th></th>
<th><span class="ends"><span>all nay</span><span>all yea</span></span></th></tr></thead>
{votes}</table>

<footer>{method}</footer>
</body>
</html>
"""
