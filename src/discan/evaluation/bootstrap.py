# SPDX-License-Identifier: BSD-3-Clause
"""The bootstrap: how components change if the documents are drawn again from themselves."""

from __future__ import annotations

import numpy as np

from discan.data.corpus import Corpus
from discan.engines import Engine, Threads
from discan.evaluation.matching import match_components
from discan.fitting.result import Fit
from discan.fitting.starting import begin
from discan.fitting.task import Task
from discan.typing import Array
from discan.validation import whole

__all__ = ["bootstrap_components"]

CYCLES = 30
STREAM = 0xB007  # keeps the samples apart from all other random numbers


def bootstrap_components(
    fit: Fit, corpus: Corpus, n_samples: int = 50, engine: Engine | None = None
) -> Array:
    """Components of fits to documents drawn with replacement, (n_samples, K, J).

    Each fit starts from the components of ``fit``, makes at most 30 cycles with its
    hyperparameters, and is matched to it. Sample n depends on the seed of the fit and on n alone.
    """
    engine, seed = engine or Threads(1), int(fit.settings["seed"])
    result = []
    for n in range(whole("n_samples", n_samples, 2)):
        rng = np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, STREAM, n])))
        rows = np.sort(rng.integers(0, corpus.n_documents, corpus.n_documents))
        task = Task(
            corpus.select(rows), fit.params.model, fit.algorithm, fit.params.prior, seed=seed
        )
        run = begin(task, fit.components, engine)
        run.advance(CYCLES, 1e-5, progress=False)
        found = run.result().components
        matched = match_components(fit.components, found, fit.layout, fit.group_totals)
        result.append(found[matched.order])
    return np.array(result)
