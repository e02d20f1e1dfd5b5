# SPDX-License-Identifier: BSD-3-Clause
"""Ancestry of 324 people from 13,928 SNPs (HapMap3), compared with the fit of ADMIXTURE."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from pathlib import Path

import numpy as np
from common import Report, needed

import discan
from discan import plot
from discan.algorithms.acceleration import Accelerated
from discan.algorithms.base import Start
from discan.readers.datasets import load_hapmap3
from discan.typing import Array

N_POPULATIONS = 3
FILES = ("bed", "bim", "fam", "pops", "3.P", "3.Q")
POPULATIONS = {  # in the order of the figure
    "YRI": "Yoruba (YRI)",
    "ASW": "Southwest (ASW)",
    "CEU": "Utah (CEU)",
    "MEX": "Mexican (MEX)",
}


@dataclass(frozen=True)
class DoubleEM(discan.MAP):
    """EM in double precision, for data of any size."""

    def precision(self, corpus: discan.Corpus, params: object) -> type:
        """Return the type of loadings and scores."""
        return np.float64


@dataclass(frozen=True)
class Exact(discan.MaximumLikelihood):
    """Maximum likelihood in double precision: the last few nats need it."""

    @cached_property
    def wrapped(self) -> Accelerated:
        """Accelerated EM."""
        return Accelerated(DoubleEM())


def main() -> None:
    """Fit three ancestral populations by maximum likelihood, and compare with ADMIXTURE."""
    folder = needed("hapmap3", *(f"hapmap3.{end}" for end in FILES))
    report = Report("admixture", "Ancestry from genotypes: HapMap3 and ADMIXTURE")
    data = load_hapmap3(folder)
    counts = data.corpus.to_csr()
    if report.quick:
        counts = counts[:, :2000]
    corpus = discan.Corpus(counts, groups=np.repeat(np.arange(counts.shape[1] // 2), 2))
    began = time.perf_counter()
    start = find_corners(counts.toarray(), N_POPULATIONS)
    started = time.perf_counter() - began
    model = discan.PLSI(
        N_POPULATIONS, algorithm=Exact(), init=start, max_iter=20 if report.quick else 450, tol=0.0,
        n_jobs=2, random_state=0, progress=False,
    ).fit(corpus)  # fmt: skip
    fitted = time.perf_counter() - began - started

    theirs, frequencies = read_admixture(folder, counts.shape[1])
    ours = matched(model.proportions_, theirs)
    report.say(
        f"{corpus.n_documents} people, {corpus.n_groups:,} SNPs; each SNP is a group of two "
        f"alleles, a person has two of them, and a missing genotype has none: "
        f"{corpus.n_tokens:,.0f} alleles. {N_POPULATIONS} components, maximum likelihood (PLSI "
        "with groups), which is what ADMIXTURE maximises."
    )
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
        "where discan started": (start.scores, start.loading_counts.T),
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
    report.say(
        f"The start took {started:.1f} s: corners of the cloud of people on the first "
        f"{N_POPULATIONS - 1} principal components, and frequencies by least squares. The fit took "
        f"{fitted:.1f} s, {model.n_iter_} passes of accelerated EM. From a random start EM "
        "is slow, because one of the populations occurs only in mixtures: a trial was still 1,460 "
        "nats below ADMIXTURE after 1,100 passes."
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
        components=N_POPULATIONS, algorithm="maximum likelihood, accelerated", passes=model.n_iter_,
        threads=2,
    )  # fmt: skip


def find_corners(counts: Array, n_components: int) -> Start:
    """Start from the most extreme people: all others are nearly mixtures of them.

    Parameters
    ----------
    counts : (I, 2 G) array
        Counts of the two alleles of each SNP.

    Returns
    -------
    Start
        Shares of each person, and allele frequencies by least squares.
    """
    seen, second = counts[:, 0::2] + counts[:, 1::2], counts[:, 1::2]
    usual = second.sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    share = np.where(seen > 0, second / np.maximum(seen, 1), usual)
    centred = share - share.mean(axis=0)
    squares, axes = np.linalg.eigh(centred @ centred.T)  # gives the principal components
    places = (axes * np.sqrt(np.maximum(squares, 0.0)))[:, 1 - n_components :]
    corners = [int(np.argmax((places**2).sum(axis=1)))]
    for _ in range(n_components - 1):
        # as far as possible from the point, line, plane ... through the corners so far
        away = places - places[corners[0]]
        if len(corners) > 1:
            basis, _ = np.linalg.qr(away[corners[1:]].T)
            away = away - away @ basis @ basis.T
        corners.append(int(np.argmax((away**2).sum(axis=1))))
    padded = np.column_stack([places, np.ones(len(places))])
    shares = np.linalg.solve(padded[corners].T, padded.T).T
    frequency = np.clip(np.linalg.lstsq(shares, share, rcond=None)[0], 0.01, 0.99)
    shares = np.maximum(shares, 0.001)
    loadings = np.stack([1 - frequency, frequency], axis=2).reshape(n_components, -1).T
    return Start(loadings.copy(), shares / shares.sum(axis=1, keepdims=True))


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
