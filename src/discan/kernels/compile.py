# SPDX-License-Identifier: BSD-3-Clause
"""How the kernels are compiled: no GIL, cached on disk where that is possible."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numba
from numba.core import event
from numba.core.registry import CPUDispatcher

__all__ = ["REORDER", "kernel", "part"]

# Sums inside one call may be re-associated for SIMD: the order is still fixed by the build, so the
# same build gives the same bits. NaN and infinity keep their meaning. What other kernels call must
# be inlined (a ``part``): else there are two copies of it, alone and in its caller, whose sums may
# be in another order, and which one runs depends on what was compiled and what was loaded.
REORDER = {"reassoc", "contract", "nsz"}


class Remark(event.Listener):
    """Says, when the first kernel is compiled and not loaded, what the user is waiting for."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:
        """Speak once a process, and of our own kernels only."""
        dispatcher = event.data["dispatcher"]
        if self.said or not str(dispatcher.py_func.__module__).startswith("discan."):
            return
        self.said = True
        when = "the first time only"
        if dispatcher.stats.cache_path is None:
            when = "every time, unless NUMBA_CACHE_DIR names a folder that can be written"
        logging.getLogger("discan").warning(
            "discan compiles its kernels: about 10 seconds, %s", when
        )

    def on_end(self, event: Any) -> None:
        """Say nothing: the fit goes on."""


event.register("numba:compile", Remark())


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function without the GIL, and cache it on disk unless no folder is writable."""
    # said of every kernel: what is not said, it would take over from whoever calls it first
    options = {
        "nogil": True, "error_model": "numpy", "fastmath": False, "no_cfunc_wrapper": True,
        **options,
    }  # fmt: skip

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError:  # neither the package folder nor a cache folder can be written
            return numba.njit(**options)(function)

    return compiled


def part(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function that kernels alone call, and that makes no arrays.

    It is inlined. There is no entry to it from Python, which would take as long to compile as a
    small function does; nor does it count references to its arrays, which costs a tenth of a draw
    if there are a dozen. All parts are compiled alike: what they use of NumPy is compiled anew for
    every set of options.
    """

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        found = kernel(forceinline=True, no_cpython_wrapper=True, _nrt=False, **options)(function)
        found.__class__ = Part  # type: ignore[assignment]
        return found

    return compiled


class Part(CPUDispatcher):
    """A compiled function without an entry from Python, where calling it would be a crash."""

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        """Refuse."""
        raise TypeError(f"{self.py_func.__name__} is a part of kernels, and called by them alone")
