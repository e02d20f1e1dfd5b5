# SPDX-License-Identifier: BSD-3-Clause
"""What the commands that write tables of documents share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from discan.cli.options import NewData, Writing
from discan.cli.printing import Style
from discan.errors import InputError

if TYPE_CHECKING:
    from discan.data.corpus import Corpus
    from discan.engines import Threads

__all__ = ["check_in_memory", "is_table", "named_rows", "threads"]


def is_table(writing: Writing) -> bool:
    """Whether rows go to a file as they come: CSV, Parquet or .npy."""
    if writing.output is None or writing.style is Style.JSON:
        return False
    from discan.data.tables import ENDINGS

    return writing.output.suffix.lower() in ENDINGS


def check_in_memory(corpus: Corpus) -> None:
    """Refuse to gather the answers for documents of a folder, which may be too many."""
    if corpus.on_disk:
        raise InputError(
            "the documents are in a corpus folder; write the answers to a file (--output) that "
            "ends in .csv or .parquet"
        )


def named_rows(corpus: Corpus, values: Any) -> list[list[Any]]:
    """Return one row per document: its name and its values."""
    names: Sequence[str] = corpus.document_names or [str(n) for n in range(corpus.n_documents)]
    return [[name, *map(float, row)] for name, row in zip(names, values, strict=True)]


def threads(reading: NewData) -> Threads:
    """Make the threads that the options ask for."""
    from discan.engines.threads import Threads, n_threads

    return Threads(n_threads(reading.threads))
