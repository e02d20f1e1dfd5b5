# SPDX-License-Identifier: BSD-3-Clause
"""Estimators from files: load a model, resume a run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from discan.data.margins import read_groups
from discan.data.rules import checked, checked_names, faults_of
from discan.engines.threads import n_threads
from discan.errors import ModelFileError, shown
from discan.estimators import presets
from discan.estimators.classifier import DCAClassifier
from discan.estimators.counting import AUTO
from discan.estimators.dca import DCA
from discan.estimators.features import DCAFeatures
from discan.estimators.meta import restore
from discan.estimators.seeding import fixed_rows
from discan.estimators.streaming import restore_stream
from discan.fitting.checkpoint import RunFolder
from discan.fitting.encoding import decode_settings
from discan.fitting.modelfile import model_path, read_fit
from discan.typing import Array

__all__ = ["load", "resume"]

_CLASSES = {cls.__name__: cls for cls in (DCA, *(getattr(presets, n) for n in presets.__all__))}
_MOST_THREADS = 4096
_META = {cls.__name__: cls for cls in (DCAClassifier, DCAFeatures)}


def load(path: str | os.PathLike[str]) -> Any:
    """Read an estimator from a file that ``save`` or ``discan fit`` wrote.

    Parameters
    ----------
    path : path
        The file, or the folder that holds it as ``model.discan``.

    Returns
    -------
    estimator
        Fitted, of the class that was saved.

    Examples
    --------
    >>> import numpy as np, discan, tempfile
    >>> X = np.kron(np.eye(2, dtype=int), np.full((5, 4), 3))
    >>> estimator = discan.LDA(2, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     estimator.save(f"{folder}/model.discan")
    ...     discan.load(f"{folder}/model.discan").components_.shape
    (2, 8)
    """
    with faults_of(model_path(path)):
        return _load(path)


def resume(folder: str | os.PathLike[str], **overrides: Any) -> Any:
    """Continue the run of a folder to its end; return the fitted estimator.

    Parameters
    ----------
    folder : path
        The folder that was given to the estimator as ``checkpoint``.
    **overrides
        Other values of the estimator's ``n_jobs``, ``progress``, ``callback`` or ``engine``.

    Returns
    -------
    estimator
        Fitted, with the same bits as an unbroken run.
    """
    path = Path(folder)
    header, arrays = RunFolder(path).settings()
    with faults_of(path / "settings.discan"):
        every = checked("every", header.get("every"), {}, types="whole", low=1)
        estimator = _estimator(header, arrays)
    estimator.set_params(checkpoint=path, checkpoint_every=every, **overrides)
    return estimator.resume()


def _load(path: str | os.PathLike[str]) -> Any:
    fit, header, arrays = read_fit(path)
    layout = fit.layout
    estimator = _estimator(header, arrays)
    counted = estimator.n_components == AUTO and fit.concentration is not None
    if estimator.n_components != fit.n_components and not counted:
        raise ModelFileError(f"n_components is {shown(estimator.n_components)}")
    if estimator.groups is not None:
        groups, _, _ = read_groups(estimator.groups, layout.n_words)
        if not np.array_equal(groups, layout.group_of_word):
            raise ModelFileError("groups are not those of the fit")
    fixed_rows(estimator.fixed_components, layout)  # refuses what could not be saved again
    estimator.fit_ = fit
    estimator.n_features_in_ = layout.n_words
    names = checked_names("feature_names", header["feature_names"])
    if names:
        checked_names("feature_names", list(names), layout.n_words)
        estimator.feature_names_in_ = np.array(names, dtype=object)
    restore_stream(estimator, header, arrays)
    meta = header.get("outer")
    if meta is None:
        return estimator
    result = _META[meta["class"]](**decode_settings(meta["settings"], arrays))
    _check_threads(result.n_jobs)
    restore(result, estimator, decode_settings(meta["facts"], arrays))
    return result


def _estimator(header: dict[str, Any], arrays: dict[str, Array]) -> DCA:
    """Return an estimator with the settings of a file, which it checks when it is fitted."""
    if header["class"] not in _CLASSES:
        raise ModelFileError(f"unknown class {shown(header['class'])}")
    estimator: DCA = _CLASSES[header["class"]](**decode_settings(header["settings"], arrays))
    _check_threads(estimator.n_jobs)
    if not isinstance(estimator.fixed_components, (dict, type(None))):
        raise ModelFileError("fixed_components are not rows by name")  # and name no other file
    if not isinstance(estimator.class_of_document, (str, tuple, type(None))):
        raise ModelFileError("class_of_document is neither a column nor a list of labels")
    return estimator


def _check_threads(n_jobs: Any) -> None:
    """Refuse more threads than any machine has."""
    if n_threads(n_jobs) > _MOST_THREADS:
        raise ModelFileError(f"n_jobs is {shown(n_jobs)}")
