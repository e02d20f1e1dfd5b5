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
N_COMPONENTS = (3, 5, 8, 10)  # of the table of passes
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
        "count. Seconds are of the processor, with the start. An equal log-likelihood is one "
        f"that is at most {NEAR:g} nats lower, which is the gain at which ADMIXTURE stops. "
        f"Below are the {N_POPULATIONS} components of the quasi-Newton fit."
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
        passes=fitted.passes[-1], threads=2,
    )  # fmt: skip


class Fitted(NamedTuple):
    """A fit: passes over the data and objective after each cycle, and processor seconds."""

    model: discan.PLSI
    passes: Array
    objective: Array
    seconds: float

    def passes_to(self, other: Fitted) -> int | None:
        """Passes until the objective is that of another fit, or None if that takes more."""
        reached = self.objective >= other.objective[-1] - NEAR
        return int(self.passes[reached.argmax()]) if reached.any() else None


def fit(corpus: discan.Corpus, n_components: int, accelerate: bool | str, most: int) -> Fitted:
    """Fit by so many passes at most; a pass that is made again counts again."""
    passes: list[int] = []

    def count(run: Run) -> bool:
        passes.append(getattr(run.params.memory, "passes", run.cycle))
        return passes[-1] >= most

    began = time.process_time()
    model = discan.PLSI(
        n_components, algorithm=discan.MaximumLikelihood(accelerate=accelerate), init="corners",
        max_iter=most, tol=0.0, n_jobs=2, random_state=0, callback=count, progress=False,
    ).fit(corpus)  # fmt: skip
    seconds = time.process_time() - began
    return Fitted(model, np.array(passes), np.array(model.trace_["objective"]), seconds)


def race(report: Report, corpus: discan.Corpus, counts: Any) -> Fitted:
    """Write the table of passes; return the accelerated fit of three components."""
    long, short = (20, 10) if report.quick else (LONG, SHORT)
    rows, chosen = [], None
    for n_components in N_COMPONENTS:
        plain, strides = (fit(corpus, n_components, how, long) for how in (False, "squarem"))
        fast = fit(corpus, n_components, "quasi-newton", short)
        if n_components == N_POPULATIONS:
            chosen = fast
        rows.append([str(n_components)])
        for each in (plain, strides, fast):
            total = log_likelihood(counts, each.model.proportions_, each.model.components_)
            rows[-1] += [f"{total:,.1f}", f"{each.seconds:.0f}"]
        rows[-1] += [str(fast.passes_to(other) or f"> {short}") for other in (plain, strides)]
    assert chosen is not None
    report.table(
        [
            "components",
            f"plain EM, {long} passes: log-likelihood", "seconds",
            f"SQUAREM, {long} passes: log-likelihood", "seconds",
            f"quasi-Newton, {short} passes: log-likelihood", "seconds",
            "passes of quasi-Newton to that of plain EM", "to that of SQUAREM",
        ],
        rows,
    )  # fmt: skip
    return chosen


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
