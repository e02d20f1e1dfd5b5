# SPDX-License-Identifier: BSD-3-Clause
"""Signals wait for the end of a cycle, and handlers are as they were afterwards."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from discan.fitting.interrupts import deferred

SOURCE = Path(__file__).parents[2] / "src"


def test_the_first_signal_waits_and_the_handler_comes_back():
    before = signal.getsignal(signal.SIGINT)
    with deferred([signal.SIGINT]) as asked:
        assert not asked()
        signal.raise_signal(signal.SIGINT)
        assert asked()
    assert signal.getsignal(signal.SIGINT) is before


def test_the_second_signal_stops_at_once():
    before = signal.getsignal(signal.SIGINT)
    with deferred([signal.SIGINT]):
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_another_signal_is_sent_again_at_the_end():
    seen = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: seen.append(number))
    try:
        with deferred([signal.SIGINT, signal.SIGTERM]) as asked:
            signal.raise_signal(signal.SIGTERM)
            assert asked()
            assert seen == []
        assert seen == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_other_threads_leave_signals_alone():
    answers = []

    def work():
        with deferred([signal.SIGINT]) as asked:
            answers.append(asked())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert answers == [False]


# Python does not know a handler that was there before it began, as in R, Julia or a web server.
FOREIGN = """
import signal
import numpy as np
getsignal = signal.getsignal
signal.getsignal = lambda number: None if number == signal.SIGINT else getsignal(number)
install = signal.signal
def refuse(number, handler):
    assert number != signal.SIGINT, "the foreign handler was taken away"
    return install(number, handler)
signal.signal = refuse
import discan
discan.LDA(2, max_iter=2, random_state=0).fit(np.eye(4, dtype=int))
print("done")
"""


def test_a_handler_from_outside_python_is_left_in_place():
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, "-c", FOREIGN], env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("done\n")
