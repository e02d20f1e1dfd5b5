# SPDX-License-Identifier: BSD-3-Clause
"""How the kernels are compiled: no GIL, cached on disk where that is possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

__all__ = ["REORDER", "kernel"]

# Sums inside one call may be re-associated for SIMD: the order is still fixed by the build, so the
# same build gives the same bits. NaN and infinity keep their meaning.
REORDER = {"reassoc", "contract", "nsz"}


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function without the GIL, and cache it on disk unless no folder is writable."""
    # said of every kernel: what is not said, it would take over from whoever calls it first
    options = {"nogil": True, "error_model": "numpy", "fastmath": False, **options}

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError:  # neither the package folder nor a cache folder can be written
            return numba.njit(**options)(function)

    return compiled
