# SPDX-License-Identifier: BSD-3-Clause
"""Entries from Python to what only kernels call."""

from types import SimpleNamespace

import numba

from discan.kernels.compile import Part


def entry(part):
    """Compile a kernel that does nothing but call the part."""
    return numba.njit(error_model="numpy")(lambda *arguments: part(*arguments))


def with_entries(module):
    """Give all parts of a module an entry."""
    members = {
        name: entry(value) if isinstance(value, Part) else value
        for name, value in vars(module).items()
    }
    return SimpleNamespace(**members)
