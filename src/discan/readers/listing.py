# SPDX-License-Identifier: BSD-3-Clause
"""List the files of a folder, in order and without leaving it."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from discan.errors import StorageError

__all__ = ["LOOKED_AT", "printable", "text_files"]

log = logging.getLogger("discan")

LOOKED_AT = 100  # files of a folder, to guess what they are
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def text_files(root: str, pattern: str) -> Iterator[str]:
    """Iterate over the paths of files under a folder, relative to it, in order.

    Links are followed to files of the folder alone: a folder from elsewhere must not make us read
    other files. One folder at a time is listed, so that millions of files in many folders fit.
    """
    inside = os.path.join(os.path.realpath(root), "")
    n_outside = 0
    left = [""]  # paths to visit, the next one last; that of a folder ends in a separator
    while left:
        path = left.pop()
        if path and not path.endswith(os.sep):
            yield path
            continue
        found = []
        try:
            with os.scandir(os.path.join(root, path)) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        found.append(path + entry.name + os.sep)
                    elif entry.is_file() and fnmatchcase(entry.name, pattern):
                        if entry.is_symlink() and not _is_inside(entry.path, inside):
                            n_outside += 1
                        else:
                            found.append(path + entry.name)
        except OSError as error:
            place = printable(os.path.join(root, path))
            raise StorageError(f"{place}: cannot be listed: {error.strerror}") from None
        left += sorted(found, reverse=True)
    if n_outside:
        log.warning("%s: %d links that lead out of the folder were skipped", root, n_outside)


def _is_inside(path: str, folder: str) -> bool:
    """Whether a link leads to a file of a folder, whose real name ends in a slash."""
    return os.path.realpath(path).startswith(folder)


def printable(name: str) -> str:
    """Return a file's name as one line of proper Unicode; names on disk may be any bytes."""
    return name if name.isprintable() else _UNPRINTABLE.sub("\ufffd", name)
