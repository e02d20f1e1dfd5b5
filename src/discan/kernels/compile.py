# SPDX-License-Identifier: BSD-3-Clause
"""Compile kernels without the GIL, and cache them on disk where that is possible."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numba
from numba.core import event
from numba.core.registry import CPUDispatcher

__all__ = ["REORDER", "kernel", "part"]

# Sums inside one call may be re-associated for SIMD. The build fixes their order, so the same build
# gives the same bits. NaN and infinity keep their meaning. A function that kernels call must be
# inlined (a ``part``): otherwise it exists twice, alone and in its caller, the two copies may add
# in different orders, and which one runs depends on what was compiled and what was loaded.
REORDER = {"reassoc", "contract", "nsz"}


class Remark(event.Listener):
    """Tells the user why the first call takes long: a kernel is compiled rather than loaded."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:
        """Log one warning per process, and only about kernels of this package."""
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
        """Do nothing."""


event.register("numba:compile", Remark())


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function without the GIL, and cache it on disk unless no folder is writable."""
    # all options are explicit: a kernel would inherit the others from its first caller
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
    """Compile a function that only kernels call, and that allocates no arrays.

    The function is inlined. It cannot be called from Python: compiling that entry would take as
    long as compiling a small function. It does not count references to its arrays: for a dozen
    arrays that would take a tenth of the time of a draw. All parts have the same options, because
    what they use of NumPy is compiled again for every set of options.
    """

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        found = kernel(forceinline=True, no_cpython_wrapper=True, _nrt=False, **options)(function)
        found.__class__ = Part  # type: ignore[assignment]
        return found

    return compiled


class Part(CPUDispatcher):
    """A compiled function that would crash if it were called from Python."""

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        """Refuse."""
        raise TypeError(f"{self.py_func.__name__} is a part of kernels; only kernels can call it")
