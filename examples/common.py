# SPDX-License-Identifier: BSD-3-Clause
"""What the examples share: the folder of the data, and the report."""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discan import __version__
from discan.errors import InputError
from discan.plot import save

__all__ = ["Report", "data_folder", "mean_and_error", "needed", "standard_error"]

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "results"


def data_folder(name: str, *files: str) -> Path | None:
    """Find a folder of data with these files in `data_root`; None if it is absent."""
    folder = data_root() / name
    return folder if all((folder / file).is_file() for file in files) else None


def data_root() -> Path:
    """``$DISCAN_DATA`` or, if that is not set, ``../shared/data``."""
    chosen = os.environ.get("DISCAN_DATA")
    return Path(chosen).expanduser() if chosen else ROOT.parent / "shared" / "data"


def needed(name: str, *files: str) -> Path:
    """Find a folder of data; if it is absent, print a line and exit without an error."""
    found = data_folder(name, *files)
    if found is None:
        folder = data_root() / name
        missing = [file for file in files if not (folder / file).is_file()]
        print(
            f"data absent: no {', '.join(missing)} in {folder}; nothing to do (the environment "
            "variable DISCAN_DATA names the folder of all data)"
        )
        sys.exit(0)
    return found


def standard_error(values: Any) -> float:
    """Standard error of a mean."""
    return float(np.std(values, ddof=1) / len(values) ** 0.5)


def mean_and_error(values: Any, sign: str = "", digits: int = 4) -> str:
    """Mean and standard error as text; ``sign="+"`` shows the sign of a difference."""
    return f"{np.mean(values):{sign}.{digits}f} ± {standard_error(values):.{digits}f}"


class Report:
    """Print the result of an example, and keep it as Markdown with its figures beside it.

    Parameters
    ----------
    name : str
        Name of the files: ``docs/results/<name>.md``, ``<name>-<figure>.svg``.
    title : str
        First line of the page.
    lead : str
        The question, in one or two sentences: the first paragraph.

    Attributes
    ----------
    quick : bool
        Whether ``--quick`` was given: little data and short runs, written to a temporary folder
        unless ``--out`` names one.
    out : Path
        Folder of the files.
    """

    def __init__(self, name: str, title: str, lead: str) -> None:
        options = argparse.ArgumentParser(description=title)
        options.add_argument("--quick", action="store_true", help="a short run, as a test")
        options.add_argument("--out", type=Path, help="folder to write to (docs/results)")
        given = options.parse_args()
        self.name = self.script = name
        self.title, self.lead, self.quick = title, lead, given.quick
        temporary = Path(tempfile.gettempdir(), "discan-examples")
        self.out: Path = given.out or (temporary if given.quick else RESULTS)
        self.parts: list[str] = []
        self.files: list[Path] = []
        self.began = time.perf_counter()

    def say(self, text: str) -> None:
        """Add a paragraph, or a heading."""
        print(text, end="\n\n", flush=True)
        self.parts.append(text)

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Add a table: the first column and lists to the left, all others to the right."""
        cells = [[str(cell) for cell in row] for row in [heads, *rows]]
        columns = list(zip(*cells, strict=True))
        widths = [max(map(len, column)) for column in columns]
        is_left = [n == 0 or (", " in c[1] and c[1][0].isalpha()) for n, c in enumerate(columns)]
        lines = []
        for row in cells:
            parts = zip(row, widths, is_left, strict=True)
            padded = [cell.ljust(w) if left else cell.rjust(w) for cell, w, left in parts]
            lines.append("| " + " | ".join(padded) + " |")
        ends = ["-" if left else ":" for left in is_left]
        rule = "|".join("-" * (w + 1) + end for w, end in zip(widths, ends, strict=True))
        self.say("\n".join([lines[0], f"|{rule}|", *lines[1:]]))

    def figure(self, figure: Any, name: str, caption: str) -> None:
        """Save a Plotly figure as SVG, and as PNG where a browser can draw it; show it."""
        self.out.mkdir(parents=True, exist_ok=True)
        path = self.out / f"{self.name}-{name}.svg"
        self.files.append(save(figure, path))
        if not self.quick:
            try:
                self.files.append(save(figure, path.with_suffix(".png")))
            except InputError:
                pass  # no browser: only the SVG
        self.parts.append(f"![{caption}]({path.name})")

    def write(self, **settings: Any) -> Path:
        """Write the page: title, lead, all parts; then date, version, settings, seconds, machine.

        Parameters
        ----------
        **settings
            Settings for a repetition; underscores are shown as spaces.
        """
        seconds = time.perf_counter() - self.began
        head = {
            "date": datetime.date.today().isoformat(),
            "discan": __version__,
            **{key.replace("_", " "): value for key, value in settings.items()},
            "seconds": f"{seconds:.0f}",
            "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
            f"Python {platform.python_version()}",
        }
        lines = [f"- {key}: {value}" for key, value in head.items()]
        how = ["## How it was run", f"Written by `examples/{self.script}.py`.", "\n".join(lines)]
        page = "\n\n".join([f"# {self.title}", self.lead, *self.parts, *how]) + "\n"
        self.out.mkdir(parents=True, exist_ok=True)
        path = self.out / f"{self.name}.md"
        path.write_text(page, "utf-8")
        print(f"{seconds:.0f} s. Written:", *[path, *self.files], sep="\n  ")
        return path
