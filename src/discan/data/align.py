# SPDX-License-Identifier: BSD-3-Clause
"""Arrange new data in the columns of a fitted model, matched by their words."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Sequence

import numpy as np
from scipy import sparse

from discan.data.corpus import Corpus, Layout
from discan.data.intake import offsets
from discan.errors import InputError
from discan.typing import Array

__all__ = ["align"]

log = logging.getLogger("discan")


def align(corpus: Corpus, layout: Layout, max_unseen: float = 1.0) -> Corpus:
    """Return the corpus with the columns of ``layout``; words it does not have are dropped.

    Groups are matched by name. A document has exposure 0 to a group that is not in the data, and
    to a group if the model knows none of the document's words in it.

    Parameters
    ----------
    max_unseen : largest share of tokens that may be dropped before it is an error
    """
    given = corpus.layout
    if given.word_names is None or layout.word_names is None:
        if corpus.n_words != layout.n_words:
            raise InputError(
                f"the data have {corpus.n_words} columns and the model {layout.n_words}, and there "
                "are no words to match them by; read both with their vocabulary"
            )
        return corpus
    if given.word_names == layout.word_names and np.array_equal(
        given.group_of_word, layout.group_of_word
    ):
        return corpus
    place = {key: j for j, key in enumerate(_keys(layout, given))}
    target = np.array([place.get(key, -1) for key in _keys(given, layout)], dtype=np.int64)
    words = target[corpus.words]
    known = words >= 0
    unseen = float(corpus.counts[~known].sum()) / max(float(corpus.n_tokens), 1.0)
    if not known.any() or unseen > max_unseen:
        raise InputError(
            f"{100 * unseen:.4g} % of the tokens are words that the model does not know; is it the "
            "right model, and are the data read as those it was fitted to?"
        )
    if unseen > 0:
        log.warning("%.2g %% of the tokens are unknown to the model and ignored", 100 * unseen)
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
