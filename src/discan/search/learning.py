# SPDX-License-Identifier: BSD-3-Clause
"""Judge rankings, and learn the weights of a search on queries with known answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from discan.engines import Engine
from discan.errors import InputError
from discan.search.index import Index
from discan.search.ranking import ordered
from discan.typing import Array

__all__ = ["Learnt", "average_precision", "discounted_gain", "learn_weights"]

MUS = (None, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0)
WEIGHTS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)


class Learnt(NamedTuple):
    """The best weights, and the mean average precision of all that were tried."""

    mu: float | None
    word_weight: float
    precision: float
    tried: dict[tuple[float | None, float], float]


def learn_weights(
    index: Index, queries: Sequence[Any], relevant: Sequence[Any], *,
    mus: Sequence[float | None] = MUS, weights: Sequence[float] = WEIGHTS,
    without: Sequence[int | None] | None = None, engine: Engine | None = None,
) -> Learnt:  # fmt: skip
    """Find the ``mu`` and ``word_weight`` with the best mean average precision.

    Parameters
    ----------
    index : Index
        Documents to search.
    queries : sequence of queries
        Those that will be judged later should not be among them.
    relevant : sequence of (I,) bool masks, or of lists of document numbers
        The right documents of each query.
    mus, weights : sequences of float
        Values to try, all with all; None is the default.
    without : sequence of int, optional
        A document to leave out of each ranking, e.g. the one that the query was taken from.
    engine : Engine, optional
        Where to work; one thread by default.

    Returns
    -------
    Learnt
        ``mu``, ``word_weight``, and the mean average precision of all that were tried.
    """
    if len(queries) == 0 or len(queries) != len(relevant):
        raise InputError("give as many lists of right documents as queries, and at least one")
    left_out = without if without is not None else [None] * len(queries)
    masks = [_mask(right, index.n_documents) for right in relevant]
    tried: dict[tuple[float | None, float], float] = {}
    for mu in mus:
        for weight in weights:
            if weight == 0.0 and mu is not mus[0]:
                continue  # mu makes no difference
            found = []
            for query, mask, one in zip(queries, masks, left_out, strict=True):
                values = index.log_probability(query, mu=mu, word_weight=weight, engine=engine)
                found.append(average_precision(values, mask, one))
            tried[mu, weight] = float(np.mean(found))
    mu, weight = max(tried, key=lambda pair: tried[pair])
    return Learnt(mu, weight, tried[mu, weight], tried)


def average_precision(values: Array, relevant: Array, without: int | None = None) -> float:
    """Mean of the precision at each right document of a ranking; 0 if there is none.

    Parameters
    ----------
    values : (I,) array
        Documents are ranked by them, the largest first.
    relevant : (I,) boolean array
    without : int, optional
        Document to leave out.
    """
    hits = _ranked(values, relevant, without)
    if not hits.any():
        return 0.0
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    return float(precision[hits].mean())


def discounted_gain(
    values: Array, relevant: Array, n: int = 10, without: int | None = None
) -> float:
    """NDCG of the first n documents: sum of 1 / log2(rank + 1), divided by the best possible."""
    hits = _ranked(values, relevant, without)
    weights = 1.0 / np.log2(np.arange(2, n + 2))
    best = weights[: min(n, int(hits.sum()))].sum()
    return float((hits[:n] @ weights[: len(hits[:n])]) / best) if best > 0 else 0.0


def _ranked(values: Array, relevant: Array, without: int | None) -> Array:
    order = ordered(values, np.arange(len(values)))
    if without is not None:
        order = order[order != without]
    return np.asarray(relevant[order])


def _mask(relevant: Any, n_documents: int) -> Array:
    given = np.asarray(relevant)
    if given.dtype == bool and given.shape == (n_documents,):
        return given
    mask = np.zeros(n_documents, dtype=bool)
    numbers = given.astype(np.int64).ravel()
    if len(numbers) and not (0 <= numbers.min() and numbers.max() < n_documents):
        raise InputError(f"right documents are numbered from 0 to {n_documents - 1}")
    mask[numbers] = True
    return mask
