# SPDX-License-Identifier: BSD-3-Clause
"""Signals that wait for the end of a cycle."""

from __future__ import annotations

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
    other signal is sent again at the end, to its former handler. A handler that was not installed
    from Python, but by a program around it such as R, is left in place: it could not be put back.
    """
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return

    def note(signum: int, frame: Any) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(signum)

    ours = [number for number in signals if signal.getsignal(number) is not None]
    before = {number: signal.signal(number, note) for number in ours}
    try:
        yield lambda: bool(received)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if received and received[0] != signal.SIGINT:
            signal.raise_signal(received[0])
