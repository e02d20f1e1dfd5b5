# SPDX-License-Identifier: BSD-3-Clause
"""Selection: held-out bits against the number of components, and the part that is flat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discan.data.nouns import counted
from discan.errors import InputError
from discan.plot import theme
from discan.plot.lettering import label
from discan.plot.palette import GREY, colours
from discan.typing import Array

__all__ = ["selection"]

LEARNT = "auto: K is learnt"
APART = 0.03  # part of the axis that two labels of K must be apart


def selection(
    source: Any,
    *,
    title: str = "How many components",
    subtitle: str | None = None,
) -> Any:
    """Draw bits per held-out token against K, with the best K, the smallest, and the flat part.

    Bars are standard errors of the difference from the best K. Dots are single starts, averaged
    over folds. Dotted lines are the
    ends of the range of K that the data do not distinguish. A broken line is "auto", if it was
    tried: a fit that learns K.

    Parameters
    ----------
    source : Selection, or the dictionary of ``discan select --json``
    title, subtitle : str, optional

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> rows = [{"K": 2, "bits": 5.0, "gap_error": 0.1}, {"K": 3, "bits": 4.0, "gap_error": 0.0}]
    >>> selection({"best": 3, "smallest": 3, "flat": None, "table": rows}).data[0].y.tolist()
    [5.0, 4.0]
    """
    found = _facts(source)
    table = [row for row in found["table"] if not isinstance(row["K"], str)]
    learnt = [row["bits"] for row in found["table"] if isinstance(row["K"], str)]
    sizes, bits, errors = (
        np.array([row[name] for row in table], dtype=np.float64)
        for name in ("K", "bits", "gap_error")
    )
    whole = [int(k) for k in sizes]
    errors = np.nan_to_num(errors)
    what = label(found.get("unit") or "bits per held-out token")
    blue, orange, green = colours(3)
    bars = {"type": "data", "array": errors, "visible": True, "color": blue, "thickness": 1.5,
            "width": 4}  # fmt: skip
    traces = [
        theme.points(
            "lines+markers", "mean over starts", sizes, bits, [_hover(row, what) for row in table],
            error_y=bars, line={"color": blue, "width": 2}, marker={"color": blue, "size": 8},
        )
    ]  # fmt: skip
    across, each = _starts(found.get("rows") or ())
    if len(each):
        dots = {"color": "#8fa8bf", "size": 5}
        traces.insert(0, theme.points("markers", "single starts", across, each, marker=dots))
    marks = [(found["best"], orange, f"best: {found['best']}")]
    if found["smallest"] != found["best"]:
        text = f"smallest within one standard error: {found['smallest']}"
        marks.append((found["smallest"], green, text))
    if learnt:
        level, ends = np.repeat(learnt, 2), sizes[[0, -1]]
        line = {"color": GREY, "width": 2, "dash": "dash"}
        traces.append(theme.points("lines", LEARNT, ends, level, line=line))
    for k, colour, text in marks:
        at = whole.index(k)
        ring = {"symbol": "circle-open", "size": 18, "color": colour,
                "line": {"color": colour, "width": 3}}  # fmt: skip
        traces.append(theme.points("markers", text, sizes[[at]], bits[[at]], marker=ring))
    flat = found["flat"]
    told = "Lower is better; bars are standard errors of the difference from the best"
    if flat is not None:
        told += f". Flat from {flat[0]} to {flat[1]}: the data do not decide between these"
    names = [text for _, _, text in marks] + [LEARNT] * len(learnt)
    x = {"title": "number of components", "range": theme.span([sizes], 0.05), "tickvals": sizes,
         "ticktext": _tick_labels(sizes)}  # fmt: skip
    y = theme.number_axis(what, [np.asarray(part)
                                 for part in (each, bits - errors, bits + errors, learnt)
                                 if len(part)], 0.08)  # fmt: skip
    layout = {
        **theme.line_chart(x, y, width=600, right=theme.legend_width(["mean over starts", *names])),
        **_flat_part(flat),
    }
    return theme.figure(
        traces, layout, title=title, subtitle=subtitle or told,
        description=f"Held-out quality of {counted(len(table), 'number')} of components, from "
        f"{whole[0]} to {whole[-1]}. {', '.join(names)}. {found.get('verdict', '')}".strip(),
        best=found["best"], smallest=found["smallest"], flat=None if flat is None else list(flat),
    )  # fmt: skip


def _facts(source: Any) -> dict[str, Any]:
    """Return what a selection says, as a dictionary."""
    names = ("best", "smallest", "flat", "table", "verdict", "rows", "unit")
    if not isinstance(source, Mapping):
        source = {name: getattr(source, name, None) for name in names}
    if not source.get("table") or source.get("best") is None:
        raise InputError(
            "nothing to draw", remedy="give the result of select_components, or of discan select"
        )
    return {"flat": None, "smallest": source["best"], **source}


def _hover(row: Mapping[str, Any], what: str) -> str:
    text = f"{counted(int(row['K']), 'component')}: {row['bits']:.5g} {what}"
    if row.get("gap"):
        text += f"<br>{row['gap']:.2g} ± {row['gap_error']:.1g} more than the best"
    stable = row.get("stability")
    if stable is not None and stable == stable:
        text += f"<br>similarity of components over starts: {stable:.2f}"
    return text


def _starts(rows: Sequence[Mapping[str, Any]]) -> tuple[Array, Array]:
    """Return K and the mean over folds of every start."""
    found: dict[tuple[int, int], list[float]] = {}
    for row in rows:
        if not isinstance(row["K"], str):
            found.setdefault((row["K"], row["seed"]), []).append(row["bits_per_token"])
    sizes = np.array([k for k, _ in found], dtype=np.float64)
    return sizes, np.array([np.mean(values) for values in found.values()])


def _flat_part(flat: Sequence[int] | None) -> dict[str, Any]:
    """Return upright lines at the ends of the flat part, and its name between them."""
    if flat is None:
        return {}
    told = theme.note(
        "flat", (flat[0] + flat[1]) / 2, 0.99, xref="x", yanchor="top",
        font={"size": 12, "color": GREY},
    )  # fmt: skip
    return {"shapes": [theme.rule(x=end) for end in flat], "annotations": [told]}


def _tick_labels(sizes: Array) -> list[str]:
    """Return the labels of ticks, "" where a label would cover its neighbour."""
    length = max(float(sizes[-1] - sizes[0]), 1.0)
    result, last = [], -np.inf
    for k in sizes:
        clear = (k - last) / length > APART
        result.append(f"{k:.0f}" if clear else "")
        last = k if clear else last
    return result
