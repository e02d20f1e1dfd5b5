# SPDX-License-Identifier: BSD-3-Clause
"""Read the corpus that ``discan convert`` wrote."""

from __future__ import annotations

from discan.data.corpus import Corpus
from discan.data.store import load_corpus
from discan.readers.guess import reader
from discan.readers.source import Source

__all__ = ["read_stored"]


@reader(
    "discan",
    "a corpus written by discan convert",
    endings=(".discan",),
    sniff=lambda source: '{"__metadata__":{"' in source.head[:40] and "discan" in source.head,
)
def read_stored(source: Source) -> Corpus:
    """Read a stored corpus."""
    return load_corpus(source.path)
