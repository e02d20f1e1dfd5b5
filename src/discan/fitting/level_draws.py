# SPDX-License-Identifier: BSD-3-Clause
"""Averages over draws of documents whose components have parents.

The shapes of the scores differ by document and draw, so the moments of the scores do not follow
from the counts: they are summed in full.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from discan.algorithms.base import Posterior
from discan.data.blocks import BlockRef
from discan.data.rules import MOST, Rule, taken
from discan.fitting.document_draws import CountSums, SampledDocuments
from discan.models.levels import TwoLevels
from discan.typing import Array

__all__ = ["LevelDocuments", "ScoreSums"]


@dataclass
class ScoreSums:
    """Sums over draws of a block's documents: scores and squares (n, K), parents' scores (n, R)."""

    scores: Array
    squares: Array
    parent_scores: Array

    @classmethod
    def none(cls, block: BlockRef, model: TwoLevels) -> ScoreSums:
        """Return the sums over no draws."""
        n_documents, (n_components, n_parents) = block.stop - block.start, model.parents.shape
        scores, squares = np.zeros((2, n_documents, n_components))
        return cls(scores, squares, np.zeros((n_documents, n_parents)))

    def add(self, posterior: Posterior, parent_scores: Array) -> None:
        """Add one more draw."""
        self.scores += posterior.scores
        self.squares += posterior.squares
        self.parent_scores += parent_scores

    def arrays(self, prefix: str) -> dict[str, Array]:
        """Return everything that is needed to continue, by name."""
        return {f"{prefix}.{field.name}": getattr(self, field.name) for field in fields(self)}

    def restored(self, prefix: str, arrays: Mapping[str, Array]) -> ScoreSums:
        """Return sums that were saved, of the sizes of these."""
        rules = {
            field.name: Rule(getattr(self, field.name).shape, "f8", low=0, high=MOST)
            for field in fields(self)
        }
        return ScoreSums(**taken(rules, arrays, {}, f"{prefix}."))


@dataclass(frozen=True)
class LevelDocuments(SampledDocuments):
    """Tables of the documents, computed from the sums over draws when read.

    Attributes
    ----------
    sums : (B,) sequence of ScoreSums
        One of each part.
    sizes : (R,) array, optional
        Mean share of each parent over documents and draws.
    order, parent_order : (K,) and (R,) arrays, optional
        The order of the components and of the parents, where it is not that of the sums.
    """

    sums: Sequence[ScoreSums] = ()
    sizes: Array | None = None
    order: Array | None = None
    parent_order: Array | None = None

    @property
    def parent_scores(self) -> Array:
        """Posterior mean scores of the parents, (I, R)."""
        rows = np.concatenate([part.parent_scores for part in self.sums]) / self.n_draws
        return rows if self.parent_order is None else rows[:, self.parent_order]

    @property
    def parent_sizes(self) -> Array | None:
        """Mean share of each parent, (R,); None in a run that version 1.0 began."""
        moved = self.sizes is not None and self.parent_order is not None
        return self.sizes[self.parent_order] if moved else self.sizes  # type: ignore[index]

    def permuted(self, order: Array) -> LevelDocuments:
        """Return the same with the components in another order (K,)."""
        new = order if self.order is None else self.order[order]
        return replace(
            self,
            parts=[part.permuted(order) for part in self.parts],
            models=[model.permuted(order) for model in self.models],
            order=new,
        )

    def with_parents_in(self, order: Array) -> LevelDocuments:
        """Return the same with the parents in another order (R,)."""
        new = order if self.parent_order is None else self.parent_order[order]
        return replace(self, parent_order=new)

    def _score_moments(self, part: CountSums) -> tuple[Array, Array, Array]:
        """Mean and mean square of a part's scores; no score is absent."""
        found = next(s for p, s in zip(self.parts, self.sums, strict=True) if p is part)
        mean, square = found.scores / self.n_draws, found.squares / self.n_draws
        if self.order is not None:
            mean, square = mean[:, self.order], square[:, self.order]
        return mean, square, np.zeros_like(mean)
