# SPDX-License-Identifier: BSD-3-Clause
"""Trace: the objective of a fit by cycle, and the cycles that gave draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from discan.errors import InputError
from discan.fitting.result import fit_of
from discan.fitting.trace import Trace
from discan.plot import theme
from discan.plot.inputs import is_estimator, labels, numbers
from discan.plot.lettering import label
from discan.plot.palette import GREY, colours
from discan.typing import Array
from discan.validation import one_of, whole

__all__ = ["trace"]

START = 0.1  # part of the cycles that may lie below the figure
MOST_DOTS = 80  # of draws; of more, only the first is marked
STEEP = 2.5  # times as much as all later ones: what the first cycles must rise for that


def trace(
    source: Any,
    *,
    against: str = "cycle",
    skip: int = 0,
    names: Any = None,
    title: str = "Objective of the fit",
    subtitle: str | None = None,
) -> Any:
    """Draw the objective against cycles or seconds; mark the cycles that gave draws.

    Parameters
    ----------
    source : fit, fitted estimator, Trace, (cycles,) array, or a list of them
        A list is drawn as one line per member.
    against : {"cycle", "seconds"}
    skip : int
        Number of first cycles to leave out. If the first tenth of the cycles rises much more than
        all later ones, it reaches below the figure, which says so.
    names : labels, optional
        One name per line.
    title, subtitle : str, optional

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> trace([-9.0, -4.0, -3.5]).data[0].y
    array([-9. , -4. , -3.5])
    """
    one_of("against", against, ("cycle", "seconds"))
    skip = whole("skip", skip, 0)
    lines = [_line(each, against) for each in _several(source)]
    for x, _, _ in lines:
        if len(x) <= skip:
            raise InputError(
                f"{{}} leaves nothing of {len(x)} cycles", argument="skip", value=skip,
                remedy="use a smaller number",
            )  # fmt: skip
    keys = [label(name, 40) for name in labels("names", names, len(lines), "fits", "fit")]
    lines = [(x[skip:], y[skip:], drawn[skip:]) for x, y, drawn in lines]

    several = len(lines) > 1
    traces: list[dict[str, Any]] = []
    for key, colour, (x, y, drawn) in zip(keys, colours(len(lines)), lines, strict=True):
        told = [f"{against} {a:,.4g}: {b:,.6g}" for a, b in zip(x, y, strict=True)]
        pen = {"color": colour, "width": 2}
        traces.append(theme.points("lines", key, x, y, told, line=pen))
        if drawn.any() and drawn.sum() <= MOST_DOTS:
            dot = {"color": colour, "size": 5, "line": {"width": 0}}
            dots = theme.points("markers", f"{key}: draws", x[drawn], y[drawn], marker=dot)
            traces.append({**dots, "showlegend": False})
    across = theme.number_axis(against, [x for x, _, _ in lines], 0.02, 8)
    late = [_late(y) for _, y, _ in lines]
    low, high = theme.span([y[n:] for n, (_, y, _) in zip(late, lines, strict=True)], 0.06)
    up = {"title": "objective, nats", "range": [low, high], **theme.number_ticks(low, high)}
    right = theme.legend_width(keys) if several else 24
    layout = {
        **theme.line_chart(across, up, width=760, right=right),
        "showlegend": several,
        **_first_draw(lines[0], several),
    }
    n_cycles = max(len(x) for x, _, _ in lines) + skip
    notes = [f"{n_cycles:,} cycles"]
    if skip:
        notes.append(f"the first {skip:,} left out")
    below = [int((y < low).sum()) for _, y, _ in lines]
    if any(below):
        cycles = f"first {max(below):,} cycles" if max(below) > 1 else "first cycle"
        notes.append(f"the {cycles}, from {min(y[0] for _, y, _ in lines):,.0f}, not shown")
    n_drawn = [int(drawn.sum()) for _, _, drawn in lines]
    if any(0 < n <= MOST_DOTS for n in n_drawn):
        notes.append("dots are cycles whose draws are averaged")
    elif any(n_drawn):
        notes.append(f"{max(n_drawn):,} draws are averaged")
    return theme.figure(
        traces, layout, title=title, subtitle=subtitle or "; ".join(notes),
        description=f"Line of the objective against {against}: from {lines[0][1][0]:.6g} to "
        f"{lines[0][1][-1]:.6g} over {n_cycles:,} cycles.",
    )  # fmt: skip


def _late(y: Array) -> int:
    """Return how many first cycles may lie below the figure: none unless they rise steeply."""
    n = int(np.ceil(START * len(y)))
    later = y[n:]
    if len(later) < 2 or np.ptp(y) <= STEEP * np.ptp(later):
        return 0
    return n


def _several(source: Any) -> list[Any]:
    """Return a list of sources; a list of numbers is one source."""
    if isinstance(source, (list, tuple)):
        if not source:
            raise InputError("nothing to draw", remedy="give a fitted estimator, or a list of them")
        if not all(np.isscalar(value) for value in source):
            return list(source)
    return [source]


def _line(source: Any, against: str) -> tuple[Array, Array, Array]:
    """Return the abscissa, the objective, and which cycles gave a draw."""
    fit = fit_of(source)
    record = fit.trace if fit is not None else None if is_estimator(source) else source
    if record is None or (isinstance(record, Trace) and not len(record)):
        raise InputError("the estimator has no trace", remedy="fit it first")
    if isinstance(record, Trace):
        x, y = record[against], record["objective"]
    elif against != "cycle":
        raise InputError(
            "numbers have no seconds", use={"against": "cycle"}, remedy="give an estimator"
        )
    else:
        y = numbers(record)
        if y.ndim != 1 or not len(y) or not np.isfinite(y).all():
            raise InputError("a trace must be a fitted estimator, its trace_, or finite numbers")
        x = np.arange(1, len(y) + 1)
    return x, y, _drawn({} if fit is None else fit.settings, len(y))


def _drawn(settings: Mapping[str, Any], n_cycles: int) -> Array:
    """Return which cycles a sampler averaged; none for other algorithms."""
    thin = settings.get("thin", 0)
    if not thin:
        return np.zeros(n_cycles, dtype=bool)
    after = np.arange(1, n_cycles + 1) - settings.get("burn_in", 0)
    at = np.flatnonzero((after > 0) & (after % thin == 0))
    drawn = np.zeros(n_cycles, dtype=bool)
    drawn[at[-settings.get("draws", n_cycles) :]] = True  # earlier draws may have been dropped
    return drawn


def _first_draw(line: tuple[Array, Array, Array], several: bool) -> dict[str, Any]:
    """Return a thin line at the first draw, if the figure shows one chain."""
    x, _, drawn = line
    if several or not drawn.any():
        return {}
    at = float(x[np.argmax(drawn)])
    late = at > (x[0] + x[-1]) / 2
    # the objective rises: the lower right and the upper left are free
    told = theme.note(
        "draws begin", at, 0.02 if late else 0.98, xref="x", xanchor="left",
        yanchor="bottom" if late else "top", xshift=5, font={"size": 12, "color": GREY},
    )  # fmt: skip
    if at > x[0] + 0.85 * (x[-1] - x[0]):
        told |= {"xanchor": "right", "xshift": -5}
    return {"shapes": [theme.rule(x=at)], "annotations": [told]}
