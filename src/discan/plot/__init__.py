# SPDX-License-Identifier: BSD-3-Clause
"""Draw fitted models, or anyone's arrays, as Plotly figures; `save` writes them to files."""

from discan.plot.ancestry import structure
from discan.plot.bars import membership
from discan.plot.choice import quality
from discan.plot.cycles import trace
from discan.plot.export import save
from discan.plot.heat import heatmap
from discan.plot.maps import component_map
from discan.plot.squares import membership_squares
from discan.plot.svg import to_svg
from discan.plot.theme import colours

__all__ = [
    "colours",
    "component_map",
    "heatmap",
    "membership",
    "membership_squares",
    "quality",
    "save",
    "structure",
    "to_svg",
    "trace",
]
