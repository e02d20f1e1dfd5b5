# SPDX-License-Identifier: BSD-3-Clause
"""Read the classes of documents, on which the prior of the scores depends."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import numpy as np

from discan.data.corpus import Corpus
from discan.errors import InputError
from discan.fitting.classes import class_numbers, labels_of, metadata_columns, metadata_values
from discan.typing import Array

__all__ = ["kept_labels", "new_classes", "read_classes"]

log = logging.getLogger("discan")

MOST_SHARE = 0.5  # classes per document, at most


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
        raise InputError("{}: no document has a class", argument="class_of_document", value=given)
    if len(names) > max(1.0, MOST_SHARE * corpus.n_documents):
        raise InputError(
            f"class_of_document: {len(names):,} classes of {corpus.n_documents:,} documents are "
            "too many to learn a prior of each; put them together, e.g. years into decades"
        )
    numbers = class_numbers(labels, names)
    sizes = np.bincount(numbers, minlength=len(names) + 1)
    log.info(
        "%d classes of documents, of %d to %d documents%s",
        len(names), sizes[1:].min(), sizes[1:].max(),
        f"; {sizes[0]} documents have no class" if sizes[0] else "",
    )  # fmt: skip
    return corpus.with_classes(numbers), names


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
            f"class_of_document has {len(labels)} labels for {corpus.n_documents} documents"
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
        log.warning(
            "%d classes were not in the fit and are taken as unknown, e.g. %s",
            len(strange), strange[0],
        )  # fmt: skip
    return class_numbers(labels, names)
