# SPDX-License-Identifier: BSD-3-Clause
"""Draw fitted models, or anyone's arrays, as Plotly figures; `save` writes them to files."""

from discan.plot.by_label import by_label
from discan.plot.chains import chains
from discan.plot.component_map import component_map
from discan.plot.effects import effects
from discan.plot.export import save
from discan.plot.flow import flow
from discan.plot.heatmap import heatmap
from discan.plot.membership import membership
from discan.plot.membership_squares import membership_squares
from discan.plot.over_time import over_time
from discan.plot.palette import colours
from discan.plot.quality import quality
from discan.plot.selection import selection
from discan.plot.sizes import sizes
from discan.plot.structure import structure
from discan.plot.svg import to_svg
from discan.plot.top_words import top_words
from discan.plot.trace import trace
from discan.plot.tree import tree

__all__ = [
    "by_label",
    "chains",
    "colours",
    "component_map",
    "effects",
    "flow",
    "heatmap",
    "membership",
    "membership_squares",
    "over_time",
    "quality",
    "save",
    "selection",
    "sizes",
    "structure",
    "to_svg",
    "top_words",
    "trace",
    "tree",
]


def __dir__() -> list[str]:
    """List what is public."""
    return sorted([*__all__, "__doc__"])
