# SPDX-License-Identifier: BSD-3-Clause
"""Results of lanes are folded in order, and few of them are in memory at once."""

import random
import threading
import time

import numpy as np
import pytest

from discan.engines.base import large_at_once
from discan.engines.threads import Threads


class Sums:
    """A job whose results count how many of them there are."""

    folder = ""

    def __init__(self, large, slow=()):
        self.large, self.slow = large, slow
        self.lock, self.alive, self.most = threading.Lock(), 0, 0

    def __call__(self, lane):
        with self.lock:
            self.alive += 1
            self.most = max(self.most, self.alive)
        time.sleep(0.05 if lane in self.slow else random.random() / 1000)
        return lane


@pytest.mark.parametrize("slow", [(), (0,), (3,), (7,)])
@pytest.mark.parametrize("n_threads", [1, 2, 3, 8])
def test_lanes_are_folded_in_order_and_do_not_pile_up(n_threads, slow):
    job, folded = Sums(True, slow), []

    def fold(lane):
        folded.append(lane)
        if lane:  # the first becomes the sum
            with job.lock:
                job.alive -= 1

    with Threads(n_threads) as engine:
        engine.visit(job, range(20), fold)
    assert folded == list(range(20))
    assert job.most <= large_at_once(20, n_threads) <= n_threads + 2


def test_small_results_may_wait():
    """Threads do not wait for the first lane."""
    job, folded, seen = Sums(False), [], []
    ended = threading.Event()

    def work(lane):
        if lane == 0:
            assert ended.wait(30)
        seen.append(lane)
        if len(seen) == 19:
            ended.set()
        return lane

    job.__class__ = type("Waiting", (Sums,), {"__call__": lambda self, lane: work(lane)})
    with Threads(2) as engine:
        engine.visit(job, range(20), folded.append)
    assert folded == list(range(20))
    assert seen[-1] == 0


@pytest.mark.parametrize("broken", ["job", "fold"])
@pytest.mark.parametrize("lane", [0, 1, 5])
def test_an_error_ends_all_threads(broken, lane):
    job = Sums(True)

    def fold(number):
        if broken == "fold" and number == lane:
            raise ValueError("broken")

    def work(self, number):
        if broken == "job" and number == lane:
            time.sleep(0.02)  # the others are waiting by then
            raise ValueError("broken")
        return number

    job.__class__ = type("Breaking", (Sums,), {"__call__": work})
    with Threads(3) as engine, pytest.raises(ValueError, match="broken"):
        engine.visit(job, range(20), fold)


def test_any_number_of_threads_gives_the_same_bits():
    parts = np.random.default_rng(0).standard_normal((20, 1000)).astype(np.float32)

    class Parts(Sums):
        def __call__(self, lane):
            return parts[super().__call__(lane)]

    def total(n_threads):
        result = np.zeros(1000, np.float32)

        def fold(part):
            np.add(result, part, out=result)

        with Threads(n_threads) as engine:
            engine.visit(Parts(True), range(20), fold)
        return result.tobytes()

    assert total(1) == total(2) == total(5)
    assert total(1) != parts[::-1].sum(axis=0).tobytes()
