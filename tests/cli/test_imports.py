# SPDX-License-Identifier: BSD-3-Clause
"""A command loads only the libraries that it needs: most of a short answer is loading."""

import subprocess
import sys

import pytest

# each takes longer to load than an answer may take
HEAVY = {"sklearn", "pandas", "polars", "pyarrow", "plotly", "joblib"}
CODE = (
    "import sys\n"
    "from discan.cli import main\n"
    "try:\n"
    "    main()\n"
    "finally:\n"
    "    print('loaded', *sorted({m.split('.')[0] for m in sys.modules}), file=sys.stderr)\n"
)
SURVEY = ("{survey}/m.discan", "{survey}/answers.csv")
TEXT = ("{place}/model/", "{place}/texts.jsonl")


@pytest.fixture
def loaded(environment, place, survey):
    """Run a command in a process of its own; return the packages that it loaded."""

    def run(*words):
        words = [word.format(place=place, survey=survey) for word in words]
        done = subprocess.run(
            [sys.executable, "-c", CODE, *words],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        last = done.stderr.splitlines()[-1].split()
        assert last[0] == "loaded"
        return set(last[1:])

    return run


@pytest.mark.parametrize(
    "words",
    [
        ("show", TEXT[0]),
        ("show", SURVEY[0], "--json"),
        ("info", TEXT[0]),
        ("info", TEXT[1]),
        ("convert", TEXT[1], "{place}/again.discan"),
        ("explore", *TEXT, "-o", "{place}/page.html"),
    ],
    ids=" ".join,
)
def test_looking_at_a_model_or_data_compiles_nothing(loaded, words):
    found = loaded(*words)
    assert "numpy" in found
    assert not (HEAVY | {"numba"}) & found


@pytest.mark.parametrize(
    "words",
    [
        ("transform", *TEXT),
        ("transform", *SURVEY, "--counts"),
        ("score", *TEXT),
        ("predict", *SURVEY, "--group", "pet"),
        ("impute", *SURVEY),
    ],
    ids=" ".join,
)
def test_a_model_is_applied_without_an_estimator(loaded, words):
    found = loaded(*words)
    assert "numba" in found
    assert not HEAVY & found


@pytest.mark.parametrize("words", [("--help",), ("fit", "--help"), ("--version",)], ids=" ".join)
def test_help_loads_no_numbers(loaded, words):
    assert not (HEAVY | {"numba", "numpy", "scipy"}) & loaded(*words)
