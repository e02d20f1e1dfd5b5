# SPDX-License-Identifier: BSD-3-Clause
"""Components in words: how large each is, what it says, who it is typical of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from discan.data.corpus import Corpus, Layout
from discan.errors import InputError
from discan.typing import Array

__all__ = ["Component", "Word", "describe_corpus", "describe_model", "summarise"]

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
        """How many times likelier the word is than in all the data."""
        return self.probability / self.overall if self.overall > 0 else 0.0


@dataclass(frozen=True)
class Component:
    """One component: its share of all tokens, its words and its documents.

    words, distinctive : lists of Word, by probability and by lift; documents : list of (document,
    share of the document).
    """

    name: str
    size: float
    words: list[Word]
    distinctive: list[Word]
    documents: list[tuple[str, float]]

    def as_dict(self) -> dict[str, Any]:
        """The same in plain types, for JSON."""

        def plain(words: list[Word]) -> list[dict[str, Any]]:
            return [{**word._asdict(), "lift": word.lift} for word in words]

        return {
            "component": self.name,
            "size": self.size,
            "by_probability": plain(self.words),
            "by_lift": plain(self.distinctive),
            "documents": [{"name": name, "share": share} for name, share in self.documents],
        }


def summarise(estimator: Any, n_words: int = 10, n_documents: int = 5) -> list[Component]:
    """Summarise every component of a fitted estimator, largest first."""
    counts = getattr(estimator, "component_counts_", None)
    if counts is None:
        raise InputError("the model has no training documents to summarise; fit it to data")
    components, layout = estimator.components_, estimator._layout
    totals = counts.sum(axis=0)
    sizes = totals / max(totals.sum(), 1e-300)
    overall = sizes @ components
    words = _labels(layout)
    documents = _names(estimator.document_names_, len(counts), "document")
    shares = estimator.proportions_
    names = estimator.get_feature_names_out()
    few = (layout.n_groups > 1) & (layout.group_sizes[layout.group_of_word] <= FEW_ANSWERS)

    def listed(k: int, n: int, *keys: Array) -> list[Word]:
        order = np.lexsort(tuple(-key for key in reversed(keys)))[:n]
        return [Word(words[j], float(components[k, j]), float(overall[j])) for j in order]

    result = []
    for k in np.argsort(-sizes, kind="stable"):
        with np.errstate(divide="ignore", invalid="ignore"):
            lift = np.where(overall > 0, components[k] / overall, 0.0)
        enough = components[k] * totals[k] / layout.n_groups >= ENOUGH
        most = ~few | (components[k] >= MOST)
        # among documents of one component alone, the longer is the more typical
        order = np.lexsort((-counts[:, k], -np.round(shares[:, k], 3)))[:n_documents]
        result.append(
            Component(
                str(names[k]),
                float(sizes[k]),
                listed(k, n_words, components[k]),
                listed(
                    k,
                    min(n_words, int((lift > 1).sum())),
                    (lift > 1).astype(int),
                    (enough & most).astype(int),
                    enough.astype(int),
                    lift,
                ),
                [(documents[i], float(shares[i, k])) for i in order],
            )
        )
    return result


def describe_model(estimator: Any) -> dict[str, Any]:
    """What a fitted estimator is, in a few properties."""
    scores = getattr(estimator, "scores_", None)
    trace = getattr(estimator, "trace_", None)
    seconds = trace.last("seconds") if trace is not None and len(trace) else None
    return {
        "holds": "a model",
        "class": type(estimator).__name__,
        "model": estimator._params.model.name,
        "algorithm": estimator.algorithm_.name,
        "components": len(estimator.components_),
        "documents": 0 if scores is None else len(scores),
        "words": estimator.n_features_in_,
        "groups": estimator._layout.n_groups,
        "cycles": getattr(estimator, "n_iter_", 0),
        "seconds": None if seconds is None else round(seconds, 3),
        "converged": getattr(estimator, "converged_", False),
        "stopped": getattr(estimator, "stop_reason_", ""),
        "seed": str(estimator.settings_.get("seed", "")),
    }


def describe_corpus(corpus: Corpus) -> dict[str, Any]:
    """What a corpus is, in a few properties."""
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
