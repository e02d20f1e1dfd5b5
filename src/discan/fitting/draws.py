# SPDX-License-Identifier: BSD-3-Clause
"""Averages over the draws of a chain: documents, loadings and hyperparameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from discan.algorithms.base import Params, Posterior
from discan.algorithms.footprint import SINGLE_FROM
from discan.algorithms.schedule import Schedule
from discan.data.blocks import Block
from discan.data.corpus import Corpus
from discan.data.rules import MOST, ONE, Rule, Sizes, taken
from discan.fitting.chains import Record
from discan.fitting.document_draws import CountSums, SampledDocuments
from discan.fitting.level_draws import LevelDocuments, ScoreSums
from discan.fitting.loading_draws import DenseMeans, SparseMeans
from discan.fitting.posterior import Documents, Draws, Loadings, StoredDocuments
from discan.models import Model, ScoreTable
from discan.models.base import score_totals
from discan.models.levels import TwoLevels
from discan.typing import Array

__all__ = ["DrawAverages"]

# From this many loadings on, their variances are kept in single precision, and so are their means.
SINGLE_MEANS_FROM = SINGLE_FROM
# The values of gamma are recorded group by group up to this many groups.
FEW_GROUPS = 8


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
        present = params.table.present
        # if hyperparameters change, absence is among the moments
        absence = bool((present < 1.0).any()) and not params.learns_scores
        self._levels: dict[int, ScoreSums] = {}
        self._shares: Array | None = None  # of the parents, summed over documents and draws
        followed = params
        if isinstance(params.model, TwoLevels):  # whose scores do not follow from the counts
            model = params.model
            blocks = () if corpus.on_disk else schedule.blocks
            self._levels = {b.index: ScoreSums.none(b, model) for b in blocks}
            self._shares = np.zeros(len(model.parent_alpha), dtype=np.int64)
            followed = replace(params, learn=frozenset())
        self._parts = {
            block.index: CountSums.none(block, corpus.lengths, followed, absence)
            for block in (() if corpus.on_disk else schedule.blocks)
        }
        self._totals = np.zeros(params.n_components, dtype=np.int64)  # if documents are on disk
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
        self._learns = [n for n in params.model.hyperparameters if n in params.learn]
        self._models: list[Model] = []
        self.kept = Draws() if schedule.keep_draws else None
        self._counts: Array | None = None
        self._sizes: list[Array] = []
        self._gammas: list[Array] = []

    # ---- adding a draw ----

    def begin(self, params: Params) -> None:
        """Start a draw."""
        self.n_draws += 1
        if params.learns_scores or not self._models:
            self._models.append(params.model)
        if self.kept is not None and not self._corpus.on_disk:
            self._counts = np.empty((self._corpus.n_documents, params.n_components))

    def add_block(self, block: Block, table: ScoreTable, counts: Array) -> None:
        """Add the counts (n, K) of a block's documents."""
        model = self._models[-1]
        totals = np.zeros(0)
        if model.normalised:
            totals = self._corpus.lengths[block.start : block.stop] + score_totals(
                model, table.rows(block.levels)
            )
        part = self._parts[block.index]
        self._parts[block.index] = part.plus(counts, self.n_draws, block, table, totals)
        if self._counts is not None:
            self._counts[block.start : block.stop] = counts

    def add_scores(self, block: Block, posterior: Posterior, parent_scores: Array) -> None:
        """Add the conditional means of the documents' scores, where components have parents."""
        self._levels[block.index].add(posterior, parent_scores)

    def end(self, params: Params) -> None:
        """Add the draw's loadings and hyperparameters."""
        self._means.add(params, self.n_draws)
        values = {**params.model.values(), "gamma": params.prior.gamma}
        for name, value in values.items():
            self._hyper[name] = self._hyper.get(name, 0.0) + value
        seeds = params.prior.seed_totals(params.n_components)
        totals = (np.asarray(params.totals) - seeds).sum(axis=0)
        self._totals += totals
        self._sizes.append(totals / max(totals.sum(), 1))
        if self._shares is not None:
            shares = params.memory.shares  # none in a run that version 1.0 began
            self._shares = None if shares is None else self._shares + shares
        if "gamma" in params.learn:
            self._gammas.append(_by_group(params))
        if self.kept is not None:
            if self._counts is not None:
                self.kept.component_counts.append(self._counts)
            self.kept.loadings.append(params.prior.mean(np.asarray(params.loading_counts)))
            self.kept.hyperparameters.append(values)

    # ---- on disk ----

    def arrays(self) -> dict[str, Array]:
        """Return all sums and kept draws by name."""
        result = self._means.arrays()
        result |= {f"averages.hyper.{name}": value for name, value in self._hyper.items()}
        for name in self._models[0].axes:
            result[f"averages.models.{name}"] = np.array(
                [model.values()[name] for model in self._models]
            )
        for index, part in self._parts.items():
            result |= part.arrays(f"averages.{index}")
        if self._corpus.on_disk:
            result["averages.totals"] = self._totals
        for index, sums in self._levels.items():
            result |= sums.arrays(f"averages.{index}")
        if self._shares is not None:
            result["averages.shares"] = self._shares
        result["record.sizes"] = np.array(self._sizes)
        result["record.gamma"] = np.array(self._gammas)
        if self.kept is not None:
            if self.kept.component_counts:
                result["draws.component_counts"] = np.array(self.kept.component_counts)
            result["draws.loadings"] = np.array(self.kept.loadings)
            for name in self._hyper:
                values = [draw[name] for draw in self.kept.hyperparameters]
                result[f"draws.{name}"] = np.array(values)
        return result

    def restore(self, n_draws: int, params: Params, arrays: Mapping[str, Array]) -> None:
        """Continue with sums and draws that were saved, each checked."""
        self.n_draws = n_draws
        model, axes = params.model, params.model.axes
        sizes = {
            "I": self._corpus.n_documents, "J": self._corpus.n_words, "K": params.n_components,
            "draws": n_draws, "models": n_draws if params.learns_scores else 1,
        }  # fmt: skip
        self._means.restore(arrays, params)
        of_size: dict[str, Any] = {**axes, "gamma": ("J",)}
        rules = {name: Rule(size, "f8", low=0) for name, size in of_size.items()}
        self._hyper = taken(rules, arrays, sizes, "averages.hyper.")
        self.inference_params(params)  # refuses means that no hyperparameters have
        rules = {name: Rule(("models", *size), "f8", low=0) for name, size in axes.items()}
        columns = taken(rules, arrays, sizes, "averages.models.")
        self._models = [
            model.with_values({name: columns[name][n] for name in axes}, sizes["K"], flat=False)
            for n in range(sizes["models"])
        ]
        for index, part in self._parts.items():
            lengths = self._corpus.lengths[part.start : part.stop]
            prefix = f"averages.{index}"
            self._parts[index] = part.restored(prefix, arrays, n_draws * lengths, sizes["K"])
            if index in self._levels:
                self._levels[index] = self._levels[index].restored(prefix, arrays)
        if self._shares is not None:
            rule = Rule((len(self._shares),), "i8", low=0, optional=not self._corpus.on_disk)
            self._shares = taken({"shares": rule}, arrays, sizes, "averages.").get("shares")
        if self._corpus.on_disk:
            rule = Rule(("K",), "i8", low=0)
            self._totals = taken({"totals": rule}, arrays, sizes, "averages.")["totals"].copy()
        if self.kept is not None:
            self.kept = _kept(arrays, of_size, sizes, self._corpus.on_disk)
        self._restore_record(arrays, {**sizes, "gammas": len(_by_group(params))})

    def _restore_record(self, arrays: Mapping[str, Array], sizes: Sizes) -> None:
        """Continue with the record of the draws; checkpoints of version 0.1 have none."""
        if "record.sizes" not in arrays:
            return
        rules = {"sizes": Rule(("draws", "K"), "f8", low=0, high=ONE)}
        if len(arrays.get("record.gamma", ())):
            rules["gamma"] = Rule(("draws", "gammas"), "f8", low=0)
        values = taken(rules, arrays, sizes, "record.")
        self._sizes, self._gammas = list(values["sizes"]), list(values.get("gamma", ()))

    # ---- results ----

    @property
    def documents(self) -> Documents:
        """Averages of the documents over the draws so far; of a folder, only the totals."""
        corpus = self._corpus
        if corpus.on_disk:
            stored = StoredDocuments.of(corpus, self._totals / self.n_draws)
            return replace(stored, parent_sizes=self._parent_sizes)
        head = (
            list(self._parts.values()), self.n_draws, list(self._models),
            corpus.lengths, corpus.levels, corpus.exposure_levels,
        )  # fmt: skip
        if self._levels:
            sums = list(self._levels.values())
            return LevelDocuments(*head, sums=sums, sizes=self._parent_sizes)
        return SampledDocuments(*head)

    @property
    def _parent_sizes(self) -> Array | None:
        """Mean share of each parent over documents and draws, (R,)."""
        return None if self._shares is None else self._shares / self._shares.sum()

    @property
    def loadings(self) -> Loadings:
        """Averages of the loadings over the draws so far."""
        return self._means.result

    @property
    def record(self) -> Record | None:
        """Numbers of every draw so far; None if a checkpoint of version 0.1 had none."""
        if len(self._sizes) != self.n_draws:
            return None
        learnt: dict[str, Array] = {}
        if len(self._models) == self.n_draws and self._learns:
            values = [model.values() for model in self._models]
            learnt = {name: np.array([v[name] for v in values]) for name in self._learns}
        if self._gammas:
            learnt["gamma"] = np.array(self._gammas)
        return Record(np.array(self._sizes), learnt)

    def inference_params(self, params: Params) -> Params:
        """Posterior means of the hyperparameters; new documents read the loadings of the result."""
        hyper = {name: value / self.n_draws for name, value in self._hyper.items()}
        gamma = hyper.pop("gamma")
        return replace(
            params,
            model=params.model.with_values(hyper, params.n_components, flat=False),
            prior=params.prior.with_gamma(gamma, flat=False),
            loadings=None,
        )


def _kept(
    arrays: Mapping[str, Array], of_size: Mapping[str, Any], sizes: Sizes, on_disk: bool
) -> Draws:
    """Return the draws that were kept; those of a folder have no tables of documents."""
    rules = {
        "component_counts": Rule(("draws", "I", "K"), "f8", low=0, high=MOST, optional=on_disk),
        "loadings": Rule(("draws", "J", "K"), low=0, high=ONE),
    }
    rules |= {name: Rule(("draws", *size), "f8", low=0) for name, size in of_size.items()}
    values = taken(rules, arrays, sizes, "draws.")
    counts, loadings = values.pop("component_counts", ()), values.pop("loadings")
    hyperparameters = [
        {name: column[n] for name, column in values.items()} for n in range(sizes["draws"])
    ]
    return Draws(list(counts), list(loadings), hyperparameters)


def _by_group(params: Params) -> Array:
    """Gamma of each group, (G,); its mean, (1,), where groups are many."""
    layout, gamma = params.prior.layout, params.prior.gamma
    if layout.n_groups > FEW_GROUPS:
        return np.array([gamma.mean()])
    return np.asarray(np.bincount(layout.group_of_word, gamma) / layout.group_sizes)


def _fit_single(corpus: Corpus, params: Params) -> bool:
    """Whether no mean can be too small for single precision."""
    prior = params.prior
    most = corpus.n_tokens + prior.seed_totals(params.n_components).max()
    least = prior.gamma.min() / (prior.totals.max() + most)
    return bool(least >= np.finfo(np.float32).tiny)
