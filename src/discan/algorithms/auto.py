# SPDX-License-Identifier: BSD-3-Clause
"""The default: the quickest way to the best known model of the data, priors learnt."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from discan.algorithms.base import ALGORITHMS, Algorithm
from discan.algorithms.collapsed import Collapsed
from discan.algorithms.cvb0 import CollapsedVariational
from discan.algorithms.em import MAP, PointEstimate
from discan.algorithms.levels import of_levels
from discan.algorithms.variational import Variational
from discan.data.corpus import Corpus
from discan.models import Model

__all__ = ["choose", "learnt_by_default"]

# A chain that has an answer soon, and a better one the longer it runs.
CHAIN = Collapsed(
    burn_in=8, n_draws=500, thin=4, forget=True, learn_every=3, smooth=60, start="map", settle=0.002
)
# If it counts components, its start has been a chain, which has decided about them.
COUNTING = replace(CHAIN, n_draws=250, smooth=0)
# With this many tokens per loading and per score, a point estimate is as good, many times sooner.
PLENTY = (30.0, 30.0)
# With fewer, it overfits.
FEW = (1.0, 3.0)
# From this many tokens on, a chain needs hours to settle; expected counts need a tenth of them.
MANY_TOKENS = 100_000_000


def choose(
    choice: Any,
    model: Model,
    learn: frozenset[str] = frozenset(),
    corpus: Corpus | None = None,
    n_components: int = 0,
) -> Algorithm:
    """Find an algorithm by name; "auto" is the quickest way to the best known model.

    That is a collapsed chain that starts from a short MAP fit, learns the priors, and ends when it
    has settled; or MAP itself if there are 30 tokens per loading and per score. Counts that are not
    whole cannot be drawn. They get the variational bound if scores have hyperparameters to learn,
    or can be absent; else MAP, or collapsed variational inference if tokens are so few that a point
    estimate would overfit. So do 100 million tokens or more, where a chain would take hours.
    Without a corpus, that is for given components, it is MAP. Components that have parents get
    Gibbs sampling.

    Point estimates are accelerated as suits the corpus.
    """
    chosen = of_levels(_choose(choice, model, learn, corpus, n_components), model)
    if corpus is not None and isinstance(chosen, PointEstimate):
        return chosen.suited(corpus, n_components)
    return chosen


def learnt_by_default(
    algorithm: Algorithm, model: Model, given: frozenset[str], corpus: Corpus
) -> frozenset[str]:
    """Return the hyperparameters to learn if the user does not say which.

    They are all that have no given value and that the algorithm can learn. With several groups of
    columns only the samplers learn by default: from votes and answers, one count per group, the
    bounds and expected counts of the other algorithms learn priors that predict worse than fixed
    ones.
    """
    if corpus.n_groups > 1 and not algorithm.whole_counts:
        return frozenset()
    open_ones = {*model.hyperparameters, "gamma"} - given - algorithm.cannot_learn
    if not open_ones >= model.drawn_alone:  # the concentration is learnt through alpha
        open_ones -= {"concentration"}
    learn = frozenset(open_ones)
    return learn if algorithm.refusal(model, learn, corpus) is None else frozenset()


def _choose(
    choice: Any, model: Model, learn: frozenset[str], corpus: Corpus | None, n_components: int
) -> Algorithm:
    if not isinstance(choice, str) or choice.lower() != "auto":
        return ALGORITHMS.find(choice)
    if model.levels > 1:
        return next(cls() for cls in ALGORITHMS if model.levels in cls.levels)
    many = corpus is not None and corpus.n_tokens >= MANY_TOKENS
    counts = bool(model.drawn_alone)  # components, which only a chain can do
    if corpus is not None and (counts or not many) and CHAIN.refusal(model, learn, corpus) is None:
        plenty = not (learn or counts) and _reaches(PLENTY, corpus, n_components)
        if not plenty or MAP().refusal(model, learn):
            if counts:
                return COUNTING
            return CHAIN if corpus.n_groups == 1 else replace(CHAIN, smooth=0)
    few = corpus is not None and not _reaches(FEW, corpus, n_components)
    for algorithm in (CollapsedVariational(), MAP()) if few else (MAP(), CollapsedVariational()):
        if algorithm.refusal(model, learn) is None:
            return algorithm
    return Variational()


def _reaches(least: tuple[float, float], corpus: Corpus, n_components: int) -> bool:
    """Whether there are this many tokens per loading and per score."""
    per_loading, per_score = least
    rows = max(corpus.n_words * per_loading, corpus.n_documents * per_score)
    return bool(corpus.n_tokens >= n_components * rows)
