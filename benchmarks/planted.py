# SPDX-License-Identifier: BSD-3-Clause
"""How many components ``n_components="auto"`` finds in data with a known number of them.

``python benchmarks/planted.py [NAME ...]`` prints the rows of the table in docs/processes.md.
"""

from __future__ import annotations

import sys
import time
from functools import partial

import numpy as np

import discan
from discan import Corpus
from discan.typing import Array


def texts(n_components: int, seed: int = 0) -> Corpus:
    """40 documents per component of 130 tokens on average, 3,000 words with Zipf frequencies."""
    rng = np.random.default_rng(seed)
    frequencies = 1.0 / (np.arange(3000) + 10.0)
    frequencies /= frequencies.sum()
    components = rng.dirichlet(np.maximum(90.0 * frequencies, 1e-3), n_components)
    shares = rng.dirichlet(np.full(n_components, 2.0 / n_components), 40 * n_components)
    return Corpus(rng.poisson(130.0 * shares @ components))


def genotypes(n_populations: int, fst: float | None = None, seed: int = 0) -> Corpus:
    """25 people per population, a quarter of mixed ancestry, 600 loci of two alleles.

    With ``fst``, the allele frequencies of all populations come from one ancestor (Balding and
    Nichols); without, they are independent.
    """
    rng = np.random.default_rng(seed)
    n_people, n_loci = 25 * n_populations, 600
    if fst is None:
        frequencies = rng.uniform(0.02, 0.98, (n_populations, n_loci))
    else:
        ancestor, weight = rng.uniform(0.05, 0.95, n_loci), (1.0 - fst) / fst
        frequencies = rng.beta(ancestor * weight, (1 - ancestor) * weight, (n_populations, n_loci))
    own = np.arange(n_people) % n_populations
    shares: Array = np.eye(n_populations)[own]
    mixed = rng.random(n_people) < 0.25
    part = rng.uniform(0.2, 0.8, (n_people, 1))
    other = np.eye(n_populations)[rng.integers(n_populations, size=n_people)]
    shares[mixed] = (part * shares + (1 - part) * other)[mixed]
    first = rng.binomial(2, shares @ frequencies)
    counts = np.stack([first, 2 - first], axis=2).reshape(n_people, 2 * n_loci)
    return Corpus(counts, groups=np.repeat(np.arange(n_loci), 2))


INDEPENDENT, ANCESTOR = "genotypes, independent frequencies", "genotypes, one ancestor (FST 0.1)"
CASES = {
    "text-7": ("text", "dm", 7, partial(texts, 7)),
    "text-20": ("text", "dm", 20, partial(texts, 20)),
    "text-20-gp": ("text", "gp", 20, partial(texts, 20)),
    "text-20-cgp": ("text", "cgp", 20, partial(texts, 20)),
    "text-60": ("text", "dm", 60, partial(texts, 60)),
    "genotypes-7": (INDEPENDENT, "dm", 7, partial(genotypes, 7)),
    "genotypes-20": (INDEPENDENT, "dm", 20, partial(genotypes, 20)),
    "genotypes-60": (INDEPENDENT, "dm", 60, partial(genotypes, 60)),
    "ancestor-7": (ANCESTOR, "dm", 7, partial(genotypes, 7, 0.1)),
}


def row(name: str) -> str:
    """Fit one case; return its row of the table."""
    what, model, true, make = CASES[name]
    corpus = make()
    begun = time.process_time()
    fit = discan.DCA("auto", model=model, random_state=0, progress=False).fit(corpus)
    seconds = time.process_time() - begun
    used, large = fit.n_used_interval_, fit.n_large_interval_
    return (
        f"| {what} | {model} | {true} | {fit.n_used_} ({used[0]} to {used[1]}) | {fit.n_large_} "
        f"({large[0]} to {large[1]}) | {fit.n_iter_:,} | {seconds:.0f} |"
    )


if __name__ == "__main__":
    discan.DCA("auto", random_state=0, progress=False).fit(texts(2))  # compiles
    for each in sys.argv[1:] or CASES:
        print(row(each), flush=True)
