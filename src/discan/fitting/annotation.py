# SPDX-License-Identifier: BSD-3-Clause
"""Write scores, loadings and settings into an AnnData or a MuData, as single-cell tools do."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan import __version__
from discan.data.annotated import is_annotated, unique_names
from discan.errors import InputError
from discan.fitting.result import Fit
from discan.typing import Array

__all__ = ["annotate", "loadings_of", "settings_of"]


def annotate(fit: Fit, data: Any, scores: Array, key: str, names: list[str]) -> None:
    """Write the result of a fit into ``obsm``, ``varm`` and ``uns``.

    Parameters
    ----------
    fit : Fit
    data : AnnData or MuData
    scores : (I, K) array
        Of the cells of ``data``.
    key : what the entries are called
    names : (K,) names of the components
    """
    if not is_annotated(data):
        raise InputError(f"a {type(data).__name__} is no AnnData or MuData, which can be annotated")
    data.obsm[f"X_{key}"] = scores
    data.uns[key] = settings_of(fit, names)
    parts = getattr(data, "mod", None) or {}
    for modality, part in parts.items():
        part.varm[key] = loadings_of(fit, [str(name) for name in part.var_names], str(modality))
    if parts:  # MuData has the features of all modalities, one after the other
        data.varm[key] = np.concatenate([part.varm[key] for part in parts.values()])
    else:
        data.varm[key] = loadings_of(fit, [str(name) for name in data.var_names])


def loadings_of(fit: Fit, genes: list[str], modality: str = "") -> Array:
    """Return the loadings of genes, (n, K); NaN for genes that the model does not have."""
    layout = fit.layout
    words = layout.word_names or tuple(str(j) for j in range(layout.n_words))
    place = {word: j for j, word in enumerate(words)}
    listed = ((g, f"{modality}:{g}") for g in unique_names(genes))
    found = np.array([place.get(g, place.get(full, -1)) for g, full in listed], dtype=np.int64)
    result = np.full((len(genes), fit.n_components), np.nan)
    result[found >= 0] = fit.mean_loadings[found[found >= 0]]
    return result


def settings_of(fit: Fit, names: list[str]) -> dict[str, Any]:
    """Return what the fit is, in values that a file of AnnData can hold."""
    facts = {name: value for name, value in fit.describe().items() if value is not None}
    hyperparameters = {
        name: np.asarray(value)
        for name in ("alpha", "beta", "rho", "gamma")
        if (value := fit.hyperparameter(name)) is not None
    }
    facts |= {"names": list(names), "hyperparameters": hyperparameters, "discan": __version__}
    return facts
