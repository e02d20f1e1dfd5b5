# SPDX-License-Identifier: BSD-3-Clause
"""Measurements as data: each is written at once, so that an interrupted run can be resumed."""

from __future__ import annotations

import datetime
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from discan.data.storage import write_whole

__all__ = ["Results", "machine"]

Row = dict[str, Any]


class Results:
    """All measurements of a benchmark, kept in one JSON file.

    Parameters
    ----------
    path : Path
    about : dict
        Facts of the run: machine, date, versions.
    resume : bool
        Keep the measurements of the file and do not repeat them.
    seconds : float, optional
        Time limit: no measurement starts later; those left out are listed.
    """

    def __init__(
        self, path: Path, about: Row, resume: bool = False, seconds: float = float("inf")
    ) -> None:
        self.path = path
        self.about = about
        self.rows: list[Row] = []
        self.left_out: list[str] = []
        self._until = time.monotonic() + seconds
        if resume and path.exists():
            held = json.loads(path.read_text("utf-8"))
            self.rows, self.about = held["rows"], {**held["about"], "resumed": about["date"]}

    @classmethod
    def read(cls, path: Path) -> Results:
        """Read the measurements of a file, to report them."""
        results = cls(path, {"date": ""}, resume=True)
        results.about.pop("resumed", None)
        results.left_out = json.loads(path.read_text("utf-8"))["left_out"]
        return results

    def measure(
        self, section: str, cell: str, tool: str, repeat: int, work: Callable[[], Row], **facts: Any
    ) -> None:
        """Run the work and keep its result, unless it is known already or the time is over."""
        name = f"{section}: {cell}, {tool}"
        if self.select(section, cell=cell, tool=tool, repeat=repeat):
            return
        if time.monotonic() > self._until:
            if name not in self.left_out:
                self.left_out.append(name)
            return
        began = time.perf_counter()
        try:
            found = work()
        except Exception as error:  # a peer that fails must not stop the benchmark
            found = {"error": f"{type(error).__name__}: {error}"}
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
        row = {"section": section, "cell": cell, "tool": tool, "repeat": repeat, **facts, **found}
        self.rows.append({**row, "load": load, "took": round(time.perf_counter() - began, 2)})
        self.write()
        print(f"{name} #{repeat + 1}: {_short(found)}", file=sys.stderr, flush=True)

    def select(self, section: str, **facts: Any) -> list[Row]:
        """Return the rows of a section with these facts, in the order of measurement."""
        return [
            row
            for row in self.rows
            if row["section"] == section and all(row.get(key) == facts[key] for key in facts)
        ]

    def good(self, section: str, **facts: Any) -> list[Row]:
        """Return the same rows without those that failed."""
        return [row for row in self.select(section, **facts) if "error" not in row]

    def cells(self, section: str) -> list[str]:
        """Return the cells of a section that were measured, in order."""
        return list(dict.fromkeys(row["cell"] for row in self.good(section)))

    def write(self) -> None:
        """Write all measurements; the file is either the old one or the whole new one."""
        whole = {"about": self.about, "left_out": self.left_out, "rows": self.rows}
        write_whole(self.path, json.dumps(whole, indent=1).encode("utf-8"))


def machine() -> Row:
    """Describe the machine and the date."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].partition(":")[2].strip() if lines else model
    return {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="minutes"),
        "processor": model,
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def _short(found: Row) -> str:
    """Return the last point of a curve, or the figures, as text."""
    if found.get("points"):
        seconds, passes, value = found["points"][-1]
        return f"{seconds:.2f} s, {passes:.4g} passes, {value:.4g}"
    shown = {key: value for key, value in found.items() if isinstance(value, (int, float, str))}
    return ", ".join(
        f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
        for key, value in shown.items()
    )
