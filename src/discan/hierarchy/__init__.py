# SPDX-License-Identifier: BSD-3-Clause
"""Trees of the components of a flat fit: which are alike, merged fits, and splits."""

from discan.hierarchy.costs import Cost, merging_costs
from discan.hierarchy.merging import merged
from discan.hierarchy.splitting import inside
from discan.hierarchy.tree import LINKAGES, Tree, grow

__all__ = ["LINKAGES", "Cost", "Tree", "grow", "inside", "merged", "merging_costs"]
