# SPDX-License-Identifier: BSD-3-Clause
"""Documents of text one after another: what readers of text give, in memory or to a folder."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from typing import Any

import numpy as np

from discan.data.columns import MISSING, Codes, clean, number
from discan.data.corpus import Corpus
from discan.data.dates import may_be_date
from discan.readers.document import Document
from discan.readers.guess import reader
from discan.readers.markup import Cleaner
from discan.readers.source import Source
from discan.readers.tokens import TextOptions
from discan.readers.words import TextCounts
from discan.typing import Array

__all__ = ["Fact", "TextStream", "collect", "label_fact", "table_fact", "text_reader"]


@dataclass(frozen=True)
class Fact:
    """A column that describes documents of text: its title, and how its cells become metadata.

    Attributes
    ----------
    title : str
    values : function of distinct cells, and of whether any of them occurs twice
        Returns the value of each cell, (n,) float64 or objects; None leaves the column out.
    is_plain : function of distinct cells
        Tells whether ``plain`` gives the values, whatever the other cells are.
    plain : function of distinct cells
        Returns the value of each cell, (n,) objects.
    """

    title: str
    values: Callable[[Sequence[str], bool], Array | None]
    is_plain: Callable[[Sequence[str]], bool]
    plain: Callable[[Sequence[str]], Array]


@dataclass(frozen=True, eq=False)
class TextStream:
    """Documents of text, and what is needed to make a corpus of them.

    Attributes
    ----------
    origin : str
        Where the texts come from, for messages.
    documents : iterator of Document
    options : TextOptions
    fields, labels : as in `TextCounts`
    named : bool
        Whether documents have names.
    facts : what describes the documents
    reading : how the data were read
    check : function of the number of documents, called after the last one
        Raises an error if something is missing, or remarks on what was read.
    """

    origin: str
    documents: Iterator[Document]
    options: TextOptions
    fields: Sequence[str] = ()
    labels: Sequence[str] = ()
    named: bool = False
    facts: Sequence[Fact] = ()
    reading: dict[str, Any] = field(default_factory=dict)
    check: Callable[[int], None] = lambda _: None

    def counts(self) -> TextCounts:
        """Return an empty counter of the words."""
        return TextCounts(self.options, self.fields, self.labels, self.origin)


def text_reader(
    name: str, summary: str, **settings: Any
) -> Callable[[Callable[..., TextStream]], Callable[..., Corpus]]:
    """Register ``function(source, **options) -> TextStream`` as a reader; use as a decorator.

    What is defined reads a whole corpus into memory.
    """

    def decorate(function: Callable[..., TextStream]) -> Callable[..., Corpus]:
        @wraps(function)
        def stream(source: Source, *arguments: Any, **options: Any) -> TextStream:
            return _cleaned_stream(function(source, *arguments, **options))

        @wraps(function)
        def read(source: Source, *arguments: Any, **options: Any) -> Corpus:
            return collect(stream(source, *arguments, **options))

        read.__annotations__ = {**function.__annotations__, "return": Corpus}
        reader(name, summary, is_text=True, stream=stream, **settings)(read)
        return read

    return decorate


def _cleaned_stream(stream: TextStream) -> TextStream:
    """Return the documents without markup."""
    cleaner = Cleaner(stream.origin, stream.options.html)

    def check(n_documents: int) -> None:
        stream.check(n_documents)
        cleaner.report()

    return replace(stream, documents=cleaner(stream.documents), check=check)


def collect(stream: TextStream) -> Corpus:
    """Count the words of all documents in memory."""
    counts = stream.counts()
    names: list[str] = []
    codes = [Codes() for _ in stream.facts]
    found = [array("i") for _ in stream.facts]
    for document in stream.documents:
        counts.add(*document.texts)
        if document.name is not None:
            names.append(document.name)
        for cell, known, cells in zip(document.cells, codes, found, strict=True):
            cells.append(known[cell])
    stream.check(counts.n_documents)
    corpus = counts.finish(names if stream.named else None)
    metadata: dict[str, Array] = {}
    for fact, known, cells in zip(stream.facts, codes, found, strict=True):
        values = fact.values(list(known), len(known) < len(cells))
        if values is not None:
            metadata[fact.title] = values[np.asarray(cells)]
    corpus = corpus.described(metadata={**metadata, **corpus.metadata})
    return corpus.described(reading=stream.reading) if stream.reading else corpus


# ---- kinds of facts ----


def table_fact(title: str) -> Fact:
    """Return a column of a table: numbers, dates or text, and cells that mark a missing value."""
    return Fact(title, partial(_table_values, title), _are_words, partial(_cleaned, title))


def label_fact(title: str) -> Fact:
    """Return a column of texts as they are; an empty one is missing."""
    return Fact(title, lambda cells, _: _labels(cells), lambda _: True, _labels)


def _table_values(title: str, cells: Sequence[str], repeated: bool) -> Array | None:
    # Whether all rows differ matters, and nothing else about them: one more stands for all others.
    codes = np.append(np.arange(len(cells)), [0] * repeated).astype(np.int32)
    column = clean(title, codes, cells, MISSING)[0]
    return column.as_metadata()[: len(cells)] if column.values else None


def _are_words(cells: Sequence[str]) -> bool:
    """Tell whether a cell is neither missing nor a number nor a date: then all cells are text."""
    column = clean("", np.arange(len(cells)), cells, MISSING)[0]
    return any(number(value) is None and not may_be_date(value) for value in column.values)


def _cleaned(title: str, cells: Sequence[str]) -> Array:
    column = clean(title, np.arange(len(cells)), cells, MISSING)[0]
    texts = np.empty(len(column.values) + 1, dtype=object)
    texts[:-1] = column.values
    texts[-1] = None
    return np.asarray(texts[column.codes])


def _labels(cells: Sequence[str]) -> Array:
    result = np.empty(len(cells), dtype=object)
    result[:] = [cell or None for cell in cells]
    return result
