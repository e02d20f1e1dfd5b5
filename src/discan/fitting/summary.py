# SPDX-License-Identifier: BSD-3-Clause
"""Describe components by their sizes, words and typical documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from discan.data.corpus import Corpus, Layout
from discan.typing import Array

__all__ = ["Component", "Word", "describe_corpus", "summarise"]

# A word must be expected this many times in a component to be listed by lift.
ENOUGH = 3.0
# In a group of a few answers, only those that most of a component gives are listed by lift first.
FEW_ANSWERS = 10
MOST = 0.5


class Word(NamedTuple):
    """A word of a component: its probability inside its group, here and in all the data."""

    name: str
    probability: float
    overall: float

    @property
    def lift(self) -> float:
        """Probability of the word divided by its probability in all the data."""
        return self.probability / self.overall if self.overall > 0 else 0.0


@dataclass(frozen=True)
class Component:
    """One component: its fraction of all tokens, its words and its documents.

    words, distinctive : lists of Word, by probability and by lift; documents : list of (document,
    proportion of the component).
    """

    name: str
    size: float
    words: list[Word]
    distinctive: list[Word]
    documents: list[tuple[str, float]]

    def as_dict(self) -> dict[str, Any]:
        """Return the same in plain types, for JSON."""

        def plain(words: list[Word]) -> list[dict[str, Any]]:
            return [{**word._asdict(), "lift": word.lift} for word in words]

        return {
            "component": self.name,
            "size": self.size,
            "by_probability": plain(self.words),
            "by_lift": plain(self.distinctive),
            "documents": [{"name": name, "share": share} for name, share in self.documents],
        }


def summarise(
    components: Array,
    counts: Array,
    proportions: Array,
    layout: Layout,
    names: Sequence[str],
    document_names: Sequence[str] | None,
    n_words: int,
    n_documents: int,
) -> list[Component]:
    """Describe every component by its words and documents, largest first.

    Parameters
    ----------
    components : (K, J) array
    counts, proportions : (I, K) arrays
        Component counts and proportions of the documents.
    layout : Layout
    names : (K,) names of the components
    document_names : (I,) names, optional
    n_words, n_documents : int
        Lengths of the lists.
    """
    totals = counts.sum(axis=0)
    sizes = totals / max(totals.sum(), 1e-300)
    overall = sizes @ components
    words = _labels(layout)
    documents = _names(document_names, len(counts), "document")
    few = (layout.n_groups > 1) & (layout.group_sizes[layout.group_of_word] <= FEW_ANSWERS)

    def listed(k: int, n: int, *keys: Array) -> list[Word]:
        order = np.lexsort(tuple(-key for key in reversed(keys)))[:n]
        return [Word(words[j], float(components[k, j]), float(overall[j])) for j in order]

    def distinctive(k: int) -> list[Word]:
        with np.errstate(divide="ignore", invalid="ignore"):
            lift = np.where(overall > 0, components[k] / overall, 0.0)
        enough = components[k] * totals[k] / layout.n_groups >= ENOUGH
        most = ~few | (components[k] >= MOST)
        higher = lift > 1
        return listed(k, min(n_words, int(higher.sum())), higher * 1, (enough & most) * 1,
                      enough * 1, lift)  # fmt: skip

    def typical(k: int) -> list[tuple[str, float]]:
        # among documents of one component alone, the longer is the more typical
        order = np.lexsort((-counts[:, k], -np.round(proportions[:, k], 3)))[:n_documents]
        return [(documents[i], float(proportions[i, k])) for i in order]

    return [
        Component(
            str(names[k]), float(sizes[k]), listed(k, n_words, components[k]), distinctive(k),
            typical(k),
        )
        for k in np.argsort(-sizes, kind="stable")
    ]  # fmt: skip


def describe_corpus(corpus: Corpus) -> dict[str, Any]:
    """Return what a corpus is, in a few properties."""
    whole = corpus.integral
    return {
        "holds": "data",
        "documents": corpus.n_documents,
        "words": corpus.n_words,
        "groups": corpus.n_groups,
        "tokens": int(corpus.n_tokens) if whole else float(corpus.n_tokens),
        "non-zeros": corpus.n_entries,
        "empty documents": int((corpus.lengths == 0).sum()),
        "whole counts": whole,
        "exposures": corpus.exposures is not None,
        **({"metadata": list(corpus.metadata)} if corpus.metadata else {}),
    } | {
        f"first {kind}": list(names[:5])
        for kind, names in (
            ("documents", corpus.document_names), ("words", corpus.layout.word_names),
        )
        if names is not None
    }  # fmt: skip


def _labels(layout: Layout) -> Any:
    """Names of words for reading: `question=answer` where the group's name says more.

    A roll call's words are `12=yea` and `12=nay`, its group `12 2003-01-28 On the Nomination`.
    """
    words, groups = layout.word_names, layout.group_names
    if words is None or groups is None or layout.n_groups < 2:
        return _names(words, layout.n_words, "word")
    labels = []
    for word, group in zip(words, layout.group_of_word, strict=True):
        title, equals, answer = word.rpartition("=")
        longer = equals and groups[group] != title and groups[group].startswith(f"{title} ")
        labels.append(f"{groups[group]}={answer}" if longer else word)
    return labels


def _names(names: Any, size: int, kind: str) -> Any:
    return names if names is not None else [f"{kind} {n}" for n in range(size)]
