# SPDX-License-Identifier: BSD-3-Clause
"""Every figure has a file of its own name, and every file but the shared ones a figure."""

from pathlib import Path

from discan import plot

SHARED = {
    "__init__", "drawing", "export", "inputs", "lettering", "marks", "ordering", "page", "palette",
    "panels", "pdf", "placing", "scene", "subjects", "svg", "theme",
}  # fmt: skip
OTHERS = {"colours", "save", "to_svg"}  # public functions that make no figure


def test_a_figure_has_a_file_of_its_own_name():
    files = {path.stem for path in Path(plot.__file__).parent.glob("*.py")}
    figures = set(plot.__all__) - OTHERS
    assert files - SHARED == figures
    for name in figures:
        assert getattr(plot, name).__module__ == f"discan.plot.{name}"
