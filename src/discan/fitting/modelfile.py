# SPDX-License-Identifier: BSD-3-Clause
"""Save a fit and load it again, with the same bits in every answer.

A model file holds a ``Fit`` and what its owner, an estimator, adds: its class and its settings.
Nothing in it is trusted: every array and every part of the header is checked when it is read.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from discan.algorithms import Algorithm, choose
from discan.algorithms.base import Params
from discan.data.drafts import file_name
from discan.data.layout import Layout
from discan.data.margins import read_groups
from discan.data.metadata import decode_about, encode_about
from discan.data.rules import ONE, Rule, checked, checked_names, faults_of, taken
from discan.data.storage import HEAD, read_file, write_file
from discan.errors import InputError, ModelFileError, shown
from discan.fitting.chains import read_chains, write_chains
from discan.fitting.encoding import decode, encode
from discan.fitting.naming import Given
from discan.fitting.posterior import (
    ROUNDING,
    Documents,
    KnownDocuments,
    SavedLoadings,
    StoredDocuments,
    checked_loadings,
)
from discan.fitting.result import Fit
from discan.fitting.trace import Trace
from discan.models import MODELS, LoadingsPrior, Model
from discan.models.classes import Classed
from discan.models.seeds import Seeds
from discan.typing import Array

__all__ = ["load_fit", "model_path", "read_fit", "rename", "write_fit"]

# Tables of the training documents.
_TABLES = (
    "component_counts", "component_counts_sd", "scores", "scores_sd", "absent", "parent_scores",
)  # fmt: skip

# Every array of a model file. Sizes: I documents, J words, K components, G groups.
_ARRAYS = {
    "gamma": Rule(("J",), "f8", low=0),
    "loadings": Rule(("J", "K"), low=0, high=ONE),
    "inference_loadings": Rule(("J", "K"), low=0, high=ONE),
    "group_totals": Rule(("G",), "f8", low=0, optional=True),
    "trace": Rule((None, len(Trace.columns)), "f8", optional=True, finite=False),
    "components_sd_": Rule(("K", "J"), "f8", low=0, optional=True),
    "component_counts_": Rule(("I", "K"), "f8", low=0, optional=True),
    "component_counts_sd_": Rule(("I", "K"), "f8", low=0, optional=True),
    "scores_": Rule(("I", "K"), "f8", low=0, optional=True),
    "scores_sd_": Rule(("I", "K"), "f8", low=0, optional=True),
    "absent_": Rule(("I", "K"), "f8", low=0, high=ONE, optional=True),
    "parent_scores_": Rule(("I", "R"), "f8", low=0, optional=True),
    "parent_sizes_": Rule(("R",), "f8", low=0, high=ONE, optional=True),
    "component_totals": Rule(("K",), "f8", low=0, optional=True),
}
# The folder of the training documents, if they stayed there.
_FOLDER = {
    "path": Rule(types="text"),
    "digest": Rule(types="text"),
    "documents": Rule(types="whole", low=1),
}
# Every part of the header that is not a name, a list of names or a setting.
_HEADER = {
    "symmetric": Rule(types="flag"),
    "tau": Rule(types="number", low=0, above=True, high=1),
    "model": Rule(types="text"),
}
# What was decided before a fit; the seed is checked apart.
_SETTINGS = {
    "tokens": Rule(types="number", low=0, optional=True),
    "burn_in": Rule(types="whole", low=0, optional=True),
    "thin": Rule(types="whole", low=1, optional=True),
    "draws": Rule(types="whole", low=0, optional=True),
    "chains": Rule(types="whole", low=1, optional=True),
    "batches": Rule(types="whole", low=0, optional=True),
    "documents": Rule(types="whole", low=0, optional=True),
    "model": Rule(types="text", optional=True),
    "algorithm": Rule(types="text", optional=True),
    "schedule": Rule(types="text", optional=True),
    "class_column": Rule(types="text", optional=True),
}
# What a fit records about itself, and the attribute of ``Fit``.
_ATTRIBUTES = {
    "n_iter_": ("n_cycles", Rule(types="whole", low=0, optional=True)),
    "converged_": ("converged", Rule(types="flag", optional=True)),
    "stop_reason_": ("reason", Rule(types="text", optional=True)),
}


def write_fit(
    path: str | os.PathLike[str], fit: Fit, owner: Mapping[str, Any], arrays: dict[str, Array]
) -> None:
    """Write a fit to a file; ``owner`` and ``arrays`` are what its owner adds."""
    params, layout = fit.params, fit.layout
    arrays = arrays | {f"model.{name}": value for name, value in params.model.values().items()}
    mean = fit.loadings.mean
    arrays |= {
        "gamma": params.prior.gamma,
        **({} if params.prior.seeds is None else params.prior.seeds.arrays()),
        "loadings": mean,
        "inference_loadings": mean if params.loadings is None else params.loadings,
        "group_of_word": layout.group_of_word,
        "group_totals": fit.group_totals,
    }
    arrays |= {f"unused.{name}": value for name, value in fit.unused.items()}
    stored = fit.documents if isinstance(fit.documents, StoredDocuments) else None
    if stored is not None:
        arrays["component_totals"] = stored.totals
    parent_sizes = getattr(fit.documents, "parent_sizes", None)
    if parent_sizes is not None:
        arrays["parent_sizes_"] = parent_sizes
    tables = () if stored is not None else _TABLES
    for name in () if fit.documents is None else ("components_sd", *tables):
        value = getattr(fit, name)
        if value is not None:
            arrays[f"{name}_"] = value
    if len(fit.trace):
        arrays["trace"] = fit.trace.table()
    header = {
        **owner,
        "model": params.model.name,
        "symmetric": params.prior.symmetric,
        "classes": list(fit.class_names),
        "tau": params.power,
        "algorithm": encode("algorithm", fit.algorithm, arrays),
        "word_names": layout.word_names,
        "group_names": layout.group_names,
        "document_names": fit.document_names,
        "component_names": fit.given_names,
        **({} if stored is None else {"folder": _folder_entry(stored)}),
        **encode_about(fit, arrays),
        **write_chains(fit.record, fit.draws, fit.chains, arrays),
        "attributes": {
            **{name: getattr(fit, attribute) for name, (attribute, _) in _ATTRIBUTES.items()},
            "settings_": fit.settings,
        },
    }
    write_file(model_path(path), "model", header, arrays)


def load_fit(path: str | os.PathLike[str]) -> tuple[Fit, str]:
    """Read a fit without its owner, of which only the name of the class is returned.

    This loads no scikit-learn.
    """
    with faults_of(model_path(path)):
        fit, header, _ = read_fit(path)
        return fit, str(checked("class", header.get("class"), {}, types="text"))


def read_fit(path: str | os.PathLike[str]) -> tuple[Fit, dict[str, Any], dict[str, Array]]:
    """Read a fit, and the header and arrays of the file for its owner.

    Any exception means that the file is invalid; see ``data.rules.faults_of``.
    """
    header, arrays = read_file(model_path(path), "model")
    values = taken(_HEADER, header, {})
    layout = _layout(header, arrays)
    model: Model = MODELS.find(values["model"])
    classes = checked_names("classes", header.get("classes", []))
    if classes:
        model = Classed.of(model, classes)
    given = _model_values(model, arrays)
    sizes = {"J": layout.n_words, "G": layout.n_groups, "K": len(given["alpha"])}
    sizes["I"] = len(arrays["scores_"]) if "scores_" in arrays else 0
    sizes["R"] = given["parents"].shape[1] if "parents" in given else 0
    tables = taken(_ARRAYS, arrays, sizes)
    algorithm = _algorithm(header, arrays, model)
    flat = not algorithm.uses_prior
    model = model.with_values(given, sizes["K"], flat)
    refusal = algorithm.refusal(model, frozenset())
    if refusal is not None:
        raise refusal
    prior = LoadingsPrior(np.ones(layout.n_words), layout, values["symmetric"])
    prior = prior.with_gamma(tables["gamma"], flat)
    seeds = Seeds.from_arrays(arrays, layout.n_words, sizes["K"])
    if flat and seeds is not None:
        raise ModelFileError("maximum likelihood has no seeds")
    prior = dataclasses.replace(prior, seeds=seeds)
    loadings = checked_loadings("loadings", tables["loadings"], layout)
    inference = checked_loadings(
        "inference_loadings", tables["inference_loadings"], layout, exactly=False
    )
    params = Params.of(
        model,
        prior,
        np.array([float(layout.n_groups)]),
        # a chain's inference reads the means over draws, in double precision
        loadings=None if algorithm.whole_counts else inference,
        power=float(values["tau"]),
    )
    sd = tables.get("components_sd_")
    documents = _documents(tables, model, header.get("folder"))
    record, draws, chains = read_chains(header, arrays, sizes, model.axes)
    trace = Trace.of(tables.get("trace", np.empty((0, 0))))
    fit = Fit(
        algorithm=algorithm,
        params=params,
        layout=layout,
        loadings=SavedLoadings(loadings, None if sd is None else sd.T),
        documents=documents,
        document_names=checked_names("document_names", header["document_names"], sizes["I"]),
        given_names=_given_names(header.get("component_names"), sizes["K"]),
        **decode_about(header, arrays, sizes["I"]),
        group_totals=tables.get("group_totals", np.ones(layout.n_groups)),
        unused=_unused(model, arrays, flat),
        record=record,
        draws=draws,
        chains=chains,
        trace=trace,
        **_record(header["attributes"], model, len(trace)),
    )
    return fit, header, arrays


def rename(
    path: str | os.PathLike[str], names: Given, output: str | os.PathLike[str] | None = None
) -> None:
    """Write other names of the components into a model file, or into a copy of it."""
    header, arrays = read_file(model_path(path), "model")
    kept = {name: value for name, value in header.items() if name not in HEAD}
    kept["component_names"] = names
    write_file(model_path(output or path), "model", kept, arrays)


def _layout(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Layout:
    """Return the columns of the table; the groups are read as those of a user are."""
    given = checked("group_of_word", arrays.get("group_of_word"), {}, None, types="i4", low=0)
    if len(given) == 0:
        raise ModelFileError("there are no words")
    groups, n_groups, _ = read_groups(given, len(given))
    return Layout(
        n_words=len(groups),
        group_of_word=groups,
        n_groups=n_groups,
        word_names=checked_names("word_names", header["word_names"], len(groups)),
        group_names=checked_names("group_names", header["group_names"], n_groups),
    )


def _model_values(model: Model, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return the hyperparameters, all of one length, which is the number of components."""
    alpha = checked("model.alpha", arrays.get("model.alpha"), {}, None, types="f8", low=0)
    if len(alpha) == 0:
        raise ModelFileError("there are no components")
    rules = {name: Rule(size, "f8", low=0) for name, size in model.axes.items()}
    return taken(rules, arrays, {"K": len(alpha)}, "model.")


def _unused(model: Model, arrays: Mapping[str, Array], flat: bool) -> dict[str, Array]:
    """Return the hyperparameters of components that are in no table; most files have none."""
    alpha = arrays.get("unused.alpha")
    if alpha is None:
        return {}
    if flat:
        raise ModelFileError("there are unused components without a prior")
    rules = {name: Rule(("K",), "f8", low=0) for name in model.hyperparameters}
    sizes = {"K": len(np.atleast_1d(alpha))}
    return model.with_values(taken(rules, arrays, sizes, "unused."), sizes["K"], flat).values()


def _algorithm(header: Mapping[str, Any], arrays: Mapping[str, Array], model: Model) -> Algorithm:
    # files that 0.1 wrote before it kept the algorithm have that of the settings
    kept = header if "algorithm" in header else header["settings"]
    chosen = decode(kept["algorithm"], arrays)
    if not isinstance(chosen, (str, Algorithm)):
        raise ModelFileError(f"algorithm is {shown(chosen)}")
    algorithm: Any = choose(chosen, model)
    if isinstance(chosen, str):
        algorithm = dataclasses.replace(algorithm, **algorithm.formerly)
    found: Algorithm = algorithm
    return found


def _folder_entry(stored: StoredDocuments) -> dict[str, Any]:
    """Return which folder the training documents are in, as the header has it."""
    entry = {"path": stored.path, "digest": stored.digest, "documents": stored.n_documents}
    return entry


def _documents(tables: Mapping[str, Array], model: Model, folder: Any) -> Documents | None:
    """Return the tables of the training documents, or the folder that they are in."""
    if folder is not None:
        sizes = tables.get("parent_sizes_")
        if (model.levels > 1) != (sizes is not None):
            raise ModelFileError("the sizes of the parents do not go with the model")
        values = taken(_FOLDER, folder, {})
        totals = tables.get("component_totals")
        if totals is None:
            raise ModelFileError("component_totals is missing")
        return StoredDocuments(
            values["path"], values["digest"], values["documents"], np.asarray(totals), sizes
        )
    if "scores_" not in tables:
        return None
    if "component_counts_" not in tables:
        raise ModelFileError("component_counts_ is missing")
    if (model.levels > 1) != ("parent_scores_" in tables):
        raise ModelFileError("the scores of the parents do not go with the model")
    if model.normalised and (np.abs(tables["scores_"].sum(axis=1) - 1.0) > ROUNDING).any():
        raise ModelFileError("the scores of a document do not sum to 1")
    known: dict[str, Any] = {name: tables.get(f"{name}_") for name in (*_TABLES, "parent_sizes")}
    return KnownDocuments(**known)


def _record(attributes: Any, model: Model, n_cycles: int) -> dict[str, Any]:
    """Return what a fit of so many cycles records about itself, as arguments of ``Fit``."""
    if not isinstance(attributes, dict):
        raise ModelFileError("attributes are not a mapping of names to values")
    if unknown := set(attributes) - {*_ATTRIBUTES, "settings_"}:
        raise ModelFileError(f"unknown attribute {shown(min(unknown))}")
    values = taken({name: rule for name, (_, rule) in _ATTRIBUTES.items()}, attributes, {})
    if (values.get("n_iter_") or 0) != n_cycles:
        raise ModelFileError(f"n_iter_ is not {n_cycles}, the length of the trace")
    settings = attributes.get("settings_")
    if not isinstance(settings, dict):
        raise ModelFileError("settings_ are not a mapping of names to values")
    taken(_SETTINGS, settings, {})
    settings = {name: value for name, value in settings.items() if value is not None}
    for name in settings.keys() - _SETTINGS.keys() - {"seed"}:
        if name == "learnt" or isinstance(settings[name], (list, dict)):
            checked_names(name, settings[name])
    if not {*model.hyperparameters, "gamma"}.issuperset(settings.get("learnt", ())):
        raise ModelFileError(f"learnt is {shown(settings['learnt'])}")
    made = n_cycles - settings.get("burn_in", n_cycles)
    if settings.get("draws", 0) > max(0, made) // settings.get("thin", 1):
        raise ModelFileError(f"there are {settings['draws']} draws of {n_cycles} cycles")
    seed = settings.get("seed")
    if type(seed) is not int or not 0 <= seed < 2**64:
        raise ModelFileError(f"the seed is {shown(seed)}")
    return {_ATTRIBUTES[name][0]: value for name, value in values.items()} | {"settings": settings}


def model_path(path: str | os.PathLike[str]) -> Path:
    """A folder, or a name that ends in a slash, stands for the file ``model.discan`` inside."""
    text = file_name(path)
    if not text:
        raise InputError("the name of the model file is empty")
    file = Path(text)
    if text.endswith(("/", os.sep)) or os.path.isdir(text):
        return file / "model.discan"
    return file


def _given_names(names: Any, n_components: int) -> Given:
    """Return the names of the components, None for those that have a number only."""
    if names is None or names == []:
        return ()
    texts = isinstance(names, list) and all(n is None or isinstance(n, str) for n in names)
    if not texts or len(names) != n_components:
        raise ModelFileError("the names of the components are not one text for each")
    return tuple(names)
