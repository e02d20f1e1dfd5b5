# SPDX-License-Identifier: BSD-3-Clause
"""How the numbers are estimated, one file an algorithm."""

from dataclasses import replace
from typing import Any

from discan.algorithms.base import ALGORITHMS, Algorithm
from discan.algorithms.collapsed import Collapsed
from discan.algorithms.gibbs import Gibbs
from discan.algorithms.maximum_likelihood import MAP, MaximumLikelihood
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
    "Gibbs",
    "MaximumLikelihood",
    "Variational",
    "choose",
]


# A chain that has an answer soon, and a better one the longer it runs.
CHAIN = Collapsed(burn_in=8, n_draws=96, thin=2, forget=True, start="documents")
# Below this many components a few cycles of MAP cost less than the sweeps that they save.
MAP_BELOW = 200


def choose(
    choice: Any,
    model: Model,
    learn: frozenset[str] = frozenset(),
    corpus: Corpus | None = None,
    n_components: int = 0,
) -> Algorithm:
    """Find an algorithm by name; "auto" is the quickest to a good model of this corpus.

    MAP is that while there is a token or more for every loading. With fewer a point estimate comes
    to fit the noise, and an average over draws does not. Hyperparameters are best learnt from
    draws, too. Whole counts are needed for these; without, a bound is raised.
    """
    if not isinstance(choice, str) or choice.lower() != "auto":
        return ALGORITHMS.find(choice)
    point = MAP()
    if point.refusal(model, frozenset()):
        return Variational()
    few = corpus is not None and corpus.n_tokens < n_components * corpus.n_words
    if corpus is not None and (few or learn) and CHAIN.can_draw(corpus):
        return replace(CHAIN, start="map") if n_components < MAP_BELOW else CHAIN
    return Variational() if learn else point
