# SPDX-License-Identifier: BSD-3-Clause
"""Show the point on real data: blocs of the US Senate, and components of Python's docstrings."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TextIO

import numpy as np
from rich.table import Table
from rich.text import Text

from discan.algorithms import Collapsed
from discan.data.corpus import Corpus
from discan.demos.senate_page import Blocs, page, write_page
from discan.demos.terminal import BRIGHT, Terminal, clean, colours, shade
from discan.errors import InputError
from discan.estimators.dca import DCA
from discan.readers.datasets import Dataset, load_senate2005
from discan.typing import Array

__all__ = ["find_blocs", "senate"]

PAGE = "discan-senate.html"
PARTY_STYLES = dict(zip("DR", colours(2, BRIGHT), strict=True))
SAME_BLOC = 0.7  # overlap of two blocs, shared seats over united seats, to be called the same


def senate(
    out: str | os.PathLike[str] | None = None,
    *,
    n_components: int = 5,
    n_chains: int = 4,
    seed: int = 0,
    stream: TextIO | None = None,
    width: int | None = None,
) -> Path:
    """Find the blocs of the US Senate of 2005, print them, and write a picture.

    Parameters
    ----------
    out : path, default "discan-senate.html"
        The page to write.
    n_components, n_chains, seed : int
        Blocs allowed; chains run, of which the one that agrees best with the others is shown.
    stream : text stream, default stdout
    width : columns of the terminal, found out if not given

    Returns
    -------
    Path
        Where the page is.
    """
    console = Terminal(stream or sys.stdout, width)
    data = load_senate2005()
    corpus = data.corpus
    console.print(
        f"US Senate, 2005: {corpus.n_documents} senators, {corpus.n_groups} roll calls, "
        f"{corpus.n_tokens:,} votes. Which blocs are there?"
    )
    began = time.perf_counter()
    blocs = find_blocs(data, n_components, n_chains, seed)
    console.print(" ".join(blocs.method))
    console.print(f"It took {time.perf_counter() - began:.1f} s.\n")
    _print_blocs(console, blocs)
    _print_apart(console, blocs)
    _print_members(console, blocs)
    _print_outcome(console, blocs)
    path = write_page(PAGE if out is None else out, page(blocs))
    console.print("\nThe picture, for a browser: ", end="")
    console.print(str(path.resolve()), soft_wrap=True)
    return path


def find_blocs(data: Dataset, n_components: int = 5, n_chains: int = 4, seed: int = 0) -> Blocs:
    """Fit blocs to roll calls and describe them.

    Parameters
    ----------
    data : Dataset
        Documents are members, each group a roll call of two words, yea and nay, as
        `load_senate2005` gives.
    n_components, n_chains, seed : int
    """
    if n_chains < 1:
        raise InputError(f"n_chains={n_chains}; run at least one")
    corpus, agreed = data.corpus, data.group_table["agreed"]
    if corpus.n_words != 2 * corpus.n_groups:
        raise InputError("every roll call must have two words, yea and nay")
    seeds = np.random.SeedSequence(seed).generate_state(n_chains)
    chains = [
        DCA(
            n_components,
            algorithm=Collapsed(burn_in=250, n_draws=100),
            alpha=0.1,
            gamma=0.5,
            init="map",
            random_state=int(start),
            progress=False,
        ).fit(corpus)
        for start in seeds
    ]
    best, n_seen = _typical_chain([chain.proportions_ for chain in chains])
    chosen = chains[best]
    wing, explained = _wing(corpus, data.document_table["party"])
    order = _bloc_order(chosen.proportions_, wing)
    yea = chosen.components_[order, 0::2].T
    ballots = np.stack([agreed, ~agreed], axis=1).reshape(1, -1).astype(np.int64)
    outcome = chosen.transform(Corpus(ballots, groups=corpus.layout.group_of_word))[0, order]
    return Blocs(
        title="The blocs of the United States Senate, 2005",
        description=f"{corpus.n_documents} senators cast {corpus.n_tokens:,} votes on "
        f"{corpus.n_groups} roll calls of the 109th Congress, first session.",
        method=(
            "Discrete component analysis (discan), Dirichlet-multinomial model: a senator is a "
            "document, a roll call a group of two words, yea and nay; not voting is no count.",
            f"{n_components} components, alpha = 0.1, gamma = 0.5, collapsed Gibbs sampling, "
            f"{chosen.n_iter_} sweeps, seed {seed}.",
            f"Of {n_chains} runs from different starts the one shown agrees best with the others.",
        ),
        members=np.array(corpus.document_names),
        parties=data.document_table["party"],
        order=np.argsort(wing, kind="stable"),
        explained=explained,
        membership=chosen.proportions_[:, order],
        outcome=outcome,
        agreement=((yea > 0.5) == agreed[:, None]).mean(axis=0),
        seen=n_seen[order],
        n_chains=n_chains,
        yea=yea,
        votes=dict(data.group_table),
    )


# ---- the Senate, printed ----


def _print_blocs(console: Terminal, blocs: Blocs) -> None:
    table = Table(box=console.box, title="Blocs", title_justify="left", title_style="bold")
    table.add_column("bloc")
    table.add_column("seats", justify="right")
    table.add_column("by party", min_width=14)
    table.add_column("runs", justify="right")
    table.add_column("most typical members", ratio=1)
    for k in blocs.used:
        typical = Text(", ").join(_member(blocs, i) for i in blocs.typical(k, 6))
        mix = "  ".join(f"{clean(party)} {n:.1f}" for party, n in blocs.party_mix(k).items())
        table.add_row(
            Text(blocs.letters[k], style=f"bold {_style(blocs, k)}"),
            f"{blocs.seats[k]:.1f}", Text(mix), f"{blocs.seen[k]}/{blocs.n_chains}", typical,
        )  # fmt: skip
    console.print(table)
    empty = [k for k in range(len(blocs.seats)) if k not in blocs.used]
    if empty:
        letters = ", ".join(blocs.letters[k] for k in empty)
        console.print(
            f"{len(blocs.seats)} blocs were allowed; the votes leave {letters} all but empty "
            f"({blocs.seats[empty].sum():.1f} seats)."
        )
    console.print(
        "Seats come in parts: a senator may belong to several blocs. Runs: in how many of them "
        "the bloc was found.\n"
    )


def _print_apart(console: Terminal, blocs: Blocs) -> None:
    table = Table(
        box=console.box,
        title="Votes that set each bloc apart: chance of a yea, in per cent",
        title_justify="left",
        title_style="bold",
    )
    table.add_column("bloc")
    for k in blocs.used:
        table.add_column(blocs.letters[k], justify="right")
    table.add_column("roll call", ratio=1)
    for k in blocs.used:
        votes = blocs.apart(k, 3)
        for n, g in enumerate(votes):
            chances = [
                Text(f"{100 * blocs.yea[g, other]:.0f}", style="bold" if other == k else "")
                for other in blocs.used
            ]
            facts = {name: clean(column[g]) for name, column in blocs.votes.items()}
            call = Text(f"{facts['number']}. {facts['title']} ({facts['result'].lower()})")
            table.add_row(
                Text(blocs.letters[k] if n == 0 else "", style=f"bold {_style(blocs, k)}"),
                *chances, call, end_section=n == len(votes) - 1,
            )  # fmt: skip
    console.print(table)


def _print_members(console: Terminal, blocs: Blocs) -> None:
    """A row of shaded blocks for each member, as many columns as the width has room for."""
    n_blocs = len(blocs.seats)
    wide = max(len(clean(name)) for name in blocs.members)
    console.print(Text("Every senator, from one wing to the other", style="bold"))
    console.print(
        "Down each column. The order is the first principal component of the centred votes "
        f"({blocs.explained:.0%} of their variance), not taken from the blocs. Blocks, by the "
        "part of a senator's votes: ░ from 1/8, ▒ 3/8, ▓ 5/8, █ 7/8.\n"
    )
    n_columns = max(1, (console.width + 3) // (wide + 1 + 3 * n_blocs + 3))
    n_rows = -(-len(blocs.order) // n_columns)
    head = Text(" " * (wide + 1) + "".join(f"{letter:<3}" for letter in blocs.letters))
    grid = Table.grid(padding=(0, 3, 0, 0))
    for _ in range(n_columns):
        grid.add_column(no_wrap=True)
    grid.add_row(*[head] * n_columns)
    rows = [_member_row(blocs, int(i), wide) for i in blocs.order]
    for row in range(n_rows):
        grid.add_row(*rows[row::n_rows])
    console.print(grid)


def _print_outcome(console: Terminal, blocs: Blocs) -> None:
    table = Table(
        box=console.box,
        title="\nWhose outcome? What was decided, as the ballot of one more voter",
        title_justify="left",
        title_style="bold",
    )
    table.add_column("bloc")
    table.add_column("of the seats", justify="right")
    table.add_column("of the outcome", justify="right")
    table.add_column("")
    table.add_column("its majority won", justify="right")
    seats = blocs.seats / blocs.seats.sum()
    for k in blocs.used:
        table.add_row(
            Text(blocs.letters[k], style=f"bold {_style(blocs, k)}"),
            f"{seats[k]:.0%}",
            f"{blocs.outcome[k]:.0%}",
            Text("█" * round(20 * float(blocs.outcome[k])), style=_style(blocs, k)),
            f"{blocs.agreement[k]:.0%}",
        )
    console.print(table)
    console.print(
        "Whose votes the outcomes look like, which is not who brought them about. The last column "
        "is a plain count: roll calls that went as most of the bloc wanted."
    )


def _member(blocs: Blocs, i: int) -> Text:
    return Text(clean(blocs.members[i]), style=PARTY_STYLES.get(str(blocs.parties[i]), ""))


def _style(blocs: Blocs, k: int) -> str:
    shades: dict[int, str] = dict(zip(blocs.used, colours(len(blocs.used), BRIGHT), strict=True))
    return shades.get(k, "")


def _member_row(blocs: Blocs, i: int, wide: int) -> Text:
    row = _member(blocs, i)
    row.pad_right(wide + 1 - len(row))
    for k, share in enumerate(blocs.membership[i]):
        row.append(shade(share) * 2, style=_style(blocs, k)).append(" ")
    return row


# ---- text, printed ----


def _typical_chain(memberships: list[Array]) -> tuple[int, Array]:
    """Find the chain that agrees best with the others.

    Returns
    -------
    its number, and for each of its blocs in how many chains it is found, (K,)
    """
    overlaps = [[_overlap(a, b).max(axis=1) for b in memberships] for a in memberships]
    agreement = [
        sum(float(best @ a.sum(axis=0)) for best in row)
        for a, row in zip(memberships, overlaps, strict=True)
    ]
    chosen = int(np.argmax(agreement))
    return chosen, np.sum([best >= SAME_BLOC for best in overlaps[chosen]], axis=0)


def _overlap(a: Array, b: Array) -> Array:
    """Shared seats over united seats of every pair of blocs, (K, K)."""
    shared = np.minimum(a[:, :, None], b[:, None, :]).sum(axis=0)
    united = np.maximum(a[:, :, None], b[:, None, :]).sum(axis=0)
    return np.asarray(shared / united)


def _wing(corpus: Corpus, parties: Array) -> tuple[Array, float]:
    """First principal component of the centred votes, and the share of variance it explains.

    Yea is +1, nay -1; the mean of those who voted is taken off each roll call, and not voting is
    0 thereafter. The sign puts Republicans on the right.
    """
    counts = corpus.to_csr().toarray().astype(np.float64)
    cast = counts[:, 0::2] + counts[:, 1::2]
    votes = counts[:, 0::2] - counts[:, 1::2]
    centred = votes - cast * (votes.sum(axis=0) / np.maximum(cast.sum(axis=0), 1.0))
    left, singular, _ = np.linalg.svd(centred, full_matrices=False)
    wing = left[:, 0] * singular[0]
    right, rest = parties == "R", parties != "R"
    if right.any() and rest.any() and wing[right].mean() < wing[rest].mean():
        wing = -wing
    return wing, float(singular[0] ** 2 / np.maximum((singular**2).sum(), 1e-300))


def _bloc_order(membership: Array, wing: Array) -> Array:
    """Blocs by the mean place of their members from wing to wing; near-empty ones last."""
    seats = membership.sum(axis=0)
    place = wing @ membership / np.maximum(seats, 1e-300)
    return np.lexsort((place, seats < 1.0))
