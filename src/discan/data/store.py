# SPDX-License-Identifier: BSD-3-Clause
"""Save a corpus in one checksummed file, and load it."""

from __future__ import annotations

import os
from typing import Any

from scipy import sparse

from discan.data.corpus import Corpus
from discan.data.metadata import decode_about, encode_about
from discan.data.rules import checked_names, faults_of
from discan.data.storage import read_file, write_file

__all__ = ["load_corpus", "save_corpus"]

_NAMES = ("document_names", "word_names", "group_names")


def save_corpus(corpus: Corpus, path: str | os.PathLike[str], *, follow: bool = True) -> None:
    """Write a corpus to a file; ``follow`` tells whether a link is followed or refused."""
    arrays = {
        "indptr": corpus.indptr,
        "words": corpus.words,
        "counts": corpus.counts,
        "group_of_word": corpus.layout.group_of_word,
    }
    if corpus.exposures is not None:
        arrays["exposures"] = corpus.exposures
    header = {
        "word_names": corpus.layout.word_names,
        "group_names": corpus.layout.group_names,
        "document_names": corpus.document_names,
        **encode_about(corpus, arrays),
    }
    write_file(path, "corpus", header, arrays, follow=follow)


def load_corpus(path: str | os.PathLike[str]) -> Corpus:
    """Read a corpus from a file; it is checked like any other input."""
    header, arrays = read_file(path, "corpus")
    with faults_of(path):
        groups, indptr = arrays["group_of_word"], arrays["indptr"]
        parts = (arrays["counts"], arrays["words"], indptr)
        table = sparse.csr_array(parts, shape=(len(indptr) - 1, len(groups)))
        names: dict[str, Any] = {key: checked_names(key, header.get(key)) for key in _NAMES}
        about = decode_about(header, arrays, len(indptr) - 1)
        return Corpus(table, groups=groups, exposures=arrays.get("exposures"), **names, **about)
