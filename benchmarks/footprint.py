# SPDX-License-Identifier: BSD-3-Clause
"""Memory and warm-up, measured in separate processes (child.py)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import tools
from store import Results, Row

__all__ = ["allowed_bytes", "measure_memory", "measure_warm_up"]

CHILD = Path(__file__).with_name("child.py")
MEMORY_TOOLS = ("tomotopy", "scikit-learn LDA", "discan, default", "discan, collapsed")
SLOW, SLOW_FROM = "scikit-learn LDA", 500  # from this K on it takes too long


def allowed_bytes(row: Row) -> float:
    """Return the limit for collapsed Gibbs: tokens x 6 + J x K x 8 + documents x 16 bytes."""
    loadings = row["words"] * row["components"] * 8
    return float(row["tokens"] * 6 + loadings + row["documents"] * 16)


def measure_memory(results: Results, corpus: str, components: list[int], n_documents: int) -> None:
    """Measure the peak of a short fit of each tool."""
    for n_components in components:
        for tool in MEMORY_TOOLS:
            if tool in tools.missing() or (tool == SLOW and n_components >= SLOW_FROM):
                continue
            arguments = ("memory", tool, corpus, str(n_components), str(n_documents))
            results.measure(
                "memory", f"K={n_components}", tool, 0, lambda given=arguments: _child(*given),
                corpus=corpus,
            )  # fmt: skip


def measure_warm_up(results: Results, algorithms: tuple[str, ...], repeats: int) -> None:
    """Measure the first seconds after import, with and without cached kernels."""
    for algorithm in algorithms:
        _child("first", algorithm)  # fill the cache
        for repeat in range(repeats):
            results.measure(
                "warm-up", algorithm, "warm", repeat, lambda name=algorithm: _child("first", name)
            )
        results.measure("warm-up", algorithm, "cold", 0, lambda name=algorithm: _cold(name))


def _cold(algorithm: str) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        return _child("first", algorithm, NUMBA_CACHE_DIR=folder)


def _child(*arguments: str, **environment: str) -> Row:
    # installed packages have bytecode; this variable would prevent writing it
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, str(CHILD), *arguments], capture_output=True, text=True,
        env={**inherited, **environment}, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr else "it crashed")
    found: Row = json.loads(done.stdout.splitlines()[-1])
    return found
