# SPDX-License-Identifier: BSD-3-Clause
"""An interactive page in which a fit can be read: one file, nothing fetched."""

from discan.explorer.explore import Explorer, explore

__all__ = ["Explorer", "explore"]
