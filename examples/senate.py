# SPDX-License-Identifier: BSD-3-Clause
"""Blocs of the US Senate in 2003: their number, their members, and their share of the outcome."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from _held_out_votes import KINDS_OF_SPLITS, METHODS, ORIENTATIONS, Length, bits, held_out
from _roll_calls import load, turned
from _senate_tables import show_chosen, show_held_out, show_in_sample
from common import Report
from joblib import Parallel, delayed

import discan
from discan import plot
from discan.demos.blocs import Blocs, find_blocs
from discan.demos.senate_page import page
from discan.plot.page import write_page
from discan.typing import Array


def main() -> None:
    """Fit both orientations for all K, choose K by held-out votes, and draw the blocs."""
    report = Report(
        "senate",
        "Blocs of the United States Senate",
        "Which blocs did the Senate of 2003 have, and can their number be known? The example "
        "of the paper, with its figures beside ours, and votes that were held out to choose "
        "the number of blocs.",
    )
    run = Length((2, 3), 3, 2, 2, 2, 2, 10, 5) if report.quick else Length()
    data, year = load()
    if year == 2005:
        report.name = "senate2005"  # do not overwrite the results of 2003
    report.say(
        f"{year}: {data.corpus.n_documents} senators, {data.corpus.n_groups} roll calls, "
        f"{data.corpus.n_tokens:,} votes cast. A document is a senator and each roll call a group "
        "of two words, yea and nay; or the other way round. An absence is no count. Jeffreys' "
        "prior of the loadings, alpha = 0.1."
    )
    tables = dict(zip(ORIENTATIONS, (data.corpus, turned(data.corpus)), strict=True))
    # the longest fits first, so that no process is idle at the end
    sizes = (1, *run.sizes)
    works = [(o, k) for k in run.sizes[::-1] for o in ORIENTATIONS]
    with Parallel(n_jobs=2) as parallel:
        fits = parallel(delayed(in_sample)(tables[o], k, run) for o, k in works)
        show_in_sample(report, run, dict(zip(works, fits, strict=True)), year)

        works = [(o, k) for k in sizes[::-1] for o in ORIENTATIONS]
        found = parallel(
            delayed(held_out)(
                data.corpus, "random splits", s, o, k, "variational", run.starts_per_size, run
            )
            for o, k in works
            for s in range(run.splits)
        )
        averaged = np.reshape([bits(part).averaged for part in found], (len(works), -1))
        scores = dict(zip(works, averaged, strict=True))
        show_held_out(report, run, {o: {k: scores[o, k] for k in sizes} for o in ORIENTATIONS})

        works = [(h, m, s, o) for h in KINDS_OF_SPLITS for m in METHODS
                 for s in range(run.splits) for o in ORIENTATIONS]  # fmt: skip
        found = parallel(
            delayed(held_out)(data.corpus, h, s, o, run.chosen, m, run.n_starts(m), run)
            for h, m, s, o in works
        )
        show_chosen(report, run, dict(zip(works, found, strict=True)), year)

    title = f"The blocs of the United States Senate, {year}"
    blocs = replace(find_blocs(data, 5, 1 if report.quick else 6), title=title)
    show_blocs(report, replace(blocs, description=data.description), year)
    report.write(
        data=f"{year}", alpha=0.1, gamma=0.5, K=f"{sizes[0]} to {sizes[-1]}",
        starts=f"variational {run.starts}; sampler {run.chains} chains of {run.burn_in} + "
        f"{run.n_draws} sweeps (collapsed Gibbs); all from MAP",
        held_out=f"10 % of the votes, {run.splits} times", threads=2,
    )  # fmt: skip


def in_sample(corpus: discan.Corpus, n_components: int, run: Length) -> tuple[Array, Array, Array]:
    """Return the bits of the fitted votes: the bound, at the estimates, and by the chains."""
    parts: list[list[float]] = [[], [], []]
    for method, part in zip(METHODS, parts[1:], strict=True):
        for seed in range(run.n_starts(method)):
            model = run.fit(corpus, n_components, method, seed)
            documents = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.indptr))
            chance = (model.proportions_ @ model.components_)[documents, corpus.words]
            part.append(float(-np.log2(chance[corpus.counts > 0]).sum()))
            if method == "variational":
                parts[0].append(-model.trace_["objective"][-1] / np.log(2))
    bound, variational, sampled = map(np.array, parts)
    return bound, variational, sampled


def show_blocs(report: Report, blocs: Blocs, year: int) -> None:
    """Show the members of the five blocs, their share of the outcome, the squares, and a page."""
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
        "blocs: whose votes the outcomes resemble, not who caused them. Seats are not whole "
        f"numbers. Five blocs were allowed; {len(blocs.used)} hold at least one seat. The run "
        "shown is the one that agrees best with the others."
    )
    squares = plot.membership_squares(
        blocs.membership, blocs.members, np.where(blocs.parties == "R", "Republicans", "Democrats"),
        order=np.argsort(blocs.order), title=blocs.title,
        component_names=[f"bloc {letter}" for letter in blocs.letters],
        subtitle="A column is a senator, ordered by the first principal "
        f"component of the votes ({blocs.explained:.0%} of their variance); Jeffords, the one "
        "independent, stands with the Democrats",
    )  # fmt: skip
    report.figure(squares, "squares", f"Five shaded squares for each senator of {year}, by party")
    text = page(blocs, squares)
    report.files.append(write_page(report.out / f"{report.name}.html", text))


if __name__ == "__main__":
    main()
