# SPDX-License-Identifier: BSD-3-Clause
"""Call parts of kernels from Python."""

from types import SimpleNamespace

import numba

from discan.kernels.compile import Part


def entry(part):
    """Compile a kernel that only calls the part."""
    return numba.njit(error_model="numpy")(lambda *arguments: part(*arguments))


def with_entries(module):
    """Copy a module with parts that can be called from Python."""
    members = {
        name: entry(value) if isinstance(value, Part) else value
        for name, value in vars(module).items()
    }
    return SimpleNamespace(**members)
