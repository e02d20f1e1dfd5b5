# SPDX-License-Identifier: BSD-3-Clause
"""A fit in words and a few numbers: its components, parents, priors and convergence."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan.data.metadata import EXCERPT
from discan.data.nouns import counted
from discan.errors import DiscanError, InputError
from discan.fitting.convergence import verdict
from discan.fitting.parents import Parent, describe_parents
from discan.fitting.posterior import StoredDocuments
from discan.fitting.summary import Component, summarise
from discan.fitting.training_documents import TrainingDocuments
from discan.typing import Array

__all__ = ["Description"]


class Description(TrainingDocuments):
    """What a fit is, for people."""

    def summary(
        self, n_words: int = 10, n_documents: int = 5, sd: bool = False
    ) -> list[Component]:  # fmt: skip
        """Describe every component by its words and documents, largest first.

        With ``sd``, standard deviations are added, if the algorithm has them.
        """
        if self.documents is None:
            raise InputError("the model has no training documents to summarise; fit it to data")
        if isinstance(self.documents, StoredDocuments):  # typical documents are not known
            no_shares = np.zeros((1, self.n_components))
            return summarise(
                self.components, self.documents.totals[None], no_shares, self.layout,
                self.group_totals, self.component_names, None, self.nouns, n_words, 0,
                self.components_sd if sd else None,
            )  # fmt: skip
        # the scores of the other models are amounts, whose deviations are not those of shares
        shares_sd = self.scores_sd if sd and self.params.model.normalised else None
        return summarise(
            self.components, self.component_counts, self.proportions, self.layout,
            self.group_totals, self.component_names, self.document_names, self.nouns, n_words,
            n_documents, self.components_sd if sd else None, shares_sd, self.metadata.get(EXCERPT),
        )  # fmt: skip

    def describe_parents(self, n_components: int = 8, n_words: int = 10) -> list[Parent]:
        """Describe every parent by its components and words, largest first."""
        return describe_parents(
            self.parents, self.parent_sizes, self.component_names, self.components,
            self.sizes @ self.components, self.layout.word_names, n_components, n_words,
        )  # fmt: skip

    def verdict(self) -> DiscanError:
        """Say whether the fit has converged, and what to do if it has not; see ``verdict``."""
        if self.documents is None:
            return InputError("the components were given, so nothing was fitted")
        n_tokens = float(self.settings.get("tokens", self.documents.totals.sum()))
        burn_in = self.settings.get("burn_in") if self.algorithm.whole_counts else None
        return verdict(self.converged, self.reason, self.trace["objective"], n_tokens, burn_in)

    def describe(self) -> dict[str, Any]:
        """Return what the fit is, in a few properties."""
        seconds = self.trace.last("seconds") if len(self.trace) else None
        return {
            "model": self.params.model.name,
            "algorithm": self.algorithm.name,
            "components": self.n_components,
            **({"parents": len(self.parents)} if self.params.model.levels > 1 else {}),
            **self._process(),
            "documents": self.n_documents,
            "words": self.layout.n_words,
            "groups": self.layout.n_groups,
            **({"classes": len(self.class_names)} if self.class_names else {}),
            "cycles": self.n_cycles,
            "seconds": None if seconds is None else round(seconds, 3),
            "converged": self.converged,
            "stopped": self.reason,
            "seed": str(self.settings.get("seed", "")),
        }

    @property
    def learnt(self) -> str:
        """The priors that were learnt and their values, in words; empty if there are none."""
        parts = []
        for name in self.settings.get("learnt", ()):
            values = np.asarray(self.hyperparameter(name))
            low, high = float(values.min()), float(values.max())
            span = f"{low:.2g}" if high - low < 1e-9 * high else f"{low:.2g} to {high:.2g}"
            total = ""
            if name == "alpha":
                sums = values.sum(axis=-1) if values.ndim > 1 else values.sum()
                told = " to ".join(f"{x:.3g}" for x in dict.fromkeys([np.min(sums), np.max(sums)]))
                total = f" (sum {told}{self._spread(name)})"
            parts.append(f"{name} {span}{total or self._spread(name)}")
        return ", ".join(parts)

    def _spread(self, name: str) -> str:
        """Return the posterior spread of a hyperparameter that was drawn; of alpha, of its sum."""
        draws = {} if self.record is None else self.record.hyperparameters
        several = bool(self.class_names) and name != "gamma"  # one prior per class
        if name not in draws or len(draws[name]) < 20 or several:
            return ""
        values = draws[name].sum(axis=1) if name == "alpha" else draws[name].mean(axis=1)
        low, high = np.quantile(values, (0.05, 0.95))
        told = f"90 % interval {low:.3g} to {high:.3g}"
        mean = "" if name in ("gamma", "concentration") else " of the mean"
        return f", {told}" if name == "alpha" else f" ({told}{mean})"

    def __repr__(self) -> str:
        """Describe the fit in one line."""
        of = f"{self.n_components} components of {self.layout.n_words:,} words"
        how = f"{self.params.model.name} by {self.algorithm.name}"
        return f"<Fit: {of}, {how}, {self.n_cycles} cycles>"

    # ---- how many components are used ----

    @property
    def n_used(self) -> int:
        """Posterior median of the number of components that hold at least one token."""
        return int(np.median(self._counted("used")))

    @property
    def n_used_interval(self) -> tuple[int, int]:
        """Its 90 % interval."""
        return _interval(self._counted("used"))

    @property
    def n_large(self) -> int:
        """Posterior median of the number of components with at least 0.1 % of all tokens."""
        return int(np.median(self._counted("large")))

    @property
    def n_large_interval(self) -> tuple[int, int]:
        """Its 90 % interval."""
        return _interval(self._counted("large"))

    @property
    def concentration(self) -> float | None:
        """Concentration of a process; None for other models."""
        values = self.hyperparameter("concentration")
        return None if values is None else float(values[0])

    @property
    def counted(self) -> str:
        """How many components are used and how sure that is, in words; "" if it was not learnt."""
        if not self._process():
            return ""
        (low, high), (least, most) = self.n_used_interval, self.n_large_interval
        return (
            f"{counted(self.n_used, self.nouns.component)} {'is' if self.n_used == 1 else 'are'} "
            f"used (90 % interval {low} to {high}); {self.n_large} "
            f"{'has' if self.n_large == 1 else 'have'} at least 0.1 % of all counts "
            f"({least} to {most})"
        )

    def _process(self) -> dict[str, Any]:
        """How many components are used, where that was learnt."""
        if self.concentration is None or self.record is None or not self.record.n_draws:
            return {}
        return {
            "used components": self.n_used,
            "used, 90 % interval": list(self.n_used_interval),
            "large components": self.n_large,
            "large, 90 % interval": list(self.n_large_interval),
            "most components": self.n_components + len(self.unused.get("alpha", ())),
            "concentration": self.concentration,
        }

    def _counted(self, what: str) -> Array:
        """Numbers of components of each draw, (D,)."""
        if self.record is None or not self.record.n_draws:
            raise InputError(
                "the number of used components is counted in draws, and this fit has none",
                use={"algorithm": ("collapsed", "gibbs")},
            )
        return np.asarray(getattr(self.record.counted(), what))


def _interval(numbers: Array) -> tuple[int, int]:
    """Limits between which nine tenths of some whole numbers lie."""
    low, high = np.quantile(numbers, (0.05, 0.95), method="inverted_cdf")
    return int(low), int(high)
