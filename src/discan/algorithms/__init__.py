# SPDX-License-Identifier: BSD-3-Clause
"""How the numbers are estimated, one file an algorithm."""

from typing import Any

from discan.algorithms.base import ALGORITHMS, Algorithm
from discan.algorithms.collapsed import BLOCKED_FROM, Collapsed
from discan.algorithms.cvb0 import CollapsedVariational
from discan.algorithms.em import MAP, MaximumLikelihood
from discan.algorithms.gibbs import Gibbs
from discan.algorithms.variational import Variational
from discan.data.corpus import Corpus
from discan.models import Model
from discan.registry import import_all

import_all(__name__, __path__)  # a new file registers itself

__all__ = [
    "ALGORITHMS",
    "MAP",
    "Algorithm",
    "Collapsed",
    "CollapsedVariational",
    "Gibbs",
    "MaximumLikelihood",
    "Variational",
    "choose",
]


# A chain that has an answer soon, and a better one the longer it runs.
CHAIN = Collapsed(burn_in=8, n_draws=120, thin=2, forget=True, start="documents")
# With fewer tokens a point estimate fits the noise.
TOKENS_A_LOADING, TOKENS_A_SCORE = 1.0, 3.0


def choose(
    choice: Any,
    model: Model,
    learn: frozenset[str] = frozenset(),
    corpus: Corpus | None = None,
    n_components: int = 0,
) -> Algorithm:
    """Find an algorithm by name; "auto" is the quickest to a good model of this corpus.

    MAP is that where tokens are many: at least one for every loading, and three for every score of
    the mean document. With fewer a point estimate comes to fit the noise; collapsed variational
    inference does not, nor does an average over draws, which is worth its time on a small corpus.
    The same two are best to learn hyperparameters with. Draws need whole counts; without, a small
    corpus gets a point estimate, or a bound to learn by.
    """
    if not isinstance(choice, str) or choice.lower() != "auto":
        return ALGORITHMS.find(choice)
    point = MAP()
    if point.refusal(model, frozenset()):
        return Variational()
    if corpus is not None and (learn or _few(corpus, n_components)):
        if corpus.n_tokens >= BLOCKED_FROM:
            return CollapsedVariational()
        if CHAIN.can_draw(corpus):
            return CHAIN
    return Variational() if learn else point


def _few(corpus: Corpus, n_components: int) -> bool:
    """Whether there are few tokens for what a point estimate would have to find."""
    rows = max(corpus.n_words * TOKENS_A_LOADING, corpus.n_documents * TOKENS_A_SCORE)
    return bool(corpus.n_tokens < n_components * rows)
