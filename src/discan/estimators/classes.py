# SPDX-License-Identifier: BSD-3-Clause
"""Read the classes of documents, on which the prior of the scores depends."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import numpy as np

from discan.data.corpus import Corpus
from discan.data.nouns import counted
from discan.errors import InputError
from discan.fitting.classes import class_numbers, labels_of, metadata_columns, metadata_values
from discan.typing import Array

__all__ = ["kept_labels", "new_classes", "read_classes"]

log = logging.getLogger("discan")

MOST_SHARE = 0.5  # classes per document, at most
FEW = 5  # documents of a class: with fewer, what is learnt is mostly the prior of the prior


def read_classes(corpus: Corpus, given: Any) -> tuple[Corpus, tuple[str, ...]]:
    """Give the documents of a fit their classes; return the names of the classes, too.

    Parameters
    ----------
    corpus : Corpus
    given : name of a column of the metadata, (I,) labels, or None
        None gives no classes. As labels, None, NaN and "" are unknown.
    """
    if given is None:
        return corpus, ()
    labels = _labels(corpus, given)
    names = tuple(sorted({label for label in labels if label is not None}, key=_order))
    if not names:
        raise InputError(
            "{}: no document has a class", argument="class_of_document", value=_source(given)
        )
    if len(names) > max(1.0, MOST_SHARE * corpus.n_documents):
        raise InputError(
            f"{{}}: {len(names):,} classes of {corpus.n_documents:,} documents are too many to "
            "learn a prior of each; put them together, e.g. years into decades",
            argument="class_of_document", value=_source(given),
        )  # fmt: skip
    numbers = class_numbers(labels, names)
    sizes = np.bincount(numbers, minlength=len(names) + 1)
    _remark_on_sizes(sizes[1:], names, corpus.n_documents - int(sizes[1:].sum()))
    return corpus.with_classes(numbers), names


def _remark_on_sizes(sizes: Array, names: tuple[str, ...], n_unknown: int) -> None:
    """Say how many documents the classes (C,) have, and if some have too few."""
    low, high = int(sizes.min()), int(sizes.max())
    span = counted(high, "document") if low == high else f"{low:,} to {counted(high, 'document')}"
    verb = "has" if n_unknown == 1 else "have"
    none = f"; {counted(n_unknown, 'document')} {verb} no class" if n_unknown else ""
    log.info("%s of documents, of %s%s", counted(len(names), "class"), span, none)
    few = np.flatnonzero(sizes < FEW)
    if len(few):
        log.warning(
            "%s %s fewer than %d documents, too few to learn a prior from, e.g. %s; put such "
            "classes together, or leave their labels empty",
            counted(len(few), "class"), "has" if len(few) == 1 else "have", FEW, names[few[0]],
        )  # fmt: skip


def _source(given: Any) -> Any:
    """What a message shows of classes: the name of their column, but no long list of labels."""
    return given if isinstance(given, str) else ...


def kept_labels(given: Any) -> Any:
    """Return classes as a file keeps them: a column's name, or a list of texts, "" if unknown."""
    if given is None or isinstance(given, str):
        return given
    return [label or "" for label in labels_of(given)]


def _labels(corpus: Corpus, given: Any) -> list[str | None]:
    if isinstance(given, str):
        if given not in metadata_columns(corpus):
            known = ", ".join(metadata_columns(corpus)) or "none"
            raise InputError(
                f"{{}}: there is no such column of the metadata; the columns are: {known}",
                argument="class_of_document", value=given,
            )  # fmt: skip
        return labels_of(metadata_values(corpus, given))
    if not isinstance(given, Iterable):
        raise InputError(
            "{}; give the name of a column, or a label per document",
            argument="class_of_document", value=given,
        )  # fmt: skip
    labels = labels_of(given)
    if len(labels) != corpus.n_documents:
        raise InputError(
            f"{{}}: {len(labels):,} labels for {corpus.n_documents:,} documents",
            argument="class_of_document",
            value=_source(given),
        )
    return labels


def _order(name: str) -> tuple[bool, float, str]:
    """Numbers in their order, before texts."""
    try:
        return False, float(name), name
    except ValueError:
        return True, 0.0, name


def new_classes(corpus: Corpus, given: Any, names: tuple[str, ...]) -> Array:
    """Return the classes (I,) of new documents; a class that the fit did not have is unknown."""
    labels = _labels(corpus, given)
    strange = sorted({label for label in labels if label is not None} - set(names))
    if strange:
        was, are = ("was", "is") if len(strange) == 1 else ("were", "are")
        log.warning(
            "%s %s not in the fit and %s taken as unknown, e.g. %s",
            counted(len(strange), "class"), was, are, strange[0],
        )  # fmt: skip
    return class_numbers(labels, names)
