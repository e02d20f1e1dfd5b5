# SPDX-License-Identifier: BSD-3-Clause
"""Plant an error in a sampler: in a model's score table, or in a line of a kernel."""

import inspect
import textwrap

import numba

__all__ = ["mutated", "with_table"]


def mutated(kernel, *changes):
    """Compile a kernel with pieces of its source replaced: (old, new), ..."""
    source = textwrap.dedent(inspect.getsource(kernel.py_func))
    source = source[source.index("def ") :]
    for old, new in changes:
        assert source.count(old) == 1, f"{old!r} occurs {source.count(old)} times; adapt the test"
        source = source.replace(old, new)
    scope = dict(kernel.py_func.__globals__)
    exec(source, scope)
    return numba.njit(error_model="numpy")(scope[kernel.py_func.__name__])


def with_table(monkeypatch, model, change):
    """Let ``change(model, table, exposure)`` replace the score table of a model."""
    original = model.score_table
    monkeypatch.setattr(
        model,
        "score_table",
        lambda self, exposure: change(self, original(self, exposure), exposure),
    )
