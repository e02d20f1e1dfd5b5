# SPDX-License-Identifier: BSD-3-Clause
"""The default algorithm: the quickest to a good model of the data."""

from __future__ import annotations

from typing import Any

from discan.algorithms.base import ALGORITHMS, Algorithm
from discan.algorithms.collapsed import BLOCKED_FROM, Collapsed
from discan.algorithms.cvb0 import CollapsedVariational
from discan.algorithms.em import MAP
from discan.algorithms.variational import Variational
from discan.data.corpus import Corpus
from discan.models import Model

__all__ = ["choose"]

# A chain that has an answer soon, and a better one the longer it runs.
CHAIN = Collapsed(burn_in=8, n_draws=120, thin=2, forget=True, start="documents")
# A point estimate overfits with fewer tokens.
TOKENS_PER_LOADING, TOKENS_PER_SCORE = 1.0, 3.0


def choose(
    choice: Any,
    model: Model,
    learn: frozenset[str] = frozenset(),
    corpus: Corpus | None = None,
    n_components: int = 0,
) -> Algorithm:
    """Find an algorithm by name; "auto" is the quickest to a good model of this corpus.

    That is MAP where tokens are many: at least one per loading, and three per score of the mean
    document. With fewer tokens a point estimate overfits. Collapsed variational inference does not,
    nor does an average over draws, which a small corpus has time for. The same two are best to
    learn hyperparameters with. Draws need whole counts; without them, a small corpus gets a point
    estimate, or the variational bound if hyperparameters are learnt.
    """
    if not isinstance(choice, str) or choice.lower() != "auto":
        return ALGORITHMS.find(choice)
    point = MAP()
    if point.refusal(model, frozenset()):
        return Variational()
    if corpus is not None and (learn or _few(corpus, n_components)):
        if corpus.n_tokens >= BLOCKED_FROM:
            return CollapsedVariational()
        if CHAIN.refusal(model, learn, corpus) is None:
            return CHAIN
    return Variational() if learn else point


def _few(corpus: Corpus, n_components: int) -> bool:
    """Whether a point estimate would overfit."""
    rows = max(corpus.n_words * TOKENS_PER_LOADING, corpus.n_documents * TOKENS_PER_SCORE)
    return bool(corpus.n_tokens < n_components * rows)
