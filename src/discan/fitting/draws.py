# SPDX-License-Identifier: BSD-3-Clause
"""Averages over the draws of a chain: documents, loadings and hyperparameters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from discan.algorithms.base import Params
from discan.algorithms.schedule import Schedule
from discan.data.corpus import Block, Corpus
from discan.fitting.document_draws import CountSums, SampledDocuments
from discan.fitting.loading_draws import DenseMeans, SparseMeans
from discan.fitting.posterior import Draws, Loadings
from discan.models import Model, ScoreTable
from discan.typing import Array

__all__ = ["DrawAverages"]

# From this many loadings on, their variances are kept in single precision, and so are their means.
SINGLE_FROM = 2**17
SINGLE_MEANS_FROM = 2**17


class DrawAverages:
    """Sums over draws of everything that a chain estimates.

    Parameters
    ----------
    schedule : Schedule
    params : Params
        Parameters of the first draw.
    """

    def __init__(self, schedule: Schedule, params: Params) -> None:
        corpus = schedule.corpus
        self.n_draws = 0
        self._corpus = corpus
        present = params.model.score_table(corpus.exposure_levels).present
        # if hyperparameters change, absence is among the moments
        absence = bool((present < 1.0).any()) and not params.learns_scores
        self._parts = {
            block.index: CountSums.none(block, corpus.lengths, params, absence)
            for block in schedule.blocks
        }
        size = corpus.n_words * params.n_components
        single = size >= SINGLE_MEANS_FROM and _fit_single(corpus, params)
        self._means = (
            SparseMeans(params)
            if single and SparseMeans.suits(params, corpus.word_totals)
            else DenseMeans(
                params,
                np.float32 if single else np.float64,
                np.float32 if size >= SINGLE_FROM else np.float64,
            )
        )
        self._hyper: dict[str, Array] = {}
        self._models: list[Model] = []
        self.kept = Draws() if schedule.keep_draws else None
        self._counts: Array | None = None

    # ---- adding a draw ----

    def begin(self, params: Params) -> None:
        """Start a draw."""
        self.n_draws += 1
        if params.learns_scores or not self._models:
            self._models.append(params.model)
        if self.kept is not None:
            self._counts = np.empty((self._corpus.n_documents, params.n_components))

    def add_block(self, block: Block, table: ScoreTable, counts: Array) -> None:
        """Add the counts (n, K) of a block's documents."""
        model = self._models[-1]
        totals = np.zeros(0)
        if model.normalised:
            totals = self._corpus.lengths[block.start : block.stop] + np.sum(model.alpha)
        part = self._parts[block.index]
        self._parts[block.index] = part.plus(counts, self.n_draws, block, table, totals)
        if self._counts is not None:
            self._counts[block.start : block.stop] = counts

    def end(self, params: Params) -> None:
        """Add the draw's loadings and hyperparameters."""
        self._means.add(params, self.n_draws)
        values = {**params.model.values(), "gamma": params.prior.gamma}
        for name, value in values.items():
            self._hyper[name] = self._hyper.get(name, 0.0) + value
        if self.kept is not None and self._counts is not None:
            self.kept.component_counts.append(self._counts)
            self.kept.loadings.append(params.prior.mean(np.asarray(params.loading_counts)))
            self.kept.hyperparameters.append(values)

    # ---- on disk ----

    def arrays(self) -> dict[str, Array]:
        """Return all sums and kept draws by name."""
        result = self._means.arrays()
        result |= {f"averages.hyper.{name}": value for name, value in self._hyper.items()}
        for name in self._models[0].hyperparameters:
            result[f"averages.models.{name}"] = np.array(
                [model.values()[name] for model in self._models]
            )
        for index, part in self._parts.items():
            for name in _SPARSE:
                result[f"averages.{index}.{name}"] = getattr(part, name)
        if self.kept is not None:
            result["draws.component_counts"] = np.array(self.kept.component_counts)
            result["draws.loadings"] = np.array(self.kept.loadings)
            for name in self._hyper:
                values = [draw[name] for draw in self.kept.hyperparameters]
                result[f"draws.{name}"] = np.array(values)
        return result

    def restore(self, n_draws: int, params: Params, arrays: dict[str, Array]) -> None:
        """Continue with sums and draws that were saved."""
        self.n_draws = n_draws
        self._means.restore(arrays)
        prefix = "averages.hyper."
        self._hyper = {
            name.removeprefix(prefix): value
            for name, value in arrays.items()
            if name.startswith(prefix)
        }
        names = params.model.hyperparameters
        rows = zip(*(arrays[f"averages.models.{name}"] for name in names), strict=True)
        self._models = [
            replace(params.model, **dict(zip(names, row, strict=True)))  # type: ignore[type-var]
            for row in rows
        ]
        for index, part in self._parts.items():
            values: Any = {name: arrays[f"averages.{index}.{name}"] for name in _SPARSE}
            self._parts[index] = replace(part, **values)
        if "draws.loadings" in arrays:
            columns = {name: arrays[f"draws.{name}"] for name in self._hyper}
            self.kept = Draws(
                list(arrays["draws.component_counts"]),
                list(arrays["draws.loadings"]),
                [{name: column[n] for name, column in columns.items()} for n in range(n_draws)],
            )

    # ---- results ----

    @property
    def documents(self) -> SampledDocuments:
        """Averages of the documents over the draws so far."""
        corpus = self._corpus
        return SampledDocuments(
            list(self._parts.values()), self.n_draws, list(self._models),
            corpus.lengths, corpus.levels, corpus.exposure_levels,
        )  # fmt: skip

    @property
    def loadings(self) -> Loadings:
        """Averages of the loadings over the draws so far."""
        return self._means.result

    def inference_params(self, params: Params) -> Params:
        """Posterior means of the hyperparameters; new documents read the loadings of the result."""
        hyper = {name: value / self.n_draws for name, value in self._hyper.items()}
        gamma = hyper.pop("gamma")
        return replace(
            params,
            model=replace(params.model, **hyper),  # type: ignore[type-var]
            prior=replace(params.prior, gamma=gamma),
            loadings=None,
        )


_SPARSE = ("indptr", "components", "sums", "moments")


def _fit_single(corpus: Corpus, params: Params) -> bool:
    """Whether no mean can be too small for single precision."""
    prior = params.prior
    least = prior.gamma.min() / (prior.totals.max() + corpus.n_tokens)
    return bool(least >= np.finfo(np.float32).tiny)
