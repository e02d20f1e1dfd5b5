# SPDX-License-Identifier: BSD-3-Clause
"""Parents of components: new documents, and a description of each parent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discan.algorithms.base import Params
from discan.algorithms.levels import Levels
from discan.data.blocks import Block
from discan.data.corpus import Corpus
from discan.engines import Engine
from discan.errors import InputError
from discan.fitting.infer import divided
from discan.models import Model
from discan.models.base import proportions
from discan.models.levels import TwoLevels
from discan.typing import Array

__all__ = [
    "Parent", "describe_parents", "infer_parents", "parent_share", "refuse_parents", "reordered",
    "two_levels_of",
]  # fmt: skip


@dataclass(frozen=True)
class Parent:
    """One parent: its mean share of the documents, and its components.

    Attributes
    ----------
    name : str
        "parent" and its number, from 1.
    size : float
        Mean share of the parent over documents.
    components : list of (str, float)
        Names of the components that it loads on most, and their shares of the parent.
    words : list of str
        What sets the parent apart: words by p log(p / q), where p is the probability in its
        components, mixed by their shares, and q that in all the data.
    """

    name: str
    size: float
    components: list[tuple[str, float]]
    words: list[str]

    def as_dict(self) -> dict[str, Any]:
        """Return the same in plain types, for JSON."""
        names = [{"component": name, "share": share} for name, share in self.components]
        return {
            "parent": self.name, "size": self.size, "components": names, "words": self.words,
        }  # fmt: skip


def two_levels_of(params: Params) -> TwoLevels:
    """Return the model of a fit with parents; another has none."""
    if not isinstance(params.model, TwoLevels):
        remedy = "fit a model with parents, which is told how many"
        raise InputError("the components have no parents", remedy=remedy)
    return params.model


def refuse_parents(model: Model, what: str) -> None:
    """Refuse what is not known of a model whose components have parents."""
    if model.levels > 1:
        raise InputError(
            f"there is no {what} of components with parents",
            remedy="use score(X), or fit without parents",
        )


def parent_share(parent_scores: Array) -> Array:
    """Mean share of each parent over documents, (R,)."""
    return np.asarray(proportions(parent_scores).mean(axis=0))


def infer_parents(
    algorithm: Any, params: Params, corpus: Corpus, engine: Engine, seed: np.uint64
) -> Array:
    """Posterior means of the parents' scores of new documents, (I, R)."""
    two_levels_of(params)
    assert isinstance(algorithm, Levels)

    def work(block: Block, params: Params) -> Sequence[Array]:
        return (algorithm.infer_levels(params, block, seed)[1],)

    return divided(corpus, params, None, work, work, engine)[0]


def describe_parents(
    parents: Array, sizes: Array, names: Sequence[str], components: Array, overall: Array,
    words: Any, n_components: int, n_words: int,
) -> list[Parent]:  # fmt: skip
    """Describe every parent by its components and words.

    Parameters
    ----------
    parents : (R, K) array
    sizes : (R,) array
    names : (K,) sequence of str
    components : (K, J) array
    overall : (J,) array
        Probabilities of the words in all the data.
    words : (J,) sequence of str, or None
    n_components, n_words : int
        How many to list, at most.
    """
    found = []
    for number, row in enumerate(parents):
        best = np.argsort(-row, kind="stable")[:n_components]
        listed = [(names[k], float(row[k])) for k in best if row[k] >= 0.5 / len(row)]
        here = row @ components
        telling = here * np.log(np.maximum(here, 1e-300) / np.maximum(overall, 1e-300))
        top = np.argsort(-telling, kind="stable")[:n_words]
        texts = [str(j) if words is None else words[j] for j in top]
        found.append(Parent(f"parent {number + 1}", float(sizes[number]), listed, texts))
    return found


def reordered(params: Params, order: Array) -> Params:
    """Return the parameters with the parents in another order (R,)."""
    return replace(params, model=two_levels_of(params).with_parents_in(order))
