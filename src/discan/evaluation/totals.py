# SPDX-License-Identifier: BSD-3-Clause
"""The probability of the documents' totals under models of amounts (theory 6.4)."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, xlogy

from discan.data.corpus import Corpus
from discan.models import Model
from discan.typing import Array

__all__ = ["log_totals"]

LONGEST = 50_000  # tokens of a document whose total is summed over the components


def log_totals(model: Model, corpus: Corpus) -> float | None:
    """Log probability of the tokens of each document and group; 0 for a model that is given them.

    The loadings of a group sum to 1, so the totals depend on the scores alone: their sum is a
    convolution over components. None if a document is too long for that.
    """
    if model.normalised:
        return 0.0
    if corpus.lengths.max(initial=0.0) > LONGEST or not corpus.integral:
        return None
    lengths = corpus.lengths.astype(np.int64)
    result = _log_split(corpus)
    for level, exposure in enumerate(corpus.exposure_levels):
        own = lengths[corpus.levels == level]
        result += float(_log_law(model, float(exposure), int(own.max(initial=0)))[own].sum())
    return result


def _log_law(model: Model, exposure: float, most: int) -> Array:
    """Log probability that a document has 0, 1, ..., ``most`` tokens, (most + 1,)."""
    shape, rate, present = (part[0] for part in model.score_table(np.array([exposure])))
    n = np.arange(most + 1)
    law = np.ones(1)
    log_scale = float(model.log_constant(np.zeros(1))[0])
    for k in range(len(shape)):
        # of component k alone: F_k(n) E^n / n!, up to the model's constant
        logs = gammaln(n + shape[k]) - (n + shape[k]) * np.log(rate[k])
        logs = logs + xlogy(n, exposure) - gammaln(n + 1.0)
        logs[0] -= np.log(present[k])
        top = logs.max()
        law = np.convolve(law, np.exp(logs - top))[: most + 1]
        log_scale += top + np.log(law.max())
        law = law / law.max()
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(law) + log_scale)


def _log_split(corpus: Corpus) -> float:
    """Log probability of the groups' totals given those of the documents, a multinomial."""
    lengths = corpus.lengths
    terms = gammaln(lengths + 1.0) - corpus.log_group_factorials + corpus.log_exposure_powers
    return float(np.sum(terms - xlogy(lengths, corpus.total_exposures)))
