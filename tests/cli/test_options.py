# SPDX-License-Identifier: BSD-3-Clause
"""Options: wrong usage, and what each one changes."""

import os

import numpy as np
import pytest

import discan
from discan.cli.options import _bytes
from discan.cli.reading import _value


@pytest.mark.parametrize(
    "arguments",
    [
        ["nosuch"],
        ["fit"],
        ["fit", "x"],
        ["fit", "x", "-o", "y", "-k", "0"],
        ["fit", "x", "-o", "y", "-k", "two"],
        ["fit", "x", "-o", "y", "--model", "nosuch"],
        ["fit", "x", "-o", "y", "--algorithm", "nosuch"],
        ["fit", "x", "-o", "y", "--burn-in", "3"],
        ["fit", "x", "-o", "y", "--option", "nonsense"],
        ["fit", "x", "-o", "y", "--min-df", "many"],
        ["fit", "x", "-o", "y", "--max-unpacked", "much"],
        ["fit", "x", "-o", ""],
        ["fit", "x", "-o", "y", "--seed", "-1"],
        ["info", __file__, "--format", "nosuch"],
        ["show", "x", "--json", "--csv"],
        ["formats", "nosuch"],
        ["demo", "nosuch"],
        ["demo", "text", "-o", "x.html"],
    ],
    ids=" ".join,
)
def test_wrong_usage(run, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if arguments[0] == "show":
        discan.DCA(2, max_iter=1).fit(np.eye(3)).save(tmp_path / "x")
    out, err = run(*arguments, code=2)
    assert out == ""
    assert "Usage" in err
    assert sorted(os.listdir(tmp_path)) == (["x"] if arguments[0] == "show" else [])


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("1", "int", 1), ("1", "str", "1"), ("1", "str | None", "1"),
        ("1", "Iterable[str]", ("1",)),
        ("a,b", "Iterable[str]", ("a", "b")), ("1,2", "int | Sequence[int]", (1, 2)),
        ("x", "str | os.PathLike[str] | Iterable[str] | None", "x"), ("false", "bool", False),
        ("0.5", "float | None", 0.5), (",", "str | None", ","), (r"\t", "str | None", "\t"),
        ("a,b", "Any", ("a", "b")), ([1], "Any", [1]),
    ],
)  # fmt: skip
def test_values_of_options(text, kind, expected):
    assert _value(text, kind) == expected


@pytest.mark.parametrize(("text", "size"), [("1", 1), ("4k", 4096), ("1.5G", 3 * 2**29)])
def test_sizes(text, size):
    assert _bytes(text) == size
