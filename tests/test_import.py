# SPDX-License-Identifier: BSD-3-Clause
"""Importing discan is light, and every public name loads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import discan

SOURCE = Path(__file__).parents[1] / "src"
HEAVY = {"pandas", "polars", "plotly", "dask", "sklearn", "numba", "scipy", "rich", "numpy"}


def run(code):
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout.split()


def test_import_is_light():
    loaded = run("import sys, discan; print(*{m.split('.')[0] for m in sys.modules})")
    assert "discan" in loaded
    assert not HEAVY & set(loaded)


def test_errors_can_be_caught_without_the_rest():
    loaded = run("import sys, discan; discan.InputError; print(*sys.modules)")
    assert "numba" not in loaded
    assert "sklearn" not in loaded


def test_an_estimator_waits_for_a_fit_to_load_numba():
    loaded = run("import sys, discan; discan.LDA(5, learn=('alpha',)); print(*sys.modules)")
    assert "sklearn.base" in loaded
    assert not {"numba", "plotly", "sklearn.feature_extraction"} & set(loaded)


def test_fitting_needs_no_extras():
    loaded = run(
        "import sys, numpy as np, discan\n"
        "discan.LDA(2, max_iter=2).fit(np.ones((3, 4), dtype=int))\n"
        "print(*{m.split('.')[0] for m in sys.modules})"
    )
    # scikit-learn itself may load pandas
    assert not {"polars", "plotly", "dask"} & set(loaded)


def test_plotly_waits_for_a_figure():
    loaded = run("import sys, discan; discan.plot.membership; print(*sys.modules)")
    assert "discan.plot" in loaded
    assert "plotly" not in loaded
    assert "plot" in dir(discan)


@pytest.mark.parametrize(
    ("before", "enabled", "frozen"),
    [("", "True", "False"), ("gc.disable()", "False", "False"), ("gc.freeze()", "True", "True")],
    ids=["as usual", "turned off", "frozen"],
)
def test_the_garbage_collector_is_left_as_it_was(before, enabled, frozen):
    # some versions of Python begin with frozen objects
    said = run(
        f"import gc, discan; first = gc.get_freeze_count(); {before}\n"
        "discan.DCA; print(gc.isenabled(), gc.get_freeze_count() > first)"
    )
    assert said == [enabled, frozen]


@pytest.mark.parametrize("name", discan.__all__)
def test_every_name_loads(name):
    assert name in dir(discan)
    value = getattr(discan, name)
    assert value.__name__ == name
    assert (value.__doc__ or "").strip()


def test_nothing_else():
    discan.DCA, discan.plot  # noqa: B018  # both import modules of ours
    assert set(dir(discan)) == {*discan.__all__, "plot", "search", "__doc__", "__version__"}
    assert isinstance(discan.__version__, str)
    assert sorted(set(discan.__all__)) == list(discan.__all__)
    assert not hasattr(discan, "nonsense")
    with pytest.raises(ImportError):
        exec("from discan import nonsense")


@pytest.mark.parametrize("module", [discan.plot, discan.search])
def test_modules_list_their_public_names_alone(module):
    assert set(dir(module)) == {*module.__all__, "__doc__"}


def test_star_import():
    names = run("from discan import *; print(*dir())")
    assert set(discan.__all__) <= set(names)


# ---- kernels that are compiled when first needed ----

FIT = (
    "import numpy as np, discan\n"
    "discan.DCA(2, algorithm='map', max_iter=2, random_state=0).fit(30 * np.eye(4, dtype=int))\n"
    "discan.DCA(2, model='gp', algorithm='map', max_iter=2).fit(30 * np.eye(4, dtype=int))\n"
    "print('done')"
)


def test_the_first_compilation_is_announced_once(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "NUMBA_CACHE_DIR": str(tmp_path)}
    said = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", FIT], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout == "done\n"
        said.append(done.stderr)
    first, second = said
    assert first.count("\n") == 1
    assert "compiles the kernels" in first
    assert f"later runs load them from {tmp_path}" in first
    assert second == ""
