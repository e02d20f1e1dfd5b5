# SPDX-License-Identifier: BSD-3-Clause
"""Leave the unused components of a fit out of its tables; its evidence keeps them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discan.fitting.posterior import Documents, Loadings
from discan.fitting.result import Fit
from discan.models.base import proportions
from discan.typing import Array

__all__ = ["trimmed"]

# A component stays if it has tokens in this part of the draws or more.
IN_USE = 0.5


def trimmed(fit: Fit) -> Fit:
    """Return the fit with those components only that have tokens in half of the draws or more.

    Those that have seeds, or are fixed, stay in any case. The hyperparameters of the others go to
    ``Fit.unused``. Tokens that they had in some draws are in no table, and the scores of a model of
    proportions are divided by their sum again.
    """
    if fit.documents is None:
        return fit
    used = fit.documents.totals > 0
    if fit.record is not None:
        used &= (fit.record.sizes > 0).mean(axis=0) >= IN_USE
    if (seeds := fit.params.prior.seeds) is not None:
        used[seeds.components] = True
    kept = np.flatnonzero(used)
    if len(kept) in (0, fit.n_components):
        return fit
    model = fit.params.model
    unused = {name: value[~used] for name, value in model.values().items()}
    short = replace(fit, loadings=_KeptLoadings(fit.loadings), documents=None).permuted(kept)
    documents = _KeptDocuments(fit.documents, kept, model.normalised)
    return replace(short, documents=documents, unused=unused)


@dataclass(frozen=True)
class _KeptLoadings:
    """Some components of the loadings, in any order."""

    whole: Loadings
    kept: Array | None = None

    @property
    def mean(self) -> Array:
        """Posterior mean, (J, K)."""
        return self._some(self.whole.mean)

    @property
    def sd(self) -> Array | None:
        """Posterior standard deviation, (J, K)."""
        sd = self.whole.sd
        return None if sd is None else self._some(sd)

    @property
    def stored(self) -> tuple[Array, Array | None]:
        """The means of all components, and which to read."""
        mean, order = self.whole.stored
        return mean, self.kept if order is None or self.kept is None else order[self.kept]

    def permuted(self, order: Array) -> _KeptLoadings:
        """Return some of these components in another order."""
        return replace(self, kept=order if self.kept is None else self.kept[order])

    def _some(self, table: Array) -> Array:
        return table if self.kept is None else table[:, self.kept]


@dataclass(frozen=True)
class _KeptDocuments:
    """Tables of the documents for some components, computed when they are read."""

    whole: Documents
    kept: Array
    normalised: bool

    @property
    def component_counts(self) -> Array:
        """Mean counts."""
        return self.whole.component_counts[:, self.kept]

    @property
    def component_counts_sd(self) -> Array | None:
        """Standard deviations of the counts."""
        return self._some(self.whole.component_counts_sd)

    @property
    def scores(self) -> Array:
        """Posterior mean scores."""
        scores = self.whole.scores[:, self.kept]
        return proportions(scores) if self.normalised else scores

    @property
    def scores_sd(self) -> Array | None:
        """Posterior standard deviations of the scores."""
        return self._some(self.whole.scores_sd)

    @property
    def absent(self) -> Array | None:
        """P(l = 0)."""
        return self._some(self.whole.absent)

    @property
    def totals(self) -> Array:
        """Mean tokens of each component, (K,)."""
        return self.whole.totals[self.kept]

    def permuted(self, order: Array) -> _KeptDocuments:
        """Return the same with the components in another order (K,)."""
        return replace(self, kept=self.kept[order])

    def _some(self, table: Array | None) -> Array | None:
        return None if table is None else table[:, self.kept]
