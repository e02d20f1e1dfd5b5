# SPDX-License-Identifier: BSD-3-Clause
"""Kernels and their parts: functions that are compiled when they are first needed.

Numba is imported then, too: what calls no kernel, such as showing a model, does without it.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Any

__all__ = ["REORDER", "Kernel", "Part", "intrinsic", "kernel", "part"]

# Sums inside one call may be re-associated for SIMD. The build fixes their order, so the same build
# gives the same bits. NaN and infinity keep their meaning. A function that kernels call must be
# inlined (a ``part``): otherwise it exists twice, alone and in its caller, the two copies may add
# in different orders, and which one runs depends on what was compiled and what was loaded.
REORDER = {"reassoc", "contract", "nsz"}

Buffers = Callable[..., tuple[Any, ...]] | None

_ONE_AT_A_TIME = threading.RLock()
# Numba's own switch: nothing is compiled, and kernels are plain Python, for debugging and coverage.
INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def kernel(buffers: Buffers = None, **options: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """Compile a function without the GIL, and cache it on disk unless no folder is writable.

    ``buffers(*arguments)`` returns arrays that the function gets after the arguments of a call.
    NumPy makes them, because allocation in a kernel would have to be compiled.
    """
    # all options are explicit: a kernel would inherit the others from its first caller
    options = {
        "nogil": True, "error_model": "numpy", "fastmath": False, "no_cfunc_wrapper": True,
        **options,
    }  # fmt: skip
    return lambda function: Kernel(function, options, buffers)


def part(**options: Any) -> Callable[[Callable[..., Any]], Part]:
    """Compile a function that only kernels call, and that allocates no arrays.

    The function is inlined, unless ``forceinline=False``. It cannot be called from Python:
    compiling that entry would take as long as compiling a small function. It does not count
    references to its arrays: for a dozen arrays that would take a tenth of the time of a draw. All
    parts have the same options, because what they use of NumPy is compiled again for every set of
    options.
    """
    options = {"forceinline": True, "no_cpython_wrapper": True, "_nrt": False, **options}
    return lambda function: Part(function, kernel(**options)(function).targetoptions)


def intrinsic(function: Callable[..., Any]) -> Intrinsic:
    """Make a part of kernels that is written in LLVM's instructions.

    ``function(types, *arguments)`` gets Numba's types and the types of the arguments. It returns
    the signature and the function that generates the instructions (see ``numba.extending``).
    """
    return Intrinsic(function)


class _Compiled:
    """A function that Numba sees as what ``make`` makes of it, once it is needed."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._compiled: Any = None

    @property
    def compiled(self) -> Any:
        """What Numba made of the function."""
        if self._compiled is None:
            with _ONE_AT_A_TIME:
                if self._compiled is None:  # no other thread made it meanwhile
                    self._compiled = self.make()
        return self._compiled

    def make(self) -> Any:
        """Hand the function to Numba."""
        raise NotImplementedError


class Kernel(_Compiled):
    """A compiled function; the names of its attributes are those that Numba looks for."""

    def __init__(
        self, function: Callable[..., Any], options: dict[str, Any], buffers: Buffers = None
    ) -> None:
        super().__init__(function)
        self.targetoptions = options
        self.buffers = buffers

    def make(self) -> Any:
        """Make a dispatcher, which compiles the function for the types of each call."""
        from .dispatchers import dispatcher

        return dispatcher(self.py_func, self.targetoptions)

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        if self.buffers is not None:
            arguments += self.buffers(*arguments)
        return _interpreted(self.py_func, arguments) if INTERPRETED else self.compiled(*arguments)

    @property
    def _numba_type_(self) -> Any:
        return self.compiled._numba_type_


class Part(Kernel):
    """A compiled function that would crash if it were called from Python."""

    def __call__(self, *arguments: Any) -> Any:
        """Refuse."""
        if INTERPRETED:
            return self.py_func(*arguments)
        raise TypeError(f"{self.py_func.__name__} is a part of kernels; only kernels can call it")


class Intrinsic(_Compiled):
    """A part of kernels in LLVM's instructions."""

    def make(self) -> Any:
        """Register the function with Numba."""
        from .dispatchers import registered

        return registered(self.py_func)

    def __call__(self, *arguments: Any) -> Any:
        """Call the form in NumPy, where nothing is compiled."""
        from .simd import interpreted

        return getattr(interpreted, self.py_func.__name__)(*arguments)

    @property
    def _numba_type_(self) -> Any:
        return self.compiled


def _interpreted(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call a kernel as plain Python; its whole numbers overflow on purpose, as compiled ones do."""
    import numpy as np

    with np.errstate(all="ignore"):
        return function(*arguments)
