# SPDX-License-Identifier: BSD-3-Clause
"""Classes of documents of a fit, and of new documents that have the same column."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from discan.data.corpus import Corpus
from discan.data.folders.corpus import FolderCorpus
from discan.models.classes import Classed
from discan.typing import Array

__all__ = ["class_numbers", "classified", "labels_of", "metadata_columns", "metadata_values"]

log = logging.getLogger("discan")


def labels_of(values: Iterable[Any]) -> list[str | None]:
    """Return labels as text; None, NaN and "" are unknown."""
    return [_label(value) for value in values]


def metadata_columns(corpus: Corpus) -> list[str]:
    """Names of the columns of metadata, also of those that stay in a folder."""
    return corpus.columns if isinstance(corpus, FolderCorpus) else list(corpus.metadata)


def metadata_values(corpus: Corpus, column: str) -> Array:
    """Values of a column of metadata, (I,)."""
    found = corpus.column(column) if isinstance(corpus, FolderCorpus) else corpus.metadata[column]
    return np.asarray(found)


def class_numbers(labels: Sequence[str | None], names: Sequence[str]) -> Array:
    """Number of the class of each label, from 1; 0 if it is unknown, (I,) int32."""
    number: dict[str | None, int] = {name: n for n, name in enumerate(names, 1)}
    return np.array([number.get(label, 0) for label in labels], dtype=np.int32)


def classified(corpus: Corpus, model: Any, column: str | None) -> Corpus:
    """Return a corpus with the classes of a model, from the column of the metadata that names them.

    Documents keep the classes that they have. Without the column, or with another value in it,
    their class is unknown. A model without classes takes them away.
    """
    if not isinstance(model, Classed):
        return corpus.with_classes(None)
    if corpus.classes is not None or column is None or column not in metadata_columns(corpus):
        return corpus
    numbers = class_numbers(labels_of(metadata_values(corpus, column)), model.names)
    unknown = int((numbers == 0).sum())
    if unknown:
        log.info("%d of %d documents have no class that the model knows", unknown, len(numbers))
    return corpus.with_classes(numbers)


def _label(value: Any) -> str | None:
    if isinstance(value, (float, np.floating)):
        return None if np.isnan(value) else f"{value:g}"
    return None if value is None or value == "" else str(value)
