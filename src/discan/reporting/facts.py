# SPDX-License-Identifier: BSD-3-Clause
"""What a report is about: components, documents, labels and dates, read once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discan.data.align import align
from discan.data.annotated import is_annotated, read_annotated
from discan.data.corpus import Corpus
from discan.data.frames import holds_text, is_frame, read_frame
from discan.data.periods import days
from discan.engines.threads import Threads, n_threads
from discan.errors import InputError
from discan.fitting.result import Fit, needed_fit
from discan.models.base import proportions
from discan.plot.inputs import components_of, documents_of
from discan.plot.ordering import is_label
from discan.plot.subjects import Components, Documents
from discan.typing import Array

__all__ = ["Facts", "aligned", "gather"]

MOST_LABELS = 4  # columns of labels with a figure each
EMPTY = 0.002  # share of all counts below which a component is called nearly empty


@dataclass(frozen=True, eq=False)
class Facts:
    """A fit and the documents that a report describes.

    Attributes
    ----------
    fit : Fit
    components : Components
        Sorted by size.
    documents : Documents
        Of the fit, or new ones; their components are in the same order.
    amounts : (I, K) array
        Component counts of the documents, in the same order.
    labels : list of str
        Columns of the metadata that put documents into groups, the main one first.
    date : str or None
        The column of dates.
    corpus : Corpus or None
        The counts of the documents, if they were given.
    new : bool
        Whether the documents are others than those of the fit.
    """

    fit: Fit
    components: Components
    documents: Documents
    amounts: Array
    labels: list[str]
    date: str | None
    corpus: Corpus | None
    new: bool

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(self.documents.names)

    @property
    def empty(self) -> list[str]:
        """Names of components that are nearly empty."""
        found = self.components
        return [name for name, size in zip(found.names, found.sizes, strict=True) if size < EMPTY]

    def typical(self, k: int, n: int) -> list[tuple[str, float]]:
        """Return the documents with the largest shares of a component, and the shares.

        Of equal shares the longer document comes first; shares below half of the largest are left
        out.
        """
        share = self.documents.shares[:, k]
        order = np.lexsort((-self.amounts[:, k], -np.round(share, 3)))[:n]
        return [
            (self.documents.names[i], float(share[i]))
            for i in order
            if share[i] >= 0.5 * share[order[0]] and share[i] > 0
        ]


def gather(
    source: Any, data: Any = None, labels: Sequence[str] = (), n_jobs: int | None = None
) -> Facts:
    """Read what a report is about.

    Parameters
    ----------
    source : fit or fitted estimator
    data : Corpus or counts, optional
        Documents to describe instead of those of the fit.
    labels : columns of the metadata to show, the main one first
        By default those with few different values.
    n_jobs : int, optional
        Threads for new documents.
    """
    fit = needed_fit(source, "a report needs")
    if data is None and fit.documents is None:
        raise InputError("the model has no documents to describe; give data")
    components = components_of(source)
    corpus = None if data is None else aligned(fit, data)
    documents, amounts = _documents(source, fit, components, corpus, n_jobs)
    metadata = documents.metadata
    for name in labels:
        if name not in metadata:
            raise InputError("{} is not a column", argument="labels", value=name,
                             use={"labels": tuple(metadata)})  # fmt: skip
    found = list(labels) or [name for name, column in metadata.items() if is_label(column)]
    texts = [name for name, column in metadata.items() if column.dtype == object]
    dated = [name for name in texts if days(metadata[name]) is not None]
    date = next((name for name in dated if name not in labels), None)
    return Facts(
        fit, components, documents, amounts, [n for n in found if n != date][:MOST_LABELS], date,
        corpus, corpus is not None and not _same(fit, corpus),
    )  # fmt: skip


def _has_columns(data: Corpus, fit: Fit) -> bool:
    """Tell whether data have the words of a model, in the same places."""
    given, layout = data.layout, fit.layout
    named = given.word_names is not None and given.word_names == layout.word_names
    return named and bool(np.array_equal(given.group_of_word, layout.group_of_word))


def aligned(fit: Fit, data: Any) -> Corpus:
    """Return data in the columns of the model."""
    if is_annotated(data):
        data = read_annotated(data, fit)
    elif is_frame(data) and holds_text(data):
        data = read_frame(data, fit)
    if isinstance(data, Corpus):
        if _has_columns(data, fit):  # read like the model's data: the reader made the remarks
            return data
        return align(data, fit.layout, left_out=fit.left_out)
    layout = fit.layout
    columns = hasattr(type(data), "columns")
    names = None if columns else layout.word_names
    groups = layout.group_of_word if layout.n_groups > 1 and not columns else None
    return align(Corpus(data, groups=groups, word_names=names), layout)


def _documents(
    source: Any, fit: Fit, components: Components, corpus: Corpus | None, n_jobs: int | None
) -> tuple[Documents, Array]:
    """Return documents and their component counts; components sorted by size."""
    order = components.parts
    if corpus is None:
        return documents_of(source), fit.component_counts[:, order]
    with Threads(n_threads(n_jobs)) as engine:
        posterior = fit.infer(corpus, engine)
    shares = proportions(posterior.scores)[:, order]
    names = corpus.document_names or [
        f"{fit.nouns.document} {i}" for i in range(corpus.n_documents)
    ]
    keys = [components.key(k) for k in range(len(order))]
    documents = Documents(
        shares, list(names), components.names, keys, list(order), fit.nouns, corpus.metadata
    )
    return documents, posterior.component_counts[:, order]


def _same(fit: Fit, corpus: Corpus) -> bool:
    """Tell whether the documents are those of the fit, by their names."""
    return fit.document_names is not None and fit.document_names == corpus.document_names
