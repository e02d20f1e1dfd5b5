# SPDX-License-Identifier: BSD-3-Clause
"""Hand functions to Numba: this module imports it, and is itself imported by the first kernel."""

from __future__ import annotations

import contextlib
import functools
import gc
from collections.abc import Callable
from typing import Any

import numba
from numba.core import event, types
from numba.core.caching import FunctionCache
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from .remark import Remark, is_ours

__all__ = ["Cache", "Pause", "dispatcher", "registered"]


def dispatcher(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return a dispatcher that keeps what it compiles on disk, unless no folder is writable."""
    made = numba.njit(**options)(function)
    with contextlib.suppress(RuntimeError):  # no folder can be written
        made._cache = Cache(function)
    return made


class Cache(FunctionCache):
    """Compiled code on disk; a file of it that is damaged is made again."""

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Load the code for some types; None if there is none, or none that can be read."""
        try:
            return super().load_overload(signature, target)
        except Exception:  # a file that was cut short can lead to any
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, signature: Any, data: Any) -> None:
        """Save compiled code; a failure to save it does not end a fit."""
        with contextlib.suppress(OSError):
            super().save_overload(signature, data)


def registered(function: Callable[..., Any]) -> Any:
    """Register ``function(types, *arguments)`` as an intrinsic; return its type."""

    @functools.wraps(function)
    def define(context: Any, *arguments: Any) -> Any:
        return function(types, *arguments)

    made = intrinsic(define)
    cpu_target.typing_context.refresh()
    return cpu_target.typing_context.resolve_value_type(made)


class Pause(event.Listener):
    """Pauses the garbage collector while one of our kernels is compiled.

    Compiling makes hundreds of thousands of objects, most of which stay: looking through them for
    garbage again and again takes a tenth of the time. Numba compiles in one thread at a time.
    """

    def __init__(self) -> None:
        self.depth = 0  # a kernel's parts are compiled inside it
        self.paused = False

    def on_start(self, event: Any) -> None:
        """Pause, unless the collector is off already."""
        self.depth += 1
        if self.depth == 1 and is_ours(event) and gc.isenabled():
            self.paused = True
            gc.disable()

    def on_end(self, event: Any) -> None:
        """Go on."""
        self.depth -= 1
        if self.depth == 0 and self.paused:
            self.paused = False
            gc.enable()


class _Remark(Remark, event.Listener):
    """The remark on compiling, as Numba wants a listener."""


for listener in (_Remark(), Pause()):
    event.register("numba:compile", listener)
