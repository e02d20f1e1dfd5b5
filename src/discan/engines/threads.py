# SPDX-License-Identifier: BSD-3-Clause
"""Threads of this process; the kernels release the GIL."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, Self, TypeVar

from discan.engines.base import SPARE, Job
from discan.errors import InputError

__all__ = ["Threads", "n_threads"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def n_threads(n_jobs: Any) -> int:
    """Number of threads for scikit-learn's ``n_jobs``: None is 1, -1 all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not hasattr(n_jobs, "__index__") or n_jobs == 0:
        raise InputError(
            "{}; use a whole number other than 0, or None", argument="n_jobs", value=n_jobs
        )
    count = int(n_jobs)
    if count > 0:
        return count
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, (cores or 1) + 1 + count)


class Threads:
    """A pool of threads, made when first needed."""

    def __init__(self, n: int = 1) -> None:
        self._n = n
        self._pool: ThreadPoolExecutor | None = None

    @property
    def n_workers(self) -> int:
        """Number of threads."""
        return self._n

    @property
    def local(self) -> Self:
        """The engine itself."""
        return self

    def run(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Run ``work`` on every item; results come in the order of the items.

        Each thread, the caller's among them, takes the next item when it is done with the last.
        """
        n_threads = min(self._n, len(items))
        if n_threads <= 1:
            return [work(item) for item in items]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._n - 1, thread_name_prefix="discan")
        done: dict[int, Result] = {}
        waiting = iter(range(len(items)))  # shared: each number is handed out once

        def take() -> None:
            for index in waiting:
                done[index] = work(items[index])

        others = [self._pool.submit(take) for _ in range(n_threads - 1)]
        try:
            take()
        finally:
            wait(others)
        for other in others:
            other.result()
        return [done[index] for index in range(len(items))]

    def visit(self, job: Job, lanes: Sequence[int], fold: Callable[[Any], None]) -> None:
        """Run the lanes of a job on the threads; their results are folded in order as they end."""
        n_threads = min(self._n, len(lanes))
        if n_threads <= 1:
            for lane in lanes:
                fold(job(lane))
            return
        ordered = _InOrder(fold, n_threads + SPARE if job.large else len(lanes))

        def work(number: int) -> None:
            with ordered.failing():
                if ordered.may_begin(number):
                    ordered.put(number, job(lanes[number]))

        self.run(work, range(len(lanes)))

    def __enter__(self) -> Self:
        """Use as a context: the threads stop at its end."""
        return self

    def __exit__(self, *error: object) -> None:
        """Stop the threads."""
        self.close()

    def close(self) -> None:
        """Stop the threads."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


class _InOrder:
    """Hands results on in the order of their numbers, as soon as each has its turn.

    Parameters
    ----------
    fold : function of a result
        It is called by one thread at a time.
    most : int
        Number of results that may be at work or waiting at once. The work on a later one does not
        begin.
    """

    def __init__(self, fold: Callable[[Any], None], most: int) -> None:
        self._fold, self._most = fold, most
        self._change = threading.Condition()
        self._results: dict[int, Any] = {}
        self._next, self._folding, self._failed = 0, False, False

    @contextlib.contextmanager
    def failing(self) -> Iterator[None]:
        """After an error no thread waits any longer."""
        try:
            yield
        except BaseException:
            with self._change:
                self._failed = True
                self._change.notify_all()
            raise

    def may_begin(self, number: int) -> bool:
        """Wait until the work on a result may begin; False if another one has failed.

        The next one to be folded may always begin, and numbers are handed out in order, so there
        is always a thread that does not wait.
        """
        with self._change:
            self._change.wait_for(lambda: self._failed or number < self._next + self._most)
            return not self._failed

    def put(self, number: int, result: Any) -> None:
        """Take a result, and fold those whose turn it is, unless another thread does so."""
        with self._change:
            self._results[number] = result
            if self._folding:
                return
            self._folding = True
        del result  # it belongs to ``fold``
        while True:
            with self._change:
                if self._next not in self._results:
                    self._folding = False
                    return
                taken = self._results.pop(self._next)
            self._fold(taken)
            del taken
            with self._change:
                self._next += 1
                self._change.notify_all()
