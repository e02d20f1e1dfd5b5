# SPDX-License-Identifier: BSD-3-Clause
"""Save a fit and load it again, with the same bits in every answer.

A model file holds a ``Fit`` and what its owner, an estimator, adds: its class and its settings.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from discan.algorithms import ALGORITHMS, Algorithm, choose
from discan.algorithms.base import Params
from discan.data.corpus import Layout
from discan.data.metadata import decode_about, encode_about
from discan.data.storage import HEAD, read_file, write_file
from discan.errors import ModelFileError
from discan.fitting.naming import Given
from discan.fitting.posterior import KnownDocuments, SavedLoadings
from discan.fitting.result import Fit
from discan.fitting.trace import Trace
from discan.models import MODELS, LoadingsPrior, Model
from discan.models.hyperparameters import Hyperprior
from discan.typing import Array

__all__ = [
    "decode_settings", "encode", "encode_settings", "faults_of", "load_fit", "model_path",
    "read_fit", "rename", "write_fit",
]  # fmt: skip

# Settings that belong to a process, not to a model.
_LEFT_OUT = ("callback", "progress", "warm_start", "checkpoint", "checkpoint_every")
# Tables of the training documents.
_TABLES = ("component_counts", "component_counts_sd", "scores", "scores_sd", "absent")


def write_fit(
    path: str | os.PathLike[str], fit: Fit, owner: Mapping[str, Any], arrays: dict[str, Array]
) -> None:
    """Write a fit to a file; ``owner`` and ``arrays`` are what its owner adds."""
    params, layout = fit.params, fit.layout
    arrays = arrays | {f"model.{name}": value for name, value in params.model.values().items()}
    mean = fit.loadings.mean
    arrays |= {
        "gamma": params.prior.gamma,
        "loadings": mean,
        "inference_loadings": mean if params.loadings is None else params.loadings,
        "group_of_word": layout.group_of_word,
        "group_totals": fit.group_totals,
    }
    for name in () if fit.documents is None else ("components_sd", *_TABLES):
        value = getattr(fit, name)
        if value is not None:
            arrays[f"{name}_"] = value
    if len(fit.trace):
        arrays["trace"] = fit.trace.table()
    header = {
        **owner,
        "model": params.model.name,
        "symmetric": params.prior.symmetric,
        "tau": params.power,
        "algorithm": encode("algorithm", fit.algorithm, arrays),
        "word_names": layout.word_names,
        "group_names": layout.group_names,
        "document_names": fit.document_names,
        "component_names": fit.given_names,
        **encode_about(fit, arrays),
        "attributes": {
            "n_iter_": fit.n_cycles,
            "converged_": fit.converged,
            "stop_reason_": fit.reason,
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
        return fit, str(header["class"])


@contextlib.contextmanager
def faults_of(file: Path) -> Iterator[None]:
    """Say that a file is damaged, whatever error its content leads to."""
    try:
        yield
    except ModelFileError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ModelFileError(f"{file}: the header does not fit the arrays ({error!r})") from None


def read_fit(path: str | os.PathLike[str]) -> tuple[Fit, dict[str, Any], dict[str, Array]]:
    """Read a fit, and the header and arrays of the file for its owner.

    A KeyError, TypeError, ValueError, AttributeError or IndexError says that they do not match.
    """
    header, arrays = read_file(model_path(path), "model")
    groups = arrays["group_of_word"]
    layout = Layout(
        n_words=len(groups), group_of_word=groups, n_groups=int(groups.max()) + 1,
        word_names=_names(header["word_names"]), group_names=_names(header["group_names"]),
    )  # fmt: skip
    model = type(MODELS.find(header["model"]))(
        **{name[6:]: value for name, value in arrays.items() if name.startswith("model.")}
    )
    # files that 0.1 wrote before it kept the algorithm have that of the settings
    chosen = _decode(header.get("algorithm", header["settings"]["algorithm"]), arrays)
    algorithm: Any = choose(chosen, model)
    if isinstance(chosen, str):
        algorithm = dataclasses.replace(algorithm, **algorithm.formerly)
    params = Params.of(
        model,
        LoadingsPrior(arrays["gamma"], layout, bool(header["symmetric"])),
        np.array([float(layout.n_groups)]),
        # a chain's inference reads the means over draws, in double precision
        loadings=None if algorithm.whole_counts else arrays["inference_loadings"],
        power=float(header["tau"]),
    )
    if arrays["loadings"].shape != (layout.n_words, params.n_components):
        raise ValueError("the loadings have the wrong shape")
    sd = arrays.get("components_sd_")
    known = header["attributes"]
    if unknown := set(known) - {"n_iter_", "converged_", "stop_reason_", "settings_"}:
        raise ValueError(f"unknown attribute {min(unknown)!r}")
    fit = Fit(
        algorithm=algorithm,
        params=params,
        layout=layout,
        loadings=SavedLoadings(arrays["loadings"], None if sd is None else sd.T),
        documents=_documents(arrays),
        document_names=_names(header["document_names"]),
        given_names=_given_names(header.get("component_names"), params.n_components),
        **decode_about(header, arrays),
        group_totals=arrays.get("group_totals", np.ones(layout.n_groups)),
        trace=Trace.of(arrays.get("trace", np.empty((0, 0)))),
        settings=known.get("settings_", {}),
        reason=known.get("stop_reason_", ""),
        converged=known.get("converged_", False),
        n_cycles=known.get("n_iter_", 0),
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


def model_path(path: str | os.PathLike[str]) -> Path:
    """A folder, or a name that ends in a slash, stands for the file ``model.discan`` inside."""
    text = os.fspath(path)
    file = Path(text)
    if text.endswith(("/", os.sep)) or file.is_dir():
        return file / "model.discan"
    return file


# ---- settings ----


def encode_settings(
    prefix: str, settings: Mapping[str, Any], arrays: dict[str, Array]
) -> dict[str, Any]:
    """Return constructor arguments as JSON, with arrays put aside under ``prefix.<name>``."""
    return {
        name: encode(f"{prefix}.{name}", value, arrays)
        for name, value in settings.items()
        if name not in _LEFT_OUT
    }


def decode_settings(settings: Mapping[str, Any], arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Return constructor arguments from JSON."""
    return {name: _decode(value, arrays) for name, value in settings.items()}


def encode(name: str, value: Any, arrays: dict[str, Array]) -> Any:
    """Return a value as JSON, with arrays put aside under ``name``."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (Model, Algorithm, Hyperprior)):
        kind = type(value).__name__ if isinstance(value, Hyperprior) else value.name
        fields = {
            field.name: encode(f"{name}.{field.name}", getattr(value, field.name), arrays)
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


def _decode(value: Any, arrays: Mapping[str, Array]) -> Any:
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
                return cls(**{**getattr(cls, "formerly", {}), **fields})
    raise ValueError(f"unknown object {value['object']!r}")


def _documents(arrays: Mapping[str, Array]) -> KnownDocuments | None:
    if "scores_" not in arrays:
        return None
    tables: dict[str, Any] = {name: arrays.get(f"{name}_") for name in _TABLES}
    return KnownDocuments(**tables)


def _names(names: Any) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)


def _given_names(names: Any, n_components: int) -> Given:
    """Return the names of the components, None for those that have a number only."""
    if not names:
        return ()
    if len(names) != n_components or not all(n is None or isinstance(n, str) for n in names):
        raise ValueError("the names of the components are not one text for each")
    return tuple(names)
