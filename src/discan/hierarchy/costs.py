# SPDX-License-Identifier: BSD-3-Clause
"""What merging costs: how much worse merged components predict new documents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from discan.data.corpus import Corpus
from discan.engines import Engine
from discan.fitting.infer import score_and_error
from discan.hierarchy.tree import Tree
from discan.validation import whole

__all__ = ["Cost", "merging_costs", "usual_numbers"]


class Cost(NamedTuple):
    """How a merged fit predicts held-out tokens.

    Attributes
    ----------
    components : int
    nats_per_token, error : float
        Score of the merged fit, and its standard error over documents.
    cost, cost_error : float
        Nats per token that the whole fit is better, and the standard error of this difference.
        The same tokens are scored in both.
    """

    components: int
    nats_per_token: float
    error: float
    cost: float
    cost_error: float

    @property
    def perplexity(self) -> float:
        """Number of equally likely words that would be as hard to guess."""
        return float(np.exp(-self.nats_per_token))


def merging_costs(
    tree: Tree, corpus: Corpus, numbers: Iterable[int] | None = None, engine: Engine | None = None
) -> list[Cost]:
    """Score merged fits on documents, a half of each given the other half; largest number first.

    Nothing is refitted: a fit with so few components from the start usually predicts better. The
    documents should be new to the fit.

    Parameters
    ----------
    tree : Tree
    corpus : Corpus
    numbers : list of int, optional
        Numbers of components; by default K, and then about half as many each time, down to 1.
    engine : Engine, optional
    """
    n_components = tree.n_components
    wanted = usual_numbers(n_components) if numbers is None else numbers
    asked = sorted({n_components, *(whole("n", n, 1) for n in wanted)}, reverse=True)
    whole_fit = tree.fit.completion(corpus, engine)
    result = []
    for n in asked:
        found = whole_fit if n == n_components else tree.merged(n).completion(corpus, engine)
        worse = np.array([whole_fit[0] - found[0], found[1]])
        result.append(Cost(n, *score_and_error(found), *score_and_error(worse)))
    return result


def usual_numbers(n_components: int) -> list[int]:
    """K, and then about half as many each time, down to 1."""
    result = [n_components]
    while result[-1] > 1:
        result.append((result[-1] + 1) // 2 if result[-1] > 2 else 1)
    return result
