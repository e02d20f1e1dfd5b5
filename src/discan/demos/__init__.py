# SPDX-License-Identifier: BSD-3-Clause
"""What it is about, on data that come along."""

from discan.demos.digits import main as digits
from discan.demos.senate import find_blocs, senate
from discan.demos.text import text

__all__ = ["digits", "find_blocs", "senate", "text"]
