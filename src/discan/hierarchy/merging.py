# SPDX-License-Identifier: BSD-3-Clause
"""Merge components of a fit: a new fit with fewer, without looking at the data again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from discan.algorithms.base import Params
from discan.errors import InputError, shown
from discan.fitting.parents import refuse_parents
from discan.fitting.posterior import Draws, KnownDocuments, KnownLoadings
from discan.fitting.result import Fit
from discan.typing import Array

__all__ = ["merged", "merged_loadings", "merged_name"]

MOST_NAMED = 6  # members that the name of a merged component lists


def merged(fit: Fit, groups: Sequence[Sequence[int]]) -> Fit:
    """Return the fit with each group of components as one, the largest first.

    The loadings of a merged component are the mean of its members' loadings, weighted by their
    numbers of tokens. Scores and component counts are summed, and so is alpha: for "dm" this is the
    exact prior of the sum of proportions, and for "gp" too if all rates beta are equal. Otherwise
    beta keeps the prior mean of the sum. A merged score is absent if all of its members are. Draws
    that were kept are merged one by one. Standard deviations are not known afterwards.

    Parameters
    ----------
    fit : Fit
    groups : list of lists of int
        Components from 0; each component is in one group.
    """
    if fit.documents is None:
        raise InputError("the components were given, so their sizes are not known; fit to data")
    refuse_parents(fit.params.model, "merged form")
    _check(groups, fit.n_components)
    totals = fit.documents.totals
    loadings = merged_loadings(fit.mean_loadings, totals, groups)
    model = fit.params.model.replaced(_hyperparameters(fit.params.model.values(), groups))
    prior = replace(fit.params.prior, seeds=None)  # those of the components before
    absent = fit.documents.absent
    names = [merged_name(fit, group) for group in groups]
    result = replace(
        fit,
        params=Params.of(
            model, prior, fit.params.exposure_levels, loadings=loadings,
            power=fit.params.power,
        ),
        loadings=KnownLoadings(loadings),
        documents=KnownDocuments(
            _summed(fit.component_counts, groups), _summed(fit.scores, groups), None,
            None if absent is None else _multiplied(absent, groups),
        ),
        draws=_draws(fit.draws, groups) if fit.draws and fit.draws.component_counts else None,
        record=None, chains=None,
        settings={**fit.settings, "merged": names},
        given_names=(),
    )  # fmt: skip
    order = np.argsort(-_summed(totals[None], groups)[0], kind="stable")
    return result.permuted(order).named([names[n] for n in order])


def merged_loadings(loadings: Array, totals: Array, groups: Sequence[Sequence[int]]) -> Array:
    """Mean loadings of each group (J, n), weighted by the numbers of tokens (K,)."""
    result = np.empty((len(loadings), len(groups)))
    for n, group in enumerate(groups):
        weights = np.maximum(totals[group], 1e-300)  # components without tokens have equal parts
        result[:, n] = loadings[:, group] @ (weights / weights.sum())
    return result


def merged_name(fit: Fit, group: Sequence[int]) -> str:
    """Name a merged component after its members: "law + sport", or "topic 2+5+7"."""
    names, given = fit.component_names, fit.given_names
    shown_names = [names[k] for k in group[:MOST_NAMED]]
    more = f" and {len(group) - MOST_NAMED} more" if len(group) > MOST_NAMED else ""
    if any(given[k] for k in group) if given else False:
        short = [name if len(name) <= 24 else f"{name[:22]}..." for name in shown_names]
        return (" + ".join(short) if len(group) > 1 else names[group[0]]) + more
    noun = fit.nouns.component
    return f"{noun} {'+'.join(str(k + 1) for k in group[:MOST_NAMED])}{more}"


def _check(groups: Sequence[Sequence[int]], n_components: int) -> None:
    members = sorted(int(k) for group in groups for k in group)
    if members != list(range(n_components)) or not all(len(group) for group in groups):
        raise InputError(
            f"groups are {shown([list(g) for g in groups])}; they must have each of the "
            f"{n_components} components, from 0, once"
        )


def _summed(table: Array, groups: Sequence[Sequence[int]]) -> Array:
    """Sum the columns (n, K) of each group."""
    return np.column_stack([table[:, group].sum(axis=1) for group in groups])


def _multiplied(table: Array, groups: Sequence[Sequence[int]]) -> Array:
    """Multiply the columns (n, K) of each group."""
    return np.column_stack([table[:, group].prod(axis=1) for group in groups])


def _hyperparameters(
    values: Mapping[str, Array], groups: Sequence[Sequence[int]]
) -> dict[str, Array]:
    """Hyperparameters of sums of scores, of every class of documents; see ``_of_class``."""
    found: dict[str, Array] = {}
    for name in values:
        plain, dot, number = name.partition(".")
        if plain == "alpha":
            kept = ("alpha", "beta", "rho")
            own = {n: values[n + dot + number] for n in kept if n + dot + number in values}
            merged = _of_class(own, groups)
            found |= {n + dot + number: value for n, value in merged.items()}
    return found


def _of_class(values: Mapping[str, Array], groups: Sequence[Sequence[int]]) -> dict[str, Array]:
    """Hyperparameters of sums of scores: exact shapes, and rates that keep the prior means."""
    alpha = np.asarray(values["alpha"])
    found = {"alpha": _summed(alpha[None], groups)[0]}
    present = np.ones_like(alpha)
    whole = np.ones(len(groups))
    if "rho" in values:
        found["rho"] = np.array([values["rho"][group].prod() for group in groups])
        present, whole = 1.0 - values["rho"], 1.0 - found["rho"]
    if "concentration" in values:  # one number, which merging leaves as it is
        found["concentration"] = values["concentration"][: len(groups)]
    if "beta" in values:
        beta = np.asarray(values["beta"])
        mean = np.divide(present * alpha, beta, out=np.zeros_like(alpha), where=beta > 0)
        means = _summed(mean[None], groups)[0]
        found["beta"] = np.divide(
            whole * found["alpha"], means, out=np.zeros_like(means), where=means > 0
        )
    return found


def _draws(draws: Draws, groups: Sequence[Sequence[int]]) -> Draws:
    """Merge each draw by its own numbers of tokens."""
    rows = zip(draws.component_counts, draws.loadings, draws.hyperparameters, strict=True)
    result = Draws()
    for counts, loadings, hyper in rows:
        result.component_counts.append(_summed(counts, groups))
        wide = np.asarray(loadings, dtype=np.float64)
        result.loadings.append(merged_loadings(wide, counts.sum(axis=0), groups))
        result.hyperparameters.append({**_hyperparameters(hyper, groups), "gamma": hyper["gamma"]})
    return result
