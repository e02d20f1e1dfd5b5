# SPDX-License-Identifier: BSD-3-Clause
"""Save a fitted estimator and load it again, with the same bits in ``transform``."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import numpy as np

from discan.algorithms import ALGORITHMS, Algorithm, choose
from discan.algorithms.base import Params
from discan.data.corpus import Layout
from discan.data.storage import read_file, write_file
from discan.errors import ModelFileError
from discan.fitting.result import KnownLoadings, Trace
from discan.models import MODELS, LoadingsPrior, Model
from discan.models.hyperparameters import Hyperprior
from discan.typing import Array

__all__ = ["decode_settings", "encode_settings", "load", "save"]

# Attributes of a fitted estimator that are kept when they are there.
_ARRAYS = (
    "components_sd_", "component_counts_", "component_counts_sd_", "scores_", "scores_sd_",
    "proportions_", "absent_",
)  # fmt: skip
_PLAIN = ("n_iter_", "converged_", "stop_reason_", "settings_")


def save(estimator: Any, path: str | os.PathLike[str], outer: Any = None) -> Path:
    """Write a fitted estimator to a file; see ``model_path`` for folders.

    ``outer`` is the estimator around it, if any, such as a classifier: what it knows besides comes
    from its ``_facts``, and goes to its ``_restore`` when it is loaded.
    """
    file = model_path(path)
    arrays: dict[str, Array] = {}
    params, layout = estimator._params, estimator._layout
    settings = encode_settings(estimator, arrays)
    for name, value in params.model.values().items():
        arrays[f"model.{name}"] = value
    arrays["gamma"] = params.prior.gamma
    loadings = estimator._tables.mean
    arrays["inference_loadings"] = loadings if params.loadings is None else params.loadings
    arrays["loadings"] = loadings
    arrays["group_of_word"] = layout.group_of_word
    arrays["group_totals"] = estimator.group_totals_
    for name in _ARRAYS:
        value = getattr(estimator, name, None)
        if value is not None:
            arrays[name] = value
    trace = getattr(estimator, "trace_", None)
    if trace is not None and len(trace):
        arrays["trace"] = trace.table()
    header = {
        "class": type(estimator).__name__,
        "settings": settings,
        "model": params.model.name,
        "symmetric": params.prior.symmetric,
        "tau": params.notes.get("tau", 1.0),
        "algorithm": _encode("algorithm", estimator.algorithm_, arrays),
        "word_names": layout.word_names,
        "group_names": layout.group_names,
        "document_names": getattr(estimator, "document_names_", None),
        "feature_names": [str(x) for x in getattr(estimator, "feature_names_in_", [])],
        "attributes": {
            name: getattr(estimator, name) for name in _PLAIN if hasattr(estimator, name)
        },
    }
    if outer is not None:
        settings = {**outer.get_params(deep=False), "random_state": estimator.settings_["seed"]}
        header["outer"] = {
            "class": type(outer).__name__,
            "settings": _encode_all("outer", settings, arrays),
            "facts": {
                name: _encode(f"outer.{name}", value, arrays)
                for name, value in outer._facts().items()
            },
        }
    write_file(file, "model", header, arrays)
    return file


def load(path: str | os.PathLike[str]) -> Any:
    """Read an estimator back from a file or from the folder that holds it."""
    file = model_path(path)
    header, arrays = read_file(file, "model")
    try:
        return _rebuild(header, arrays)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ModelFileError(f"{file}: the header does not fit the arrays ({error!r})") from None


def model_path(path: str | os.PathLike[str]) -> Path:
    """A folder, or a name that ends in a slash, stands for the file ``model.discan`` inside."""
    text = os.fspath(path)
    file = Path(text)
    if text.endswith(("/", os.sep)) or file.is_dir():
        return file / "model.discan"
    return file


# ---- settings ----


def encode_settings(estimator: Any, arrays: dict[str, Array]) -> dict[str, Any]:
    """Constructor arguments as JSON, arrays put aside under ``settings.<name>``."""
    settings = estimator.get_params(deep=False)
    settings["random_state"] = getattr(estimator, "settings_", {}).get("seed")
    return _encode_all("settings", settings, arrays)


def _encode_all(prefix: str, settings: dict[str, Any], arrays: dict[str, Array]) -> dict[str, Any]:
    for name in ("callback", "progress", "warm_start", "checkpoint", "checkpoint_every"):
        settings.pop(name, None)
    return {name: _encode(f"{prefix}.{name}", value, arrays) for name, value in settings.items()}


def decode_settings(settings: dict[str, Any], arrays: dict[str, Array]) -> dict[str, Any]:
    """Constructor arguments back from JSON."""
    return {name: _decode(value, arrays) for name, value in settings.items()}


def _encode(name: str, value: Any, arrays: dict[str, Array]) -> Any:
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (Model, Algorithm, Hyperprior)):
        kind = type(value).__name__ if isinstance(value, Hyperprior) else value.name
        fields = {
            field.name: _encode(f"{name}.{field.name}", getattr(value, field.name), arrays)
            for field in dataclasses.fields(value)  # type: ignore[arg-type]
        }
        return {"object": kind, "fields": fields}
    if isinstance(value, (tuple, list, set, frozenset)) and all(isinstance(x, str) for x in value):
        return {"list": sorted(value) if isinstance(value, (set, frozenset)) else list(value)}
    array = np.asarray(value)
    if array.dtype.kind in "biuf":
        arrays[name] = array
        return {"array": name}
    return {"list": [str(item) for item in array.ravel()]}


def _decode(value: Any, arrays: dict[str, Array]) -> Any:
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[value["array"]]
    if "list" in value:
        return tuple(value["list"])
    fields = {name: _decode(item, arrays) for name, item in value["fields"].items()}
    if value["object"] == "Hyperprior":
        pairs: dict[str, Any] = {name: tuple(map(float, x)) for name, x in fields.items()}
        return Hyperprior(**pairs)
    for registry in (MODELS, ALGORITHMS):
        for cls in registry:
            if cls.name == value["object"]:
                return cls(**fields)
    raise ValueError(f"unknown object {value['object']!r}")


def _rebuild(header: dict[str, Any], arrays: dict[str, Array]) -> Any:
    from discan import estimators

    if header["class"] not in estimators.__all__:
        raise ValueError(f"unknown class {header['class']!r}")
    estimator = getattr(estimators, header["class"])(**decode_settings(header["settings"], arrays))
    groups = arrays["group_of_word"]
    layout = Layout(
        n_words=len(groups), group_of_word=groups, n_groups=int(groups.max()) + 1,
        word_names=_names(header["word_names"]), group_names=_names(header["group_names"]),
    )  # fmt: skip
    model = type(MODELS.find(header["model"]))(
        **{name[6:]: value for name, value in arrays.items() if name.startswith("model.")}
    )
    prior = LoadingsPrior(arrays["gamma"], layout, bool(header["symmetric"]))
    notes = {"tau": float(header["tau"])}
    params = Params(model, prior, loadings=arrays["inference_loadings"], notes=notes)
    if arrays["loadings"].shape != (layout.n_words, params.n_components):
        raise ValueError("the loadings have the wrong shape")
    # files of 0.1 that were written before it was kept
    chosen = _decode(header.get("algorithm", estimator.algorithm), arrays)
    estimator.algorithm_ = choose(chosen, model)
    estimator._set_params(params, KnownLoadings(arrays["loadings"]), layout)
    estimator.group_totals_ = arrays.get("group_totals", np.ones(layout.n_groups))
    estimator.n_features_in_ = layout.n_words
    if header["feature_names"]:
        estimator.feature_names_in_ = np.array(header["feature_names"], dtype=object)
    estimator.document_names_ = _names(header["document_names"])
    if "scores_" in arrays:
        for name in _ARRAYS:
            setattr(estimator, name, arrays.get(name))
    for name, value in header["attributes"].items():
        if name not in _PLAIN:
            raise ValueError(f"unknown attribute {name!r}")
        setattr(estimator, name, value)
    estimator.trace_ = Trace()
    for row in arrays.get("trace", ()):
        estimator.trace_.add(*map(float, row))
    estimator.draws_ = None
    outer = header.get("outer")
    return estimator if outer is None else _rebuild_outer(outer, estimator, arrays)


def _rebuild_outer(outer: dict[str, Any], estimator: Any, arrays: dict[str, Array]) -> Any:
    """Put an estimator back into the one that was around it."""
    from discan.estimators.classifier import DCAClassifier
    from discan.estimators.features import DCAFeatures

    known = {cls.__name__: cls for cls in (DCAClassifier, DCAFeatures)}
    result = known[outer["class"]](**decode_settings(outer["settings"], arrays))
    result.dca_ = estimator
    result._restore(decode_settings(outer["facts"], arrays))
    return result


def _names(names: Any) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)
