# SPDX-License-Identifier: BSD-3-Clause
"""Runs: what was read of a table and is kept on disk, each with a mark of where reading stood.

So a conversion that was interrupted goes on behind the last run that is whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, ClassVar

from discan.data.folders.array_file import ArrayFile
from discan.data.storage import read_file, write_file
from discan.errors import DiscanError
from discan.typing import Array

__all__ = ["RUN", "Mark", "Spool"]

RUN = ".run"  # ending of the file of a run
_KIND = "run"

Mark = dict[str, Any]
"""Where reading stands, and what it has learnt since the mark before, as JSON can hold it."""


class Spool:
    """Collect parts of a table and write them in runs.

    Parameters
    ----------
    folder : Path
        Where the runs are written; the caller removes it.
    key : str
        Stands for the data and for how they are read: runs with another key are of no use.
    """

    UNIT: ClassVar[str]  # what is collected
    COUNTED: ClassVar[str]  # the array of a run that has one number for each

    def __init__(self, folder: Path, key: str = "") -> None:
        self._folder, self._key = folder, key
        self._runs: list[ArrayFile] = []
        self.n_entries = 0

    def restored(self) -> Iterator[Mark]:
        """Take the runs that an earlier conversion left, as far as they are whole.

        Iterates over their marks. All other runs are removed in the end.
        """
        kept = set()
        while True:
            path = self._next()
            try:
                header, arrays = read_file(path, _KIND)
            except DiscanError:
                break
            kept.add(path)
            self._runs.append(ArrayFile(path, _KIND))
            self.n_entries += arrays[self.COUNTED].size
            yield header["mark"]
        self.remove(kept)

    def remove(self, kept: Collection[Path] = ()) -> None:
        """Remove the files of all runs but some."""
        for path in self._folder.glob(f"*{RUN}"):
            if path not in kept:
                path.unlink(missing_ok=True)

    def _write(self, mark: Mark, arrays: dict[str, Array]) -> None:
        """Write the next run."""
        path = self._next()
        write_file(path, _KIND, {"mark": mark}, arrays)
        self._runs.append(ArrayFile(path, _KIND))

    def _next(self) -> Path:
        """Return the name of the next run."""
        return self._folder / f"{len(self._runs):06}-{self._key}{RUN}"
