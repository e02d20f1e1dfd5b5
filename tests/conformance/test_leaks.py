# SPDX-License-Identifier: BSD-3-Clause
"""Many fits and loads in one process leave no memory, files or threads behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
SCRIPT = """
import gc, logging, os, sys, tempfile, threading
import numpy as np
import discan
logging.disable(logging.CRITICAL)
X = np.random.default_rng(0).poisson(0.7, (40, 12))
kept = []
def resident():
    gc.collect()
    with open("/proc/self/status") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon"))
def now():
    return resident(), len(os.listdir("/proc/self/fd")), threading.active_count()
with tempfile.TemporaryDirectory() as folder:
    def once(n):
        algorithm = ("map", "collapsed", "variational")[n % 3]
        estimator = discan.LDA(2, algorithm=algorithm, random_state=n, max_iter=3, n_jobs=2).fit(X)
        estimator.save(f"{folder}/m")
        discan.load(f"{folder}/m").transform(X)
        if len(sys.argv) > 1:
            kept.append(np.ones(20_000))
    for n in range(60):
        once(n)
    before = now()
    for n in range(120):
        once(n)
    after = now()
    print((after[0] - before[0]) / 120, after[1] - before[1], after[2] - before[2],
          len(os.listdir(folder)))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux alone tells it")
@pytest.mark.parametrize("leaks", [False, True])
def test_fits_and_loads_leave_nothing(leaks):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *(["x"] if leaks else [])],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    per_fit, *others = map(float, done.stdout.split())
    assert (per_fit > 10_000) == leaks
    assert others == [0, 0, 1]
