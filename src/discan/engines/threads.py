# SPDX-License-Identifier: BSD-3-Clause
"""Threads of this process; the kernels release the GIL."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, Self, TypeVar

from discan.engines.base import Job
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

    def visit(self, job: Job, lanes: Sequence[int]) -> list[Any]:
        """Run the lanes of a job on the threads."""
        return self.run(job, lanes)

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
