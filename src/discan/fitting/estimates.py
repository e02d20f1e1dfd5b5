# SPDX-License-Identifier: BSD-3-Clause
"""Estimate what a fit takes before it begins: memory, disk and time."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discan.algorithms.schedule import Schedule
from discan.algorithms.score_states import ScoreState
from discan.data.drafts import storage_errors
from discan.errors import LimitError
from discan.fitting.memory import gibibytes
from discan.fitting.progress import duration
from discan.fitting.task import Task

__all__ = ["Estimate", "check_disk", "state_bytes"]

# Seconds per non-zero count and component on one core, roughly: as measured with 300 components of
# 97,000 words. A chain that lists the components of a word needs less with each sweep.
SECONDS = {"cvb0": 1.3e-9, "map": 1.8e-9, "ml": 1.8e-9, "vb": 4.5e-9, "cgs": 0.9e-9, "direct": 2e-9}
VERSIONS = 2  # of states on the disk: those of the start, or of the last checkpoint, and the last
START_CYCLES = {
    "random": 0, "words": 1, "documents": 3, "map": 13, "corners": 2, "joined": 40, "merged": 90,
    "flat": 90,
}  # fmt: skip


@dataclass(frozen=True)
class Estimate:
    """What a fit takes, estimated before it begins.

    Attributes
    ----------
    algorithm : str
    memory : int
        Bytes at the peak, beside those of the libraries; with data in a folder, it does not grow
        with the number of documents.
    disk : int
        Bytes of the states of documents that are in a folder; 0 for data in memory.
    read : int
        Bytes that a cycle reads and writes.
    seconds : float
        Rough time of one cycle.
    cycles : int
        At most.
    start : float
        Seconds of the start, roughly.
    """

    algorithm: str
    memory: int
    disk: int
    read: int
    seconds: float
    cycles: int
    start: float

    @classmethod
    def of(cls, task: Task, schedule: Schedule, init: Any, needed: int, n_workers: int) -> Estimate:
        """Estimate a fit of this schedule, which needs ``needed`` bytes of memory."""
        corpus, n_components = schedule.corpus, len(task.model.alpha)
        states = state_bytes(task, schedule)
        name = schedule.start if not isinstance(init, str) or init == "auto" else init
        once = SECONDS.get(task.algorithm.short, 2e-9) * corpus.n_entries * n_components
        lanes = min(schedule.lanes, max(map(len, schedule.rounds)), n_workers)
        seconds = once * schedule.visits / lanes
        stored = 5 * corpus.n_entries + 8 * corpus.n_documents
        return cls(
            algorithm=task.algorithm.name,
            memory=needed,
            disk=VERSIONS * states if corpus.on_disk else 0,
            read=stored + 2 * states * schedule.visits if corpus.on_disk else 0,
            seconds=seconds,
            cycles=schedule.cycles,
            start=START_CYCLES.get(name, 1) * SECONDS["map"] * corpus.n_entries * n_components
            / n_workers,
        )  # fmt: skip

    @property
    def lines(self) -> list[str]:
        """The estimate in sentences."""
        found = [f"algorithm: {self.algorithm}, at most {self.cycles:,} cycles"]
        found.append(f"memory: about {gibibytes(self.memory)}")
        if self.disk:
            found.append(
                f"disk: about {gibibytes(self.disk)} for the states of documents; a cycle reads "
                f"and writes {gibibytes(self.read)}"
            )
        total = self.start + self.cycles * self.seconds
        found.append(
            f"time: roughly {duration(self.seconds)} per cycle, {duration(self.start)} for the "
            f"start, {duration(total)} for all cycles; many fits end earlier"
        )
        return found


def state_bytes(task: Task, schedule: Schedule) -> int:
    """Bytes of the states of all documents."""
    if schedule.state_type is ScoreState and task.model.can_be_absent(task.learn):
        return 32 * len(task.model.alpha) * schedule.corpus.n_documents
    return schedule.state_bytes


def check_disk(task: Task, schedule: Schedule, place: Path | None) -> None:
    """Refuse a fit whose states do not fit on the disk."""
    needed = VERSIONS * state_bytes(task, schedule)
    folder = Path(place or tempfile.gettempdir())
    with storage_errors(folder):
        free = shutil.disk_usage(folder).free
    if needed > free:
        raise LimitError(
            f"the states of the documents need about {gibibytes(needed)} in {folder}, where "
            f"{gibibytes(free)} is free",
            remedy="free some, use fewer components, or name a folder on another disk",
            use={"checkpoint": ...},
        )
