# SPDX-License-Identifier: BSD-3-Clause
"""The draws of chains as ArviZ takes them: an xarray DataTree."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan.errors import InputError
from discan.fitting.result import Fit
from discan.fitting.summary import word_labels
from discan.typing import Array

__all__ = ["data_tree"]


def data_tree(fit: Fit) -> Any:
    """Return the draws of a fit as an xarray.DataTree with posterior and sample_stats.

    Dimensions are chain, draw, component and, of kept draws, word and document.
    """
    try:
        import xarray
    except ImportError:
        raise InputError("to_arviz needs the package xarray", remedy="install discan[arviz]") from (
            None
        )
    chains = fit.chains
    if chains is not None and chains.records is not None:
        records, objective, draws = chains.records, chains.objective, chains.draws
    elif fit.record is not None:
        n = fit.record.n_draws
        records, objective = [fit.record], fit.draw_objectives[None, -n:]
        draws = None if fit.draws is None else [fit.draws]
    else:
        raise InputError("there are no draws", use={"algorithm": ("collapsed", "gibbs")})
    n_draws = objective.shape[1]
    names: list[str] = list(fit.component_names)
    posterior: dict[str, Any] = {"size": (("component",), [each.sizes for each in records])}
    for name in records[0].hyperparameters:
        values = [each.hyperparameters[name] for each in records]
        posterior[name] = (("group",) if name == "gamma" else ("component",), values)
    coordinates: dict[str, Any] = {"component": names}
    if draws is not None and all(each.loadings for each in draws):
        coordinates[fit.nouns.word] = list(word_labels(fit.layout, fit.nouns.word))
        posterior["loadings"] = (
            ("component", fit.nouns.word),
            [np.array(each.loadings[-n_draws:]).transpose(0, 2, 1) for each in draws],
        )
    if draws is not None and all(each.component_counts for each in draws):  # not of a folder
        rows = fit.document_names or map(str, range(len(draws[0].component_counts[0])))
        coordinates[fit.nouns.document] = list(rows)
        posterior["component_counts"] = (
            (fit.nouns.document, "component"),
            [np.array(each.component_counts[-n_draws:]) for each in draws],
        )
    places = {"chain": np.arange(len(records)), "draw": np.arange(n_draws)}
    dataset = xarray.Dataset(
        {name: (("chain", "draw", *dims), _stacked(v)) for name, (dims, v) in posterior.items()},
        coords=places | coordinates,
        attrs={"inference_library": "discan", "model": fit.params.model.name},
    )
    stats = xarray.Dataset({"lp": (("chain", "draw"), objective)}, coords=places)
    return xarray.DataTree.from_dict({"posterior": dataset, "sample_stats": stats})


def _stacked(values: list[Array]) -> Array:
    return np.array(values, dtype=np.float64)
