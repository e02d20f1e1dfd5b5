# SPDX-License-Identifier: BSD-3-Clause
"""Read sparse matrices in text, one line of id:count per document: LDA-C and SVMlight."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Annotated

import numpy as np

from discan.data.corpus import Corpus
from discan.data.folders.runs import Mark
from discan.data.intake import LARGEST_INT32, bounded_int, tightest
from discan.data.nouns import TEXT
from discan.errors import InputError, shown
from discan.readers.guess import reader
from discan.readers.numbers import (
    COLON,
    END,
    Chunks,
    are_counts,
    are_indices,
    check_count,
    check_index,
    check_size,
    join_parts,
    parse_numbers,
    sparse_table,
    split_lines,
)
from discan.readers.source import Source
from discan.readers.table_streams import Batch, TableFacts, TableStream
from discan.readers.vocabularies import Vocabulary, read_titles, read_words
from discan.typing import Array

__all__ = ["read_ldac", "read_svmlight"]

_LDAC_LINE = re.compile(r"(\d{1,9})((?: +\d+:\d+)*)\s*")
_SVM_LINE = re.compile(r"[-+]?[\d.][-+\d.e,]*((?: +(?:qid|\d+):[-+\d.eE]+)+)\s*(#.*)?")


def _first_lines(source: Source) -> list[str]:
    lines = source.head.lstrip("\ufeff").splitlines()
    return [line for line in (lines[:-1] if len(lines) > 1 else lines)[:20] if line.strip()]


def _is_ldac(source: Source) -> bool:
    lines = _first_lines(source)
    if lines and not lines[1:] and re.match(r"\d+(?: \d+:\d+){9}", source.head):
        return True  # one very long line
    matches = [_LDAC_LINE.fullmatch(line) for line in lines]
    counted = all(m is not None and bounded_int(m[1]) == m[2].count(":") for m in matches)
    return bool(lines) and ":" in source.head and counted


def _is_svmlight(source: Source) -> bool:
    lines = [line for line in _first_lines(source) if not line.startswith("#")]
    return bool(lines) and all(_SVM_LINE.fullmatch(line) for line in lines)


@reader(
    "ldac",
    "LDA-C, one line per document: the number of different words, then id:count from 0",
    endings=(".ldac", ".lda-c"),
    sniff=_is_ldac,
    table=lambda source, **options: _stream_ldac(source, **options),
)
def read_ldac(source: Source, vocabulary: Vocabulary = None) -> Corpus:
    """Read Blei's LDA-C format."""
    return _collected(_stream_ldac(source, vocabulary))


def _stream_ldac(source: Source, vocabulary: Vocabulary = None) -> TableStream:
    """Read Blei's LDA-C format in pieces."""

    def n_words(line: int, text: str) -> int:
        return check_index(source, line, text, "number of words", 0, 2**62)

    pairs = _Pairs(source, 0, n_words, lambda starts, lengths: starts == lengths)

    def facts() -> TableFacts:
        known = pairs.facts(0, vocabulary)
        return replace(known, document_names=read_titles(source, known.n_documents), nouns=TEXT)

    return TableStream(source, facts, pairs)


@reader(
    "svmlight",
    "SVMlight or LIBSVM, one line per document: a label, then id:value",
    endings=(".svmlight", ".svm", ".libsvm"),
    sniff=_is_svmlight,
    table=lambda source, **options: _stream_svmlight(source, **options),
)
def read_svmlight(
    source: Source,
    vocabulary: Vocabulary = None,
    zero_based: Annotated[
        bool | str,
        "Whether words are numbered from 0; 'auto' assumes so when there is a word 0.",
    ] = "auto",
    labels: Annotated[
        bool, "Whether the labels are the names of the documents; they are metadata anyway."
    ] = False,
) -> Corpus:
    """Read the SVMlight format."""
    return _collected(_stream_svmlight(source, vocabulary, zero_based, labels))


def _stream_svmlight(
    source: Source,
    vocabulary: Vocabulary = None,
    zero_based: bool | str = "auto",
    labels: bool = False,
) -> TableStream:
    """Read the SVMlight format in pieces; the labels stay in memory."""
    bases = (True, False, "auto")
    if zero_based not in bases:
        raise InputError("{}", argument="zero_based", value=zero_based, use={"zero_based": bases})
    names: list[str] = []

    def label(line: int, text: str) -> None:
        if not re.fullmatch(r"[-+0-9.eE,]+", text):
            raise source.error(f"label {shown(text)} is not a number; correct it", line)
        names.append(text)

    def are_labels(starts: Array, _: Array) -> Array:
        if np.isfinite(starts).all():
            names.extend(f"{value:.12g}" for value in starts.tolist())
        return np.isfinite(starts)

    base = None if zero_based == "auto" else int(not zero_based)
    pairs = _Pairs(source, base or 0, label, None if labels else are_labels, names)

    def facts() -> TableFacts:
        return replace(
            pairs.facts(base, vocabulary),
            document_names=names if labels else None,
            metadata={"label": names} if len(set(names)) > 1 else {},
        )

    return TableStream(source, facts, pairs)


def _collected(stream: TableStream) -> Corpus:
    """Read all pairs into memory."""
    assert stream.entries is not None
    documents, words, counts = join_parts(list(stream.entries.batches()))
    facts = stream.facts()
    shape = (facts.n_documents, facts.n_words)
    corpus = stream.source.corpus(
        sparse_table(documents, words - facts.first_word, counts, shape),
        word_names=facts.word_names,
        document_names=facts.document_names,
        nouns=facts.nouns,
    )
    return corpus.described(metadata=facts.metadata or {})


class _Pairs:
    """Entries of a file with a line of pairs per document.

    Parameters
    ----------
    source : Source
    base : int
        The least number of a word.
    start : function of a line's number and of its first field
        Checks how a line starts, and returns the number of its words if that is known.
    is_good : function of starts and lengths, optional
        Does this for many lines at once; without it, each line is parsed by itself.
    names : list of str
        What ``start`` and ``is_good`` find, one per document, if they find any.
    """

    def __init__(
        self,
        source: Source,
        base: int,
        start: Callable[[int, str], int | None],
        is_good: Callable[[Array, Array], Array] | None,
        names: list[str] | None = None,
    ) -> None:
        self._source, self._base, self._start, self._is_good = source, base, start, is_good
        self._names = [] if names is None else names
        self._n_chunks = self._n_documents = self._n_entries = self._marked = 0
        self._least, self._largest = LARGEST_INT32, -1  # numbers of words

    def batches(self) -> Iterator[Batch]:
        """Iterate over the entries, from where reading stands."""
        with Chunks(self._source) as chunks:
            for _ in islice(chunks, self._n_chunks):
                pass
            for first, chunk in chunks:
                found = None if self._is_good is None else _parse_pairs(chunk, self._base)
                if found is None or self._is_good is None or not self._is_good(*found[:2]).all():
                    found = _parse_pairs_slowly(self._source, first, chunk, self._start, self._base)
                _, lengths, words, counts = found
                rows = np.arange(self._n_documents, self._n_documents + lengths.size)
                self._n_chunks += 1
                self._n_documents += lengths.size
                self._n_entries += words.size
                self._least = min(self._least, int(words.min(initial=LARGEST_INT32)))
                self._largest = max(self._largest, int(words.max(initial=-1)))
                documents = np.repeat(rows, lengths.astype(np.int64)).astype(np.int32)
                yield documents, words.astype(np.int32), tightest(counts)

    def mark(self) -> Mark:
        """Return where reading stands behind the last batch, and what is new since the last."""
        first, self._marked = self._marked, len(self._names)
        return {
            "chunks": self._n_chunks,
            "documents": self._n_documents,
            "entries": self._n_entries,
            "words": [self._least, self._largest],
            "names": self._names[first:],
        }

    def go_on(self, mark: Mark) -> None:
        """Stand where reading stood at a mark."""
        self._n_chunks, self._n_documents = mark["chunks"], mark["documents"]
        self._n_entries = mark["entries"]
        self._least, self._largest = mark["words"]
        self._names += mark["names"]
        self._marked = len(self._names)

    def facts(self, base: int | None, vocabulary: Vocabulary) -> TableFacts:
        """Return what is known when all lines were read.

        ``base`` is the number of the first word, None to tell by the least.
        """
        source = self._source
        if not self._n_documents:
            raise source.error("holds no documents")
        if base is None:
            base = int(1 <= self._least <= self._largest)
        n_words = max(0, self._largest + 1 - base)
        known = read_words(source, vocabulary)
        if known.names is not None:
            if n_words > len(known.names):
                problem = f"word {n_words - 1 + base} is beyond the {len(known.names):,} words of "
                raise source.error(f"{problem}{known.path}", use={"vocabulary": (..., False)})
            n_words = len(known.names)
        if n_words == 0:
            raise source.error("holds no words")
        check_size(source, n_words, self._n_entries, "words")
        return TableFacts(self._n_documents, n_words, known.names, first_word=base)


def _parse_pairs(chunk: bytes, base: int) -> tuple[Array, Array, Array, Array] | None:
    """Parse regular lines into their first numbers, lengths, words and counts; or None."""
    found = parse_numbers(chunk)
    if found is None or found.size == 0:
        return None
    ends = np.flatnonzero(found == END)
    if ends.size != chunk.count(b"\n") or ends[-1] != found.size - 1:
        return None
    starts = np.concatenate(([0], ends[:-1] + 1))
    sizes = ends - starts - 1
    if (sizes < 0).any() or (sizes % 3).any():
        return None
    inside = np.ones(found.size, dtype=bool)
    inside[starts] = inside[ends] = False
    triples = found[inside].reshape(-1, 3)
    words, counts = triples[:, 0], triples[:, 2]
    if len(triples) != chunk.count(b":") or not (triples[:, 1] == COLON).all():
        return None
    if not (are_indices(words, base, LARGEST_INT32 - 1) and are_counts(counts)):
        return None
    return found[starts], sizes // 3, words, counts


def _parse_pairs_slowly(
    source: Source, first: int, chunk: bytes, start: Callable[[int, str], int | None], base: int
) -> tuple[Array, Array, Array, Array]:
    """Parse line by line, to skip comments and blank lines and to name the line of an error."""
    lengths: list[int] = []
    words: list[int] = []
    counts: list[float] = []
    for line, text, fields in split_lines(first, chunk):
        if "#" in text:
            fields = text.partition("#")[0].split()
        if not fields:
            continue
        expected = start(line, fields[0])
        before = len(words)
        for field in fields[1:]:
            word, colon, count = field.partition(":")
            if word == "qid":
                continue
            if not colon:
                raise source.error(f"expected id:count, found {shown(field)}; correct it", line)
            words.append(check_index(source, line, word, "word", 0, LARGEST_INT32 - 1))
            if words[-1] < base:
                problem = "word 0, but words are numbered from 1"
                raise source.error(problem, line, use={"zero_based": True})
            counts.append(check_count(source, line, count))
        lengths.append(len(words) - before)
        if expected is not None and expected != lengths[-1]:
            problem = f"says {expected} words but holds {lengths[-1]}; is it cut short?"
            raise source.error(problem, line)
    sizes = np.array(lengths, dtype=np.int64)
    return sizes, sizes, np.array(words, dtype=np.int64), np.array(counts, dtype=np.float64)
