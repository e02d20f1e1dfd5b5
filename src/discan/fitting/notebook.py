# SPDX-License-Identifier: BSD-3-Clause
"""Show a fit in a notebook: components with their sizes and words, and the trace."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan.data.notebook import bar, facts, frame, safe
from discan.data.nouns import counted
from discan.fitting.summary import fields_of
from discan.typing import Array

__all__ = ["fit_html"]

COMPONENTS = 20
WORDS = 8
ANSWERS, DOCUMENTS = 2, 4
WIDTH, HEIGHT = 260, 48  # pixels of the trace


def fit_html(fit: Any, called: str) -> str:
    """Describe a fit that has training documents; ``called`` names its estimator."""
    nouns, layout = fit.nouns, fit.layout
    title = (
        f"{called}: {counted(fit.n_components, nouns.component)} of "
        f"{counted(len(fit.component_counts), nouns.document)} and "
        f"{counted(layout.n_words, nouns.word)}"
    )
    told = fit.describe()
    seconds = "" if told["seconds"] is None else f", {told['seconds']:,.3g} s"
    rows = {
        "model": told["model"],
        "algorithm": f"{told['algorithm']}, {counted(fit.n_cycles, 'cycle')}{seconds}",
        "state": str(fit.verdict()),
    }
    if fit.learnt:
        rows["learnt"] = fit.learnt
    return frame(title, facts(rows), _components(fit), _trace(fit))


def _components(fit: Any) -> str:
    """Return a table of the components: of questions, a few answers and typical documents."""
    found, nouns = fit.summary(WORDS, DOCUMENTS), fit.nouns
    questions = len(fields_of(fit.layout, fit.group_totals)[1]) > 0
    largest = max((component.size for component in found), default=1.0) or 1.0

    def row(component: Any) -> str:
        cells = [
            f'<td style="white-space:nowrap;text-align:left">{safe(component.name)}</td>',
            f"<td>{bar(component.size / largest)}</td>",
            f'<td style="text-align:right">{100 * component.size:.1f}&nbsp;%</td>',
        ]
        texts = [_words(component, ANSWERS if questions else WORDS)]
        if questions:
            texts.append(", ".join(safe(document.name, 40) for document in component.documents))
        return "".join([*cells, *(f'<td style="text-align:left">{text}</td>' for text in texts)])

    titles = [nouns.component, "share of all", "", nouns.words]
    titles += [f"typical {nouns.documents}"] if questions else []
    head = "".join(f'<th style="text-align:left">{safe(title)}</th>' for title in titles)
    body = "".join(f"<tr>{row(component)}</tr>" for component in found[:COMPONENTS])
    more = len(found) - COMPONENTS
    below = f"<p>and {counted(more, f'smaller {safe(nouns.component)}')}</p>" if more > 0 else ""
    return (
        f'<table style="margin:0 0 .6em"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>{below}"
    )


def _words(component: Any, n: int) -> str:
    listed = component.distinctive or component.words
    return ", ".join(safe(word.name, 80) for word in listed[:n])


def _trace(fit: Any) -> str:
    """Draw the objective, cycle by cycle."""
    values = fit.trace["objective"] if len(fit.trace) > 1 else np.empty(0)
    values = values[np.isfinite(values)]
    if len(values) < 2:
        return ""
    n_tokens = max(float(fit.settings.get("tokens", fit.documents.totals.sum())), 1.0)
    points = _points(values)
    return (
        f'<p>Objective, from {values[0] / n_tokens:.4f} to {values[-1] / n_tokens:.4f} nats per '
        f'token:</p><svg role="img" aria-label="Objective by cycle" width="{WIDTH}" '
        f'height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"><polyline fill="none" stroke="#4a86bd" '
        f'stroke-width="2" points="{points}"/></svg>'
    )  # fmt: skip


def _points(values: Array) -> str:
    """Return the places of a line; the first cycles, far below the others, may be cut off."""
    at = np.unique(np.linspace(0, len(values) - 1, 120).round().astype(np.int64))
    low, high = float(np.quantile(values, 0.05)), float(values.max())
    part = np.clip((values[at] - low) / max(high - low, 1e-300), 0.0, 1.0)
    x, y = 2 + (WIDTH - 4) * at / max(at[-1], 1), 3 + (HEIGHT - 6) * (1 - part)
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
