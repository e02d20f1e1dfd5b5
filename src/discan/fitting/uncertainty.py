# SPDX-License-Identifier: BSD-3-Clause
"""How sure the scores of new documents are, and what to say where nothing is known of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan.algorithms.base import ALGORITHMS, Algorithm, Params, Posterior
from discan.data.corpus import Corpus
from discan.errors import InputError
from discan.models.base import score_totals
from discan.typing import Array

__all__ = ["no_deviations", "score_deviations"]

AT_ONCE = 2**18  # entries x components that are worked on at once


def no_deviations(algorithm: Algorithm, of: str, instead: tuple[str, ...]) -> InputError:
    """Return the sentence for an algorithm that has no standard deviations of something."""
    name = ALGORITHMS.entry(type(algorithm)).shown
    return InputError(
        f"the algorithm {name} gives no standard deviations of the {of}",
        use={"algorithm": tuple(other for other in instead if other != name)},
    )


def score_deviations(
    params: Params, loadings: Array, corpus: Corpus, posterior: Posterior
) -> Array:  # fmt: skip
    """Approximate posterior standard deviations of documents' scores, given the loadings, (I, K).

    If the component of every token were known, the variance would be that of a Dirichlet or gamma
    distribution with shapes a = alpha + c: m (1 - m) / (T + 1) with T = sum a, or a / rate^2. The
    tokens hold less information than that: of the information I = a (1 - m), or a, the variance v
    of the component counts given the proportions is lost, so the variance is divided by 1 - v / I
    (Louis 1982, one component at a time).

    Parameters
    ----------
    params : Params
    loadings : (J, K) array
    corpus : Corpus
    posterior : Posterior
        Means of the documents' scores.
    """
    table = params.model.score_table(corpus.exposure_levels).rows(corpus.levels)
    scores = posterior.scores
    present = 1.0 - posterior.absent
    if params.model.normalised:
        total = (corpus.lengths + score_totals(params.model, table))[:, None]
        complete, information = scores * (1 - scores) / (total + 1), total * scores * (1 - scores)
    else:  # given that the component is present
        given = scores / np.maximum(present, 1e-300)
        complete, information = given / table.rate, given * table.rate
    lost = _count_variances(scores, loadings, corpus) / np.maximum(present, 1e-300)
    left = 1.0 - np.divide(lost, information, out=np.zeros_like(lost), where=information > 0)
    variance = complete / np.maximum(left, 1e-6)
    if params.model.normalised:
        variance = np.minimum(variance, scores * (1 - scores))  # no proportion varies more
    else:
        variance = present * (variance + given**2) - scores**2
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


def _count_variances(scores: Array, loadings: Array, corpus: Corpus) -> Array:
    """Variance of the component counts given the scores: sum_j w_j r_jk (1 - r_jk), (I, K)."""
    result = np.zeros((corpus.n_documents, loadings.shape[1]))
    step = max(1, AT_ONCE // loadings.shape[1])
    indptr = corpus.indptr

    def spread(first: int, last: int, rows: Any) -> Array:
        """Variances of some entries, which are those of some rows."""
        chances = scores[rows] * loadings[corpus.words[first:last]]
        totals = chances.sum(axis=1, keepdims=True)
        chances /= np.where(totals > 0, totals, 1.0)
        return np.asarray(corpus.counts[first:last, None] * chances * (1.0 - chances))

    start = 0
    while start < corpus.n_documents:
        # runs of whole documents, or parts of a long one: no sum depends on other documents
        stop = int(np.searchsorted(indptr, indptr[start] + step, side="right")) - 1
        if stop <= start:
            stop = start + 1
            for first in range(indptr[start], indptr[stop], step):
                last = min(first + step, indptr[stop])
                result[start] += spread(first, last, [start]).sum(axis=0)
        else:
            lengths = np.diff(indptr[start : stop + 1])
            rows = np.repeat(np.arange(start, stop), lengths)
            some = start + np.flatnonzero(lengths)
            if some.size:
                found = spread(indptr[start], indptr[stop], rows)
                result[some] = np.add.reduceat(found, indptr[some] - indptr[start], axis=0)
        start = stop
    return result
