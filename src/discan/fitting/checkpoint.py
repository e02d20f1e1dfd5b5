# SPDX-License-Identifier: BSD-3-Clause
"""Write a run down while it goes on, and take it up again after any end, with the same bits.

A run folder holds ``corpus.discan``, ``settings.discan`` (the estimator's arguments) and
``state.discan`` (the run at its last checkpoint); each is written all or nothing.
"""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from discan.data.corpus import Corpus
from discan.data.storage import read_file, write_file
from discan.data.store import load_corpus, save_corpus
from discan.errors import InputError, ModelFileError
from discan.fitting.document_draws import Averages
from discan.fitting.modelfile import decode_settings, encode_settings
from discan.fitting.run import Run
from discan.typing import Array

__all__ = ["RunFolder", "resume"]

_PARAMS = ("loadings", "loading_shape", "loading_counts", "totals")


@dataclass(frozen=True)
class RunFolder:
    """The folder of a run; call it with the run after each cycle."""

    path: Path
    every: int = 10

    def begin(self, estimator: Any, corpus: Corpus, seed: int) -> None:
        """Write down the data and the settings, before anything is computed."""
        arrays: dict[str, Array] = {}
        settings = encode_settings(estimator, arrays)
        settings["random_state"] = seed
        header = {"class": type(estimator).__name__, "settings": settings, "every": self.every}
        if self.has_state:
            raise InputError(
                f"{self.path}: holds a run already; continue it with discan.resume, or choose "
                "another folder"
            )
        save_corpus(corpus, self.path / "corpus.discan")
        write_file(self.path / "settings.discan", "settings", header, arrays)

    def __call__(self, run: Run, last: bool) -> None:
        """Write the run down if it is time to."""
        if last or run.cycle % self.every == 0:
            write_file(self.path / "state.discan", "state", *snapshot(run))

    @property
    def has_state(self) -> bool:
        """Whether a run was written down here."""
        return (self.path / "state.discan").exists()


def resume(folder: str | os.PathLike[str], **overrides: Any) -> Any:
    """Take up the run of a folder and finish it; return the fitted estimator.

    Parameters
    ----------
    folder : run folder
    **overrides : n_jobs, progress, callback of the estimator
    """
    from discan import estimators

    path = Path(folder)
    if not (path / "settings.discan").exists():
        raise InputError(f"{path}: no run was begun here; begin one with checkpoint=...")
    header, arrays = read_file(path / "settings.discan", "settings")
    if header["class"] not in estimators.__all__:
        raise ModelFileError(f"{path}: unknown class {header['class']!r}")
    settings = decode_settings(header["settings"], arrays)
    estimator = getattr(estimators, header["class"])(**settings)
    estimator.set_params(checkpoint=path, checkpoint_every=int(header["every"]), **overrides)
    estimator._resuming = True
    try:
        return estimator.fit(load_corpus(path / "corpus.discan"))
    finally:
        del estimator._resuming


def restore_from(folder: RunFolder, run: Run) -> None:
    """Bring a new run to where the folder's run was; at its beginning if it had no checkpoint."""
    if folder.has_state:
        restore(run, *read_file(folder.path / "state.discan", "state"))


def snapshot(run: Run) -> tuple[dict[str, Any], dict[str, Array]]:
    """Take all that a run needs to go on."""
    params, averages = run.params, run.averages
    arrays = {"gamma": params.prior.gamma, "trace": run.trace.table()}
    arrays |= {f"model.{name}": value for name, value in params.model.values().items()}
    for name in _PARAMS:
        value = getattr(params, name)
        if value is not None:
            arrays[f"params.{name}"] = value
    notes = {}
    for name, value in params.notes.items():
        if isinstance(value, np.ndarray):
            arrays[f"note.{name}"] = value
        elif value is None or isinstance(value, (bool, int, float, str)):
            notes[name] = value
    for index, state in run.states.items():
        for name, value in _fields(state).items():
            arrays[f"state.{index}.{name}"] = value
    header = {
        "cycle": run.cycle, "converged": run.converged, "notes": notes,
        "n_draws": 0 if averages is None else averages.n_draws,
    }  # fmt: skip
    if averages is not None:
        arrays |= averages.arrays()
    return header, arrays


def restore(run: Run, header: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Put a snapshot into a run that was begun with the same data and settings."""
    try:
        params = run.params
        model = replace(
            params.model,  # type: ignore[type-var]
            **{name: arrays[f"model.{name}"] for name in params.model.hyperparameters},
        )
        notes = {**params.notes, **header["notes"]}
        notes |= {name[5:]: value for name, value in arrays.items() if name.startswith("note.")}
        values: dict[str, Any] = {name: arrays.get(f"params.{name}") for name in _PARAMS}
        prior = replace(params.prior, gamma=arrays["gamma"])
        run.params = replace(params, model=model, prior=prior, notes=notes, **values)
        for index, state in run.states.items():
            for name, value in _fields(state).items():
                value[...] = arrays[f"state.{index}.{name}"]
        for row in arrays["trace"]:
            run.trace.add(*map(float, row))
        run.cycle, run.converged = int(header["cycle"]), bool(header["converged"])
        if header["n_draws"]:
            run.averages = Averages(run.training, run.blocks, run.params, keep_draws=False)
            run.averages.restore(int(header["n_draws"]), run.params, arrays)
        run.refresh()
    except (KeyError, ValueError, TypeError) as error:
        raise ModelFileError(f"the checkpoint does not fit the run ({error!r})") from None


def _fields(state: Any) -> dict[str, Array]:
    if isinstance(state, np.ndarray):
        return {"all": state}
    values = {field.name: getattr(state, field.name) for field in dataclasses.fields(state)}
    return {name: value for name, value in values.items() if value is not None}
