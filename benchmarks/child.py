# SPDX-License-Identifier: BSD-3-Clause
"""Measurements that need a process of their own: memory, and the first seconds after import.

    python benchmarks/child.py first ALGORITHM
    python benchmarks/child.py memory TOOL CORPUS K DOCUMENTS

Each prints one line of JSON. The memory is the growth of the peak resident set during a fit, above
the resident set with the corpus loaded and after one such fit (so that compiled code is not
counted). The fit of our sampler takes draws: their averages are part of the result.
"""

from __future__ import annotations

import ctypes
import gc
import json
import sys
import time
from pathlib import Path
from typing import Any

PASSES = 3
DRAWS = 3  # of a sampler, after as many passes


def main() -> None:
    """Run one measurement and print it."""
    what, *rest = sys.argv[1:]
    found = first(*rest) if what == "first" else memory(*rest)
    print(json.dumps(found))


def first(algorithm: str) -> dict[str, float]:
    """Return the seconds from the start to the import, the first cycle and the first transform."""
    began = time.perf_counter()
    import discan

    imported = time.perf_counter()
    import numpy as np

    ticks: list[float] = []
    counts = np.random.default_rng(0).poisson(0.3, (200, 100))
    options: dict[str, Any] = {} if algorithm == "default" else {"algorithm": algorithm}
    if algorithm == "blocked":  # the schedule for more documents
        options["algorithm"] = discan.Collapsed(schedule="blocked")
    model = discan.DCA(
        5, max_iter=30, random_state=0, progress=False,
        callback=lambda run: ticks.append(time.perf_counter()), **options,
    )  # fmt: skip
    model.fit(counts)
    model.transform(counts[:5])
    used = time.perf_counter()
    return {"import": imported - began, "first_cycle": ticks[0] - began, "first_use": used - began}


def memory(tool: str, corpus_name: str, n_components: str, n_documents: str) -> dict[str, float]:
    """Return the peak growth of the resident set in bytes."""
    import corpora
    from tools import Task

    corpus = corpora.load(corpus_name).first(int(n_documents))
    task = Task(corpus, int(n_components), 1)
    fit = _fits()[tool]
    ready = fit(task)
    ready()
    _tidy()
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak
    ready()
    n_documents_kept, n_words = corpus.train.shape
    return {
        "bytes": float(_status("VmHWM") - before),
        "tokens": corpus.tokens,
        "documents": n_documents_kept,
        "words": n_words,
        "components": task.n_components,
    }


def _fits() -> dict[str, Any]:
    """Return functions that take a task, load the corpus, and return a function that fits."""
    import peers
    import tools
    from sklearn.base import clone

    import discan

    def ours(n_passes: int = PASSES, **options: Any) -> Any:
        def ready(task: tools.Task) -> Any:
            corpus = discan.Corpus(task.corpus.train)
            model = discan.DCA(
                task.n_components, alpha=task.alpha, gamma=task.gamma, random_state=0,
                progress=False, callback=lambda run: run.cycle >= n_passes, **options,
            )  # fmt: skip
            return lambda: _nothing(clone(model).fit(corpus))

        return ready

    def tomotopy(task: tools.Task) -> Any:
        def fit() -> None:
            peers.tomotopy_model(task).train(PASSES, workers=1)

        return fit

    def sklearn(task: tools.Task) -> Any:
        from sklearn.decomposition import LatentDirichletAllocation

        matrix = task.corpus.train.astype(float)
        model = LatentDirichletAllocation(task.n_components, max_iter=PASSES)
        return lambda: _nothing(clone(model).fit(matrix))

    chain = discan.Collapsed(burn_in=PASSES, n_draws=DRAWS)
    return {
        "discan, default": ours(),
        "discan, collapsed": ours(PASSES + DRAWS, algorithm=chain),
        "tomotopy": tomotopy,
        "scikit-learn LDA": sklearn,
    }


def _nothing(fitted: Any) -> None:
    """Discard a fitted estimator."""


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {field} in /proc/self/status")


def _tidy() -> None:
    """Return freed memory to the system, so that it does not hide new allocations."""
    gc.collect()
    try:
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    except (OSError, AttributeError):
        return


if __name__ == "__main__":
    main()
