# SPDX-License-Identifier: BSD-3-Clause
"""How kernels are compiled."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from discan.kernels import special
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
