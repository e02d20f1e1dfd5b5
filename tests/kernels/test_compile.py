# SPDX-License-Identifier: BSD-3-Clause
"""How kernels are compiled."""

import gc
import os
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

import discan
from discan.kernels import dispatchers, special
from discan.kernels.compile import kernel


def test_parts_refuse_to_be_called_from_python():
    with pytest.raises(TypeError, match="log_rising is a part of kernels"):
        special.log_rising(1.0, 2)


def test_threads_that_need_a_kernel_at_once_make_one(monkeypatch):
    made = []

    def make():
        time.sleep(0.05)
        made.append(object())
        return made[-1]

    doubled = kernel()(lambda x: 2 * x)
    monkeypatch.setattr(doubled, "make", make)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: doubled.compiled, range(8)))
    assert len(made) == 1
    assert set(found) == set(made)


def test_buffers_are_made_for_each_call():
    def add(x, y, buffer):
        buffer[0] += x + y
        return buffer

    made = kernel(lambda *arguments: (np.full(1, len(arguments)),))(add)
    made.make = lambda: add  # not compiled
    first, second = made(3, 4), made(5, 6)
    assert (first[0], second[0]) == (9, 13)


# ---- what a fit compiles ----

FIT = """
import sys, numpy as np, discan
from numba.core import event

class Listener(event.Listener):
    def on_start(self, event):
        print(event.data["dispatcher"].py_func.__name__)
    def on_end(self, event):
        pass

event.register("numba:compile", Listener())
X = np.random.default_rng(0).poisson(0.3, (40, 30))
discan.LDA(3, algorithm=eval(sys.argv[1]), learn=eval(sys.argv[2]), random_state=0).fit(X)
"""
BLOCKED = "discan.Collapsed(burn_in=1, n_draws=2, schedule='blocked', start='documents')"


def compiled(folder, algorithm, learn=()):
    """Fit in a new process; return how often functions of each name were compiled."""
    source = os.path.dirname(os.path.dirname(discan.__file__))
    environment = {**os.environ, "PYTHONPATH": source, "NUMBA_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", FIT, algorithm, repr(learn)],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return Counter(done.stdout.split())


@pytest.mark.parametrize(
    ("algorithm", "learn", "most", "needed"),
    [
        ("'map'", (), 8, {"expect", "weighted_log_loadings"}),
        ("'cvb0'", (), 12, {"expect_others"}),
        (BLOCKED, ("alpha", "gamma"), 52, {"sweep", "augment_scores", "augment_loadings"}),
    ],
    ids=["map", "cvb0", "a chain that learns"],
)
def test_a_first_fit_compiles_what_it_needs_and_later_ones_nothing(
    tmp_path, algorithm, learn, most, needed
):
    """Each function takes 0.02 to 0.6 s. A kernel is compiled for one set of types."""
    found = compiled(tmp_path, algorithm, learn)
    assert needed <= set(found)
    assert found.total() <= most
    assert max(found[name] for name in needed) == 1
    assert not {"_dot", "_draw_rest"} & set(found)  # of the sweep by lists
    assert not compiled(tmp_path, algorithm, learn)


def test_the_collector_pauses_while_a_kernel_is_compiled():
    def event(module):
        function = SimpleNamespace(__module__=module)
        return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})

    pause, ours, inner = dispatchers.Pause(), event("discan.kernels.cvb0"), event("numba.np")
    assert gc.isenabled()
    pause.on_start(ours)
    pause.on_start(inner)
    pause.on_end(inner)
    assert not gc.isenabled()
    pause.on_end(ours)
    assert gc.isenabled()
    pause.on_start(inner)  # another package's
    assert gc.isenabled()
    pause.on_end(inner)
    gc.disable()
    try:
        pause.on_start(ours)
        pause.on_end(ours)
        assert not gc.isenabled()
    finally:
        gc.enable()
