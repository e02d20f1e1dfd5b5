# SPDX-License-Identifier: BSD-3-Clause
"""Callbacks of scikit-learn, from its version 1.9 on: each cycle is a task of the fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from discan.data.corpus import Corpus
from discan.fitting.run import Run

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _managed
except ImportError:  # an older scikit-learn

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """No callbacks."""

    def _managed(method: Any) -> Any:
        return method


__all__ = ["CallbackSupportMixin", "cycle_tasks", "with_callbacks"]

After = Callable[[Run], Any] | None
Method = TypeVar("Method", bound=Callable[..., Any])


def with_callbacks(method: Method) -> Method:
    """Tear callbacks down when the method ends, in whatever way."""
    managed: Method = _managed(method)
    return managed


@contextmanager
def cycle_tasks(estimator: Any, run: Run, corpus: Corpus, n_cycles: int) -> Iterator[After]:
    """Give a function to call after each cycle: the estimator's own, and those of scikit-learn.

    The hooks of a cycle, for its begin and its end, are called when it has ended. A cycle after
    which a hook returns True is the last one.
    """
    if not getattr(estimator, "_skl_callbacks", None):
        yield estimator.callback
        return
    fit_task = estimator._init_callback_context(max_subtasks=n_cycles)
    fit_task.call_on_fit_task_begin(estimator=estimator, X=corpus)

    def after(run: Run) -> bool:
        stop = estimator.callback is not None and estimator.callback(run)
        given = {"estimator": estimator, "X": corpus}
        task = fit_task.subcontext(task_name="cycle")
        task.call_on_fit_task_begin(**given)
        known = {"reconstruction_attributes": lambda: {"fit_": run.result()}}
        return task.call_on_fit_task_end(**given, **known) or bool(stop)

    yield after
    fit_task.call_on_fit_task_end(
        estimator=estimator, X=corpus,
        reconstruction_attributes=lambda: {"fit_": run.result()},
    )  # fmt: skip
