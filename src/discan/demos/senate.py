# SPDX-License-Identifier: BSD-3-Clause
"""Blocs of the US Senate of 2005, printed, and drawn on a page."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, TextIO

from rich.table import Table
from rich.text import Text

from discan.demos.blocs import Blocs, find_blocs
from discan.demos.senate_page import page
from discan.demos.terminal import Terminal, shade
from discan.plot.lettering import clean
from discan.plot.page import write_page
from discan.plot.palette import BRIGHT, spectrum
from discan.readers.datasets import load_senate2005

__all__ = ["senate"]

PAGE = "discan-senate.html"
PARTY_STYLES = dict(zip("DR", spectrum(2, BRIGHT), strict=True))
RIGHT: dict[str, Any] = {"justify": "right"}


def senate(
    out: str | os.PathLike[str] | None = None,
    *,
    n_components: int = 5,
    n_chains: int = 4,
    seed: int = 0,
    stream: TextIO | None = None,
    width: int | None = None,
) -> Path:
    """Find the blocs of the US Senate of 2005, print them, and write a page about them.

    Parameters
    ----------
    out : path, default "discan-senate.html"
        The page to write.
    n_components, n_chains, seed : int
        Arguments of `find_blocs`.
    stream : text stream, default stdout
    width : int, optional
        Columns of the terminal.

    Returns
    -------
    Path
        The page.
    """
    console = Terminal(stream, width)
    data = load_senate2005()
    corpus = data.corpus
    console.print(
        f"US Senate, 2005: {corpus.n_documents} senators, {corpus.n_groups} roll calls, "
        f"{corpus.n_tokens:,} votes. Which blocs are there?"
    )
    began = time.perf_counter()
    blocs = find_blocs(data, n_components, n_chains, seed)
    console.print(" ".join(blocs.method))
    console.print(f"The fits took {time.perf_counter() - began:.1f} s.\n")
    _print_blocs(console, blocs)
    _print_apart(console, blocs)
    _print_members(console, blocs)
    _print_outcome(console, blocs)
    path = write_page(PAGE if out is None else out, page(blocs))
    console.print("\nThe same as a page with pictures: ", end="")
    console.print(str(path.resolve()), soft_wrap=True)
    return path


# ---- parts of what is printed ----


def _print_blocs(console: Terminal, blocs: Blocs) -> None:
    table = console.table(
        "Blocs", bloc={}, seats=RIGHT, **{"by party": {"min_width": 14}}, runs=RIGHT,
        **{"most typical members": {"ratio": 1}},
    )  # fmt: skip
    for k in blocs.used:
        typical = Text(", ").join(_member(blocs, i) for i in blocs.typical(k, 6))
        mix = "  ".join(f"{clean(party)} {n:.1f}" for party, n in blocs.party_mix(k).items())
        runs = f"{blocs.seen[k]}/{blocs.n_chains}"
        table.add_row(_letter(blocs, k), f"{blocs.seats[k]:.1f}", Text(mix), runs, typical)
    console.print(table)
    if blocs.left_empty:
        console.print(blocs.left_empty)
    console.print(
        "Seats are not whole numbers: a senator may belong to several blocs. Runs: how many of "
        "them found the bloc.\n"
    )


def _print_apart(console: Terminal, blocs: Blocs) -> None:
    letters = {blocs.letters[k]: RIGHT for k in blocs.used}
    table = console.table(
        "Votes that set each bloc apart: probability of a yea, in per cent",
        bloc={}, **letters, **{"roll call": {"ratio": 1}},
    )  # fmt: skip
    for k in blocs.used:
        votes = blocs.apart(k, 3)
        for n, g in enumerate(votes):
            chances = [
                Text(f"{100 * blocs.yea[g, other]:.0f}", style="bold" if other == k else "")
                for other in blocs.used
            ]
            facts = {name: clean(column[g]) for name, column in blocs.votes.items()}
            call = Text(f"{facts['number']}. {facts['title']} ({facts['result'].lower()})")
            head = _letter(blocs, k) if n == 0 else ""
            table.add_row(head, *chances, call, end_section=n == len(votes) - 1)
    console.print(table)


def _print_members(console: Terminal, blocs: Blocs) -> None:
    """Print one row of shaded blocks per member, in as many columns as fit."""
    wide = max(len(clean(name)) for name in blocs.members)
    console.print(Text("Every senator, from one wing to the other", style="bold"))
    console.print(
        "Read down each column. The order is that of the first principal component of the centred "
        f"votes ({blocs.explained:.0%} of their variance), not that of the blocs. Blocks show the "
        "share of a senator's votes: ░ from 1/8, ▒ 3/8, ▓ 5/8, █ 7/8.\n"
    )
    n_columns = max(1, (console.width + 3) // (wide + 1 + 3 * len(blocs.seats) + 3))
    n_rows = -(-len(blocs.order) // n_columns)
    head = Text(" " * (wide + 1) + "".join(f"{letter:<3}" for letter in blocs.letters))
    grid = Table.grid(padding=(0, 3, 0, 0))
    for _ in range(n_columns):
        grid.add_column(no_wrap=True)
    grid.add_row(*[head] * n_columns)
    styles = blocs.colours(BRIGHT, empty="")
    rows = [_member_row(blocs, int(i), wide, styles) for i in blocs.order]
    for row in range(n_rows):
        grid.add_row(*rows[row::n_rows])
    console.print(grid)


def _print_outcome(console: Terminal, blocs: Blocs) -> None:
    names = ("of the seats", "of the outcome", " ", "its majority won")
    table = console.table(
        "\nWhose outcome? The decisions as the ballot of one more voter",
        bloc={}, **{name: RIGHT if name.strip() else {} for name in names},
    )  # fmt: skip
    seats = blocs.seats / blocs.seats.sum()
    for k in blocs.used:
        bar = Text("█" * round(20 * float(blocs.outcome[k])), style=_style(blocs, k))
        table.add_row(
            _letter(blocs, k), f"{seats[k]:.0%}", f"{blocs.outcome[k]:.0%}", bar,
            f"{blocs.agreement[k]:.0%}",
        )  # fmt: skip
    console.print(table)
    console.print(
        "The shares say whose votes the outcomes resemble, not who caused them. The last column "
        "is a plain count: roll calls that the majority of the bloc won."
    )


def _member(blocs: Blocs, i: int) -> Text:
    return Text(clean(blocs.members[i]), style=PARTY_STYLES.get(str(blocs.parties[i]), ""))


def _letter(blocs: Blocs, k: int) -> Text:
    return Text(blocs.letters[k], style=f"bold {_style(blocs, k)}")


def _style(blocs: Blocs, k: int) -> str:
    return blocs.colours(BRIGHT, empty="")[k]


def _member_row(blocs: Blocs, i: int, wide: int, styles: list[str]) -> Text:
    row = _member(blocs, i)
    row.pad_right(wide + 1 - len(row))
    for share, style in zip(blocs.membership[i], styles, strict=True):
        row.append(shade(share) * 2, style=style).append(" ")
    return row
