# SPDX-License-Identifier: BSD-3-Clause
"""Components in words: how large each is, what it says, who it is typical of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discan.errors import InputError
from discan.typing import Array

__all__ = ["Component", "summarise"]

# A word must be expected this many times in a component to be listed by lift.
ENOUGH = 3.0


@dataclass(frozen=True)
class Component:
    """One component: its share of all tokens, its words and its documents.

    words, distinctive : list of (word, probability) by probability and by lift; documents : list of
    (document, share of the document).
    """

    name: str
    size: float
    words: list[tuple[str, float]]
    distinctive: list[tuple[str, float]]
    documents: list[tuple[str, float]]


def summarise(estimator: Any, n_words: int = 10, n_documents: int = 5) -> list[Component]:
    """Summarise every component of a fitted estimator, largest first."""
    counts = getattr(estimator, "component_counts_", None)
    if counts is None:
        raise InputError("the model has no training documents to summarise; fit it to data")
    components = estimator.components_
    totals = counts.sum(axis=0)
    sizes = totals / max(totals.sum(), 1e-300)
    overall = sizes @ components
    words = _names(estimator._layout.word_names, components.shape[1], "word")
    documents = _names(estimator.document_names_, len(counts), "document")
    shares = estimator.proportions_
    names = estimator.get_feature_names_out()
    result = []
    for k in np.argsort(-sizes, kind="stable"):
        with np.errstate(divide="ignore", invalid="ignore"):
            lift = np.where(overall > 0, components[k] / overall, 0.0)
        lift = np.where(components[k] * totals[k] >= ENOUGH, lift, lift * 1e-9)
        # among documents of one component alone, the longer is the more typical
        order = np.lexsort((-counts[:, k], -np.round(shares[:, k], 3)))[:n_documents]
        result.append(
            Component(
                str(names[k]),
                float(sizes[k]),
                _listed(components[k], components[k], words, n_words),
                _listed(lift, components[k], words, n_words),
                [(documents[i], float(shares[i, k])) for i in order],
            )
        )
    return result


def _listed(key: Array, values: Array, names: Any, n: int) -> list[tuple[str, float]]:
    order = np.argsort(-key, kind="stable")[:n]
    return [(names[j], float(values[j])) for j in order]


def _names(names: Any, size: int, kind: str) -> Any:
    return names if names is not None else [f"{kind} {n}" for n in range(size)]
