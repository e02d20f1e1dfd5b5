# SPDX-License-Identifier: BSD-3-Clause
"""Lay new data out in the columns of a fitted model, word by word."""

from __future__ import annotations

import logging

import numpy as np

from discan.data.corpus import Corpus, Layout
from discan.errors import InputError

__all__ = ["align"]

log = logging.getLogger("discan")


def align(corpus: Corpus, layout: Layout, max_unseen: float = 1.0) -> Corpus:
    """Return the corpus with the columns of ``layout``; words it does not have are dropped.

    Parameters
    ----------
    max_unseen : largest share of tokens that may be dropped before it is an error
    """
    if corpus.layout.word_names is None or layout.word_names is None:
        if corpus.n_words != layout.n_words:
            raise InputError(
                f"the data have {corpus.n_words} columns and the model {layout.n_words}, and there "
                "are no words to match them by; read both with their vocabulary"
            )
        return corpus
    if corpus.layout.word_names == layout.word_names:
        return corpus
    place = {word: j for j, word in enumerate(layout.word_names)}
    target = np.array([place.get(word, -1) for word in corpus.layout.word_names], dtype=np.int64)
    words = target[corpus.words]
    known = words >= 0
    unseen = float(corpus.counts[~known].sum()) / max(float(corpus.n_tokens), 1.0)
    if unseen > 0:
        share = 100 * unseen
        log.warning("%.1f %% of the tokens are unknown to the model and ignored", share)
    if unseen > max_unseen or not known.any():
        raise InputError(
            f"{100 * unseen:.0f} % of the tokens are words the model does not know: is it the "
            "right model?"
        )
    from scipy import sparse

    indptr = np.concatenate(([0], np.cumsum(known)))[corpus.indptr]
    shape = (corpus.n_documents, layout.n_words)
    table = sparse.csr_array((corpus.counts[known], words[known], indptr), shape=shape)
    same_groups = corpus.n_groups == layout.n_groups
    return Corpus(
        table,
        groups=layout.group_of_word,
        exposures=corpus.exposures if same_groups else None,
        document_names=corpus.document_names,
        word_names=layout.word_names,
        group_names=layout.group_names,
    )
