# SPDX-License-Identifier: BSD-3-Clause
"""Where a fit runs: on threads of this process, or on the workers of a cluster."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from discan.cli.options import one_of, running
from discan.errors import InputError, StorageError

__all__ = ["Place"]

ENGINES = {
    "threads": "threads of this process",
    "dask": "workers of a Dask cluster, which read a corpus folder",
}
CHOICES = one_of(lambda: ENGINES)
PATIENCE = 15  # seconds to wait for a scheduler


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where to run a fit."""

    engine: Annotated[str, running(**CHOICES)] = "threads"
    scheduler: Annotated[
        str | None,
        running("Address of a Dask scheduler (tcp://host:8786), or its scheduler file (.json)."),
    ] = None

    def __post_init__(self) -> None:
        """Refuse half an answer."""
        if self.engine == "dask" and self.scheduler is None:
            problem = "it needs --scheduler ADDRESS: discan makes no cluster by itself"
            raise typer.BadParameter(problem, param_hint="--engine dask")
        if self.engine != "dask" and self.scheduler is not None:
            raise typer.BadParameter("it needs --engine dask", param_hint="--scheduler")

    @contextmanager
    def opened(self, threads: int) -> Iterator[Any]:
        """Connect to the scheduler for some work; None stands for threads."""
        if self.engine == "threads":
            yield None
            return
        try:
            import distributed
        except ImportError:
            raise InputError("Dask is not installed; install discan[dask]") from None
        from discan.engines.dask import Dask

        assert self.scheduler is not None
        how = "scheduler_file" if self.scheduler.endswith(".json") else "address"
        settings = {how: self.scheduler, "timeout": PATIENCE, "set_as_default": False}
        connect: Any = distributed.Client
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # we say what is lost
        try:
            client = connect(**settings)
        except (OSError, ValueError) as error:
            problem = f"the scheduler {self.scheduler} cannot be reached ({error})"
            raise StorageError(f"{problem}; is it running there?") from None
        try:
            with Dask(client, n_jobs=threads) as engine:
                yield engine
        finally:
            client.close(timeout=PATIENCE)
