# SPDX-License-Identifier: BSD-3-Clause
"""Signals that wait for the end of a cycle."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

__all__ = ["deferred"]


@contextmanager
def deferred(signals: Sequence[signal.Signals]) -> Iterator[Callable[[], bool]]:
    """Let the first signal wait; yield a function that tells whether one has come.

    A second signal stops at once. SIGINT (Ctrl-C) asks to stop and keep the results so far; any
    other signal is sent again at the end, to its former handler.
    """
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return

    def note(signum: int, frame: Any) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(signum)

    before = {number: signal.signal(number, note) for number in signals}
    try:
        yield lambda: bool(received)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if received and received[0] != signal.SIGINT:
            os.kill(os.getpid(), received[0])
