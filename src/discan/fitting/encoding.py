# SPDX-License-Identifier: BSD-3-Clause
"""Settings as JSON and arrays, and back: those of estimators, models and algorithms."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from discan.algorithms import ALGORITHMS, Algorithm
from discan.data.rules import checked_names
from discan.errors import ModelFileError, shown
from discan.models import MODELS, Model
from discan.models.hyperparameters import Hyperprior
from discan.typing import Array

__all__ = ["decode", "decode_settings", "encode", "encode_settings"]

# Settings that belong to a process, not to a model: a file neither keeps nor sets them.
_LEFT_OUT = ("callback", "progress", "warm_start", "checkpoint", "checkpoint_every", "engine")


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
    """Return constructor arguments from JSON; only those that belong to a model."""
    if not isinstance(settings, dict):
        raise ModelFileError("the settings are not a mapping of names to values")
    for name in settings:
        if name in _LEFT_OUT:
            raise ModelFileError(f"a file may not set {name!r}")
    return {name: decode(value, arrays) for name, value in settings.items()}


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
    if isinstance(value, Mapping):
        items = {str(key): encode(f"{name}.{key}", item, arrays) for key, item in value.items()}
        return {"mapping": items}
    if isinstance(value, (tuple, list, set, frozenset)) and all(isinstance(x, str) for x in value):
        return {"list": sorted(value) if isinstance(value, (set, frozenset)) else list(value)}
    array = np.asarray(value)
    if array.dtype.kind in "biuf":
        arrays[name] = array
        return {"array": name}
    return {"list": [str(item) for item in array.ravel()]}


def decode(value: Any, arrays: Mapping[str, Array]) -> Any:
    """Return a value from JSON."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    kind = next(iter(value), None) if isinstance(value, dict) else None
    if kind == "array":
        return arrays[value["array"]]
    if kind == "list":
        return checked_names("a setting", value["list"])
    if kind == "mapping" and isinstance(value["mapping"], dict):
        return {name: decode(item, arrays) for name, item in value["mapping"].items()}
    if not isinstance(value, dict) or set(value) != {"object", "fields"}:
        raise ModelFileError(f"a setting is {shown(value)}")
    fields = {name: decode(item, arrays) for name, item in value["fields"].items()}
    if value["object"] == "Hyperprior":
        pairs: dict[str, Any] = {name: tuple(map(float, x)) for name, x in fields.items()}
        return Hyperprior(**pairs)
    for registry in (MODELS, ALGORITHMS):
        for cls in registry:
            if cls.name == value["object"]:
                return cls(**{**getattr(cls, "formerly", {}), **fields})
    raise ModelFileError(f"unknown object {shown(value['object'])}")
