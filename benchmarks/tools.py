# SPDX-License-Identifier: BSD-3-Clause
"""Tools: functions that fit under a stopwatch; and those of discan."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from corpora import Counts
from curves import Answer, Watch

import discan

__all__ = ["ENDLESS", "PEERS", "Task", "Tool", "mallet", "missing", "ours", "versions"]

PEERS = ("tomotopy", "gensim", "scikit-learn", "enstop", "bigartm", "vowpalwabbit", "MALLET")
MODULES = {"scikit-learn": "sklearn", "bigartm": "artm"}
ENDLESS = 1_000_000  # passes; the watch ends the fit


@dataclass(frozen=True)
class Task:
    """The problem to fit, the same for every tool."""

    corpus: Counts
    n_components: int
    threads: int
    gamma: float = 0.01
    seed: int = 0

    @property
    def alpha(self) -> float:
        """Dirichlet parameter of the proportions."""
        return self.corpus.alpha(self.n_components)


@dataclass(frozen=True)
class Tool:
    """A way to fit: ``fit(task, watch)`` calls ``watch.lap`` after each pass until it is over.

    ``package`` is the package to be installed, None for our own.
    """

    name: str
    fit: Callable[[Task, Watch], None]
    package: str | None = None
    options: dict[str, Any] = field(default_factory=dict)


def missing() -> list[str]:
    """Peers that are not installed."""
    return [name for name in PEERS if not _installed(name)]


def mallet() -> Path | None:
    """Return MALLET's command, if $MALLET_HOME has one."""
    home = os.environ.get("MALLET_HOME")
    command = Path(home) / "bin" / "mallet" if home else None
    return command if command is not None and command.is_file() else None


def versions() -> dict[str, str]:
    """Versions of discan, the peers, NumPy and Numba; of MALLET the name of its folder."""
    absent = missing()
    names = [name for name in ("discan", *PEERS, "numpy", "numba") if name not in absent]
    return {name: _version(name) for name in names}


def _installed(name: str) -> bool:
    if name == "MALLET":
        return mallet() is not None
    return importlib.util.find_spec(MODULES.get(name, name)) is not None


def _version(name: str) -> str:
    if name == "MALLET":
        return Path(os.environ["MALLET_HOME"]).resolve().name
    return importlib.metadata.version(name)


def ours(name: str, estimator: str = "DCA", priors: bool = True, **options: Any) -> Tool:
    """Fit with an estimator of discan; its seconds include reading the matrix and the start.

    With ``priors`` alpha and gamma are the task's, and nothing is learnt unless ``learn`` says so.
    Without, the estimator chooses and learns its own.
    """
    options = {**({"learn": ()} if priors else {}), **options}
    own_alpha = options.get("learn") != ()

    def fit(task: Task, watch: Watch) -> None:
        def after_cycle(run: Any) -> bool:
            return watch.lap(
                run.cycle,
                Answer(
                    lambda: run.loadings.T,
                    lambda: _scores(run, task.corpus.train),
                    (lambda: run.params.model.alpha) if own_alpha else None,
                ),
            )

        values = {"alpha": task.alpha, "gamma": task.gamma} if priors else {}
        model = getattr(discan, estimator)(
            task.n_components, n_jobs=task.threads, random_state=task.seed, progress=False,
            callback=after_cycle, **values, **options,
        )  # fmt: skip
        watch.start()
        model.fit(task.corpus.train)
        watch.close(
            model.n_iter_,
            Answer(
                lambda: model.components_,
                lambda: _with_totals(model.scores_, model.fit_.params, task.corpus.train),
                (lambda: model.alpha_) if own_alpha else None,
            ),
        )

    return Tool(name, fit, options=options)


def _scores(run: Any, counts: Any) -> Any:
    """Return scores on the scale of the counts: proportions are multiplied by the length."""
    return _with_totals(run.result().scores, run.params, counts)


def _with_totals(scores: Any, params: Any, counts: Any) -> Any:
    if params.model.normalised:
        scores = scores * np.asarray(counts.sum(axis=1)).reshape(-1, 1)
    return scores
