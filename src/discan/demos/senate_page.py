# SPDX-License-Identifier: BSD-3-Clause
"""A page of HTML about the blocs of a chamber: no script, nothing fetched."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan.demos.blocs import Blocs
from discan.plot.lettering import label
from discan.plot.page import escape
from discan.plot.palette import GREY, ink_on
from discan.plot.svg import inline
from discan.plot.theme import axis, rule
from discan.reporting.style import STYLE

__all__ = ["page"]

PARTIES = {"D": "Democrats", "R": "Republicans", "I": "Independents"}
PARTY_COLOURS = {"D": "#174f8c", "R": "#b0460f"}


def page(blocs: Blocs, figure: Any = None) -> str:
    """Write a page about blocs, perhaps with one more Plotly figure below the first."""
    more = "" if figure is None else f"<figure>{inline(figure)}</figure>"
    return _PAGE.format(
        style=_STYLE,
        title=escape(blocs.title),
        description=escape(blocs.description),
        found=f"{len(blocs.used)} blocs hold {blocs.seats[blocs.used].sum():.1f} of the "
        f"{len(blocs.members)} seats. {blocs.left_empty}",
        legend=_legend(blocs),
        structure=_structure(blocs),
        explained=f"{blocs.explained:.0%}",
        more=more,
        cards="".join(_card(blocs, k) for k in blocs.used),
        outcome=_outcome(blocs),
        votes="".join(_votes(blocs, k) for k in blocs.used),
        method="".join(f"<p>{escape(sentence)}</p>" for sentence in blocs.method),
    )


# ---- parts of the page ----


def _legend(blocs: Blocs) -> str:
    keys = [
        f'<span class="key"><i style="background:{colour}"></i>Bloc {letter}, {n:.1f} seats</span>'
        for colour, letter, n in zip(blocs.colours(), blocs.letters, blocs.seats, strict=True)
    ]
    parties = [
        f'<span class="key" style="color:{_party_colour(p)}"><b>{escape(p)}</b>&nbsp;'
        f"{escape(PARTIES.get(p, p))}</span>"
        for p in sorted(map(str, set(blocs.parties)), key=lambda p: [*PARTIES, p].index(p))
    ]
    return f'<p class="legend">{"".join(keys)}<span class="gap"></span>{"".join(parties)}</p>'


def _structure(blocs: Blocs) -> str:
    """Draw one bar per member, stacked by bloc, with the names beneath."""
    step, height, order = 11, 230, blocs.order
    columns, names = np.arange(len(order)), [label(blocs.members[i]) for i in order]
    described = [f"{name}: {_shares(blocs, i)}" for name, i in zip(names, order, strict=True)]
    bars = [
        {"type": "bar", "x": columns, "y": blocs.membership[order, k], "width": 1 - 1 / step,
         "marker": {"color": colour}, "hovertext": described}
        for k, colour in enumerate(blocs.colours())
    ]  # fmt: skip
    below = 16 + 5.6 * max(map(len, names))
    ticks = [
        f'<span style="color:{_party_colour(blocs.parties[i])}">{name}</span>'
        for name, i in zip(names, order, strict=True)
    ]
    parts = np.linspace(0, 1, 5)
    layout = {
        "width": 44 + step * len(order) + 4, "height": 12 + height + round(below),
        "margin": {"l": 44, "r": 4, "t": 12, "b": round(below)}, "barmode": "stack",
        "meta": {"description": "Membership of every senator, from one wing to the other"},
        "xaxis": axis(range=[-0.5, len(order) - 0.5], tickvals=columns, ticktext=ticks,
                      tickangle=-90, tickfont={"size": 10}),
        "yaxis": axis(range=[0, 1], tickvals=parts, ticktext=[f"{part:.0%}" for part in parts],
                      tickfont={"size": 10, "color": GREY}, showgrid=True),
    }  # fmt: skip
    return inline({"data": bars, "layout": layout})


def _shares(blocs: Blocs, i: int) -> str:
    """List the shares of a member, the largest first."""
    shares = blocs.membership[i]
    largest = [k for k in np.argsort(-shares, kind="stable") if shares[k] >= 0.005]
    return ", ".join(f"{blocs.letters[k]} {shares[k]:.0%}" for k in largest)


def _card(blocs: Blocs, k: int) -> str:
    mix = blocs.party_mix(k)
    bar = "".join(
        f'<i style="flex:{n:.3f};background:{_party_colour(p)}"></i>' for p, n in mix.items()
    )
    members = "".join(
        f'<li style="color:{_party_colour(blocs.parties[i])}"><span>{escape(blocs.members[i])}'
        f"</span><span>{blocs.membership[i, k]:.0%}</span></li>"
        for i in blocs.typical(k, 8)
    )
    counted = ", ".join(f"{escape(p)} {n:.1f}" for p, n in mix.items())
    return (
        f'<article style="border-top-color:{blocs.colours()[k]}"><h3>Bloc {blocs.letters[k]}'
        f"<small>{blocs.seats[k]:.1f} seats</small></h3>"
        f'<div class="bar">{bar}</div><p class="small">{counted}. Found in {blocs.seen[k]} of '
        f"{blocs.n_chains} runs.</p><h4>Most typical</h4><ul>{members}</ul></article>"
    )


def _outcome(blocs: Blocs) -> str:
    """Draw two stacked bars, of seats and of the outcome; say how often each majority won."""
    colours, seats = blocs.colours(), blocs.seats / blocs.seats.sum()
    rows = "".join(
        f'<div class="stack"><b>{name}</b><div class="bar tall">'
        + "".join(
            f'<i class="{"slim" if share < 0.12 else "broad"}" style="flex:{share:.4f};'
            f'background:{colours[k]};color:{ink_on(colours[k])}">'
            + (f"{blocs.letters[k]} {share:.0%}" if share >= 0.045 else "")
            + "</i>"
            for k, share in enumerate(shares)
        )
        + "</div></div>"
        for name, shares in (("Seats", seats), ("Outcome", blocs.outcome))
    )
    shares = ", ".join(f"{blocs.letters[k]} {blocs.outcome[k]:.0%}" for k in blocs.used)
    wins = ", ".join(f"{blocs.letters[k]} {blocs.agreement[k]:.0%}" for k in blocs.used)
    return (
        f"{rows}<p>Share of the outcome: {shares}. For comparison, a plain count of the roll calls "
        f"that the majority of each bloc won: {wins}.</p>"
    )


def _votes(blocs: Blocs, k: int) -> str:
    rows = []
    for g in blocs.apart(k, 4):
        facts = {name: escape(column[g]) for name, column in blocs.votes.items()}
        rows.append(
            f"<tr><td>{facts['title']}<br><small>No. {facts['number']}, {facts['date']}. "
            f"{facts['question']}: {facts['result'].lower()}, {facts['yeas']} to {facts['nays']}."
            f"</small></td><td>{_dots(blocs, g, k)}</td></tr>"
        )
    return (
        f'<tbody><tr><th colspan="2"><i style="background:{blocs.colours()[k]}"></i>Bloc '
        f"{blocs.letters[k]}</th></tr>{''.join(rows)}</tbody>"
    )


def _dots(blocs: Blocs, g: int, k: int) -> str:
    """Draw a scale from nay to yea with one lettered dot per bloc, stacked where they meet."""
    width, radius, margin = 300, 8, 12
    placed: list[tuple[float, int, int]] = []
    for other in sorted(blocs.used, key=lambda other: blocs.yea[g, other]):
        x = float(blocs.yea[g, other])
        near = (2 * radius + 1) / (width - 2 * margin)
        taken = {row for at, row, _ in placed if x - at < near}
        placed.append((x, min(set(range(len(placed) + 1)) - taken), int(other)))
    chances, rows, shown = zip(*placed, strict=True)
    tall, foot = (max(rows) + 1) * (2 * radius + 1) + 6, radius + 4
    colours = [blocs.colours()[other] for other in shown]
    dots = {
        "type": "scatter", "mode": "markers+text", "x": chances,
        "y": [foot + row * (2 * radius + 1) for row in rows],
        "marker": {"size": 2 * radius, "color": colours,
                   "line": {"color": "#111", "width": [2 * (other == k) for other in shown]}},
        "text": [blocs.letters[other] for other in shown], "textposition": "middle center",
        "textfont": {"size": 10, "weight": "bold", "color": [ink_on(colour) for colour in colours]},
        "hovertext": [f"Bloc {blocs.letters[other]}: yea {x:.0%}" for x, _, other in placed],
    }  # fmt: skip
    layout = {
        "width": width, "height": tall, "margin": {"l": margin, "r": margin, "t": 0, "b": 0},
        "meta": {"description": "Probability of a yea in each bloc"},
        "shapes": [rule(y=foot, color="#bbb", width=1.5, dash="solid")],
        "xaxis": {"range": [0, 1], "showticklabels": False},
        "yaxis": {"range": [0, tall], "showticklabels": False},
    }  # fmt: skip
    return inline({"data": [dots], "layout": layout})


# ---- details ----


def _party_colour(party: Any) -> str:
    return PARTY_COLOURS.get(str(party), "#3f3f3f")


_STYLE = f"""
:root{{color-scheme:light}}
*{{box-sizing:border-box}}
body{{background:#fff;font:16px/1.5 "Segoe UI","Helvetica Neue",Helvetica,Arial,
"Liberation Sans","DejaVu Sans",sans-serif}}
{STYLE}
.legend{{display:flex;flex-wrap:wrap;gap:.3rem 1.3rem;font-size:.9rem;margin:1rem 0 .5rem}}
figcaption{{font-size:.9rem;color:#444;max-width:130ch;margin-top:.5rem}}
figure svg{{display:block;width:100%;min-width:1060px;height:auto}}
td:last-child,thead th:last-child{{width:320px;padding-right:0}}
thead th{{padding:.2rem 0 0}}
.ends{{display:flex;justify-content:space-between;width:300px}}
@media(max-width:700px){{
td,thead th{{display:block}}
thead th:first-child{{display:none}}
td:last-child{{border-top:0;padding:0 0 .6rem}}
td:last-child,thead th:last-child{{width:auto}}
td svg{{max-width:100%;height:auto}}
.ends{{max-width:100%}}
.tall .slim{{font-size:0}}
}}
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
<figcaption>A column is a senator; its colours are the shares of each bloc in that senator’s votes.
The order from left to right does not depend on the blocs: it is the first principal component of
the votes (yea +1, nay −1, minus the mean of each roll call; an absence is 0), which explains
{explained} of their variance. Hold the pointer over a column to see
the shares.</figcaption></figure>
{more}
<h2>The blocs</h2>
<p>A senator may belong to several blocs, so seats are not whole numbers. Percentages are shares of
a senator’s votes.</p>
<div class="cards">{cards}</div>

<h2>Whose outcome?</h2>
<p>The decisions of the Senate are the ballot of one more voter, who is described by the same
blocs.</p>
{outcome}
<p class="small">The shares say whose votes the outcomes resemble. They do not say who caused them:
a bloc between the others that wins may have decided, or merely agreed. Some questions need three
fifths or two thirds, so a minority can have a motion rejected.</p>

<h2>Votes that set a bloc apart</h2>
<p>Roll calls on which a bloc is furthest from all other blocs. A dot shows the probability that a
member of the bloc votes yea; the bloc in question has a ring.</p>
<table><thead><tr><th></th>
<th><span class="ends"><span>all nay</span><span>all yea</span></span></th></tr></thead>
{votes}</table>

<footer>{method}</footer>
</body>
</html>
"""
