# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the Senate example: bits of fitted and of hidden votes, and the choice of K."""

from __future__ import annotations

import numpy as np
from _held_out_votes import KINDS_OF_SPLITS, METHODS, ORIENTATIONS, Length, Score, bits
from common import Report, mean_and_error, standard_error

from discan import plot
from discan.typing import Array

__all__ = ["show_chosen", "show_held_out", "show_in_sample"]

PAPER = {4: 9448.6, 5: 9245.9, 6: 9283.1, 7: 9277.1, 10: 9346.7}
TARGET = 0.23  # bits per held-out vote for five blocs


def show_in_sample(report: Report, run: Length, fits: dict, year: int) -> None:
    """Tabulate the bits of the fitted votes, and those of the paper."""
    report.say("## In-sample bits: how well the votes are fitted")
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
        bounds, plug_ins = zip(*(fits[ORIENTATIONS[0], k][:2] for k in PAPER), strict=True)
        first = [plug_in[bound.argmin()] for bound, plug_in in zip(bounds, plug_ins, strict=True)]
        off = np.abs(np.array(first) / list(PAPER.values()) - 1)
        report.say(
            "The paper gives no formula. The first column, senators by the variational method, is "
            f"within {off.max():.1%} of its figures, which therefore are taken to be in-sample. "
            "From K = 5 to 10 they "
            f"differ by {max(PAPER[k] for k in PAPER if k > 4) - PAPER[5]:.0f} bits; starts at one "
            f"K differ by up to {widest:,.0f} here. Such figures cannot choose K: that 5 blocs are "
            "'overwhelmingly selected' does not follow from them."
        )


def show_held_out(report: Report, run: Length, scores: dict[str, dict[int, Array]]) -> None:
    """Table, figure and choice of K."""
    report.say("## Held-out bits per vote: how many blocs?")
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
        "orientations. Their probabilities under the variational posterior were averaged over all "
        f"{run.starts_per_size} starts. Means and standard errors over splits; the splits overlap, "
        "so the errors may be too small."
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
        # much worse values would hide the differences between the others
        near = {k: part for k, part in table.items() if part.mean() < 1.2 * table[best[o]].mean()}
        far = ", ".join(str(k) for k in table if k not in near)
        report.figure(
            plot.quality(
                near, higher_is_better=False,
                measure="bits per held-out vote", title=f"How many blocs? Documents = {o}",
                subtitle="Lower is better; bars are standard errors over splits, the dotted line "
                "is one above the best" + f"; K = {far} far above" * bool(far),
            ), f"held-out-{o.replace(' ', '-')}", f"Bits per held-out vote by K, documents = {o}",
        )  # fmt: skip


def show_chosen(report: Report, run: Length, found: dict, year: int) -> None:
    """Show the effect of averaging over starts for one K, by both methods and kinds of splits."""
    report.say(f"## {run.chosen} blocs: starts by themselves, and averaged")
    rows, averaged = [], {}
    for how in KINDS_OF_SPLITS:
        for method in METHODS:
            parts = [[found[how, method, s, o] for s in range(run.splits)] for o in ORIENTATIONS]
            # the two orientations are two models of the same votes: their average is a model too
            parts.append([np.concatenate(pair) for pair in zip(*parts, strict=True)])
            scores = [Score(*map(np.array, zip(*map(bits, part), strict=True))) for part in parts]
            averaged[how, method] = [score.averaged for score in scores]
            n_starts = run.n_starts(method)
            name = f"{how}: {method}, "
            rows.append([name + "one start", *(mean_and_error(s.single) for s in scores[:2]), "-"])
            rows.append(
                [f"{name}{n_starts} averaged", *(mean_and_error(s.averaged) for s in scores)]
            )
    report.table(["", *ORIENTATIONS, "both averaged"], rows)
    report.say(
        "Bits per held-out vote, mean and standard error. Each start ends near another optimum; "
        "the average of their probabilities is a mixture of the starts. The sampler was used "
        "first; the variational method was tried after its figures on these random splits were "
        "known. The disjoint tenths, drawn later, check this choice."
    )
    if year == 2003 and not report.quick:
        columns = (*ORIENTATIONS, "both averaged")
        for (how, method), scores in averaged.items():
            met = [name for name, score in zip(columns, scores, strict=True)
                   if score.mean() <= TARGET]  # fmt: skip
            report.say(f"At most {TARGET} bits, {how}, {method}: {', '.join(met) or 'none'}.")
