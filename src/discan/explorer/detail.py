# SPDX-License-Identifier: BSD-3-Clause
"""How much a page shows: which documents, words and texts, and what it says it leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discan.explorer.material import Material
from discan.typing import Array

__all__ = ["Detail", "entries_kept", "kept", "left_out", "reads_as_text", "typical"]

TYPICAL = 20  # documents of each component that are kept, with their texts
MOST_ENTRIES = 3_000_000  # up to this many non-zero counts, a page shows all
SOME_ENTRIES = 30  # per document, if there are more
TITLE = 90  # characters


@dataclass(frozen=True)
class Detail:
    """How much a page shows.

    Attributes
    ----------
    text : int
        Characters of a document's text, 0 for none.
    typical : bool
        Whether only typical documents have texts.
    entries : int
        Words or answers of each document; -1 for all, 0 for none.
    components : int
        Components of each document.
    bits : int
        Of a share.
    title : int
        Characters of a document's name.
    part : float
        Part of the documents.
    """

    text: int = 2000
    typical: bool = False
    entries: int = -1
    components: int = 20
    bits: int = 16
    title: int = TITLE
    part: float = 1.0

    def lessened(self) -> Iterator[Detail]:
        """Iterate over levels of detail, from this one downwards."""
        steps: list[dict[str, Any]] = [
            {}, {"entries": SOME_ENTRIES}, {"text": 1000}, {"text": 400}, {"text": 250},
            {"text": 400, "typical": True}, {"components": 8, "bits": 8}, {"entries": 0},
            {"text": 150}, {"components": 5}, {"title": 40}, {"text": 0},
            *({"part": 0.5**n} for n in range(1, 12)),
        ]  # fmt: skip
        allowed: dict[str, Any] = {}
        for step in steps:
            allowed |= step
            yield replace(self, **{n: self._least(n, value) for n, value in allowed.items()})

    def _least(self, name: str, value: Any) -> Any:
        """Return the smaller of two limits; -1 entries means all entries."""
        own = getattr(self, name)
        if name == "typical":
            return own or value
        return value if name == "entries" and own < 0 else min(own, value)


def left_out(material: Material, wanted: Detail, now: Detail) -> str:
    """Say what a page lacks that a larger one would have."""
    nouns, parts = material.components.nouns, []
    if now.text < wanted.text and material.texts is not None:
        parts.append(f"texts are cut to {now.text} characters" if now.text else "texts are absent")
    if now.typical and not wanted.typical and now.text and material.texts is not None:
        parts.append(f"only typical {nouns.documents} have texts")
    if now.components < min(wanted.components, len(material.components.names)):
        parts.append(f"{now.components} {nouns.components} per {nouns.document} are kept")
    if now.bits < wanted.bits:
        parts.append("shares are rounded to 0.4 %")
    most = entries_kept(material, now)
    if most is not None and not reads_as_text(material, now) and material.facts.corpus is not None:
        some = f"{most} {nouns.words} of each" if most else f"no {nouns.words} of a"
        parts.append(f"{some} {nouns.document} are kept")
    if now.title < wanted.title:
        parts.append(f"names are cut to {now.title} characters")
    if now.part < wanted.part:
        n = len(kept(material, now.part))
        parts.append(f"{n:,} of {material.facts.n_documents:,} {nouns.documents} are kept")
    return "; ".join(parts)


def entries_kept(material: Material, detail: Detail) -> int | None:
    """Return how many words or answers of each document a page has; None for all."""
    corpus = material.facts.corpus
    if detail.entries >= 0:
        return detail.entries
    if reads_as_text(material, detail) or corpus is None or corpus.n_entries <= MOST_ENTRIES:
        return None
    return SOME_ENTRIES


def reads_as_text(material: Material, detail: Detail) -> bool:
    """Tell whether all documents have texts, which show their words."""
    has_text = material.texts is not None and detail.text > 0 and not detail.typical
    return has_text and not material.components.grouped


def kept(material: Material, part: float) -> Array:
    """Return the documents to keep: the typical ones, and others at equal distances."""
    n = material.facts.n_documents
    if part >= 1:
        return np.arange(n)
    spaced = np.unique(np.floor(np.arange(0, n, 1 / part)).astype(np.int64))
    return np.union1d(spaced, typical(material))


def typical(material: Material) -> Array:
    """Return the documents with the largest shares of any component."""
    found = []
    for share, amount in zip(material.shares.T, material.facts.amounts.T, strict=True):
        share = np.round(share, 3)
        last = max(0, len(share) - TYPICAL)
        near = np.flatnonzero(share >= np.partition(share, last)[last])
        found.append(near[np.lexsort((-amount[near], -share[near]))[:TYPICAL]])
    return np.unique(np.concatenate(found))
