# SPDX-License-Identifier: BSD-3-Clause
"""What is known of the proportions of documents: one estimate, or one per draw."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from discan.algorithms.base import Params
from discan.data.corpus import Corpus
from discan.engines import Engine
from discan.errors import InputError
from discan.fitting.infer import infer
from discan.fitting.result import Fit
from discan.models.base import proportions
from discan.search.shares import AllShares, Shares, top_shares
from discan.typing import Array

__all__ = ["View", "make_views"]


@dataclass(frozen=True)
class View:
    """What one draw says of the documents, or the only estimate.

    Attributes
    ----------
    shares : Shares
        Means of the proportions, (I, K).
    inverse_weight : (I,) array
        1 / (L_i + A), of the Dirichlet posterior of the proportions; 0 if there is no prior, so
        that the shares are taken as known.
    loadings : (J, K) array or None
        Those of the draw; None for those of the fit.
    """

    shares: Shares
    inverse_weight: Array
    loadings: Array | None = None


def make_views(
    fit: Fit, corpus: Corpus | None, top: int | None, dtype: Any, most: int, engine: Engine
) -> tuple[View, ...]:
    """Views of documents, at most ``most`` if draws were kept; see ``index.build_index``."""
    found = []
    for table, lengths, alpha, loadings in _tables(fit, corpus, most, engine):
        total = float(np.sum(alpha))
        inverse = np.zeros(len(table)) if total == 0 else 1.0 / (lengths + total)
        shares: Shares = (
            AllShares(table.astype(dtype))
            if top is None
            else top_shares(table, top, _background(alpha, table), dtype)
        )
        wide = np.float64 if dtype == np.float64 else np.float32
        found.append(View(shares, inverse.astype(wide), loadings))
    return tuple(found)


Table = tuple[Array, Array, Array, Array | None]


def _tables(fit: Fit, corpus: Corpus | None, most: int, engine: Engine) -> Iterator[Table]:
    """Shares, lengths, alpha and loadings of each draw; or only once, those of the fit."""
    kept = fit.kept_draws(most) if most else []
    alpha = np.asarray(fit.params.model.alpha, dtype=np.float64)
    if corpus is None:
        if fit.documents is None:
            raise InputError("the model has no training documents; give documents to search")
        if kept and fit.draws is not None and fit.draws.component_counts:
            yield from _kept_tables(fit, kept)
        else:
            yield fit.proportions, fit.component_counts.sum(axis=1), alpha, None
        return
    if not kept:
        yield proportions(fit.infer(corpus, engine).scores), corpus.lengths, alpha, None
    for params, loadings in kept:
        scores = infer(fit.algorithm, params, corpus, engine, fit.seed).scores
        yield proportions(scores), corpus.lengths, np.asarray(params.model.alpha), loadings


def _kept_tables(fit: Fit, kept: list[tuple[Params, Array]]) -> Iterator[Table]:
    """Tables of the training documents, of draws that were kept."""
    counts: list[Array] = fit.draws.component_counts if fit.draws is not None else []
    chosen = np.unique(np.linspace(0, len(counts) - 1, len(kept)).astype(int))
    for n, (params, loadings) in zip(chosen, kept, strict=True):
        drawn = np.asarray(counts[n], dtype=np.float64)
        table = params.model.score_table(np.array([float(fit.layout.n_groups)]))
        present = np.where(drawn > 0, 1.0, table.present)
        scores = (drawn + table.shape * present) / table.rate
        alpha = np.asarray(params.model.alpha)
        yield proportions(scores), drawn.sum(axis=1), alpha, loadings


def _background(alpha: Array, table: Array) -> Array:
    """Shares of what is not kept: those of the prior, else the mean of the documents."""
    shares = alpha if alpha.min() > 0 else table.mean(axis=0) + 1e-12
    return np.asarray(shares / shares.sum())
