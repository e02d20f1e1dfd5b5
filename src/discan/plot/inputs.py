# SPDX-License-Identifier: BSD-3-Clause
"""Read and sort what a figure shows: a fit, a fitted estimator, a data frame or an array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discan.data.corpus import Layout
from discan.errors import InputError
from discan.fitting.result import Fit
from discan.typing import Array

__all__ = [
    "Components", "Documents", "by_group", "components_of", "documents_of", "fit_of",
    "is_estimator", "labels", "main_groups", "numbered", "numbers", "ordered",
]  # fmt: skip

MOST = 1000  # documents that can have a mark each


@dataclass(frozen=True, eq=False)
class Documents:
    """Shares of components in documents, (I, K), rows sum to 1; names of both."""

    shares: Array
    names: list[str]
    components: list[str]

    def at_most(self, marks: str) -> Documents:
        """Return these documents; refuse more than can have a mark each."""
        if len(self.names) > MOST:
            raise InputError(
                f"{len(self.names):,} documents are too many for {marks} (at most {MOST:,})",
                remedy="use plot.structure, or give some of the rows",
            )
        return self


@dataclass(frozen=True, eq=False)
class Components:
    """Distributions over words, (K, J); names; sizes (K,) that sum to 1; layout of the words."""

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

    def likeliest(self, k: int, n: int) -> list[str]:
        """Names of the n likeliest words of a component."""
        return [self.word(int(j)) for j in np.argsort(-self.loadings[k], kind="stable")[:n]]


def fit_of(source: Any) -> Fit | None:
    """Return a fit as it is, or the fit of a fitted estimator of ours; None for anything else.

    All that figures read from estimators of ours goes through this function.
    """
    fit = getattr(source, "fit_", source)
    return fit if isinstance(fit, Fit) else None


def is_estimator(source: Any) -> bool:
    """Whether this is an estimator, ours or another library's, fitted or not."""
    return hasattr(source, "get_feature_names_out") and hasattr(source, "fit")


def documents_of(
    source: Any, names: Any, components: Any, kind: str = "document"
) -> Documents:  # fmt: skip
    """Read the shares of documents; ``kind`` names documents that have no names."""
    fit = fit_of(source)
    if fit is not None or is_estimator(source):
        shares = getattr(fit, "proportions", None)
        if shares is None:
            raise InputError(
                "the estimator has no training documents",
                remedy="fit it, or give the array that transform returns",
            )
        names = fit.document_names if names is None else names  # type: ignore[union-attr]
        components = _names_with_words(source) if components is None else components
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
    return Documents(
        shares,
        labels("names", names, n_documents, "documents", kind),
        labels("components", components, n_components, "components", "component"),
    )


def components_of(
    source: Any, names: Any = None, sizes: Any = None, words: Any = None, groups: Any = None
) -> Components:
    """Read components from a fit or an estimator, or from a (K, J) array and its description."""
    fit = fit_of(source)
    if is_estimator(source) and names is None and hasattr(source, "components_"):
        names = source.get_feature_names_out()
    if fit is not None:
        if groups is not None:
            raise InputError("an estimator knows its groups", remedy="leave groups out")
        loadings, layout = fit.components, fit.layout
        counts = getattr(fit, "component_counts", None)
        sizes = counts.sum(axis=0) if sizes is None and counts is not None else sizes
        if layout.word_names is None and words is None:
            words = getattr(source, "feature_names_in_", None)
    elif is_estimator(source):  # another library's
        if not hasattr(source, "components_"):
            raise InputError("the estimator is not fitted", remedy="call fit first")
        return components_of(source.components_, names, sizes, words, groups)
    else:
        loadings, layout = _normalised(_matrix("components", source, "(components, words)"), groups)
    n_components, n_words = loadings.shape
    if words is not None:
        layout = replace(layout, word_names=tuple(labels("words", words, n_words, "words")))
    names = labels("names", names, n_components, "components", "component")
    return Components(loadings, names, _sizes(sizes, n_components), layout)


def labels(name: str, values: Any, size: int, kind: str, default: str = "") -> list[str]:
    """Check that there is one label for each thing of a kind; None gives "<default> 0", ..."""
    if values is None and default:
        return [f"{default} {n}" for n in range(size)]
    if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
        values = list(values) if hasattr(values, "__iter__") and not isinstance(values, str) else []
    if np.ndim(values) != 1 or len(values) != size:
        raise InputError(f"{name} must be {size} labels, one for each of the {kind}")
    return [str(value) for value in values]


def numbered(given: Sequence[str]) -> tuple[list[str], Array]:
    """Return the distinct labels in the order of first appearance, and the number of each label."""
    distinct = list(dict.fromkeys(given))
    number = {label: n for n, label in enumerate(distinct)}
    return distinct, np.array([number[label] for label in given], dtype=np.int32)


def numbers(values: Any) -> Array:
    """Return values as an array of numbers; of shape (0, 0) if they are anything else."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return np.empty((0, 0))


# ---- the order of documents ----


def ordered(shares: Array, order: Any) -> Array:
    """Return the order of documents: unchanged (None), "similar", or by (I,) numbers."""
    if order is None:
        return np.arange(len(shares))
    if not isinstance(order, str):
        values = numbers(order)
        if values.shape == (len(shares),) and not np.isnan(values).any():
            return np.argsort(values, kind="stable")
    elif order == "similar":
        return by_group(shares, main_groups(shares))
    raise InputError(
        "{}", argument="order", value=order,
        remedy=f"use 'similar', or {len(shares)} numbers, one for each document",
    )  # fmt: skip


def main_groups(shares: Array) -> Array:
    """Group documents by their largest component; group 0 has the largest of all, (I,)."""
    rank = np.argsort(np.argsort(-shares.sum(axis=0), kind="stable"))
    return np.unique(rank[shares.argmax(axis=1)], return_inverse=True)[1]


def by_group(shares: Array, group: Array) -> Array:
    """Sort by group, and inside a group by the share of its main component, the largest first.

    The next component of the group decides between equal shares.

    Parameters
    ----------
    shares : (I, K) array
    group : (I,) whole numbers from 0
    """
    totals = np.zeros((int(group.max()) + 1, shares.shape[1]))
    np.add.at(totals, group, shares)
    ranked = np.argsort(-totals, axis=1, kind="stable")
    rows = np.arange(len(shares))
    first, *second = (-np.round(shares[rows, column], 3) for column in ranked[group, :2].T)
    return np.lexsort((*second, first, group))


# ---- details ----


def _names_with_words(source: Any) -> list[str]:
    """Names of the components of a fit, with their likeliest words unless words are in groups."""
    found = components_of(source)
    if found.layout.n_groups > 1 or found.layout.word_names is None:
        return found.names
    return [f"{name}: {', '.join(found.likeliest(k, 3))}" for k, name in enumerate(found.names)]


def _matrix(name: str, value: Any, shape: str) -> Array:
    """Check that this is a matrix of finite numbers, at least 0, and at least 1 x 1."""
    try:
        matrix = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "{}", argument=name, value=value,
            remedy=f"give a fitted estimator, or numbers of shape {shape}",
        ) from None  # fmt: skip
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(f"{name} has shape {matrix.shape}; expected {shape}")
    bad = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))
    if len(bad):
        row, column = bad[0]
        raise InputError(
            f"{name}[{row}, {column}] = {matrix[row, column]:g}; numbers must be finite and not "
            "negative"
        )
    return matrix


def _normalised(loadings: Array, groups: Any) -> tuple[Array, Layout]:
    """Divide the loadings of each component by their sum inside each group."""
    n_words = loadings.shape[1]
    layout = Layout(n_words, np.zeros(n_words, dtype=np.int32), 1)
    if groups is not None:
        names, of_word = numbered(labels("groups", groups, n_words, "words"))
        layout = Layout(n_words, of_word, len(names), group_names=tuple(names))
    within = layout.group_sums(loadings.T).T  # (K, G)
    if not (within > 0).all():
        k = int(np.argmin((within > 0).all(axis=1)))
        raise InputError(f"component {k} is all zero inside a group")
    return loadings / within[:, layout.group_of_word], layout


def _sizes(sizes: Any, n_components: int) -> Array:
    if sizes is None:
        return np.full(n_components, 1.0 / n_components)
    values = numbers(sizes)
    if values.shape != (n_components,) or not (np.isfinite(values) & (values >= 0)).all():
        raise InputError(f"sizes must be {n_components} numbers, not negative")
    if not values.sum() > 0:
        raise InputError("sizes are all zero")
    return np.asarray(values / values.sum())
