# SPDX-License-Identifier: BSD-3-Clause
"""Tell the user why a first fit takes long: kernels are compiled rather than loaded."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["Remark", "is_ours"]

PATIENCE = 0.5  # seconds of compiling that need no remark
MOST_REMARKS = 2  # on one machine: nobody needs to read it more often
NOTE = "discan-remarks.txt"  # the file that counts them, beside the compiled kernels


class Remark:
    """Listens to Numba, and logs one remark per process once compiling has taken a while.

    Parameters
    ----------
    clock : callable
        Returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._depth = 0  # a kernel's parts are compiled inside it
        self._began = 0.0
        self._spent = 0.0
        self._said = False

    def on_start(self, event: Any) -> None:
        """Start the clock; if compiling has taken long enough, say so once."""
        if not is_ours(event):
            return
        self._depth += 1
        if self._depth > 1:
            return
        self._began = self._clock()
        if self._spent >= PATIENCE and not self._said:
            self._said = True
            self._say(event.data["dispatcher"].stats.cache_path)

    def on_end(self, event: Any) -> None:
        """Stop the clock."""
        if not is_ours(event):
            return
        self._depth -= 1
        if self._depth == 0:
            self._spent += self._clock() - self._began

    def _say(self, cache_path: str | None) -> None:
        log = logging.getLogger("discan")
        if cache_path is None:
            log.warning(
                "discan compiles its kernels, which takes some seconds, in every process: no "
                "folder can be written to keep them; let NUMBA_CACHE_DIR name one"
            )
            return
        note = _place_of_note(Path(cache_path))
        times = _read(note)
        if times < MOST_REMARKS:
            _write(note, times + 1)
            log.warning(
                "discan compiles the kernels for this kind of work, which takes about 2 to 15 "
                "seconds; later runs load them from %s", note.parent,
            )  # fmt: skip


def is_ours(event: Any) -> bool:
    """Whether a kernel of this package is compiled; Numba compiles functions of its own, too."""
    return str(event.data["dispatcher"].py_func.__module__).startswith("discan.")


def _place_of_note(cache: Path) -> Path:
    """Return where remarks are counted: one place for the kernels of all folders."""
    own = Path(__file__).parent
    if cache.name == "__pycache__" and own in (cache.parent, *cache.parent.parents):
        return own / "__pycache__" / NOTE
    return cache.parent / NOTE


def _read(note: Path) -> int:
    try:
        return int(note.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0


def _write(note: Path, times: int) -> None:
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(f"{times}\n", encoding="ascii")
    except OSError:  # it is only a count
        return
