# SPDX-License-Identifier: BSD-3-Clause
"""Which figures a command can draw of a model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from discan.errors import InputError, StorageError

__all__ = ["KINDS", "draw", "plot_kinds"]

KINDS = {
    "membership": "a bar for each document",
    "structure": "thousands of documents, group by group",
    "squares": "documents in shaded squares, in rows",
    "heatmap": "words or answers by component",
    "map": "which components are alike",
    "trace": "how the fit went",
}
LABELLED = ("structure", "squares")


def plot_kinds() -> list[tuple[str, str]]:
    """Kinds to complete with."""
    return list(KINDS.items())


def draw(estimator: Any, kind: str, labels: Path | None, title: str | None) -> Any:
    """Make the figure of a kind."""
    from discan import plot

    if labels is not None and kind not in LABELLED:
        raise InputError(f"labels are for {' and '.join(LABELLED)}, not for {kind}; leave them out")
    named: dict[str, Any] = {} if title is None else {"title": title}
    given = None if labels is None else _read_labels(labels)
    if kind == "structure":
        return plot.structure(estimator, given, **named)
    if kind == "squares":
        return plot.membership_squares(estimator, rows=given, order="similar", **named)
    if kind == "membership":
        return plot.membership(estimator, order="similar", **named)
    others: dict[str, Callable[..., Any]] = {
        "heatmap": plot.heatmap,
        "map": plot.component_map,
        "trace": plot.trace,
    }
    return others[kind](estimator, **named)


def _read_labels(path: Path) -> list[str]:
    """Read a label a line."""
    try:
        return path.read_text("utf-8").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{path}: not text in UTF-8") from None
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror or error}") from None
