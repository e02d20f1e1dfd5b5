# SPDX-License-Identifier: BSD-3-Clause
"""The command line: ``discan``."""

import contextlib
import signal
from collections.abc import Iterator

__all__ = ["app", "main"]


@contextlib.contextmanager
def _ended_by_interrupts() -> Iterator[None]:
    """Let Ctrl-C end the process while it loads; Python would show where it was."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:
        yield
        return
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    except ValueError:  # not the main thread, which alone gets signals
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


with _ended_by_interrupts():
    from discan.cli.app import app, main
