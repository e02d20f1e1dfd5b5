# SPDX-License-Identifier: BSD-3-Clause
"""Do work in threads, or in other processes of Python, which end when this one does."""

from __future__ import annotations

import contextlib
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from discan.errors import LimitError

__all__ = ["Workers", "serve"]

_START = "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
_SERVE = "from discan.readers.workers import serve; serve()"


class Workers:
    """Run a function of one argument on many, here, in threads or in other processes.

    For processes, the function must be importable. A process reads its work from a pipe, so it ends
    with this process, even if that is killed. No work waits beyond that of the workers.

    Parameters
    ----------
    function : importable function of one argument that can be pickled
    n_workers : int
        1 does the work here.
    processes : bool
    """

    def __init__(
        self, function: Callable[[Any], Any], n_workers: int, processes: bool = True
    ) -> None:
        self._function, self._by_process = function, processes
        self._pool = ThreadPoolExecutor(n_workers) if n_workers > 1 else None
        self._waiting: set[Future[Any]] = set()
        self._most = n_workers
        self._mine = threading.local()
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Workers:
        """Return the workers themselves."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes; work that has not begun is dropped."""
        if self._pool is not None:
            for process in self._processes:
                process.kill()
            self._pool.shutdown(cancel_futures=True)
        for process in self._processes:
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    if pipe is not None:
                        pipe.close()
            process.wait()

    def submit(self, work: Any) -> None:
        """Do some work, or have it done; wait if too much is waiting. Errors are raised here."""
        if self._pool is None:
            self._function(work)
            return
        while len(self._waiting) >= self._most:
            self._collect(FIRST_COMPLETED)
        run = self._run if self._by_process else self._function
        self._waiting.add(self._pool.submit(run, work))

    def finish(self) -> None:
        """Wait until all work is done."""
        while self._waiting:
            self._collect(FIRST_COMPLETED)

    def _collect(self, when: str) -> None:
        done, self._waiting = wait(self._waiting, return_when=when)
        for future in done:
            future.result()

    def _run(self, work: Any) -> None:
        """Send work to the process of this thread, and wait for its answer."""
        process = getattr(self._mine, "process", None)
        if process is None:
            command = [sys.executable, "-c", _START + _SERVE]
            process = subprocess.Popen(  # noqa: S603 - this Python itself
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            self._mine.process = process
            self._processes.append(process)
            _send(process.stdin, sys.path)
            _send(process.stdin, self._function)
        try:
            _send(process.stdin, work)
            error = _receive(process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            problem = "a process that helped was killed; is there too little memory?"
            raise LimitError(problem, remedy="use fewer threads or smaller chunks") from None
        if error is not None:
            raise error


def serve() -> None:
    """Take a function and its arguments from standard input, and answer with None or an error."""
    given, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing else is written among the answers
    with contextlib.suppress(EOFError, KeyboardInterrupt, BrokenPipeError):
        function = _receive(given)
        while True:
            work = _receive(given)
            error = None
            try:
                function(work)
            except Exception as found:
                error = found
            _send(answers, error)


def _receive(pipe: Any) -> Any:
    """Take a value from a pipe whose other end is a process of ours: no file is ever unpickled."""
    return pickle.load(pipe)  # noqa: S301


def _send(pipe: Any, value: Any) -> None:
    pickle.dump(value, pipe, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.flush()
