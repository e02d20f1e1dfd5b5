# SPDX-License-Identifier: BSD-3-Clause
"""Write a run to a folder while it advances, and continue it after any end with the same bits.

A run folder holds ``corpus.discan``, ``settings.discan`` (the estimator's arguments) and
``state.discan`` (the run at its last checkpoint). Each file is written all or nothing.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from discan.algorithms.base import Params
from discan.algorithms.schedule import Schedule
from discan.data.corpus import Corpus
from discan.data.storage import read_file, write_file
from discan.data.store import load_corpus, save_corpus
from discan.engines import Engine
from discan.errors import InputError, ModelFileError
from discan.fitting.draws import DrawAverages
from discan.fitting.run import Run, Task
from discan.fitting.trace import Trace
from discan.fitting.visit import MemoryStates
from discan.typing import Array

__all__ = ["RunFolder", "restored"]

_PARAMS = ("loadings", "loading_shape", "loading_counts", "totals")


@dataclass(frozen=True)
class RunFolder:
    """The folder of a run; call it with the run after each cycle."""

    path: Path
    every: int = 10

    @property
    def has_settings(self) -> bool:
        """Whether a run was begun here."""
        return (self.path / "settings.discan").exists()

    @property
    def has_state(self) -> bool:
        """Whether a run was written here."""
        return (self.path / "state.discan").exists()

    def begin(self, header: dict[str, Any], arrays: dict[str, Array], corpus: Corpus) -> None:
        """Write the data and the settings, before anything is computed."""
        if self.has_state:
            raise InputError(
                f"{self.path}: holds a run already; continue it with discan.resume, or choose "
                "another folder"
            )
        save_corpus(corpus, self.path / "corpus.discan")
        header = {**header, "every": self.every}
        write_file(self.path / "settings.discan", "settings", header, arrays)

    def settings(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Read the settings."""
        if not self.has_settings:
            raise InputError(f"{self.path}: no run was begun here; begin one with checkpoint=...")
        return read_file(self.path / "settings.discan", "settings")

    def corpus(self) -> Corpus:
        """Read the data."""
        return load_corpus(self.path / "corpus.discan")

    def __call__(self, run: Run, last: bool) -> None:
        """Write the run if it is time to."""
        if last or run.cycle % self.every == 0:
            write_file(self.path / "state.discan", "state", *_snapshot(run))


def restored(folder: RunFolder, task: Task, engine: Engine) -> Run:
    """Return the run of a folder at its last checkpoint; it must have one."""
    header, arrays = read_file(folder.path / "state.discan", "state")
    schedule = task.plan()
    try:
        notes = header["notes"]
        params = _params(task, schedule, notes, arrays)
        run = Run(task, schedule, params, _states(schedule, arrays), engine)
        run.trace = Trace.of(arrays["trace"])
        run.cycle, run.converged = int(header["cycle"]), bool(header["converged"])
        run.over = notes.get("over")
        if header["n_draws"]:
            run.draws = DrawAverages(schedule, params)
            run.draws.restore(int(header["n_draws"]), params, arrays)
        return run
    except (KeyError, ValueError, TypeError) as error:
        raise ModelFileError(f"the checkpoint does not fit the run ({error!r})") from None


def _snapshot(run: Run) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return everything that a run needs to continue."""
    params, draws = run.params, run.draws
    arrays = {"gamma": params.prior.gamma, "trace": run.trace.table()}
    arrays |= {f"model.{name}": value for name, value in params.model.values().items()}
    arrays |= {f"params.{name}": value for name, value in _arrays(params, _PARAMS).items()}
    notes: dict[str, Any] = {"tau": params.power, "over": run.over}
    for name, value in _kept(params.memory).items():
        if isinstance(value, np.ndarray):
            arrays[f"note.{name}"] = value
        else:
            notes[name] = value
    for block in run.schedule.blocks:
        state = run.states.get(block)
        names = [f.name for f in dataclasses.fields(state)]
        for name, value in _arrays(state, names).items():
            arrays[f"state.{block.index}.{name}"] = value
    header = {
        "cycle": run.cycle, "converged": run.converged, "notes": notes,
        "n_draws": 0 if draws is None else draws.n_draws,
    }  # fmt: skip
    if draws is not None:
        arrays |= draws.arrays()
    return header, arrays


def _params(
    task: Task, schedule: Schedule, notes: dict[str, Any], arrays: dict[str, Array]
) -> Params:
    """Return the parameters of a snapshot."""
    params = task.first_params(schedule)
    names = params.model.hyperparameters
    model: Any = params.model
    model = replace(model, **{name: arrays[f"model.{name}"] for name in names})
    values: dict[str, Any] = {name: arrays.get(f"params.{name}") for name in _PARAMS}
    prior = replace(params.prior, gamma=arrays["gamma"])
    memory = _memory(schedule.memory_type, notes, arrays)
    power = float(notes.get("tau", 1.0))
    return replace(params.with_model(model), prior=prior, power=power, memory=memory, **values)


def _memory(kind: Any, notes: dict[str, Any], arrays: dict[str, Array]) -> Any:
    """Return the memory of an algorithm; fields that were not saved have their defaults."""
    if kind is None:
        return None
    names = [f.name for f in dataclasses.fields(kind) if not f.metadata.get("transient")]
    values = {name: notes[name] for name in names if name in notes}
    values |= {name: arrays[f"note.{name}"] for name in names if f"note.{name}" in arrays}
    return kind(**values)


def _states(schedule: Schedule, arrays: dict[str, Array]) -> MemoryStates:
    """Return the states of a snapshot."""
    names = [field.name for field in dataclasses.fields(schedule.state_type)]
    states = MemoryStates()
    for block in schedule.blocks:
        prefix = f"state.{block.index}."
        values = {name: arrays[prefix + name] for name in names if prefix + name in arrays}
        if not values:  # a state of one array, as version 0.1 wrote it
            values = {names[0]: arrays[prefix + "all"]}
        states.put(block, schedule.state_type(**values))
    return states


def _kept(memory: Any) -> dict[str, Any]:
    """Return the fields of a memory that outlast a visit."""
    if memory is None:
        return {}
    kept = [field for field in dataclasses.fields(memory) if not field.metadata.get("transient")]
    return {field.name: getattr(memory, field.name) for field in kept}


def _arrays(owner: Any, names: Any) -> dict[str, Array]:
    """Return the attributes that are not None."""
    values = {name: getattr(owner, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}
