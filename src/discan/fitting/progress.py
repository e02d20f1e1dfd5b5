# SPDX-License-Identifier: BSD-3-Clause
"""A progress bar on stderr: on in a terminal and in a notebook, off in a pipe."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(n_cycles: int, wanted: bool | None) -> Iterator[Callable[[Any], None]]:
    """Yield a function to call with the run after each cycle."""
    if wanted is None:
        wanted = sys.stderr.isatty() or _in_notebook()
    if not wanted:
        yield lambda run: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Remaining(),
        TextColumn("{task.fields[note]}"),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("fit", total=n_cycles, note="")

        def show(run: Any) -> None:
            objective = run.trace.last("objective") / max(float(run.training.n_tokens), 1.0)
            speed = run.trace.last("tokens_per_second")
            note = f"{objective:.4f} nats/token  {speed / 1e6:.2f} M tokens/s"
            bar.update(task, completed=run.cycle, note=note)

        yield show


def _in_notebook() -> bool:
    """Tell whether a notebook can show a bar; Rich needs ipywidgets for it."""
    interactive: Any = sys.modules.get("IPython")
    shell = interactive.get_ipython() if interactive is not None else None
    is_notebook = type(shell).__name__ == "ZMQInteractiveShell"
    return is_notebook and importlib.util.find_spec("ipywidgets") is not None
