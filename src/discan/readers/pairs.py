# SPDX-License-Identifier: BSD-3-Clause
"""Read sparse matrices in text, one line of id:count per document: LDA-C and SVMlight."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated

import numpy as np

from discan.data.corpus import Corpus
from discan.data.intake import LARGEST_INT32, bounded_int, tightest
from discan.data.nouns import TEXT
from discan.errors import InputError, shown
from discan.readers.guess import reader
from discan.readers.numbers import (
    COLON,
    END,
    Chunks,
    Parts,
    are_counts,
    are_indices,
    check_count,
    check_index,
    check_size,
    join_parts,
    parse_numbers,
    rows_table,
    split_lines,
)
from discan.readers.source import Source
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
)
def read_ldac(source: Source, vocabulary: Vocabulary = None) -> Corpus:
    """Read Blei's LDA-C format."""

    def n_words(line: int, text: str) -> int:
        return check_index(source, line, text, "number of words", 0, 2**62)

    pairs = _read_pairs(source, n_words, lambda starts, lengths: starts == lengths)
    corpus = _corpus_of_pairs(source, pairs, 0, vocabulary, read_titles(source, len(pairs[0])))
    return corpus.described(nouns=TEXT)


@reader(
    "svmlight",
    "SVMlight or LIBSVM, one line per document: a label, then id:value",
    endings=(".svmlight", ".svm", ".libsvm"),
    sniff=_is_svmlight,
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
    pairs = _read_pairs(source, label, None if labels else are_labels, base or 0)
    corpus = _corpus_of_pairs(source, pairs, base, vocabulary, names if labels else None)
    return corpus.described(metadata={"label": names} if len(set(names)) > 1 else {})


def _read_pairs(
    source: Source,
    start: Callable[[int, str], int | None],
    is_good: Callable[[Array, Array], Array] | None,
    base: int = 0,
) -> Parts:
    """Read lengths of documents, words as in the file, and counts.

    ``start(line, text)`` checks how a line starts, and returns the number of its words if that is
    known. ``is_good(starts, lengths)`` does this for many lines at once; without it, each line is
    parsed by itself. ``base`` is the least number of a word.
    """
    parts: list[Parts] = []
    with Chunks(source) as chunks:
        for first, chunk in chunks:
            found = None if is_good is None else _parse_pairs(chunk, base)
            if found is None or is_good is None or not is_good(*found[:2]).all():
                found = _parse_pairs_slowly(source, first, chunk, start, base)
            _, lengths, words, counts = found
            parts.append((lengths, words.astype(np.int32), tightest(counts)))
    return join_parts(parts)


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


def _corpus_of_pairs(
    source: Source,
    pairs: Parts,
    base: int | None,
    vocabulary: Vocabulary,
    names: list[str] | None,
) -> Corpus:
    """Make the corpus; ``base`` is the number of the first word, None to tell by the least."""
    lengths, words, counts = pairs
    if not lengths.size:
        raise source.error("holds no documents")
    if base is None:
        base = 1 if words.size and words.min() >= 1 else 0
    words -= base
    n_words = int(words.max()) + 1 if words.size else 0
    known = read_words(source, vocabulary)
    if known.names is not None:
        if n_words > len(known.names):
            problem = f"word {n_words - 1 + base} is beyond the {len(known.names):,} words of "
            raise source.error(f"{problem}{known.path}", use={"vocabulary": (..., False)})
        n_words = len(known.names)
    if n_words == 0:
        raise source.error("holds no words")
    check_size(source, n_words, words.size, "words")
    table = rows_table(lengths, words, counts, n_words)
    return source.corpus(table, word_names=known.names, document_names=names)
