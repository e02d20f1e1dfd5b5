# SPDX-License-Identifier: BSD-3-Clause
"""Credible intervals: quantiles of scores, proportions, loadings and hyperparameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy.special import betaincinv, gammaincinv

from discan.algorithms.base import ALGORITHMS
from discan.data.corpus import Corpus
from discan.engines import Engine
from discan.errors import InputError
from discan.evaluation.bootstrap import bootstrap_components
from discan.fitting.result import Fit
from discan.models.base import proportions
from discan.typing import Array
from discan.validation import number

__all__ = [
    "Intervals",
    "amount_quantile",
    "drawn_shares",
    "intervals",
    "score_intervals",
    "share_quantile",
]

STREAM = 0x17E4  # keeps these draws apart from all other random numbers


@dataclass(frozen=True, eq=False)
class Intervals:
    """Central intervals; the first entry of each array is the lower limit, the second the upper.

    Attributes
    ----------
    level : float
    scores, proportions : (2, I, K) arrays or None
        Of the training documents.
    components : (2, K, J) array or None
    hyperparameters : dict of str to (2, n) array
        Those that were learnt by sampling: alpha, beta and rho by component, gamma by group.
    notes : tuple of str
        How the intervals were computed, and why something is None.
    """

    level: float
    scores: Array | None = None
    proportions: Array | None = None
    components: Array | None = None
    hyperparameters: dict[str, Array] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def intervals(
    fit: Fit,
    level: float = 0.9,
    corpus: Corpus | None = None,
    n_samples: int = 50,
    engine: Engine | None = None,
) -> Intervals:
    """Central credible intervals of all that was fitted.

    Samplers and variational fits: a beta distribution (of shares and probabilities) or a gamma
    distribution (of amounts) with the posterior mean and standard deviation. Of variational fits
    that is the approximate posterior itself. Hyperparameters, and proportions if the sampler kept
    its draws and the model is one of proportions: quantiles of draws. Algorithms that estimate
    points have intervals only with the documents: of scores given the components by the information
    in the tokens, of components by the bootstrap.

    Parameters
    ----------
    fit : Fit
    level : float
    corpus : Corpus, optional
        The training documents; needed by algorithms that estimate points, which have None without.
    n_samples : int
        Samples of the bootstrap.
    engine : Engine, optional
    """
    level = number("level", level, "a number between 0 and 1", 1e-6, 1 - 1e-6)
    if fit.documents is None:
        raise InputError("the components were given, so their uncertainty is not known")
    edges = np.array([(1 - level) / 2, (1 + level) / 2])
    notes = []
    scores = shares = components = None
    model = fit.params.model
    shares_drawn = model.normalised and model.levels == 1  # shapes of two levels are not kept
    if fit.draws is not None and shares_drawn and len(fit.draws.component_counts) > 1:
        scores = shares = np.quantile(list(drawn_shares(fit)), edges, axis=0)
        notes.append("scores: quantiles of draws")
    elif fit.scores_sd is not None:
        absent = np.zeros_like(fit.scores) if fit.absent is None else fit.absent
        scores, shares = score_intervals(fit, fit.scores, fit.scores_sd, absent, edges)
        notes.append("scores: distributions with the posterior means and standard deviations")
    sd = fit.components_sd
    if sd is not None:
        components = share_quantile(fit.components, sd, edges)
        notes.append("components: beta distributions with the posterior means and deviations")
    if scores is None or components is None:
        name = ALGORITHMS.entry(type(fit.algorithm)).shown
        if corpus is None:
            notes.append(f"{name} estimates points: give the documents for an approximation")
        else:
            if scores is None and np.all(np.asarray(fit.params.model.alpha) > 0):
                found, deviations = fit.infer_with_sd(corpus, engine)
                scores, shares = score_intervals(fit, found.scores, deviations, found.absent, edges)
                notes.append("scores: given the components, by the information in the tokens")
            elif scores is None:
                notes.append(f"scores: none, because {name} has no prior of the scores")
            if components is None:
                samples = bootstrap_components(fit, corpus, n_samples, engine)
                components = np.quantile(samples, edges, axis=0)
                notes.append(f"components: {n_samples} bootstrap samples of the documents")
    hyper = {}
    if fit.record is not None and fit.record.n_draws > 1:
        hyper = {
            name: np.quantile(values, edges, axis=0)
            for name, values in fit.record.hyperparameters.items()
        }
    if not hyper:
        notes.append("hyperparameters: none was learnt by sampling")
    return Intervals(level, scores, shares, components, hyper, tuple(notes))


def drawn_shares(fit: Fit) -> Iterator[Array]:
    """Proportions of the documents, one draw given each kept draw of the counts, (I, K).

    Of models of amounts, these are proportions only if all components have the same rate beta.
    """
    assert fit.draws is not None
    for n, counts in enumerate(fit.draws.component_counts):
        key = np.random.SeedSequence([int(fit.settings["seed"]), STREAM, n])
        rng = np.random.Generator(np.random.Philox(key))
        shape = counts + fit.draws.hyperparameters[n]["alpha"]
        yield proportions(rng.gamma(shape))


def score_intervals(
    fit: Fit, mean: Array, sd: Array, absent: Array, edges: Array
) -> tuple[Array, Array]:
    """Quantiles of scores and of proportions, (n, I, K) each, given means and deviations (I, K)."""
    if fit.params.model.normalised:
        found = share_quantile(mean, sd, edges)
        return found, found
    total = np.maximum(mean.sum(axis=1, keepdims=True), 1e-300)
    part = proportions(mean)
    variance = sd**2
    others = variance.sum(axis=1, keepdims=True) - variance
    spread = np.sqrt((1 - part) ** 2 * variance + part**2 * others) / total  # delta method
    return amount_quantile(mean, sd, absent, edges), share_quantile(part, spread, edges)


def share_quantile(mean: Array, sd: Array, edges: Array) -> Array:
    """Quantiles (n, ...) of beta distributions with these means and standard deviations."""
    mean = np.clip(mean, 0.0, 1.0)
    variance = np.minimum(sd**2, mean * (1 - mean) * (1 - 1e-9))
    known = variance > 0
    size = np.where(known, mean * (1 - mean) / np.where(known, variance, 1.0) - 1.0, 1.0)
    a, b = np.maximum(mean * size, 1e-12), np.maximum((1 - mean) * size, 1e-12)
    return np.array([np.where(known, betaincinv(a, b, edge), mean) for edge in edges])


def amount_quantile(mean: Array, sd: Array, absent: Array, edges: Array) -> Array:
    """Quantiles (n, ...) of gamma distributions, which are 0 with probability ``absent``."""
    present = np.maximum(1.0 - absent, 1e-12)
    inside = mean / present
    variance = np.maximum((sd**2 + mean**2) / present - inside**2, 0.0)
    known = (variance > 0) & (inside > 0)
    shape = np.where(known, inside**2 / np.where(known, variance, 1.0), 1.0)
    result = []
    for edge in edges:
        left = np.clip((edge - absent) / present, 0.0, 1.0)
        slab = gammaincinv(shape, left) * inside / shape
        result.append(np.where(edge <= absent, 0.0, np.where(known, slab, inside)))
    return np.array(result)
