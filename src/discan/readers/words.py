# SPDX-License-Identifier: BSD-3-Clause
"""Count the words of texts, and choose the words to keep by their document frequency."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from discan.data.corpus import Corpus
from discan.data.layout import Layout
from discan.data.left_out import NOTHING, checksums
from discan.data.metadata import EXCERPT, read_metadata
from discan.data.nouns import TEXT
from discan.errors import InputError
from discan.readers.choosing import check_fields, limits_of, most_frequent, nothing_left
from discan.readers.text_parts import Counted, excerpt_of, read_vocabulary, report_left_out
from discan.readers.tokens import (
    LONGEST_WORD,
    TextOptions,
    WordForms,
    find_surrogate,
    finder,
    read_frequency,
    read_ngrams,
)
from discan.typing import Array
from discan.validation import whole

__all__ = ["TextCounts", "corpus_from_texts"]

_CHUNK = 2**16
_DROPPED = 0  # the number of every word that is left out; the others count from 1


class TextCounts:
    """Count words document by document, then make a corpus of them.

    Parameters
    ----------
    options : TextOptions, optional
    fields : sequence of str
        Names of the parts of a document, each a group of words of its own. With two or more,
        words are named ``field:word``.
    labels : sequence of str
        The fields whose whole text is one word, which is never dropped.
    origin : str
        Where the texts come from, for messages.
    """

    def __init__(
        self,
        options: TextOptions | None = None,
        fields: Sequence[str] = (),
        labels: Sequence[str] = (),
        origin: str = "text",
    ) -> None:
        self.options = options or TextOptions()
        self.origin = origin
        self.fields = tuple(fields)
        self.n_documents = 0
        self._is_label = tuple(name in labels for name in self.fields or ("",))
        self._ngrams = read_ngrams(self.options.ngrams)
        self._find = finder(self.options)
        read_frequency("min_df", self.options.min_df)  # raises now what would be raised at the end
        read_frequency("max_df", self.options.max_df)
        if self.options.max_words is not None:
            whole("max_words", self.options.max_words, 1)
        self._excerpt = whole("excerpt", self.options.excerpt, 0)
        self._excerpts: list[str] = []
        self._forms = WordForms(self.options)
        self._joins = self._ngrams != (1, 1)
        self._names = [""]  # of the word of each number; 0 stands for all words left out
        self._field_of = array("i", [0])
        self._vocabulary = read_vocabulary(self.options.vocabulary, self.fields)
        self._numbers = [
            # Words that are joined have their proper form already.
            _Numbers(self._names, None if is_label or self._joins else self._forms)
            for is_label in self._is_label
        ]
        for field, word in self._vocabulary or ():
            self._numbers[field].add(word)
            self._field_of.append(field)
        self._ids: list[int] = []
        self._lengths: list[int] = []
        self._chunks: list[_Chunk] = []

    def add(self, *texts: str) -> None:
        """Add the next document: its text, or one text for each field."""
        before = len(self._ids)
        parts = zip(texts, self._numbers, self._is_label, strict=True)
        for field, (text, numbers, is_label) in enumerate(parts):
            tokens = [text] if is_label and text else self._find(text)
            if self._joins and not is_label:
                tokens = self._joined(tokens)
            self._ids.extend(map(numbers.__getitem__, tokens))
            self._field_of.extend([field] * (len(self._names) - len(self._field_of)))
        self._lengths.append(len(self._ids) - before)
        self.n_documents += 1
        if self._excerpt:
            self._excerpts.append(excerpt_of(texts, self._excerpt))
        if len(self._ids) > _CHUNK:
            self._flush()

    def finish(self, document_names: Iterable[str] | None = None) -> Corpus:
        """Make the corpus: choose the words, sort them, and number them again.

        The words are in alphabetical order inside each field, or in that of the vocabulary. The
        counter cannot be used again.
        """
        self._flush()
        if self.n_documents == 0:
            raise InputError(f"{self.origin}: no documents; it is empty")
        report_left_out(self.origin, self._forms.n_too_long)
        self._forms.clear()
        for numbers in self._numbers:
            numbers.clear()  # only the names are needed from here on
        names, groups, new_numbers, n_entries = self._choose()
        left_out = self._left_out(new_numbers)
        self._names.clear()  # frees the memory of the words that are left out
        words, counts, indptr = self._renumber(new_numbers, n_entries)
        layout = Layout(
            n_words=len(names),
            group_of_word=groups,
            n_groups=max(1, len(self.fields)),
            word_names=names,
            group_names=self.fields or None,
        )
        return Corpus.assemble(
            indptr=indptr,
            words=words,
            counts=counts,
            layout=layout,
            document_names=None if document_names is None else tuple(document_names),
            metadata=read_metadata(
                {EXCERPT: self._excerpts} if self._excerpt else {}, self.n_documents
            ),
            nouns=TEXT,
            left_out=left_out,
        )

    def counted(self) -> Counted:
        """Return what was counted, before any word is chosen; the counter cannot be used again.

        Words are in order of field and alphabet. Those of a given vocabulary are in its order, and
        the others are only summed up.
        """
        self._flush()
        n_ids = len(self._names)
        frequencies, totals = self._sums(n_ids)
        fields = np.array(self._field_of, dtype=np.int32)
        new = np.full(n_ids, -1, dtype=np.int32)
        unseen = 0
        if self._vocabulary is None:
            numbers = sorted(range(1, n_ids), key=self._names.__getitem__)
            if len(self.fields) > 1:
                numbers.sort(key=self._field_of.__getitem__)
        else:
            numbers = list(range(1, len(self._vocabulary) + 1))
            unseen = int(totals[len(numbers) + 1 :].sum())
        order = np.array(numbers, dtype=np.int64)
        new[order] = np.arange(order.size, dtype=np.int32)
        words, counts, indptr = self._renumber(new, int(frequencies[order].sum()))
        return Counted(
            indptr=indptr,
            ids=words,
            counts=counts,
            words=[self._names[number] for number in numbers],
            fields=fields[order],
            frequencies=frequencies[order],
            totals=totals[order],
            excerpts=self._excerpts if self._excerpt else None,
            n_too_long=self._forms.n_too_long,
            n_unseen=unseen,
            n_tokens=int(totals.sum()),
        )

    # ---- a document ----

    def _joined(self, tokens: list[str]) -> list[str]:
        """Return runs of words; words to leave out are removed before."""
        words = [word for word in map(self._forms.__getitem__, tokens) if word]
        shortest, longest = self._ngrams
        return [
            " ".join(words[start : start + size])
            for size in range(shortest, longest + 1)
            for start in range(len(words) - size + 1)
        ]

    def _flush(self) -> None:
        """Count the tokens collected, without the words left out, into NumPy arrays."""
        if not self._lengths:
            return
        ids = np.array(self._ids, dtype=np.int64)
        documents = np.repeat(np.arange(len(self._lengths)), self._lengths)
        kept = np.flatnonzero(ids != _DROPPED)
        n_ids = int(ids.max(initial=0)) + 1
        cells, counts = np.unique(documents[kept] * n_ids + ids[kept], return_counts=True)
        documents, ids = np.divmod(cells, n_ids)
        lengths = np.bincount(documents, minlength=len(self._lengths)).astype(np.int32)
        smallest = np.min_scalar_type(int(counts.max(initial=0)))
        self._chunks.append(_Chunk(lengths, ids.astype(np.int32), counts.astype(smallest)))
        self._ids.clear()
        self._lengths.clear()

    # ---- all documents ----

    def _choose(self) -> tuple[tuple[str, ...], Array, Array, int]:
        """Return names and groups of the words kept, new numbers (or -1), number of entries."""
        n_ids = len(self._names)
        frequencies, totals = self._sums(n_ids)
        if self._vocabulary is None:
            words, groups, numbers = self._select(frequencies, totals)
        else:
            words = [word for _, word in self._vocabulary]
            groups = np.array([field for field, _ in self._vocabulary], dtype=np.int32)
            numbers = np.arange(1, len(words) + 1)
            unseen = int(totals[len(words) + 1 :].sum())
            report_left_out(self.origin, 0, unseen, int(totals.sum()))
        check_fields(self.origin, self.fields, groups)
        if len(self.fields) > 1:
            starts = [f"{name}:" for name in self.fields]
            words = [starts[g] + word for g, word in zip(groups.tolist(), words, strict=True)]
        new_numbers = np.full(n_ids, -1, dtype=np.int32)
        new_numbers[numbers] = np.arange(numbers.size, dtype=np.int32)
        return tuple(words), groups, new_numbers, int(frequencies[numbers].sum())

    def _sums(self, n_ids: int) -> tuple[Array, Array]:
        """Return in how many documents each word is, and how often, each (n_ids,) int64."""
        frequencies = np.zeros(n_ids, dtype=np.int64)
        totals = np.zeros(n_ids, dtype=np.int64)
        for chunk in self._chunks:
            frequencies += np.bincount(chunk.ids, minlength=n_ids)
            sums = np.bincount(chunk.ids, weights=chunk.counts, minlength=n_ids)
            totals += sums.astype(np.int64)
        return frequencies, totals

    def _left_out(self, new_numbers: Array) -> Array:
        """Return the checksums of the words that are left out by their frequency."""
        if self._vocabulary is not None:
            return NOTHING
        dropped = np.flatnonzero(new_numbers < 0)[1:].tolist()  # the first is no word
        if len(self.fields) < 2:
            return checksums(self._names[n] for n in dropped)
        return checksums(f"{self.fields[self._field_of[n]]}:{self._names[n]}" for n in dropped)

    def _select(self, frequencies: Array, totals: Array) -> tuple[list[str], Array, Array]:
        """Choose by frequency; return words, fields and numbers, in order of field and word."""
        limits = limits_of(self.options, self.n_documents)
        good = limits.allow(frequencies)
        field_of = np.array(self._field_of, dtype=np.int32)
        good |= np.array(self._is_label)[field_of]
        good[_DROPPED] = False
        names = self._names
        numbers = np.flatnonzero(good)
        if numbers.size == 0:
            found = frequencies[frequencies > 0]
            rare, frequent = int((found < limits.lowest).sum()), int((found > limits.highest).sum())
            raise nothing_left(self.origin, self.n_documents, found.size, rare, frequent, limits)
        ordered = sorted(numbers.tolist(), key=names.__getitem__)
        if len(self.fields) > 1:
            ordered.sort(key=self._field_of.__getitem__)
        numbers = np.array(ordered)
        words, fields = [names[number] for number in ordered], field_of[numbers]
        if self.options.max_words is not None:
            counted = ~np.array(self._is_label)[fields]
            kept = most_frequent(totals[numbers], counted, self.options.max_words)
            words = [word for word, keep in zip(words, kept.tolist(), strict=True) if keep]
            fields, numbers = fields[kept], numbers[kept]
        return words, fields, numbers

    def _renumber(self, new_numbers: Array, n_entries: int) -> tuple[Array, Array, Array]:
        """Give the words their new numbers, sorted inside each document; frees the chunks."""
        words = np.empty(n_entries, dtype=np.int32)
        counts = np.empty(n_entries, dtype=np.int32)
        indptr = np.zeros(self.n_documents + 1, dtype=np.int64)
        entry = document = 0
        self._chunks.reverse()
        while self._chunks:
            chunk = self._chunks.pop()
            numbers = new_numbers[chunk.ids]
            documents = np.repeat(np.arange(chunk.lengths.size), chunk.lengths)
            kept = np.flatnonzero(numbers >= 0)
            kept = kept[np.lexsort((numbers[kept], documents[kept]))]
            entries = slice(entry, entry + kept.size)
            words[entries] = numbers[kept]
            counts[entries] = chunk.counts[kept]
            lengths = np.bincount(documents[kept], minlength=chunk.lengths.size)
            stop = document + chunk.lengths.size
            np.cumsum(lengths, out=indptr[document + 1 : stop + 1])
            indptr[document + 1 : stop + 1] += entry
            entry, document = entries.stop, stop
        return words, counts, indptr


class _Numbers(dict[str, int]):
    """Number words in order of appearance; words left out share the number 0."""

    def __init__(self, names: list[str], forms: WordForms | None) -> None:
        super().__init__()
        self._names, self._forms = names, forms

    def add(self, word: str) -> int:
        number = self[word] = len(self._names)
        self._names.append(word)
        return number

    def __missing__(self, token: str) -> int:
        word = token if self._forms is None else self._forms.of(token)
        if word == token:
            return self.add(word)
        number = (self.get(word) or self.add(word)) if word else _DROPPED
        if word or len(token) < 5 or (token.isalpha() and len(token) <= LONGEST_WORD):
            self[token] = number  # other tokens are long numbers, too many to remember
        return number


class _Chunk(NamedTuple):
    lengths: Array
    ids: Array
    counts: Array


def corpus_from_texts(
    texts: Iterable[str],
    *,
    document_names: Iterable[str] | None = None,
    **options: Any,
) -> Corpus:
    """Count the words of texts in memory, one text per document.

    Parameters
    ----------
    texts : iterable of str
    document_names : iterable of str, optional
    **options
        Those of `TextOptions`: stop_words, min_df, max_df, ngrams, vocabulary and others.
    """
    if isinstance(texts, str):
        raise InputError("texts is a single string; pass a list of texts")
    counts = TextCounts(TextOptions.of(options), origin="texts")
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            found = type(text).__name__
            raise InputError(f"text {number} is a {found}, not a string; decode or convert it")
        if find_surrogate(text):
            raise InputError(
                f"text {number} holds a lone surrogate {find_surrogate(text)}, which is no "
                "character; decode it with errors='replace'"
            )
        counts.add(text)
    names = None if document_names is None else tuple(str(name) for name in document_names)
    if names is not None and len(names) != counts.n_documents:
        raise InputError(f"document_names holds {len(names)} names, expected {counts.n_documents}")
    return counts.finish(names)
