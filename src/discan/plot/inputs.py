# SPDX-License-Identifier: BSD-3-Clause
"""Read what a figure shows: a fit, a fitted estimator, a data frame or an array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from discan.data.layout import Layout
from discan.data.nouns import Nouns
from discan.errors import InputError, shown
from discan.fitting.result import Fit, fit_of
from discan.fitting.summary import fields_of
from discan.plot.subjects import FEW_WORDS, Components, Documents
from discan.typing import Array

__all__ = ["components_of", "documents_of", "is_estimator", "labels", "numbers"]


def is_estimator(source: Any) -> bool:
    """Whether this is an estimator, ours or another library's, fitted or not."""
    return hasattr(source, "get_feature_names_out") and hasattr(source, "fit")


def documents_of(
    source: Any, names: Any = None, asked: Any = None, given: Any = None, words: int = FEW_WORDS
) -> Documents:
    """Read the shares of documents.

    Parameters
    ----------
    source : fit, fitted estimator, data frame, (I, K) array, or Documents, which stay as they are
    names : (I,) names of the documents, optional
    asked : components to show, by number from 1 or by name, optional
        Components of a fit are sorted by size; those of an array keep their order.
    given : (K,) names of the components, optional
    words : int
        Telling words in a legend.
    """
    if isinstance(source, Documents):
        return source
    fit = fit_of(source)
    nouns, metadata, order = Nouns(), {}, None
    keys: list[str] | None = None
    if fit is not None or is_estimator(source):
        shares = getattr(fit, "proportions", None)
        if fit is None or shares is None:
            raise InputError(
                "the estimator has no training documents",
                remedy="fit it, or give the array that transform returns",
            )
        nouns, metadata = fit.nouns, fit.metadata
        names = fit.document_names if names is None else names
        if given is None:
            found = components_of(source, sort=False)
            given, keys = found.names, [found.key(k, words) for k in range(len(found.names))]
        order = np.argsort(-fit.sizes, kind="stable")
    else:
        if hasattr(source, "columns") and hasattr(source, "index"):  # pandas
            names = list(source.index) if names is None else names
            given = list(source.columns) if given is None else given
        shares = _matrix("proportions", source, "(documents, components)")
        totals = shares.sum(axis=1)
        if not (totals > 0).all():
            raise InputError(f"row {int(np.argmin(totals > 0))} of proportions is all zero")
        shares = shares / totals[:, None]
    n_documents, n_components = shares.shape
    titles = labels("component_names", given, n_components, "components", nouns.component)
    kept, others = _chosen(titles, asked, order)
    keys = titles if keys is None else keys
    result = Documents(
        shares[:, kept], labels("names", names, n_documents, "documents", nouns.document, 0),
        [titles[k] for k in kept], [keys[k] for k in kept], list(kept), nouns, metadata,
    )  # fmt: skip
    return _with_others(result, shares[:, others])


def components_of(
    source: Any,
    names: Any = None,
    sizes: Any = None,
    words: Any = None,
    groups: Any = None,
    asked: Any = None,
    sort: bool = True,
) -> Components:
    """Read components from a fit or an estimator, or from a (K, J) array and its description.

    ``asked`` are the components to show, by number from 1 or by name; those of a fit are sorted by
    size unless ``sort`` is False.
    """
    fit = fit_of(source)
    nouns = Nouns() if fit is None else fit.nouns
    if fit is not None:
        if groups is not None:
            raise InputError("an estimator knows its groups", remedy="leave groups out")
        names = fit.component_names if names is None else names
        loadings, layout = fit.components, fit.layout
        sizes = getattr(fit, "sizes", None) if sizes is None else sizes
        if layout.word_names is None and words is None:
            words = getattr(source, "feature_names_in_", None)
    elif is_estimator(source):  # another library's
        if not hasattr(source, "components_"):
            raise InputError("the estimator is not fitted", remedy="call fit first")
        names = source.get_feature_names_out() if names is None else names
        return components_of(source.components_, names, sizes, words, groups, asked)
    else:
        loadings, layout = _normalised(_matrix("components", source, "(components, words)"), groups)
    n_components, n_words = loadings.shape
    if words is not None:
        layout = replace(layout, word_names=tuple(labels("words", words, n_words, "words")))
    titles = labels("component_names", names, n_components, "components", nouns.component)
    share = _sizes(sizes, n_components)
    order = np.argsort(-share, kind="stable") if sort and fit is not None else None
    kept, _ = _chosen(titles, asked, order)
    return Components(
        loadings[kept], [titles[k] for k in kept], share[kept], layout,
        np.asarray(share @ loadings), list(kept), _text_words(layout, fit), nouns,
    )  # fmt: skip


def labels(
    name: str, values: Any, size: int, kind: str, default: str = "", first: int = 1
) -> list[str]:
    """Check that there is one label for each thing of a kind; None gives "<default> 1", ..."""
    if values is None and default:
        return [f"{default} {n}" for n in range(first, size + first)]
    if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
        values = list(values) if hasattr(values, "__iter__") and not isinstance(values, str) else []
    if np.ndim(values) != 1 or len(values) != size:
        has = f", not {len(values):,}" if np.ndim(values) == 1 else ""
        raise InputError(f"{name} must be {size} labels, one for each of the {kind}{has}")
    return [str(value) for value in values]


def numbers(values: Any) -> Array:
    """Return values as an array of numbers; of shape (0, 0) if they are anything else."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return np.empty((0, 0))


# ---- details ----


def _chosen(names: list[str], asked: Any, order: Array | None) -> tuple[list[int], list[int]]:
    """Return the components to show, in the order to show them, and the others."""
    everything = list(range(len(names))) if order is None else [int(k) for k in order]
    if asked is None:
        return everything, []
    wanted = [asked] if isinstance(asked, (str, int, np.integer)) else list(asked)
    found = {_numbered(names, each) for each in wanted}
    if not found:
        raise InputError("components is an empty list", remedy="name at least one component")
    return [k for k in everything if k in found], [k for k in everything if k not in found]


def _numbered(names: list[str], asked: Any) -> int:
    if isinstance(asked, str) and asked in names:
        return names.index(asked)
    whole = isinstance(asked, (int, np.integer)) and not isinstance(asked, bool)
    if whole and 1 <= asked <= len(names):
        return int(asked) - 1
    raise InputError(
        f"there is no component {shown(asked)}",
        remedy=f"give its name, or a number from 1 to {len(names)}",
    )


def _with_others(documents: Documents, rest: Array) -> Documents:
    """Add the components that were not asked for as one column."""
    if not rest.shape[1]:
        return documents
    name = f"{rest.shape[1]} others"
    return replace(
        documents,
        shares=np.column_stack([documents.shares, rest.sum(axis=1)]),
        components=[*documents.components, name],
        keys=[*documents.keys, name],
        parts=[*documents.parts, None],
        n_others=rest.shape[1],
    )


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
        given = labels("groups", groups, n_words, "words")
        names = list(dict.fromkeys(given))
        of_word = np.array([names.index(name) for name in given], dtype=np.int32)
        layout = Layout(n_words, of_word, len(names), group_names=tuple(names))
    within = layout.group_sums(loadings.T).T  # (K, G)
    if not (within > 0).all():
        k = int(np.argmin((within > 0).all(axis=1)))
        raise InputError(f"component {k + 1} is all zero inside a group")
    return loadings / within[:, layout.group_of_word], layout


def _text_words(layout: Layout, fit: Fit | None) -> Array:
    """Return which words belong to texts, (J,)."""
    totals = np.ones(layout.n_groups) if fit is None else fit.group_totals
    text = np.ones(layout.n_words, dtype=bool)
    text[fields_of(layout, totals)[1]] = False
    return text


def _sizes(sizes: Any, n_components: int) -> Array:
    if sizes is None:
        return np.full(n_components, 1.0 / n_components)
    values = numbers(sizes)
    if values.shape != (n_components,) or not (np.isfinite(values) & (values >= 0)).all():
        raise InputError(f"sizes must be {n_components} numbers, not negative")
    if not values.sum() > 0:
        raise InputError("sizes are all zero")
    return np.asarray(values / values.sum())
