# SPDX-License-Identifier: BSD-3-Clause
"""What fit and resume do around the library call."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer

from discan.cli.options import ALGORITHM_NAMES, MODEL_NAMES, checked
from discan.cli.printing import Style, emit_record
from discan.cli.saying import say
from discan.errors import InputError, StorageError

__all__ = [
    "algorithm_of",
    "check_model",
    "check_run_folder",
    "finish_fit",
    "output_target",
    "remember_target",
    "remembered_target",
]


def algorithm_of(name: str, burn_in: int | None, draws: int | None) -> Any:
    """Return the algorithm's name, or an object if options of it were given."""
    from discan.algorithms import ALGORITHMS

    if name != "auto":
        _registered("--algorithm", ALGORITHMS, name, ALGORITHM_NAMES)
    given = {"burn_in": burn_in, "n_draws": draws}
    given = {key: value for key, value in given.items() if value is not None}
    if not given:
        return name
    chosen = None if name == "auto" else ALGORITHMS.find(name)
    if chosen is None or not hasattr(chosen, "burn_in"):
        hint = "--burn-in" if burn_in is not None else "--draws"
        raise typer.BadParameter(
            f"{name} takes no draws; it is for gibbs and collapsed", param_hint=hint
        )
    return dataclasses.replace(chosen, **given)  # type: ignore[type-var]


def check_model(name: str) -> None:
    """Refuse a model that is not known, as a usage error."""
    from discan.models import MODELS

    _registered("--model", MODELS, name, MODEL_NAMES)


def _registered(option: str, registry: Any, name: str, known: Any) -> None:
    try:
        registry.find(name)
    except InputError:
        checked(option, name, list(known))


@contextlib.contextmanager
def output_target(output: str) -> Iterator[Path]:
    """Where the model goes, tried out first; no empty folder is left behind by a failure."""
    from discan.data.storage import probe
    from discan.fitting.modelfile import model_path

    if not output:
        raise typer.BadParameter("the name is empty", param_hint="--output")
    target = model_path(output)
    made = not target.parent.exists()
    probe(target)
    try:
        yield target
    except BaseException:
        if made:
            with contextlib.suppress(OSError):
                target.parent.rmdir()
        raise


def check_run_folder(folder: Path) -> None:
    """Fail before the data are read if a run cannot be written here."""
    from discan.data.storage import probe

    if (folder / "state.discan").exists():
        raise InputError(
            f"{folder}: holds a run already; go on with: discan resume {folder} -o MODEL, or "
            "choose another folder"
        )
    probe(folder / "state.discan")


def remember_target(folder: Path, target: Path) -> None:
    """Note in the run folder where the model is to go."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "output").write_text(str(target.resolve()), encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{folder}: {error.strerror or error}") from None


def remembered_target(folder: Path) -> str:
    """Where fit was to write the model; inside the run folder if it did not say."""
    try:
        return (folder / "output").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return str(folder / "model.discan")


def finish_fit(
    work: Callable[[], Any], target: Path, run_folder: Path | None, quiet: bool, style: Style
) -> None:
    """Fit, write the model, say how it went."""
    from discan.fitting.summary import describe_model

    began = time.perf_counter()
    try:
        estimator = work()
    except SystemExit:
        if run_folder is not None and (run_folder / "state.discan").exists():
            say(quiet, f"stopped; go on with: discan resume {run_folder}")
        raise
    estimator.save(target)
    seconds = time.perf_counter() - began
    reason = estimator.stop_reason_
    objective = estimator.trace_.last("objective")
    if style is not Style.TABLE:
        record = {"file": str(target), **describe_model(estimator), "objective": objective}
        emit_record(style, {**record, "seconds": round(seconds, 3)})
        sys.stdout.flush()
    say(quiet, f"{estimator.n_iter_} cycles in {seconds:.1f} s: {reason}")
    say(quiet, f"model written to {target}; look at it with: discan show {target}")
    if reason == "interrupted":
        if run_folder is not None:
            say(quiet, f"go on with: discan resume {run_folder}")
        raise SystemExit(130)
