# SPDX-License-Identifier: BSD-3-Clause
"""Find the files of a public data set: a local copy, or a download with its checksum."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from discan.errors import InputError

__all__ = ["PublicFiles", "StrPath", "data_folder"]

StrPath = str | os.PathLike[str]


@dataclass(frozen=True)
class PublicFiles:
    """Where a public set is found: names of its main file, and an address for people.

    ``sha256`` holds the checksums of the files that can be fetched from ``url``, the main first.
    """

    title: str
    files: tuple[str, ...]
    address: str
    companions: tuple[str, ...] = ()
    url: str = ""
    sha256: Mapping[str, str] = field(default_factory=dict)

    def locate(self, path: StrPath | None) -> Path:
        """Find the main file: at ``path``, in the data folder, or by fetching it."""
        if path is not None:
            given = Path(path)
            if not given.exists():
                raise InputError(f"{given}: no such file or folder")
            found = given if given.is_file() else _search(given, self.files)
            if found is None:
                raise InputError(f"{given}: holds none of {', '.join(self.files)}")
            return found
        folder = data_folder()
        found = _search(folder, self.files) if folder.is_dir() else None
        return self._fetch(folder) if found is None else found

    def _fetch(self, folder: Path) -> Path:
        """Fetch the files into the folder, each with its checksum; return the main one."""
        if not self.url:
            raise self._absent(folder, "it is not fetched, because it has no known checksum")
        try:
            import pooch  # type: ignore[import-untyped,unused-ignore]
        except ImportError:
            reason = "fetching it needs the package pooch (pip install pooch)"
            raise self._absent(folder, reason) from None
        paths = []
        for name, checksum in self.sha256.items():
            url = self.url + name if self.url.endswith("/") else self.url
            try:
                fetched = pooch.retrieve(url, f"sha256:{checksum}", fname=name, path=folder)
            except (OSError, ValueError) as error:
                reason = f"fetching {name} failed ({type(error).__name__})"
                raise self._absent(folder, reason) from error
            paths.append(Path(fetched))
        return paths[0]

    def _absent(self, folder: Path, reason: str) -> InputError:
        companions = f" (and {', '.join(self.companions)})" if self.companions else ""
        return InputError(
            f"{self.title}: no local copy, and {reason}; get it from {self.address} and put "
            f"{self.files[0]}{companions} into {folder}, or give its path"
        )


def data_folder() -> Path:
    """Return the folder where data are looked for: ``$DISCAN_DATA``, else discan's cache."""
    chosen = os.environ.get("DISCAN_DATA")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        root = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        root = "~/Library/Caches"
    else:
        root = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(root).expanduser() / "discan"


def _search(folder: Path, names: Iterable[str]) -> Path | None:
    """Look for the first of the names in a folder and two levels below."""
    for name in names:
        for pattern in (name, f"*/{name}", f"*/*/{name}"):
            for found in sorted(folder.glob(pattern)):
                return found
    return None
