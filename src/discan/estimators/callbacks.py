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


__all__ = ["TakesCallbacks", "with_callbacks"]

After = Callable[[Run], Any] | None
Method = TypeVar("Method", bound=Callable[..., Any])


def with_callbacks(method: Method) -> Method:
    """Tear callbacks down when the method ends, in whatever way."""
    managed: Method = _managed(method)
    return managed


class TakesCallbacks(CallbackSupportMixin):
    """An estimator whose cycles are tasks for scikit-learn's callbacks."""

    callback: After

    @property
    def _has_callbacks(self) -> bool:
        """Whether scikit-learn's callbacks were set."""
        return bool(getattr(self, "_skl_callbacks", None))

    @contextmanager
    def _cycle_tasks(self, run: Run, corpus: Corpus, n_cycles: int) -> Iterator[After]:
        """Give a function to call after each cycle: ours, and those of scikit-learn.

        The hooks of a cycle, for its begin and its end, are called when it has ended. A cycle
        after which a hook returns True is the last one.
        """
        if not self._has_callbacks:
            yield self.callback
            return
        given = {"estimator": self, "X": corpus}
        fit_task = self._init_callback_context(max_subtasks=n_cycles)
        fit_task.call_on_fit_task_begin(**given)

        def fitted() -> dict[str, Any]:
            return {"fit_": run.result()}

        def after(run: Run) -> bool:
            stop = self.callback is not None and self.callback(run)
            task = fit_task.subcontext(task_name="cycle")
            task.call_on_fit_task_begin(**given)
            asked = task.call_on_fit_task_end(**given, reconstruction_attributes=fitted)
            return bool(asked or stop)

        yield after
        fit_task.call_on_fit_task_end(**given, reconstruction_attributes=fitted)
