# SPDX-License-Identifier: BSD-3-Clause
"""Estimators from files: load a model, resume a run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from discan.errors import ModelFileError
from discan.estimators import presets
from discan.estimators.classifier import DCAClassifier
from discan.estimators.dca import DCA
from discan.estimators.features import DCAFeatures
from discan.fitting.checkpoint import RunFolder
from discan.fitting.modelfile import decode_settings, faults_of, model_path, read_fit
from discan.typing import Array

__all__ = ["load", "resume"]

_CLASSES = {cls.__name__: cls for cls in (DCA, *(getattr(presets, n) for n in presets.__all__))}
_META = {cls.__name__: cls for cls in (DCAClassifier, DCAFeatures)}


def load(path: str | os.PathLike[str]) -> Any:
    """Read an estimator from a file or from the folder that holds it."""
    with faults_of(model_path(path)):
        return _load(path)


def resume(folder: str | os.PathLike[str], **overrides: Any) -> Any:
    """Continue the run of a folder to its end; return the fitted estimator.

    Parameters
    ----------
    folder : run folder
    **overrides : n_jobs, progress, callback of the estimator
    """
    path = Path(folder)
    header, arrays = RunFolder(path).settings()
    if header["class"] not in _CLASSES:
        raise ModelFileError(f"{path}: unknown class {header['class']!r}")
    estimator = _estimator(header, arrays)
    estimator.set_params(checkpoint=path, checkpoint_every=int(header["every"]), **overrides)
    return estimator.resume()


def _load(path: str | os.PathLike[str]) -> Any:
    fit, header, arrays = read_fit(path)
    if header["class"] not in _CLASSES:
        raise ValueError(f"unknown class {header['class']!r}")
    estimator = _estimator(header, arrays)
    estimator.fit_ = fit
    estimator.n_features_in_ = fit.layout.n_words
    if header["feature_names"]:
        estimator.feature_names_in_ = np.array(header["feature_names"], dtype=object)
    meta = header.get("outer")
    if meta is None:
        return estimator
    result = _META[meta["class"]](**decode_settings(meta["settings"], arrays))
    result.restore(estimator, decode_settings(meta["facts"], arrays))
    return result


def _estimator(header: dict[str, Any], arrays: dict[str, Array]) -> DCA:
    estimator: DCA = _CLASSES[header["class"]](**decode_settings(header["settings"], arrays))
    return estimator
