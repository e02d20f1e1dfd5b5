# SPDX-License-Identifier: BSD-3-Clause
"""Blocs of the US Senate in 2003: how many, who is in them, and whose outcome it was."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from _roll_calls import load, turned
from common import Report, mean_and_error, standard_error
from joblib import Parallel, delayed

import discan
from discan import plot
from discan.demos.senate import find_blocs
from discan.plot import to_svg
from discan.report.senate import Blocs, page, write_page
from discan.typing import Array

PAPER = {4: 9448.6, 5: 9245.9, 6: 9283.1, 7: 9277.1, 10: 9346.7}
PRIOR = {"alpha": 0.1, "gamma": 0.5, "progress": False}  # gamma = 1/2 is Jeffreys' prior
ORIENTATIONS = ("senators", "roll calls")


class Length(NamedTuple):
    """How much to run."""

    sizes: tuple[int, ...] = tuple(range(2, 11))
    starts: int = 4
    splits: int = 10
    chains: int = 3
    burn_in: int = 150
    n_draws: int = 60


def main() -> None:
    """Fit both orientations for all K, choose K by held-out votes, and draw the blocs."""
    report = Report("senate", "Blocs of the United States Senate")
    run = Length((2, 3), 2, 2, 1, 10, 5) if report.quick else Length()
    data, year = load()
    tables = dict(zip(ORIENTATIONS, (data.corpus, turned(data.corpus)), strict=True))
    if year == 2005:
        report.name = "senate2005"  # what was found in 2003 stays
    report.say(
        f"{year}: {data.corpus.n_documents} senators, {data.corpus.n_groups} roll calls, "
        f"{data.corpus.n_tokens:,} votes cast. A document is a senator and each roll call a group "
        "of two words, yea and nay; or the other way round. Not voting is no count. Jeffreys' "
        "prior of the loadings, alpha = 0.1."
    )
    sizes = (1, *run.sizes)
    works = [(o, k, s) for o in ORIENTATIONS for k in run.sizes for s in range(run.starts)]
    fits = Parallel(n_jobs=2)(delayed(in_sample)(tables[o], k, s, run) for o, k, s in works)
    show_in_sample(report, run, dict(zip(works, fits, strict=True)), year)

    works = [(o, k) for o in ORIENTATIONS for k in sizes]
    bits = Parallel(n_jobs=2)(
        delayed(held_out)(tables[o], k, s, run) for o, k in works for s in range(run.splits)
    )
    scores = dict(zip(works, np.reshape(bits, (len(works), -1)), strict=True))
    show_held_out(report, {o: {k: scores[o, k] for k in sizes} for o in ORIENTATIONS})

    title = f"The blocs of the United States Senate, {year}"
    blocs = replace(find_blocs(data, 5, 1 if report.quick else 6), title=title)
    show_blocs(report, replace(blocs, description=data.description), year)
    report.write(
        data=f"{year}", alpha=0.1, gamma=0.5, K=f"{sizes[0]} to {sizes[-1]}",
        in_sample=f"{run.starts} starts; chains of {run.burn_in} + {run.n_draws} sweeps",
        held_out=f"{run.splits} random splits, 10 % of the votes held out, {run.chains} chains",
        threads=2,
    )  # fmt: skip


def chain(corpus: discan.Corpus, n_components: int, seed: int, run: Length) -> discan.MPCA:
    """Sample the posterior, from a start by MAP."""
    sampler = discan.Collapsed(burn_in=run.burn_in, n_draws=run.n_draws)
    return discan.MPCA(
        n_components, algorithm=sampler, init="map", random_state=seed, **PRIOR
    ).fit(corpus)  # fmt: skip


def vote_chances(model: discan.MPCA, corpus: discan.Corpus) -> Array:
    """Probability of each vote of the corpus by the model's estimates of its documents."""
    documents = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.indptr))
    cast = corpus.counts > 0
    chances = (model.proportions_ @ model.components_)[documents[cast], corpus.words[cast]]
    return np.asarray(chances)


def in_sample(
    corpus: discan.Corpus, n_components: int, seed: int, run: Length
) -> tuple[float, ...]:
    """Bits of the very votes that were fitted: by the bound, at the estimates, and by a chain."""
    model = discan.MPCA(n_components, max_iter=500, tol=1e-7, random_state=seed, **PRIOR)
    model.fit(corpus)
    drawn = chain(corpus, n_components, seed, run)
    plug_in, drawn_bits = (-np.log2(vote_chances(m, corpus)).sum() for m in (model, drawn))
    return [-model.trace_["objective"][-1] / np.log(2), plug_in, drawn_bits]


def held_out(corpus: discan.Corpus, n_components: int, split: int, run: Length) -> float:
    """Bits a vote of held-out votes, their chances averaged over chains from several starts."""
    train, test = discan.split_entries(corpus, 0.1, split)
    chances = [
        vote_chances(chain(train, n_components, 100 * split + start, run), test)
        for start in range(run.chains if n_components > 1 else 1)
    ]
    return float(-np.log2(np.mean(chances, axis=0)).mean())


def show_in_sample(report: Report, run: Length, fits: dict, year: int) -> None:
    """Table of the bits of the fitted votes, beside the paper's."""
    report.say("## In-sample bits: how closely the votes are fitted")
    rows = []
    for k in run.sizes:
        row = [k, f"{PAPER[k]:,.1f}" if k in PAPER and year == 2003 else "-"]
        for o in ORIENTATIONS:
            bound, plug_in, chains = np.array([fits[o, k, s] for s in range(run.starts)]).T
            row += [f"{plug_in[bound.argmin()]:,.0f} ({plug_in.min():,.0f}-{plug_in.max():,.0f})",
                    f"{chains.mean():,.0f} ({chains.min():,.0f}-{chains.max():,.0f})",
                    f"{bound.min():,.0f}"]  # fmt: skip
        rows.append(row)
    fewest = min((fit[0], k) for (o, k, _), fit in fits.items() if o == ORIENTATIONS[0])
    kinds = ("variational", "sampler", "bound")
    report.table(["K", "paper", *(f"{o}: {kind}" for o in ORIENTATIONS for kind in kinds)], rows)
    report.say(
        "Bits (-log2) of the fitted votes at the estimates, documents = senators or roll calls. "
        "Variational: the start with the best bound, and the range over starts. Sampler: at the "
        "means over draws, mean and range over chains. Bound: on the bits of the evidence, which "
        "charges for the parameters. The paper gives no formula; its figures are of the size of "
        "the first column, and so are taken to be in-sample. Such figures differ more between "
        "starts than between the K in question, and cannot choose K: that 5 blocs are "
        "'overwhelmingly selected' does not follow from them. By the bound, with senators as "
        f"documents, K = {fewest[1]} takes the fewest bits."
    )


def show_held_out(report: Report, scores: dict[str, dict[int, Array]]) -> None:
    """Table, figure and verdict on K."""
    report.say("## Held-out bits a vote: how many blocs?")
    best = {o: min(table, key=lambda k: table[k].mean()) for o, table in scores.items()}
    more = {(o, k): bits - table[best[o]] for o, table in scores.items()
            for k, bits in table.items()}  # fmt: skip
    rows = []
    for k in scores[ORIENTATIONS[0]]:
        pairs = [(scores[o][k], more[o, k]) for o in ORIENTATIONS]
        rows.append([k, *(mean_and_error(*part) for b, m in pairs for part in ((b,), (m, "+")))])
    heads = [f"{o}{what}" for o in ORIENTATIONS for what in ("", ", more than the best")]
    report.table(["K", *heads], rows)
    for o in ORIENTATIONS:
        table = scores[o]
        least = table[best[o]].mean() + standard_error(table[best[o]])
        enough = min(k for k in table if table[k].mean() <= least)
        level = [k for k in table if more[o, k].mean() <= 2 * standard_error(more[o, k])]
        report.say(
            f"Documents = {o}: the best K is {best[o]}; within two standard errors of it, split by "
            f"split: {', '.join(map(str, level))}. The smallest within one standard error of the "
            f"best is {enough}. Splits overlap, so the errors are too small if anything."
        )
        report.figure(
            plot.quality(
                {k: bits for k, bits in table.items() if k > 1}, higher_is_better=False,
                measure="bits a held-out vote", title=f"How many blocs? Documents = {o}",
            ), f"held-out-{o.replace(' ', '-')}", f"Bits a held-out vote by K, documents = {o}",
        )  # fmt: skip


def show_blocs(report: Report, blocs: Blocs, year: int) -> None:
    """Who is in the five blocs, whose outcome it was, the squares, and a page."""
    report.say("## Five blocs, and the outcome as one more senator")
    seats = blocs.seats / blocs.seats.sum()
    report.table(
        ["bloc", "seats", "of the outcome", "its majority won", "most typical"],
        [[blocs.letters[k], f"{seats[k]:.0%}", f"{blocs.outcome[k]:.0%}",
          f"{blocs.agreement[k]:.0%}", ", ".join(blocs.members[i] for i in blocs.typical(k, 3))]
         for k in range(len(seats))],
    )  # fmt: skip
    report.say(
        "The outcome of every roll call is the ballot of one more senator, described by the same "
        "blocs: whose votes the outcomes look like, which is not who brought them about. Seats "
        f"come in parts. Five blocs were allowed; {len(blocs.used)} hold a seat or more, and the "
        "run shown is the one that agrees best with the others."
    )
    squares = plot.membership_squares(
        blocs.membership, blocs.members, np.where(blocs.parties == "R", "Republicans", "Democrats"),
        order=np.argsort(blocs.order), components=[f"bloc {letter}" for letter in blocs.letters],
        title=blocs.title, subtitle="A column is a senator, ordered by the first principal "
        f"component of the votes ({blocs.explained:.0%} of their variance); Jeffords, the one "
        "independent, stands with the Democrats",
    )  # fmt: skip
    report.figure(squares, "squares", f"Five shaded squares for each senator of {year}, by party")
    drawn = '<svg style="width:100%;height:auto"' + to_svg(squares).partition("<svg")[2]
    figure = f"<h2>Squares</h2><figure>{drawn}</figure>\n\n<h2>The b"
    text = page(blocs).replace("<h2>The b", figure, 1)
    report.files.append(write_page(report.out / f"{report.name}.html", text))


if __name__ == "__main__":
    main()
