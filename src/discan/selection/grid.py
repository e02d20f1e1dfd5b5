# SPDX-License-Identifier: BSD-3-Clause
"""Do all fits of a search, several at a time, with a progress bar and a time estimate.

Fits run side by side on threads, each on one: kernels release the GIL, and a fit on one thread
wastes none of it. If there are fewer fits than threads, each fit gets several. A fit has the same
bits on any number of threads, so the results do not depend on it.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager

from discan.data.corpus import Corpus
from discan.selection.folder import SearchFolder
from discan.selection.jobs import Job, Outcome, fitted
from discan.selection.protocols import Fold

__all__ = ["run_jobs"]

log = logging.getLogger("discan")

PREFIX = "discan-search"  # of the names of the threads


def run_jobs(
    jobs: Sequence[Job],
    folds: Sequence[Fold],
    corpus: Corpus,
    n_threads: int,
    folder: SearchFolder | None = None,
    progress: bool | None = None,
) -> dict[Job, Outcome]:
    """Do all jobs, those of a folder only if they are not there yet; the longest first.

    After Ctrl-C, the fits that are done are in the folder.
    """
    done = {job: found for job in jobs if folder and (found := folder.load(job)) is not None}
    if done:
        log.info("%s of %s fits were in the folder", f"{len(done):,}", f"{len(jobs):,}")
    waiting = sorted((job for job in jobs if job not in done), key=lambda job: -job.cost)
    if not waiting:
        return done
    at_once = min(n_threads, len(waiting))
    stop = threading.Event()

    def work(job: Job) -> Outcome | None:
        if stop.is_set():
            return None
        return fitted(job, folds[job.fold], corpus, n_threads // at_once, stop.is_set)

    total = sum(job.cost for job in waiting)
    with (
        _bar(len(waiting), total, progress) as show,
        _silent_threads(),
        ThreadPoolExecutor(at_once, thread_name_prefix=PREFIX) as pool,
    ):
        try:
            futures = {pool.submit(work, job): job for job in waiting}
            for future in as_completed(futures):
                outcome, job = future.result(), futures[future]
                if outcome is None:
                    continue
                done[job] = outcome
                if folder is not None:
                    folder.save(job, outcome)
                show(job)
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            if folder is not None:
                log.warning(
                    "stopped; %s of %s fits are kept in %s, and the same command goes on from "
                    "there", f"{len(done):,}", f"{len(jobs):,}", folder.path,
                )  # fmt: skip
            raise
    return done


@contextmanager
def _bar(n_jobs: int, total: float, wanted: bool | None) -> Iterator[Callable[[Job], None]]:
    """Yield a function to call with each job that is done."""
    if wanted is None:
        wanted = sys.stderr.isatty()
    if not wanted:
        yield lambda job: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(), TextColumn("left:"), Remaining(),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("fits", total=total, note=f"0/{n_jobs}")
        count = 0

        def show(job: Job) -> None:
            nonlocal count
            count += 1
            bar.update(task, advance=job.cost, note=f"{count}/{n_jobs}")

        yield show


@contextmanager
def _silent_threads() -> Iterator[None]:
    """Leave out the remarks on single fits: hundreds of them would say the same."""

    def from_elsewhere(record: logging.LogRecord) -> bool:
        return not (record.threadName or "").startswith(PREFIX)

    log.addFilter(from_elsewhere)
    try:
        yield
    finally:
        log.removeFilter(from_elsewhere)
