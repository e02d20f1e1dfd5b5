# SPDX-License-Identifier: BSD-3-Clause
"""A progress bar on stderr: on in a terminal and in a notebook, off in a pipe."""

from __future__ import annotations

import importlib.util
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Seen", "duration", "progress_bar"]

log = logging.getLogger("discan")

LOG_SECONDS = 60.0
SHOW_SECONDS = 0.2  # from one look at the progress inside a cycle to the next


def duration(seconds: float) -> str:
    """Return a time in words."""
    if seconds < 90:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class LogLines:
    """Say in the log how far a long fit is, every minute; for fits to documents on disk."""

    def __init__(self, n_cycles: int) -> None:
        self.n_cycles = n_cycles
        self.began = self.said = time.monotonic()
        self.first: float | None = None  # cycles that were done before

    def __call__(self, run: Any, done: float) -> None:
        """Note that a run has done this many cycles."""
        if self.first is None:
            self.first = float(int(done))
        now = time.monotonic()
        if not run.on_disk or now - self.said < LOG_SECONDS or done <= self.first:
            return
        self.said = now
        left = (now - self.began) * (self.n_cycles - done) / (done - self.first)
        log.info(
            "cycle %.1f of at most %d; if all are made, %s left", done, self.n_cycles,
            duration(left),
        )  # fmt: skip


class Seen:
    """Tells a progress bar how far a cycle is."""

    def __init__(self, run: Any, show: Callable[[Any, float], None]) -> None:
        self.run, self.show, self.lock = run, show, threading.Lock()
        self.cycle, self.n_documents, self.said = -1, 0, time.monotonic()
        self.all = run.schedule.visits * run.training.n_documents

    def __call__(self, n_documents: int) -> None:
        """Add documents that were seen, from any thread."""
        with self.lock:
            if self.cycle != self.run.cycle:
                self.cycle, self.n_documents = self.run.cycle, 0
            self.n_documents += n_documents
            if time.monotonic() - self.said < SHOW_SECONDS:
                return
            self.said = time.monotonic()
            # a repeated pass sees documents again
            self.show(self.run, self.cycle + min(self.n_documents / self.all, 0.999))


@contextmanager
def progress_bar(n_cycles: int, wanted: bool | None) -> Iterator[Callable[[Any, float], None]]:
    """Yield a function to call with the run and the number of cycles done, perhaps a fraction."""
    if wanted is None:
        wanted = sys.stderr.isatty() or _in_notebook()
    if not wanted:
        yield LogLines(n_cycles)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (
        TextColumn("{task.description}"), BarColumn(),
        TextColumn("{task.completed:.4g}/{task.total}"), Remaining(),
        TextColumn("{task.fields[note]}"),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("fit", total=n_cycles, note="")

        def show(run: Any, done: float) -> None:
            if not len(run.trace):
                bar.update(task, completed=done)
                return
            objective = run.trace.last("objective") / max(float(run.training.n_tokens), 1.0)
            speed = run.trace.last("tokens_per_second")
            note = f"{objective:.4f} nats/token  {speed / 1e6:.2f} M tokens/s"
            bar.update(task, completed=done, note=note)

        yield show


def _in_notebook() -> bool:
    """Tell whether a notebook can show a bar; Rich needs ipywidgets for it."""
    interactive: Any = sys.modules.get("IPython")
    shell = interactive.get_ipython() if interactive is not None else None
    is_notebook = type(shell).__name__ == "ZMQInteractiveShell"
    return is_notebook and importlib.util.find_spec("ipywidgets") is not None
