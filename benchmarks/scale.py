# SPDX-License-Identifier: BSD-3-Clause
"""Fits of data on disk: how time and memory grow with the data, and what workers gain.

    python benchmarks/scale.py FOLDER K THREADS WORKERS PASSES

fits a corpus folder and prints one line of JSON; without workers on threads of the process. The
text is made by ``make_text.py`` and converted in a process of its own.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from store import Results, Row

__all__ = ["FULL", "SHORT", "measure_scale"]

HERE = Path(__file__)
WORDS = 20_000
SEED = 7
# megabytes of text of two sizes, components, passes
FULL = ((30.0, 300.0), 100, 4)
SHORT = ((3.0, 12.0), 20, 4)


def measure_scale(results: Results, short: bool) -> None:
    """Measure conversion and passes at two sizes, and passes on threads and workers."""
    sizes, n_components, passes = SHORT if short else FULL
    with tempfile.TemporaryDirectory(prefix="discan-scale-") as place:
        for size in sizes:
            name = f"{size:g} MB"
            folder = Path(place) / f"{size:g}"
            results.measure("scale", "convert", name, 0, lambda s=size, f=folder: _convert(s, f))
            results.measure(
                "scale", "pass", name, 0, lambda f=folder: _fit(f, n_components, 1, 0, passes),
                components=n_components,
            )  # fmt: skip
        for threads, workers in ((1, 0), (2, 0), (1, 1), (1, 2)):
            name = f"{workers} workers" if workers else f"{threads} threads"
            results.measure(
                "scale", "speed-up", name, 0,
                lambda t=threads, w=workers: _fit(folder, n_components, t, w, passes),
                components=n_components,
            )  # fmt: skip


def _convert(megabytes: float, folder: Path) -> Row:
    """Make text and convert it; return processor seconds and bytes."""
    text = folder.with_suffix(".txt")
    make = [sys.executable, str(HERE.with_name("make_text.py")), str(text)]
    options = ["--gb", str(megabytes / 1000), "--words", str(WORDS), "--seed", str(SEED)]
    subprocess.run([*make, *options], check=True, capture_output=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "discan.cli", "convert", str(text), f"{folder}/", "-q"]
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    size = text.stat().st_size
    text.unlink()
    return {"seconds": seconds, "bytes": size}


def _fit(folder: Path, n_components: int, threads: int, workers: int, passes: int) -> Row:
    arguments = map(str, (folder, n_components, threads, workers, passes))
    done = subprocess.run(
        [sys.executable, str(HERE), *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr else "it crashed")
    found: Row = json.loads(done.stdout.splitlines()[-1])
    return found


# ---- in a process of its own ----


class _Peak(threading.Thread):
    """Samples the private memory of this process."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.bytes = 0
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.01):
            for line in Path("/proc/self/status").read_text().splitlines():
                if line.startswith("RssAnon"):
                    self.bytes = max(self.bytes, 1024 * int(line.split()[1]))


def fit(folder: str, n_components: int, threads: int, workers: int, passes: int) -> Row:
    """Fit a folder and return seconds per pass, the peak of private memory, and sizes."""
    import numpy as np

    import discan
    from discan.data.folders.corpus import FolderCorpus

    corpus = FolderCorpus(folder)
    ticks = [(time.process_time(), time.perf_counter(), _io())]
    peak = _Peak()
    peak.start()

    spent: list[list[float]] = []  # processor seconds of each worker after each pass
    clients: list[Any] = []

    def tick(run: Any) -> None:
        ticks.append((time.process_time(), time.perf_counter(), _io()))
        for client in clients:
            found = client.run(time.process_time)
            spent.append([found[name] for name in sorted(found)])

    model = discan.DCA(
        n_components, algorithm="cvb0", init="random", max_iter=passes, tol=0.0, random_state=0,
        n_jobs=threads, progress=False, callback=tick, learn=(),
    )  # fmt: skip
    if workers:
        from distributed import Client, LocalCluster

        with LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0",
            host="127.0.0.1",
        ) as cluster, Client(cluster) as client:  # fmt: skip
            clients.append(client)
            model.set_params(engine=discan.Dask(client, n_jobs=1)).fit(folder)
    else:
        model.fit(folder)
    peak.over.set()
    steps = np.diff(np.array(ticks)[1:], axis=0)  # the first pass has other costs
    busiest = np.diff(np.array(spent), axis=0).max(axis=1) if spent else 0.0
    return {
        # what a pass takes on a machine with a core for each worker, transfers aside
        "path_seconds": float(np.median(steps[:, 0] + busiest)),
        "processor_seconds": float(np.median(steps[:, 0])),
        "wall_seconds": float(np.median(steps[:, 1])),
        "io_bytes": float(np.median(steps[:, 2])),
        "peak_bytes": peak.bytes,
        "tokens": int(corpus.n_tokens),
        "entries": corpus.n_entries,
        "documents": corpus.n_documents,
        "words": corpus.n_words,
        "components": n_components,
    }


def _io() -> int:
    """Bytes that this process has read and written, from any cache."""
    lines = Path("/proc/self/io").read_text().split()
    return int(lines[1]) + int(lines[3])


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print(json.dumps(fit(sys.argv[1], *map(int, sys.argv[2:]))))
