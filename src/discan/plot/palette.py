# SPDX-License-Identifier: BSD-3-Clause
"""Colours: of components, of shares, and of probabilities around one half."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discan.validation import whole

__all__ = [
    "BRIGHT", "DEEP", "DIVERGING", "GREY", "GRID", "INK", "OTHERS", "PALETTE", "SHADES", "Scale",
    "blend", "colours", "ink_on", "spectrum",
]  # fmt: skip

Scale = Sequence[tuple[float, str]]

# All can be seen on white: a contrast of at least 2.7. Colour-blind readers can tell the first
# twelve apart, which are near those of Okabe and Ito as far as these are dark enough; the others
# were chosen for their distance from these and from each other under simulated colour blindness.
PALETTE = (
    "#0072b2", "#e08c00", "#009e73", "#cc6fa3", "#44a5de", "#c44601", "#332288", "#8f1d52",
    "#9a5cff", "#5a3410", "#6ca854", "#1c3fe0", "#a8249c", "#3c8448", "#6000c0", "#9c84fc",
    "#a84824", "#fc30cc", "#9c4884", "#6048c0", "#0d5560", "#fb5a55", "#5c1e78", "#b07a2a",
)  # fmt: skip
OTHERS = "#a9aeb4"
"""The components that a figure does not show."""
SHADES: Scale = tuple(
    (n / 5, colour)
    for n, colour in enumerate(("#f4f6f9", "#d6e3f0", "#94b8d9", "#4a86bd", "#174f8c", "#0a2a52"))
)
"""From 0 to 1, for cells; the last shades are dark enough for print."""
DIVERGING: Scale = (
    (0.0, "#8f3a00"), (0.2, "#d97a2b"), (0.4, "#f3cfa6"), (0.5, "#f3f3f3"), (0.6, "#b5d0ea"),
    (0.8, "#3f83c0"), (1.0, "#0b3c78"),
)  # fmt: skip
"""From one answer to the other, pale where they are equally likely."""
DEEP: Scale = ((0.0, "#174f8c"), (0.4, "#86b6e0"), (0.6, "#f3c17a"), (1.0, "#be4e1a"))
"""From blue to orange, for white paper."""
BRIGHT: Scale = ((0.0, "#3b8ad8"), *DEEP[1:3], (1.0, "#d9702e"))
"""From blue to orange, for terminals, dark or light."""
INK, GREY, GRID = "#222222", "#595959", "#e4e4e4"


def colours(n: int) -> list[str]:
    """Return the colours of components: twenty-four, then the same darker, and so on in turn.

    Parameters
    ----------
    n : int
        Number of colours.

    Returns
    -------
    list of str
        Such as "#3b8ad8".

    Examples
    --------
    >>> len(colours(30))
    30
    """
    n = whole("n", n, 0)
    result = []
    for k in range(n):
        part = 0.4 * ((k // len(PALETTE)) % 2)
        result.append(blend(((0.0, PALETTE[k % len(PALETTE)]), (1.0, "#000000")), part))
    return result


def spectrum(n: int, scale: Scale = DEEP) -> list[str]:
    """Return n colours of a scale at equal distances, from its start to its end."""
    return [blend(scale, k / (n - 1) if n > 1 else 0.0) for k in range(n)]


def blend(scale: Scale, part: float) -> str:
    """Return the colour at a place between 0 and 1 of a scale of (place, colour) pairs."""
    at = [float(stop) for stop, _ in scale]
    levels = np.array([[int(c[n : n + 2], 16) for n in (1, 3, 5)] for _, c in scale])
    mixed = [round(float(np.interp(part, at, levels[:, n]))) for n in range(3)]
    return "#" + "".join(f"{level:02x}" for level in mixed)


def ink_on(colour: str) -> str:
    """Return black or white, whichever has more contrast with the colour."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#fff" if 0.299 * red + 0.587 * green + 0.114 * blue < 140 else "#111"
