# SPDX-License-Identifier: BSD-3-Clause
"""Save a corpus in one checksummed file, and load it."""

from __future__ import annotations

import os
from pathlib import Path

from scipy import sparse

from discan.data.corpus import Corpus
from discan.data.metadata import decode_about, encode_about
from discan.data.storage import read_file, write_file
from discan.errors import ModelFileError

__all__ = ["load_corpus", "save_corpus"]


def save_corpus(corpus: Corpus, path: str | os.PathLike[str]) -> None:
    """Write a corpus to a file."""
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
    write_file(Path(path), "corpus", header, arrays)


def load_corpus(path: str | os.PathLike[str]) -> Corpus:
    """Read a corpus from a file; it is checked like any other input."""
    header, arrays = read_file(Path(path), "corpus")
    try:
        groups, indptr = arrays["group_of_word"], arrays["indptr"]
        parts = (arrays["counts"], arrays["words"], indptr)
        table = sparse.csr_array(parts, shape=(len(indptr) - 1, len(groups)))
        names = {key: header[key] for key in ("document_names", "word_names", "group_names")}
        about = decode_about(header, arrays)
        return Corpus(table, groups=groups, exposures=arrays.get("exposures"), **names, **about)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ModelFileError(f"{path}: not a sound corpus ({error})") from None
