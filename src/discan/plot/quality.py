# SPDX-License-Identifier: BSD-3-Clause
"""Quality against the number of components: the best, and the smallest that is nearly as good."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from discan.errors import InputError
from discan.plot import theme
from discan.plot.inputs import numbers
from discan.plot.lettering import label
from discan.plot.palette import colours
from discan.typing import Array

__all__ = ["quality"]

_WANTED = (
    "give a mapping from K to its scores, a frame with K as index, or cv_results_ of a grid search "
    "over n_components"
)


def quality(
    table: Any,
    *,
    higher_is_better: bool = True,
    measure: str = "held-out log-likelihood, nats per token",
    title: str = "Quality against the number of components",
    subtitle: str | None = None,
) -> Any:
    """Draw held-out scores against K; mark the best K and the one-standard-error choice.

    The one-standard-error choice is the smallest K whose mean is within one standard error of the
    best mean.

    Parameters
    ----------
    table : mapping, data frame or ``cv_results_``
        K -> one score or several (folds, seeds); or a pandas frame with K as index and one column
        per repeat; or ``GridSearchCV(...).cv_results_`` where ``n_components`` was varied.
    higher_is_better : bool
        False for perplexities.
    measure : str
        Title of the axis.
    title, subtitle : str, optional

    Returns
    -------
    plotly.graph_objects.Figure
        ``layout.meta`` has ``best`` and ``one_standard_error`` (None without repeats).

    Examples
    --------
    >>> figure = quality({2: [-7.0, -7.2], 3: [-6.0, -6.2], 5: [-5.95, -6.2]})
    >>> figure.layout.meta["best"], figure.layout.meta["one_standard_error"]
    (5, 3)
    """
    scores = _scores(table)
    sizes = np.array(sorted(scores))
    repeats = [scores[k] for k in sizes]
    means = np.array([values.mean() for values in repeats])
    errors = np.array([
        values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
        for values in repeats
    ])  # fmt: skip
    sign = 1.0 if higher_is_better else -1.0
    best = int(np.argmax(sign * means))
    chosen = None
    if np.isfinite(errors[best]):
        chosen = int(np.argmax(sign * means >= sign * means[best] - errors[best]))

    blue, orange, green = colours(3)
    hover = [
        f"{k} components: {mean:.5g}"
        + (f" ± {error:.2g} (standard error, {len(values)} repeats)" if error == error else "")
        for k, mean, error, values in zip(sizes, means, errors, repeats, strict=True)
    ]
    filled, every = np.nan_to_num(errors), np.concatenate(repeats)
    at_each = np.repeat(sizes, [len(values) for values in repeats])
    bars = {"type": "data", "array": filled, "visible": True, "color": blue, "thickness": 1.5,
            "width": 4}  # fmt: skip
    traces = [
        theme.points("markers", "repeats", at_each, every, marker={"color": "#8fa8bf", "size": 5}),
        theme.points(
            "lines+markers", "mean", sizes, means, hover, error_y=bars,
            line={"color": blue, "width": 2}, marker={"color": blue, "size": 8},
        ),
    ]  # fmt: skip
    marks = [(best, orange, f"best: {sizes[best]}")]
    if chosen == best:
        marks = [(best, orange, f"best, and smallest within one standard error: {sizes[best]}")]
    elif chosen is not None:
        marks.append((chosen, green, f"smallest within one standard error: {sizes[chosen]}"))
    for at, colour, text in marks:
        pen = {"color": colour, "width": 3}
        ring = {"symbol": "circle-open", "size": 18, "color": colour, "line": pen}
        traces.append(theme.points("markers", text, sizes[[at]], means[[at]], marker=ring))
    across = {"title": "number of components", "range": theme.span([sizes], 0.05),
              "tickvals": sizes, "ticktext": _tick_labels(sizes)}  # fmt: skip
    up = theme.number_axis(label(measure), [every, means - filled, means + filled], 0.08)
    layout = {
        **theme.line_chart(across, up, width=600, right=theme.legend_width([m[2] for m in marks])),
        "shapes": [] if chosen is None else [theme.rule(y=means[best] - sign * errors[best])],
    }
    told = f"{'Higher' if higher_is_better else 'Lower'} is better"
    if chosen is not None:
        side = "below" if higher_is_better else "above"
        told += f"; bars are standard errors of the mean, the dotted line is one {side} the best"
    return theme.figure(
        traces, layout, title=title, subtitle=subtitle or told,
        description=f"Held-out quality for {len(sizes)} numbers of components, from {sizes[0]} to "
        f"{sizes[-1]}. " + ", ".join(text for _, _, text in marks) + ".",
        best=int(sizes[best]),
        one_standard_error=None if chosen is None else int(sizes[chosen]),
    )  # fmt: skip


def _scores(table: Any) -> dict[int, Array]:
    """Return the scores by number of components."""
    if isinstance(table, Mapping) and any(str(key).startswith("split") for key in table):
        return _grid_search(table)
    if hasattr(table, "index") and hasattr(table, "to_numpy") and not isinstance(table, Mapping):
        sizes, values = list(table.index), table.to_numpy()
        table = {}
        for k, row in zip(sizes, values.reshape(len(values), -1), strict=True):
            table.setdefault(k, []).extend(row)
    if not isinstance(table, Mapping) or not table:
        raise InputError("no scores to draw", remedy=_WANTED)
    result = {}
    for key, values in table.items():
        k = _components(key)
        row = np.atleast_1d(numbers(values))
        if row.ndim != 1 or not len(row) or not np.isfinite(row).all():
            raise InputError(f"the scores of K={k} must be finite numbers", remedy=_WANTED)
        result[k] = row
    return result


def _grid_search(results: Mapping[str, Any]) -> dict[int, Array]:
    key = next((key for key in results if str(key).endswith("n_components")), None)
    splits = [name for name in results if str(name).startswith("split")
              and str(name).endswith("_test_score")]  # fmt: skip
    if key is None or not splits:
        raise InputError("the grid search did not vary n_components", remedy=_WANTED)
    values = np.stack([np.asarray(results[name], dtype=np.float64) for name in splits], axis=1)
    sizes = [_components(k) for k in results[key]]
    if len(set(sizes)) < len(sizes):
        raise InputError(
            "the grid varied more than n_components", remedy="give one list of scores per K"
        )
    return _scores(dict(zip(sizes, values, strict=True)))


def _components(key: Any) -> int:
    try:
        k = int(key)
    except (TypeError, ValueError):
        k = 0
    if k < 1 or k != float(key):
        raise InputError(
            "{} is not a number of components", argument="K", value=key, remedy=_WANTED
        )
    return k


def _tick_labels(sizes: Array) -> list[str]:
    """Return the labels of ticks, "" where a label would cover its neighbour."""
    length = max(float(sizes[-1] - sizes[0]), 1.0)
    result, last = [], -np.inf
    for k in sizes:
        clear = (k - last) / length > 0.03
        result.append(str(k) if clear else "")
        last = k if clear else last
    return result
