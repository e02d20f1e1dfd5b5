# SPDX-License-Identifier: BSD-3-Clause
"""Trace: the objective of a fit by cycle, and the cycles that gave draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan.errors import InputError
from discan.fitting.trace import Trace
from discan.plot.inputs import fit_of, is_estimator, labels
from discan.plot.theme import (
    GREY,
    colours,
    figure,
    label,
    legend,
    legend_width,
    line_chart,
    number_axis,
    rule,
)
from discan.typing import Array
from discan.validation import one_of, whole

__all__ = ["trace"]


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
        Number of first cycles to leave out: a steep beginning hides later changes.
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
    sources = _several(source)
    lines = [_line(each, against) for each in sources]
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
        traces.append(
            {
                "type": "scatter", "mode": "lines", "name": key, "x": x, "y": y,
                "line": {"color": colour, "width": 2}, "hoverinfo": "text",
                "hovertext": [f"{against} {a:,.4g}: {b:,.6g}" for a, b in zip(x, y, strict=True)],
            }
        )  # fmt: skip
        if drawn.any():
            traces.append(
                {
                    "type": "scatter", "mode": "markers", "name": f"{key}: draws",
                    "x": x[drawn], "y": y[drawn], "hoverinfo": "skip", "showlegend": False,
                    "marker": {"color": colour, "size": 5, "line": {"width": 0}},
                }
            )  # fmt: skip
    across = number_axis(against, [x for x, _, _ in lines], 0.02, 8)
    up = number_axis("objective, nats", [y for _, y, _ in lines], 0.06)
    layout = {
        **line_chart(across, up, width=760, left=90, right=legend_width(keys) if several else 24),
        **legend(),
        "showlegend": several,
        **_first_draw(lines[0], several),
    }
    any_draws = any(drawn.any() for _, _, drawn in lines)
    n_cycles = max(len(x) for x, _, _ in lines) + skip
    notes = [f"{n_cycles:,} cycles"]
    if skip:
        notes.append(f"the first {skip:,} left out")
    if any_draws:
        notes.append("dots are cycles whose draws are averaged")
    return figure(
        traces, layout, title=title, subtitle=subtitle or "; ".join(notes),
        description=f"Line of the objective against {against}: from {lines[0][1][0]:.6g} to "
        f"{lines[0][1][-1]:.6g} over {n_cycles:,} cycles.",
    )  # fmt: skip


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
        y = _numbers_of(record)
        x = np.arange(1, len(y) + 1)
    return x, y, np.zeros(len(y), dtype=bool) if fit is None else _drawn(fit, len(y))


def _numbers_of(record: Any) -> Array:
    try:
        y = np.asarray(record, dtype=np.float64)
    except (TypeError, ValueError):
        y = np.empty((0, 0))
    if y.ndim != 1 or not len(y) or not np.isfinite(y).all():
        raise InputError("a trace must be a fitted estimator, its trace_, or finite numbers")
    return y


def _drawn(fit: Any, n_cycles: int) -> Array:
    """Return which cycles a sampler averaged; none for other algorithms."""
    burn_in, thin = fit.settings.get("burn_in", 0), fit.settings.get("thin", 0)
    if not thin:
        return np.zeros(n_cycles, dtype=bool)
    after = np.arange(1, n_cycles + 1) - burn_in
    return np.asarray((after > 0) & (after % thin == 0))


def _first_draw(line: tuple[Array, Array, Array], several: bool) -> dict[str, Any]:
    """Return a thin line at the first draw, if the figure shows one chain."""
    x, _, drawn = line
    if several or not drawn.any():
        return {}
    at = float(x[np.argmax(drawn)])
    return {
        "shapes": [rule(x=at)],
        "annotations": [
            {
                "text": "draws begin", "showarrow": False, "xref": "x", "yref": "paper", "x": at,
                "y": 0.02, "xanchor": "left", "yanchor": "bottom", "xshift": 5,
                "font": {"size": 12, "color": GREY},
            }
        ],
    }  # fmt: skip
