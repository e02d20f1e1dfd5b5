# SPDX-License-Identifier: BSD-3-Clause
"""A progress bar is shown in a notebook that has ipywidgets, and not in a pipe."""

import importlib.util
import sys
from types import SimpleNamespace

import pytest

from discan.fitting import progress


class ZMQInteractiveShell:
    """What a notebook's shell is called."""


class TerminalInteractiveShell:
    """What IPython's shell in a terminal is called."""


@pytest.mark.parametrize(
    ("shell", "widgets", "expected"),
    [
        (ZMQInteractiveShell(), True, True),
        (ZMQInteractiveShell(), False, False),
        (TerminalInteractiveShell(), True, False),
        (None, True, False),
    ],
    ids=["notebook", "no widgets", "terminal", "no shell"],
)
def test_in_a_notebook(monkeypatch, shell, widgets, expected):
    shown = []
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: widgets or None)
    monkeypatch.setattr("rich.progress.Progress", lambda *a, **k: shown.append(1) or FakeBar())
    with progress.progress_bar(3, None):
        pass
    assert bool(shown) is expected


class FakeBar:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def add_task(self, *_, **__):
        return 0
