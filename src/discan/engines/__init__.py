# SPDX-License-Identifier: BSD-3-Clause
"""Where the work runs."""

from discan.engines.base import Engine, pieces
from discan.engines.threads import Threads

__all__ = ["Engine", "Threads", "pieces"]
