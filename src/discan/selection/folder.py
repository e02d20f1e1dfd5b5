# SPDX-License-Identifier: BSD-3-Clause
"""Keep the fits of a search in a folder, so that a search that was stopped can go on.

The folder holds ``search.json``, which names the data and the settings, and one file per fit. Each
file is written whole or not at all. More values of K, and more starts, may be added to a folder;
other data, folds or settings of the fit are refused.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from discan.data.locks import locked
from discan.data.storage import read_file, write_file, write_whole
from discan.errors import InputError, ModelFileError
from discan.selection.jobs import Job, Outcome

__all__ = ["SearchFolder", "opened"]

log = logging.getLogger("discan")


@dataclass(frozen=True)
class SearchFolder:
    """The folder of a search."""

    path: Path

    def begin(self, what: dict[str, Any]) -> None:
        """Name the data and the settings; refuse a folder of others."""
        text = json.dumps(what, sort_keys=True, default=str)
        digest = hashlib.sha256(text.encode()).hexdigest()
        head = self.path / "search.json"
        if head.exists():
            try:
                found = json.loads(head.read_text("utf-8"))["digest"]
            except (ValueError, KeyError, TypeError, OSError):
                raise InputError(
                    f"{head}: is damaged", remedy="remove the folder, or choose another"
                ) from None
            if found != digest:
                raise InputError(
                    f"{self.path}: holds a search of other data or with other settings",
                    remedy="choose another folder",
                )
            return
        write_whole(head, json.dumps({"digest": digest, **what}, indent=1, default=str) + "\n")

    def load(self, job: Job) -> Outcome | None:
        """Read a fit that is done; None if it is not there, or damaged."""
        path = self._path(job)
        if not path.exists():
            return None
        try:
            header, arrays = read_file(path, "job")
            kept = tuple(arrays[f"components.{part}"] for part in ("data", "indices", "indptr"))
            return Outcome(
                nats=arrays["nats"],
                components=sparse.csr_array(kept, shape=tuple(header["shape"])),
                **{name: _number(header[name]) for name in ("bound", "coherence", "seconds")},
                cycles=int(header["cycles"]),
                converged=bool(header["converged"]),
                learnt=dict(header["learnt"]),
            )
        except (ModelFileError, KeyError, TypeError, ValueError) as error:
            log.warning("%s; it is fitted again", error)
            return None

    def save(self, job: Job, outcome: Outcome) -> None:
        """Write a fit that is done."""
        kept = outcome.components
        header = {
            "shape": [int(n) for n in kept.shape],
            **{name: _json(getattr(outcome, name)) for name in ("bound", "coherence", "seconds")},
            "cycles": outcome.cycles,
            "converged": outcome.converged,
            "learnt": outcome.learnt,
        }
        arrays = {
            "nats": outcome.nats,
            "components.data": kept.data,
            "components.indices": kept.indices,
            "components.indptr": kept.indptr,
        }
        write_file(self._path(job), "job", header, arrays)

    def _path(self, job: Job) -> Path:
        return self.path / f"{job.setting.name}-seed{job.seed}-fold{job.fold + 1}.discan"


@contextmanager
def opened(path: Any, what: dict[str, Any]) -> Iterator[SearchFolder | None]:
    """Lock the folder for this process and check what it holds; None without a path."""
    if path is None:
        yield None
        return
    with locked(Path(path)):
        folder = SearchFolder(Path(path))
        folder.begin(what)
        yield folder


def _json(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _number(value: Any) -> float:
    return float(np.nan if value is None else value)
