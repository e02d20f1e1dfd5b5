# SPDX-License-Identifier: BSD-3-Clause
"""Arrange new data in the columns of a fitted model, matched by their words."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from discan.data.corpus import Corpus
from discan.data.intake import offsets
from discan.data.layout import Layout
from discan.data.left_out import NOTHING, are_left_out
from discan.errors import InputError, shown
from discan.typing import Array

__all__ = ["Match", "align"]

log = logging.getLogger("discan")

LISTED = 5  # names in a remark


def align(
    corpus: Corpus,
    layout: Layout,
    max_unseen: float = 1.0,
    left_out: Array = NOTHING,
    unknown: bool = False,
    any_words: bool = False,
) -> Corpus:
    """Return the corpus with the columns of ``layout``; words it does not have are dropped.

    Groups are matched by name. A document has exposure 0 to a group that is not in the data, and
    to a group if the model knows none of the document's words in it.

    Parameters
    ----------
    corpus : Corpus
    layout : Layout
    max_unseen : largest share of tokens that may be dropped before it is an error
    left_out : (n,) uint32 array
        Checksums of words that the model left out when it was fitted; they are not unknown.
    unknown : bool
        Whether to add two columns to the metadata: ``known``, the number of tokens of each document
        that the model knows, and ``unknown``, the number of those it never saw.
    any_words : bool
        Whether data of which no word is known are accepted, as texts are.
    """
    match = Match.of(corpus.layout, layout, left_out)
    _report(corpus, match, max_unseen, any_words)
    return match.moved(corpus, unknown)


@dataclass(frozen=True, eq=False)
class Match:
    """Which words of some data a model has.

    Attributes
    ----------
    layout : Layout
        The columns of the model.
    target : (J of the data,) array
        Column of each word in the model; -1 if it has none.
    new : (J of the data,) boolean array
        Words that the model never saw.
    same : bool
        Whether the columns are those of the model already.
    """

    layout: Layout
    target: Array
    new: Array
    same: bool

    @classmethod
    def of(cls, given: Layout, layout: Layout, left_out: Array = NOTHING) -> Match:
        """Match the words of data with those of a model, by name if there are names."""
        if given.word_names is None or layout.word_names is None:
            if given.n_words != layout.n_words:
                raise InputError(
                    f"the data have {given.n_words} columns and the model {layout.n_words}, and "
                    "there are no words to match them by; read both with their vocabulary"
                )
            nothing_new = np.zeros(given.n_words, dtype=bool)
            return cls(layout, np.arange(given.n_words), nothing_new, same=True)
        place = {key: j for j, key in enumerate(_keys(layout, given))}
        target = np.array([place.get(key, -1) for key in _keys(given, layout)], dtype=np.int64)
        same = given.word_names == layout.word_names and np.array_equal(
            given.group_of_word, layout.group_of_word
        )
        strange = np.flatnonzero(target < 0)
        new = np.zeros(given.n_words, dtype=bool)
        new[strange] = ~are_left_out([given.word_names[j] for j in strange], left_out)
        return cls(layout, target, new, same)

    def moved(self, corpus: Corpus, unknown: bool = False) -> Corpus:
        """Return the corpus with the columns of the model; nothing is reported."""
        words = self.target[corpus.words]
        known = words >= 0
        result = corpus if self.same else _moved(corpus, self.layout, words, known)
        if unknown:
            unseen = _tokens(corpus, self.new[corpus.words])
            columns = {"known": _tokens(corpus, known), "unknown": unseen}
            result = result.described(metadata={**result.metadata, **columns})
        return result


def _moved(corpus: Corpus, layout: Layout, words: Array, known: Array) -> Corpus:
    """Return the known words in the columns of the layout."""
    parts = (corpus.counts[known], words[known], offsets(known)[corpus.indptr])
    table = sparse.csr_array(parts, shape=(corpus.n_documents, layout.n_words))
    return Corpus(
        table,
        groups=layout.group_of_word,
        exposures=_exposures(corpus, layout, known),
        word_names=layout.word_names,
        group_names=layout.group_names,
        **corpus.about,
    )


def _report(corpus: Corpus, match: Match, max_unseen: float, any_words: bool) -> None:
    """Say how much the model does not know, and which documents it knows nothing of."""
    known = match.target[corpus.words] >= 0
    total = max(float(corpus.n_tokens), 1.0)
    is_new = match.new[corpus.words]
    unseen = float(corpus.counts[is_new].sum()) / total
    left = float(corpus.counts[~known & ~is_new].sum()) / total
    nothing = corpus.n_entries > 0 and not known.any() and not any_words
    if nothing or unseen > max_unseen:
        raise InputError(
            f"{100 * unseen:.4g} % of the tokens are words that the model does not know; is it the "
            "right model, and are the data read as those it was fitted to?"
        )
    nouns = corpus.nouns
    if left:
        remark = "%.3g %% of the tokens are %s that were left out at the fit, and are ignored"
        log.info(remark, 100 * left, nouns.words)
    if unseen:
        totals = np.bincount(corpus.words[is_new], corpus.counts[is_new], corpus.n_words)
        order = np.argsort(-totals, kind="stable")[: min(LISTED, int((totals > 0).sum()))]
        some = ", ".join(shown((corpus.layout.word_names or ())[j]) for j in order)
        remark = "%.3g %% of the tokens are %s that the model never saw, and are ignored, e.g. %s"
        log.warning(remark, 100 * unseen, nouns.words, some)
    strangers = np.flatnonzero(_tokens(corpus, known) == 0)
    if strangers.size:
        labels = corpus.document_names or [str(i) for i in range(corpus.n_documents)]
        some = ", ".join(shown(labels[i]) for i in strangers[:LISTED])
        some += ", ..." if strangers.size > LISTED else ""
        remark = "%d of %d %s hold no %s that the model knows and get the prior mean: %s"
        sizes = (strangers.size, corpus.n_documents)
        log.warning(remark, *sizes, nouns.documents, nouns.word, some)


def _tokens(corpus: Corpus, chosen: Array) -> Array:
    """Return the number of each document's tokens in some entries, (I,) float64."""
    sums = np.concatenate(([0.0], np.cumsum(np.where(chosen, corpus.counts, 0), dtype=np.float64)))
    return np.asarray(sums[corpus.indptr[1:]] - sums[corpus.indptr[:-1]])


def _keys(layout: Layout, other: Layout) -> Sequence[Hashable]:
    """Return what to match words by: names, with group names if a name stands twice."""
    words, groups = layout.word_names or (), layout.group_names
    twice = any(len(set(names or ())) < len(names or ()) for names in (words, other.word_names))
    if not twice or groups is None or other.group_names is None:
        return words
    return [(groups[g], word) for g, word in zip(layout.group_of_word, words, strict=True)]


def _exposures(corpus: Corpus, layout: Layout, known: Array) -> Array | None:
    """Return exposures in the model's groups; None if all are 1."""
    if layout.n_groups == 1 and corpus.n_groups == 1:
        return corpus.exposures
    result, pairs = corpus.known_exposures, corpus.pair_of_entry
    some = np.bincount(pairs, minlength=result.size) > 0
    kept = np.bincount(pairs[known], minlength=result.size) > 0
    result[(some & ~kept).reshape(result.shape)] = 0.0
    place = {name: g for g, name in enumerate(corpus.layout.group_names or ())}
    columns = np.array([place.get(name, -1) for name in layout.group_names or ()], dtype=np.int64)
    if (columns >= 0).any():
        result = result[:, columns]
        result[:, columns < 0] = 0.0
    elif corpus.n_groups != layout.n_groups:
        return None
    return None if (result == 1.0).all() else result
