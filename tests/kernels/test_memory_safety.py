# SPDX-License-Identifier: BSD-3-Clause
"""No kernel reads or writes outside of its arrays, in any cell (see every_cell.py, guarded.py).

Compiled code runs with a forbidden page behind every array, which also catches what is written in
LLVM's instructions; interpreted code and code with Numba's checks raise an IndexError.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

TESTS = Path(__file__).parents[1]
SOURCE = TESTS.parent / "src"
BEYOND = """
import ctypes, os, sys
import numpy as np
import guarded
guarded.install()
array = np.ones(10)
ctypes.string_at(array.ctypes.data, 80 + int(sys.argv[1]))
print(guarded.n_arrays, flush=True)
os._exit(0)
"""
HAS_GUARDS = sys.platform.startswith(("linux", "darwin"))
GUARDS = pytest.mark.skipif(not HAS_GUARDS, reason="pages are protected otherwise there")


def run(arguments, timeout=3600, **environment):
    path = os.pathsep.join(map(str, (SOURCE, TESTS)))
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip


def fitted(output, sizes, **environment):
    """Fit every cell; return the answers by name."""
    done = run([TESTS / "every_cell.py", output, *sizes], **environment)
    last = (done.stdout.splitlines() or ["nothing"])[-1]
    assert done.returncode == 0, (done.returncode, last, done.stderr[-2000:])
    with np.load(output) as found:
        return {name: found[name] for name in found}


@GUARDS
def test_a_read_beyond_an_array_is_fatal():
    inside, outside = run(["-c", BEYOND, 0]), run(["-c", BEYOND, 1])
    assert inside.returncode == 0
    assert int(inside.stdout) > 0
    assert outside.returncode in (-signal.SIGSEGV, -signal.SIGBUS)


def agree(one, other):
    assert set(one) == set(other)
    for name in one:
        first, second = one[name], other[name]
        if name.endswith("scores"):  # rounded in single precision relative to the document's total
            totals = np.maximum(1.0, second.sum(axis=1, keepdims=True))
            first, second = first / totals, second / totals
        np.testing.assert_allclose(first, second, rtol=1e-4, atol=1e-5, err_msg=name)


@GUARDS
def test_guarded_and_interpreted_cells(tmp_path):
    """Compiled kernels behind guards, and the same as plain Python: they agree, also in draws."""
    guarded = fitted(tmp_path / "guarded.npz", (3, 8, 17), GUARDED="1")
    assert len(guarded) > 500
    assert all(np.isfinite(value).all() for value in guarded.values())
    interpreted = fitted(tmp_path / "interpreted.npz", (3,), NUMBA_DISABLE_JIT="1")
    agree({name: value for name, value in guarded.items() if "-3-" in name}, interpreted)


@GUARDS
@pytest.mark.slow
def test_guarded_cells_around_the_widths_of_vectors(tmp_path):
    fitted(tmp_path / "guarded.npz", (1, 2, 7, 9, 15, 16, 31, 32, 33, 63, 64, 65, 130), GUARDED="1")


@pytest.mark.slow
def test_interpreted_cells_around_the_widths_of_vectors(tmp_path):
    sizes = (1, 8, 9, 16, 17, 65)
    interpreted = fitted(tmp_path / "interpreted.npz", sizes, NUMBA_DISABLE_JIT="1")
    agree(fitted(tmp_path / "compiled.npz", sizes), interpreted)


@pytest.mark.slow
def test_checked_cells_around_the_widths_of_vectors(tmp_path):
    """Numba's checks of every index; compiled code from elsewhere would have none."""
    cache = str(tmp_path / "cache")
    sizes = (1, 3, 8, 9, 16, 17, 65)
    checked = fitted(tmp_path / "checked.npz", sizes, NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=cache)
    agree(fitted(tmp_path / "compiled.npz", sizes), checked)
