# SPDX-License-Identifier: BSD-3-Clause
"""Demos on bundled data: the US Senate of 2005, Python's docstrings, and handwritten digits."""

from discan.demos.blocs import find_blocs
from discan.demos.digits import digits
from discan.demos.senate import senate
from discan.demos.text import text

__all__ = ["digits", "find_blocs", "senate", "text"]
