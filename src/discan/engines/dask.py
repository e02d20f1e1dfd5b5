# SPDX-License-Identifier: BSD-3-Clause
"""Workers of a Dask cluster: lanes run there as futures, and their bits are those of threads.

Parameters and sums go through files of the run folder, which all workers see. A lane reads the
parameters and the states of its blocks, and writes other files, so it can run again anywhere: if a
worker is lost, Dask runs its lanes on another one. discan makes no cluster and opens no port.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self, TypeVar
from urllib.parse import urlsplit

import discan.errors as errors
from discan.engines.base import Job
from discan.engines.parcels import Parcel
from discan.engines.probe import Fingerprint, fingerprint, probe
from discan.engines.threads import Threads, n_threads
from discan.errors import DiscanError, InputError, LimitError, StorageError

__all__ = ["Dask"]

Item = TypeVar("Item")
Result = TypeVar("Result")

log = logging.getLogger("discan")

TASKS_PER_THREAD = 2
LONGEST_WITHOUT_WORKERS = 60.0  # seconds
POLL = 1.0  # seconds
MOST_MEMORY = 0.6  # share of a worker's memory limit; from there on Dask writes to disk
HERE = ("127.0.0.1", "localhost", "::1", "")
RESUME = (
    "a run folder (checkpoint) keeps what was done up to the last checkpoint: continue with "
    "discan resume FOLDER, on threads or on a cluster"
)


class Dask:
    """Run the heavy part of a fit on the workers of a Dask cluster that you have made.

    The documents must be in a corpus folder, and the workers must see it and the run folder
    (``checkpoint``) under the same paths. The answer has the same bits as on threads, on any number
    of workers, also if some are lost. See the page on Dask in the documentation.

    Parameters
    ----------
    client : distributed.Client
        Connection to the cluster.
    n_jobs : int, optional
        Threads of this process for what is done here: updates of the parameters. None is all cores.

    Examples
    --------
    >>> from dask.distributed import Client, LocalCluster  # doctest: +SKIP
    >>> client = Client(LocalCluster(n_workers=2, threads_per_worker=2))  # doctest: +SKIP
    >>> discan.DCA(300, engine=discan.Dask(client)).fit("big/")  # doctest: +SKIP
    """

    def __init__(self, client: Any = None, n_jobs: int | None = None) -> None:
        for name in ("submit", "run", "scheduler_info"):
            if not callable(getattr(client, name, None)):
                raise InputError(
                    "Dask needs a client: discan makes no cluster by itself",
                    remedy="make one, e.g. discan.Dask(distributed.Client('tcp://host:8786'))",
                )
        self.client = client
        self._threads = Threads(n_threads(-1 if n_jobs is None else n_jobs))
        self._run = secrets.token_hex(4)
        self._visits = 0
        self._known: set[str] = set()
        self._processors = {fingerprint().processor}
        self._folders: set[str] = set()

    def __repr__(self) -> str:
        """Name the scheduler."""
        return f"Dask({_address(self.client)})"

    def __deepcopy__(self, memo: Any) -> Self:
        """Return itself: copies of an estimator use the same cluster."""
        return self

    def __reduce__(self) -> Any:
        """Refuse: a connection cannot be saved."""
        raise TypeError("a Dask engine cannot be pickled; set engine=None first")

    @property
    def n_workers(self) -> int:
        """Number of threads of this process."""
        return self._threads.n_workers

    @property
    def local(self) -> Threads:
        """Threads of this process, for documents in memory."""
        return self._threads

    def run(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Run light work on threads of this process, because it writes into its memory."""
        return self._threads.run(work, items)

    def visit(self, job: Job, lanes: Sequence[int], fold: Callable[[Any], None]) -> None:
        """Run the lanes of a job on the workers; if one is lost, its lanes run on another."""
        if not job.folder:
            raise InputError(
                "the documents are in memory, and workers of a cluster read a corpus folder; make "
                "one with discan convert, and fit to its path"
            )
        with _cluster_errors():
            workers = self._workers(job.folder)
            parcel = Parcel.pack(job.remote(), job.folder)
            try:
                _check_limits(parcel, workers)
                n_threads = sum(worker["nthreads"] for worker in workers.values())
                # a task holds all its results, so one that is large has a task of its own
                n_tasks = len(lanes) if job.large else TASKS_PER_THREAD * n_threads
                futures = self._submitted(parcel, lanes, job.folder, workers, n_tasks)
                self._gather(job, futures, fold)
            finally:
                _sweep(job.folder)

    def close(self) -> None:
        """Stop the threads of this process; the cluster stays as it is."""
        self._threads.close()

    def __enter__(self) -> Self:
        """Use as a context."""
        return self

    def __exit__(self, *error: object) -> None:
        """Stop the threads of this process."""
        self.close()

    # ---- tasks ----

    def _submitted(
        self, parcel: Parcel, lanes: Sequence[int], folder: str, workers: dict[str, Any],
        n_tasks: int,
    ) -> list[Any]:  # fmt: skip
        """Submit the lanes in this many runs; a run prefers the same worker each time."""
        self._visits += 1
        n_tasks = min(len(lanes), n_tasks)
        edges = [len(lanes) * n // n_tasks for n in range(n_tasks + 1)]
        addresses = sorted(workers)
        return [
            self.client.submit(
                work_elsewhere, parcel, tuple(lanes[edges[n] : edges[n + 1]]), folder,
                fingerprint(), key=f"discan-{self._run}-{self._visits}-{n}",
                workers=[addresses[n % len(addresses)]], allow_other_workers=True, pure=False,
            )
            for n in range(n_tasks)
        ]  # fmt: skip

    def _gather(self, job: Job, futures: list[Any], fold: Callable[[Any], None]) -> None:
        """Fold the results in the order of the lanes, each when it has come."""
        try:
            for future in futures:
                answer = self._answer(future)
                results = job.received(answer.parcel.open())
                answer.parcel.discard()
                for result in results:
                    fold(result)
                del results  # before the next is read
        except BaseException:
            with contextlib.suppress(Exception):
                self.client.cancel(futures)
            raise

    def _answer(self, future: Any) -> Answer:
        """Wait for a task; raise an error if there are no workers for too long."""
        from distributed import TimeoutError as NotYet

        since = time.monotonic()
        while True:
            try:
                answer: Answer = future.result(timeout=POLL)
            except NotYet:
                if self._present():
                    since = time.monotonic()
                elif time.monotonic() - since > LONGEST_WITHOUT_WORKERS:
                    raise StorageError(
                        f"there has been no worker for {LONGEST_WITHOUT_WORKERS:.0f} seconds; "
                        + RESUME
                    ) from None
                continue
            if answer.error:
                kind = getattr(errors, answer.kind, DiscanError)
                raise kind(f"a worker failed: {answer.error}")
            return answer

    # ---- workers ----

    def _workers(self, folder: str) -> dict[str, Any]:
        """Return the workers of the cluster; new ones are probed."""
        found = self._present()
        began = time.monotonic()
        while not found:
            if time.monotonic() - began > LONGEST_WITHOUT_WORKERS:
                raise StorageError(f"the cluster has no workers; {RESUME}")
            time.sleep(POLL)
            found = self._present()
        if folder not in self._folders:
            self._folders.add(folder)
            self._known.clear()
            _remark_on_address(_address(self.client))
        new = sorted(set(found) - self._known)
        if new:
            self._probe(folder, new)
            self._known |= set(new)
        return found

    def _present(self) -> dict[str, Any]:
        """Return what the scheduler says of its workers, by address."""
        if self.client.status == "running":
            found: dict[str, Any] | None
            found = self.client.scheduler_info(n_workers=-1).get("workers")
            if found is not None:
                return found
        raise ConnectionError("the connection is closed")

    def _probe(self, folder: str, workers: list[str]) -> None:
        """Refuse workers that would give other bits, or do not see the folder."""
        token = secrets.token_hex(8)
        path = os.path.join(folder, token)
        with open(path, "w", encoding="ascii") as stream:
            stream.write(token)
        try:
            answers = self.client.run(probe, folder, token, workers=workers, on_error="return")
        finally:
            with contextlib.suppress(OSError):
                os.unlink(path)
        for worker, answer in answers.items():
            if isinstance(answer, Exception):
                raise InputError(
                    f"worker {worker}: discan cannot be used there ({answer}); install the same "
                    "version on every worker"
                )
            _check_versions(worker, answer.fingerprint)
            if answer.problem:
                raise InputError(
                    f"worker {worker} {answer.problem}: {folder}; give a run folder "
                    "(checkpoint) that all workers see under this path"
                )
            self._remark_on_processor(worker, answer.fingerprint.processor)

    def _remark_on_processor(self, worker: str, processor: str) -> None:
        if processor in self._processors:
            return
        self._processors.add(processor)
        log.warning(
            "worker %s has another processor (%s) than this process (%s): roundings may differ; "
            "to have the same bits everywhere, set NUMBA_CPU_NAME=generic on all of them",
            worker, processor, fingerprint().processor,
        )  # fmt: skip


class Answer(NamedTuple):
    """What a task returned: a parcel, or the kind and the text of a DiscanError."""

    parcel: Parcel
    kind: str = ""
    error: str = ""


def work_elsewhere(
    parcel: Parcel, lanes: tuple[int, ...], folder: str, wanted: Fingerprint
) -> Answer:
    """Work on lanes in a worker. Our own errors are returned, because a retry would fail again."""
    try:
        _check_versions("here", fingerprint(), wanted)
        return Answer(Parcel.pack(_opened(parcel)(lanes), folder))
    except DiscanError as error:
        return Answer(Parcel(b""), type(error).__name__, str(error))
    except MemoryError:
        return Answer(Parcel(b""), "LimitError", "not enough memory; use fewer threads per worker")


_last: dict[str, Any] = {}  # what this process has unpacked last
_lock = threading.Lock()


def _opened(parcel: Parcel) -> Any:
    """Unpack a job, once in each process."""
    key = parcel.sha256 + str(hash(parcel.message))
    with _lock:
        if key not in _last:
            _last.clear()  # the parameters before, first
            _last[key] = parcel.open()
        return _last[key]


def _check_versions(worker: str, found: Fingerprint, wanted: Fingerprint | None = None) -> None:
    """Refuse a worker of other versions."""
    difference = (wanted or fingerprint()).difference(found)
    if difference:
        raise InputError(
            f"worker {worker} has {difference}: the answer would depend on who computes what; "
            "install the same versions everywhere"
        )


def _check_limits(parcel: Parcel, workers: dict[str, Any]) -> None:
    """Refuse parameters that leave a worker no memory for the sums of its threads."""
    for name, worker in workers.items():
        limit, threads = worker.get("memory_limit") or 0, worker["nthreads"]
        needed = parcel.n_bytes * (1 + threads)
        if limit and needed > MOST_MEMORY * limit:
            raise LimitError(
                f"worker {name} needs about {needed / 1e9:.1f} GB for {threads} threads, and "
                f"{100 * MOST_MEMORY:.0f} % of its limit are {MOST_MEMORY * limit / 1e9:.1f} GB; "
                "give workers fewer threads or more memory (memory_limit), or use fewer words or "
                "components"
            )


@contextlib.contextmanager
def _cluster_errors() -> Any:
    """Turn the errors of a cluster into sentences."""
    from distributed import CancelledError, KilledWorker

    closed: tuple[type[BaseException], ...] = (CancelledError, ConnectionError)
    with contextlib.suppress(ImportError):
        from distributed.comm.core import CommClosedError

        closed += (CommClosedError,)
    try:
        yield
    except DiscanError:
        raise
    except KilledWorker as error:
        raise StorageError(f"workers were lost again and again ({error}); {RESUME}") from None
    except closed as error:
        problem = f"the scheduler of the cluster is lost ({type(error).__name__})"
        raise StorageError(f"{problem}; {RESUME}") from None


def _sweep(folder: str) -> None:
    """Remove files in transit, including those of lost workers."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if ".parcel" in entry.name:
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)


def _address(client: Any) -> str:
    return str(getattr(getattr(client, "scheduler", None), "address", "") or "")


def _remark_on_address(address: str) -> None:
    """Say that a scheduler without encryption should not be reached by others."""
    parts = urlsplit(address)
    if parts.scheme == "tcp" and (parts.hostname or "") not in HERE:
        log.warning(
            "the scheduler %s is not encrypted: everybody who can reach it can run code on its "
            "workers; use tls:// outside of a closed network",
            address,
        )
