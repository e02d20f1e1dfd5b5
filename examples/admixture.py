# SPDX-License-Identifier: BSD-3-Clause
"""Ancestry of 324 people from 13,928 SNPs (HapMap3), compared with the fit of ADMIXTURE."""

from __future__ import annotations

import time
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from common import Report, needed

import discan
from discan import plot
from discan.fitting.run import Run
from discan.readers.datasets import load_hapmap3
from discan.typing import Array

N_POPULATIONS = 3
N_COMPONENTS = range(3, 11)  # of the table of passes
SEEDS = range(4)
LONG, SHORT = 450, 90  # passes
NEAR = 1e-4  # nats
FILES = ("bed", "bim", "fam", "pops", "3.P", "3.Q")
POPULATIONS = {  # in the order of the figure
    "YRI": "Yoruba (YRI)",
    "ASW": "Southwest (ASW)",
    "CEU": "Utah (CEU)",
    "MEX": "Mexican (MEX)",
}


def main() -> None:
    """Fit three ancestral populations by maximum likelihood, and compare with ADMIXTURE."""
    folder = needed("hapmap3", *(f"hapmap3.{end}" for end in FILES))
    report = Report(
        "admixture",
        "Ancestry from genotypes: HapMap3 and ADMIXTURE",
        "Does discan find the same ancestry as ADMIXTURE, the usual program for it?",
    )
    data = load_hapmap3(folder)
    counts = data.corpus.to_csr()
    if report.quick:
        counts = counts[:, :2000]
    corpus = discan.Corpus(counts, groups=np.repeat(np.arange(counts.shape[1] // 2), 2))
    report.say(
        f"{corpus.n_documents} people, {corpus.n_groups:,} SNPs; each SNP is a group of two "
        f"alleles, a person has two of them, and a missing genotype has none: "
        f"{corpus.n_tokens:,.0f} alleles. Maximum likelihood (PLSI with groups), which is what "
        "ADMIXTURE maximises."
    )
    fitted = race(report, corpus, counts)
    model = fitted.model
    report.say(
        "All fits begin at corners of the cloud of people on the first principal components "
        '(`init="corners"`). A pass reads all genotypes once; passes that had to be made again '
        f"count. SQUAREM has seed 0. Quasi-Newton steps have {len(SEEDS)} seeds, 0 among them, "
        "which make starts that differ little, and stop at the log-likelihood of SQUAREM, "
        f"or where it is at most {NEAR:g} nats lower, which is the gain at which ADMIXTURE stops. "
        "Seconds are of the processor, with the start; those of quasi-Newton steps are the median. "
        f"Below are the {N_POPULATIONS} components of a quasi-Newton fit of {SHORT} passes."
    )
    theirs, frequencies = read_admixture(folder, counts.shape[1])
    ours = matched(model.proportions_, theirs)
    names = main_populations(ours, data.document_table["population"])
    report.table(
        ["component, by where it is largest", "correlation with ADMIXTURE", "mean abs. difference"],
        [
            [name, f"{np.corrcoef(ours[:, k], theirs[:, k])[0, 1]:.5f}",
             f"{np.abs(ours[:, k] - theirs[:, k]).mean():.4f}"]
            for k, name in enumerate(names)
        ],
    )  # fmt: skip
    fits = {
        "discan": (model.proportions_, model.components_),
        "ADMIXTURE, from the files of the data": (theirs, frequencies),
    }
    report.table(
        ["fit", "log-likelihood, nats", "nats per allele"],
        [
            [name, f"{total:,.1f}", f"{total / corpus.n_tokens:.6f}"]
            for name, total in ((name, log_likelihood(counts, *fit)) for name, fit in fits.items())
        ],
    )
    report.say(
        "The log-likelihood is the sum of log(q p) over all known alleles, where q is a person's "
        "ancestry and p the frequencies of the allele in the populations, for all fits; binomial "
        "coefficients are left out. ADMIXTURE's files have six decimals and a minimum of 0.00001."
    )
    codes = data.document_table["population"]
    order = np.argsort([list(POPULATIONS).index(code) for code in codes], kind="stable")
    report.figure(
        plot.structure(
            ours[order],
            [POPULATIONS[code] for code in codes[order]],
            component_names=[f"most in {name}" for name in names],
            title="Ancestry of 324 people",
            subtitle="Yoruba of Nigeria; African Americans of the Southwest; people of Utah, of "
            "European descent; Mexican Americans of Los Angeles",
        ),
        "structure",
        "A thin column for each person, coloured by the shares of three ancestral populations",
    )
    report.write(
        components=N_POPULATIONS, algorithm="maximum likelihood, quasi-Newton",
        passes=fitted.passes, threads=2,
    )  # fmt: skip


class Fitted(NamedTuple):
    """A fit, its passes over the data, its objective, and processor seconds."""

    model: discan.PLSI
    passes: int
    objective: float
    seconds: float


def fit(
    corpus: discan.Corpus, n_components: int, accelerate: str, most: int, seed: int = 0,
    goal: float = np.inf,
) -> Fitted:  # fmt: skip
    """Fit by so many passes at most, or up to an objective; a pass made again counts again."""
    passes = 0

    def count(run: Run) -> bool:
        nonlocal passes
        passes = getattr(run.params.memory, "passes", run.cycle)
        return passes >= most or run.trace["objective"][-1] >= goal

    began = time.process_time()
    model = discan.PLSI(
        n_components, algorithm=discan.MaximumLikelihood(accelerate=accelerate), init="corners",
        max_iter=most, tol=0.0, n_jobs=2, random_state=seed, callback=count, progress=False,
    ).fit(corpus)  # fmt: skip
    seconds = time.process_time() - began
    return Fitted(model, passes, model.trace_["objective"][-1], seconds)


def race(report: Report, corpus: discan.Corpus, counts: Any) -> Fitted:
    """Write the table of passes; return a quasi-Newton fit of three components."""
    long, short = (20, 10) if report.quick else (LONG, SHORT)
    rows = []
    for n_components in N_COMPONENTS:
        strides = fit(corpus, n_components, "squarem", long)
        goal = strides.objective - NEAR
        fits = [fit(corpus, n_components, "quasi-newton", long, seed, goal) for seed in SEEDS]
        total = log_likelihood(counts, strides.model.proportions_, strides.model.components_)
        passes = [each.passes if each.objective >= goal else np.inf for each in fits]
        least, median, greatest = (
            f"{n:g}" if n < np.inf else f"> {long}"
            for n in (min(passes), np.median(passes), max(passes))
        )
        rows.append([
            str(n_components), f"{total:,.1f}", f"{strides.seconds:.0f}",
            median, f"{least} to {greatest}",
            f"{np.median([each.seconds for each in fits]):.1f}",
        ])  # fmt: skip
    report.table(
        ["components", f"SQUAREM, {long} passes: log-likelihood", "seconds",
         "passes of quasi-Newton to it, median", "range", "seconds"], rows,
    )  # fmt: skip
    return fit(corpus, N_POPULATIONS, "quasi-newton", short)


def read_admixture(folder: Path, n_columns: int) -> tuple[Array, Array]:
    """Q (I, K), and P as components: frequencies of both alleles, (K, 2 G)."""
    shares = np.loadtxt(folder / "hapmap3.3.Q")
    second = np.loadtxt(folder / "hapmap3.3.P").T  # P is of the second allele of the .bim file
    both = np.stack([1 - second, second], axis=2).reshape(len(second), -1)
    return shares, both[:, :n_columns]


def matched(ours: Array, theirs: Array) -> Array:
    """Sort our columns so that they agree best with theirs."""
    orders = [list(order) for order in permutations(range(ours.shape[1]))]
    return ours[:, min(orders, key=lambda order: np.abs(ours[:, order] - theirs).sum())]


def main_populations(shares: Array, populations: Array) -> list[str]:
    """Return the population with the largest mean share of each component."""
    codes = np.unique(populations)
    means = np.stack([shares[populations == code].mean(axis=0) for code in codes])
    return [str(codes[k]) for k in means.argmax(axis=0)]


def log_likelihood(counts: Array, shares: Array, components: Array) -> float:
    """Return the sum of log(q p) over all known alleles, computed for 64 people at a time."""
    total = 0.0
    for start in range(0, len(shares), 64):
        part = counts[start : start + 64].toarray()
        chances = np.maximum(shares[start : start + 64] @ components, 1e-300)
        total += float((part * np.log(chances)).sum())
    return total


if __name__ == "__main__":
    main()
