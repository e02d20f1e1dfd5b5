# SPDX-License-Identifier: BSD-3-Clause
"""The corpus that ``discan convert`` wrote."""

from __future__ import annotations

from discan.data.corpus import Corpus
from discan.data.store import load_corpus
from discan.readers.source import Source, reader

__all__ = ["read_stored"]


@reader(
    "discan",
    "a corpus written by discan convert",
    endings=(".discan",),
    sniff=lambda source, head: '{"__metadata__":{"' in head[:40] and "discan" in head,
)
def read_stored(source: Source) -> Corpus:
    """Read a stored corpus."""
    return load_corpus(source.path)
