# SPDX-License-Identifier: BSD-3-Clause
"""Check what figures are made of: fitted estimators, or anyone's arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discan.data.corpus import Layout
from discan.errors import InputError, shown
from discan.typing import Array

__all__ = ["Components", "Documents", "components_of", "documents_of", "is_estimator", "labels"]


@dataclass(frozen=True, eq=False)
class Documents:
    """Shares of documents: (I, K) rows that sum to 1, (I,) names or None, (K,) names."""

    shares: Array
    names: list[str] | None
    components: list[str]


@dataclass(frozen=True, eq=False)
class Components:
    """Distributions over words, (K, J), their names, their sizes (K,) that sum to 1, the words."""

    loadings: Array
    names: list[str]
    sizes: Array
    layout: Layout

    @property
    def overall(self) -> Array:
        """Distribution of the words in all the data, (J,)."""
        return np.asarray(self.sizes @ self.loadings)

    def word(self, j: int) -> str:
        """Name of a word."""
        names = self.layout.word_names
        return names[j] if names is not None else f"word {j}"

    def group(self, g: int) -> str:
        """Name of a group."""
        names = self.layout.group_names
        return names[g] if names is not None else f"group {g}"


def is_estimator(source: Any) -> bool:
    """Whether this is one of our estimators, fitted or not."""
    return hasattr(source, "get_feature_names_out") and hasattr(source, "fit")


def documents_of(source: Any, names: Any, components: Any) -> Documents:
    """Take shares from a fitted estimator, a data frame or an array."""
    if is_estimator(source):
        shares = getattr(source, "proportions_", None)
        if shares is None:
            raise InputError(
                "the estimator has no training documents; fit it, or give the array that "
                "transform returns"
            )
        names = getattr(source, "document_names_", None) if names is None else names
        if components is None:
            components = _estimator_names(source)
    else:
        if hasattr(source, "columns") and hasattr(source, "index"):  # pandas
            names = list(source.index) if names is None else names
            components = list(source.columns) if components is None else components
        shares = _matrix("proportions", source, "(documents, components)")
        totals = shares.sum(axis=1)
        if not (totals > 0).all():
            raise InputError(f"row {int(np.argmin(totals > 0))} of proportions is all zero")
        shares = shares / totals[:, None]
    n_documents, n_components = shares.shape
    listed = None if names is None else labels("names", names, n_documents, "documents")
    if components is None:
        components = [f"component {k}" for k in range(n_components)]
    return Documents(
        shares, listed, labels("components", components, n_components, "components")
    )  # fmt: skip


def components_of(source: Any, names: Any, sizes: Any, words: Any, groups: Any) -> Components:
    """Take components from a fitted estimator, or from a (K, J) array and what is given with it."""
    if is_estimator(source):
        if not hasattr(source, "components_"):
            raise InputError("the estimator is not fitted; call fit first")
        if not hasattr(source, "_layout"):  # another library's
            names = source.get_feature_names_out() if names is None else names
            return components_of(source.components_, names, sizes, words, groups)
        loadings, layout = source.components_, source._layout
        counts = getattr(source, "component_counts_", None)
        if sizes is None and counts is not None:
            sizes = counts.sum(axis=0)
        if groups is not None:
            raise InputError("an estimator knows its groups; leave groups out")
        names = source.get_feature_names_out() if names is None else names
        if layout.word_names is None and words is None:
            words = getattr(source, "feature_names_in_", None)
    else:
        loadings = _matrix("components", source, "(components, words)")
        layout = _layout_of(loadings.shape[1], groups)
        within = layout.group_sums(loadings.T).T  # (K, G)
        if not (within > 0).all():
            k = int(np.argmin((within > 0).all(axis=1)))
            raise InputError(f"component {k} is all zero inside a group")
        loadings = loadings / within[:, layout.group_of_word]
    n_components, n_words = loadings.shape
    if words is not None:
        listed = tuple(labels("words", words, n_words, "words"))
        layout = Layout(n_words, layout.group_of_word, layout.n_groups, listed, layout.group_names)
    if names is None:
        names = [f"component {k}" for k in range(n_components)]
    names = labels("names", names, n_components, "components")
    return Components(loadings, names, _sizes(sizes, n_components), layout)


def labels(name: str, values: Any, size: int, kind: str) -> list[str]:
    """Take one label for each thing of a kind."""
    if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
        values = list(values) if hasattr(values, "__iter__") and not isinstance(values, str) else []
    if np.ndim(values) != 1 or len(values) != size:
        raise InputError(f"{name} must be {size} labels, one for each of the {kind}")
    return [str(value) for value in values]


def _matrix(name: str, value: Any, shape: str) -> Array:
    """Take a matrix of finite, non-negative numbers, at least 1 x 1."""
    try:
        matrix = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"{name}={shown(value)}; give a fitted estimator, or numbers of shape {shape}"
        ) from None
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(f"{name} has shape {matrix.shape}; expected {shape}")
    if not (np.isfinite(matrix) & (matrix >= 0)).all():
        row, column = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))[0]
        raise InputError(
            f"{name}[{row}, {column}] = {matrix[row, column]:g}; numbers must be finite and not "
            "negative"
        )
    return matrix


def _sizes(sizes: Any, n_components: int) -> Array:
    if sizes is None:
        return np.full(n_components, 1.0 / n_components)
    values = np.asarray(sizes, dtype=np.float64)
    if values.shape != (n_components,) or not (np.isfinite(values) & (values >= 0)).all():
        raise InputError(f"sizes must be {n_components} numbers, not negative")
    if not values.sum() > 0:
        raise InputError("sizes are all zero")
    return np.asarray(values / values.sum())


def _layout_of(n_words: int, groups: Any) -> Layout:
    if groups is None:
        return Layout(n_words, np.zeros(n_words, dtype=np.int32), 1)
    given = labels("groups", groups, n_words, "words")
    order = list(dict.fromkeys(given))
    number = {group: g for g, group in enumerate(order)}
    of_word = np.array([number[group] for group in given], dtype=np.int32)
    return Layout(n_words, of_word, len(order), group_names=tuple(order))


def _estimator_names(estimator: Any) -> list[str]:
    """Names of an estimator's components, with their first words where those are short."""
    names = [str(name) for name in estimator.get_feature_names_out()]
    found = components_of(estimator, None, None, None, None)
    if found.layout.n_groups > 1 or found.layout.word_names is None:
        return names
    first = [[found.word(j) for j in np.argsort(-row, kind="stable")[:3]] for row in found.loadings]
    return [f"{name}: {', '.join(words)}" for name, words in zip(names, first, strict=True)]
