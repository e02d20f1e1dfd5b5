# SPDX-License-Identifier: BSD-3-Clause
"""Describe components by their sizes, words and typical documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from discan.data.corpus import Corpus
from discan.data.layout import Layout
from discan.data.nouns import Nouns
from discan.typing import Array

__all__ = [
    "Component", "Typical", "Word", "describe_corpus", "fields_of", "summarise", "word_labels",
]  # fmt: skip

# A word must be expected this many times in a component to be listed by lift.
ENOUGH = 3.0
# A group is a field of text, with lists of its own, if it has more words than this, ...
MANY_WORDS = 100
# ... or if it has at least a few words, and documents have more than two tokens of it.
SOME_WORDS, SOME_TOKENS = 10, 2.5
# With more fields than this, all groups are listed together, like the questions of a survey.
MOST_FIELDS = 8


class Word(NamedTuple):
    """A word of a component: its probability inside its group, here and elsewhere.

    Attributes
    ----------
    name : str
    probability, overall, others : float
        In the component, in all the data, and in the other components together.
    field : str
        The field of text that the word belongs to, if there are several; else "".
    sd : float or None
        Posterior standard deviation of the probability, if it is known.
    """

    name: str
    probability: float
    overall: float
    others: float
    field: str = ""
    sd: float | None = None

    @property
    def lift(self) -> float:
        """Probability of the word divided by its probability in all the data."""
        return self.probability / self.overall if self.overall > 0 else 0.0


class Typical(NamedTuple):
    """A document in which a component is large.

    Attributes
    ----------
    name : str
    share : float
    sd : float or None
        Posterior standard deviation of the share, if it is known.
    text : str
        The beginning of the document, if the data were read with ``excerpt``; else "".
    """

    name: str
    share: float
    sd: float | None = None
    text: str = ""


@dataclass(frozen=True)
class Component:
    """One component: its fraction of all tokens, its words and its documents.

    Attributes
    ----------
    number : int
        From 1, in the order of the components.
    name : str
    size : float
    words : list of Word
        The likeliest words of each field of text.
    distinctive : list of Word
        What sets the component apart. Of a field of text, the words by lift. Of questions (votes,
        answers, alleles), the most telling answers: p log(p / q), where p is the probability in the
        component and q that in the others, and at most one answer of a question.
    documents : list of Typical
        Those with the largest share of the component.
    """

    number: int
    name: str
    size: float
    words: list[Word]
    distinctive: list[Word]
    documents: list[Typical]

    def as_dict(self) -> dict[str, Any]:
        """Return the same in plain types, for JSON."""

        def plain(words: list[Word]) -> list[dict[str, Any]]:
            return [{**_known(word), "lift": word.lift} for word in words]

        return {
            "component": self.name,
            "number": self.number,
            "size": self.size,
            "by_probability": plain(self.words),
            "by_lift": plain(self.distinctive),
            "documents": [_known(document) for document in self.documents],
        }


def summarise(
    components: Array,
    counts: Array,
    proportions: Array,
    layout: Layout,
    group_totals: Array,
    names: Sequence[str],
    document_names: Sequence[str] | None,
    nouns: Nouns,
    n_words: int,
    n_documents: int,
    components_sd: Array | None = None,
    proportions_sd: Array | None = None,
    texts: Array | None = None,
) -> list[Component]:
    """Describe every component by its words and documents, largest first.

    Parameters
    ----------
    components : (K, J) array
    counts, proportions : (I, K) arrays
        Component counts and proportions of the documents.
    layout : Layout
    group_totals : (G,) array
        Mean count of each group in the documents that have it.
    names : (K,) names of the components
    document_names : (I,) names, optional
    nouns : Nouns
        What documents and words without names are called.
    n_words, n_documents : int
        Lengths of the lists.
    components_sd, proportions_sd : (K, J) and (I, K) arrays, optional
        Standard deviations.
    texts : (I,) array of str and None, optional
        The beginning of each document.
    """
    totals = counts.sum(axis=0)
    sizes = totals / max(totals.sum(), 1e-300)
    overall = sizes @ components
    words = word_labels(layout, nouns.word)
    documents = _names(document_names, len(counts), nouns.document)
    fields, questions = fields_of(layout, group_totals)

    def others(k: int) -> Array:
        left = 1.0 - sizes[k]
        if left <= 0:
            return np.asarray(overall)
        return np.asarray(np.maximum(overall - sizes[k] * components[k], 0.0) / left)

    def listed(k: int, columns: Array, field: str) -> list[Word]:
        elsewhere = others(k)
        return [
            Word(
                words[j], float(components[k, j]), float(overall[j]), float(elsewhere[j]), field,
                None if components_sd is None else float(components_sd[k, j]),
            )
            for j in columns
        ]  # fmt: skip

    def likeliest(k: int) -> Iterator[Word]:
        for field, columns in fields:
            best = columns[np.argsort(-components[k, columns], kind="stable")[:n_words]]
            yield from listed(k, best, field)

    def telling(k: int) -> Iterator[Word]:
        enough = components[k] * totals[k] / layout.n_groups >= ENOUGH
        for field, columns in fields:
            p, all_data = components[k, columns], overall[columns]
            lift = np.divide(p, all_data, out=np.zeros(len(p)), where=all_data > 0)
            yield from listed(k, columns[_first(lift, lift > 1, enough[columns], n_words)], field)
        if len(questions):
            # an answer that no other component gives counts as given once
            least = 1.0 / (1.0 + totals.sum() * (1.0 - sizes[k]) / layout.n_groups)
            p, q = components[k, questions], np.maximum(others(k)[questions], least)
            evidence = p * np.log(np.maximum(p, 1e-300) / q)
            best = _best_of_each(evidence, layout.group_of_word[questions])
            chosen = _first(evidence[best], (p > q)[best], enough[questions][best], n_words)
            yield from listed(k, questions[best[chosen]], "")

    def typical(k: int) -> list[Typical]:
        # among documents of one component alone, the longer is the more typical
        order = np.lexsort((-counts[:, k], -np.round(proportions[:, k], 3)))[:n_documents]
        return [
            Typical(
                documents[i], float(proportions[i, k]),
                None if proportions_sd is None else float(proportions_sd[i, k]),
                "" if texts is None else str(texts[i] or ""),
            )
            for i in order
        ]  # fmt: skip

    return [
        Component(
            int(k) + 1, str(names[k]), float(sizes[k]), list(likeliest(k)), list(telling(k)),
            typical(k),
        )
        for k in np.argsort(-sizes, kind="stable")
    ]  # fmt: skip


def fields_of(layout: Layout, group_totals: Array) -> tuple[list[tuple[str, Array]], Array]:
    """Tell fields of text, each with lists of its own, from questions with a few answers.

    Parameters
    ----------
    layout : Layout
    group_totals : (G,) array
        Mean count of each group in the documents that have it.

    Returns
    -------
    list of (name, columns)
        The fields of text; a single group is one, called "".
    (n,) array
        Columns of the questions.
    """
    everything = np.arange(layout.n_words)
    if layout.n_groups == 1:
        return [("", everything)], everything[:0]
    sizes = layout.group_sizes
    long = (sizes > MANY_WORDS) | ((sizes > SOME_WORDS) & (group_totals > SOME_TOKENS))
    if long.sum() > MOST_FIELDS:
        long[:] = False
    names = _names(layout.group_names, layout.n_groups, "group")
    fields = [
        (names[int(g)], np.flatnonzero(layout.group_of_word == g)) for g in np.flatnonzero(long)
    ]
    return fields, everything[~long[layout.group_of_word]]


def word_labels(layout: Layout, noun: str = "word") -> Sequence[str]:
    """Names of words for reading: `question=answer` where the group's name says more.

    A roll call's words are `12=yea` and `12=nay`, its group `12 2003-01-28 On the Nomination`.
    """
    words, groups = layout.word_names, layout.group_names
    if words is None or groups is None or layout.n_groups < 2:
        return _names(words, layout.n_words, noun)
    labels = []
    for word, group in zip(words, layout.group_of_word, strict=True):
        title, equals, answer = word.rpartition("=")
        longer = equals and groups[group] != title and groups[group].startswith(f"{title} ")
        labels.append(f"{groups[group]}={answer}" if longer else word)
    return labels


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
        "empty documents": int(corpus.length_table[1][corpus.length_table[0] == 0].sum()),
        "whole counts": whole,
        "exposures": corpus.has_exposures,
        **({"metadata": list(corpus.metadata)} if corpus.metadata else {}),
    } | {
        f"first {kind}": list(names[:5])
        for kind, names in (
            ("documents", corpus.document_names), ("words", corpus.layout.word_names),
        )
        if names is not None
    }  # fmt: skip


def _first(value: Array, wanted: Array, reliable: Array, n: int) -> Array:
    """Places of the n largest values among those wanted, the reliable ones first."""
    order = np.lexsort((-value, ~reliable, ~wanted))
    return order[: min(n, int(wanted.sum()))]


def _best_of_each(value: Array, group: Array) -> Array:
    """Places of the largest value of each group."""
    order = np.lexsort((-value, group))
    return order[np.concatenate(([True], np.diff(group[order]) > 0))]


def _known(row: Any) -> dict[str, Any]:
    """Return a named tuple as a dict, without what is empty."""
    return {name: value for name, value in row._asdict().items() if value not in ("", None)}


def _names(names: Sequence[str] | None, size: int, kind: str) -> Sequence[str]:
    return names if names is not None else [f"{kind} {n}" for n in range(size)]
