# SPDX-License-Identifier: BSD-3-Clause
"""Blocs of the US Senate in 2003: how many, who is in them, and whose outcome it was."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from _held_out_votes import ORIENTATIONS, PRIOR, Score, bits, chances, fold, split
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
TARGET = 0.23  # bits a held-out vote that five blocs ought to reach
METHODS = ("variational", "sampler")
KINDS_OF_SPLITS = {"random splits": split, "disjoint tenths": fold}


class Length(NamedTuple):
    """How much to run."""

    sizes: tuple[int, ...] = tuple(range(2, 11))
    chosen: int = 5
    starts: int = 10
    chains: int = 4
    splits: int = 10
    burn_in: int = 150
    n_draws: int = 60

    def method(self, name: str) -> tuple[Any, int]:
        """Return an algorithm and its number of starts."""
        if name == "variational":
            return discan.Variational(), self.starts
        return discan.Collapsed(self.burn_in, self.n_draws, keep_draws=True), self.chains


def main() -> None:
    """Fit both orientations for all K, choose K by held-out votes, and draw the blocs."""
    report = Report("senate", "Blocs of the United States Senate")
    run = Length((2, 3), 3, 2, 2, 2, 10, 5) if report.quick else Length()
    data, year = load()
    if year == 2005:
        report.name = "senate2005"  # what was found in 2003 stays
    report.say(
        f"{year}: {data.corpus.n_documents} senators, {data.corpus.n_groups} roll calls, "
        f"{data.corpus.n_tokens:,} votes cast. A document is a senator and each roll call a group "
        "of two words, yea and nay; or the other way round. Not voting is no count. Jeffreys' "
        "prior of the loadings, alpha = 0.1."
    )
    tables = dict(zip(ORIENTATIONS, (data.corpus, turned(data.corpus)), strict=True))
    # the longest first, so that no process waits for another at the end
    sizes = (1, *run.sizes)
    works = [(o, k) for k in run.sizes[::-1] for o in ORIENTATIONS]
    with Parallel(n_jobs=2) as parallel:
        fits = parallel(delayed(in_sample)(tables[o], k, run) for o, k in works)
        show_in_sample(report, run, dict(zip(works, fits, strict=True)), year)

        works = [(o, k) for k in sizes[::-1] for o in ORIENTATIONS]
        found = parallel(
            delayed(held_out)(data.corpus, split, s, o, k, "variational", run)
            for o, k in works
            for s in range(run.splits)
        )
        averaged = np.reshape([bits(part).averaged for part in found], (len(works), -1))
        scores = dict(zip(works, averaged, strict=True))
        show_held_out(report, run, {o: {k: scores[o, k] for k in sizes} for o in ORIENTATIONS})

        works = [(h, m, s, o) for h in KINDS_OF_SPLITS for m in METHODS
                 for s in range(run.splits) for o in ORIENTATIONS]  # fmt: skip
        found = parallel(
            delayed(held_out)(data.corpus, KINDS_OF_SPLITS[h], s, o, run.chosen, m, run)
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
    """Bits of the very votes that were fitted: the bound, at the estimates, and by the chains."""
    parts: list[list[float]] = [[], [], []]
    for method, part in zip(METHODS, parts[1:], strict=True):
        algorithm, n_starts = run.method(method)
        for seed in range(n_starts):
            model = discan.MPCA(
                n_components, algorithm=algorithm, init="map", max_iter=500, tol=1e-6,
                random_state=seed, **PRIOR,
            ).fit(corpus)  # fmt: skip
            documents = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.indptr))
            chance = (model.proportions_ @ model.components_)[documents, corpus.words]
            part.append(float(-np.log2(chance[corpus.counts > 0]).sum()))
            if method == "variational":
                parts[0].append(-model.trace_["objective"][-1] / np.log(2))
    bound, variational, sampled = map(np.array, parts)
    return bound, variational, sampled


def held_out(
    corpus: discan.Corpus, hide: Any, number: int, orientation: str, n_components: int,
    method: str, run: Length,
) -> Array:  # fmt: skip
    """Chances of the hidden votes of a split by each start, (starts, votes)."""
    algorithm, n_starts = run.method(method)
    seeds = range(100 * number, 100 * number + n_starts)
    return chances(hide(corpus, number), orientation, n_components, algorithm, seeds)


def show_in_sample(report: Report, run: Length, fits: dict, year: int) -> None:
    """Table of the bits of the fitted votes, beside the paper's."""
    report.say("## In-sample bits: how closely the votes are fitted")
    rows, best, widest = [], {}, 0.0
    for k in run.sizes:
        row = [k, f"{PAPER[k]:,.1f}" if k in PAPER and year == 2003 else "-"]
        for o in ORIENTATIONS:
            bound, plug_in, chains = fits[o, k]
            row += [f"{plug_in[bound.argmin()]:,.0f} ({plug_in.min():,.0f}-{plug_in.max():,.0f})",
                    f"{chains.mean():,.0f} ({chains.min():,.0f}-{chains.max():,.0f})",
                    f"{bound.min():,.0f}"]  # fmt: skip
            best[o, k] = bound.min()
        rows.append(row)
        if k in PAPER:
            widest = max(widest, np.ptp(fits[ORIENTATIONS[0], k][1]))
    report.table(["K", "paper", *(f"{o}: {kind}" for o in ORIENTATIONS for kind in
                                  (*METHODS, "bound"))], rows)  # fmt: skip
    fewest = [min(run.sizes, key=lambda k, o=o: best[o, k]) for o in ORIENTATIONS]
    report.say(
        "Bits (-log2) of the fitted votes at the estimates, documents = senators or roll calls. "
        f"Variational: the start with the best bound, and the range over {run.starts} starts. "
        f"Sampler: at the means over draws, mean and range over {run.chains} chains. Bound: on the "
        "bits of the evidence, which charges for the parameters; the fewest are for "
        f"K = {fewest[0]} (senators) and {fewest[1]} (roll calls)."
    )
    if year == 2003 and not report.quick:
        report.say(
            "The paper gives no formula. Its figures are of the size of the first column, senators "
            "by the variational method, and so are taken to be in-sample. From K = 5 to 10 they "
            f"differ by {max(PAPER[k] for k in PAPER if k > 4) - PAPER[5]:.0f} bits; starts at one "
            f"K differ by up to {widest:,.0f} here. Such figures cannot choose K: that 5 blocs are "
            "'overwhelmingly selected' does not follow from them."
        )


def show_held_out(report: Report, run: Length, scores: dict[str, dict[int, Array]]) -> None:
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
    report.say(
        f"A tenth of the votes was hidden, {run.splits} times at random, the same for both "
        "orientations; their chances, by the variational posterior, were averaged over "
        f"{run.starts} starts, of which none was left out. Means and standard errors over splits; "
        "splits overlap, so the errors are too small if anything."
    )
    for o in ORIENTATIONS:
        table = scores[o]
        least = table[best[o]].mean() + standard_error(table[best[o]])
        enough = min(k for k in table if table[k].mean() <= least)
        level = [k for k in table if more[o, k].mean() <= 2 * standard_error(more[o, k])]
        report.say(
            f"Documents = {o}: the best K is {best[o]}; within two standard errors of it, split by "
            f"split: {', '.join(map(str, level))}. The smallest within one standard error of the "
            f"best is {enough}."
        )
        report.figure(
            plot.quality(
                {k: bits for k, bits in table.items() if k > 1}, higher_is_better=False,
                measure="bits a held-out vote", title=f"How many blocs? Documents = {o}",
            ), f"held-out-{o.replace(' ', '-')}", f"Bits a held-out vote by K, documents = {o}",
        )  # fmt: skip


def show_chosen(report: Report, run: Length, found: dict, year: int) -> None:
    """What averaging over starts does for one K, by both methods, and on disjoint tenths."""
    report.say(f"## {run.chosen} blocs: starts by themselves, and averaged")
    rows, averaged = [], {}
    for how in KINDS_OF_SPLITS:
        for method in METHODS:
            parts = [[found[how, method, s, o] for s in range(run.splits)] for o in ORIENTATIONS]
            # the two orientations are two models of the same votes: their chances may be averaged
            parts.append([np.concatenate(pair) for pair in zip(*parts, strict=True)])
            scores = [Score(*map(np.array, zip(*map(bits, part), strict=True))) for part in parts]
            averaged[how, method] = [score.averaged for score in scores]
            n_starts = run.method(method)[1]
            name = f"{how}: {method}, "
            rows.append([name + "one start", *(mean_and_error(s.single) for s in scores[:2]), "-"])
            rows.append([f"{name}{n_starts} averaged", *(mean_and_error(s.averaged) for s in scores)])
    report.table(["", *ORIENTATIONS, "both averaged"], rows)
    report.say(
        "Bits a held-out vote, mean and standard error. Each start ends near an optimum of its "
        "own; the average of their chances is the mixture that several starts stand for."
    )
    if year == 2003 and not report.quick:
        columns = (*ORIENTATIONS, "both averaged")
        for (how, method), scores in averaged.items():
            met = [name for name, score in zip(columns, scores, strict=True)
                   if score.mean() <= TARGET]  # fmt: skip
            report.say(f"At most {TARGET} bits, {how}, {method}: {', '.join(met) or 'none'}.")


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
