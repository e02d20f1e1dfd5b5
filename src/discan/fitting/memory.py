# SPDX-License-Identifier: BSD-3-Clause
"""How much memory there is for a fit, and a clear error if that is too little."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from discan.data.locks import system_module
from discan.errors import LimitError

__all__ = ["available", "check_memory", "enough_memory", "gibibytes"]

_GROUPS = Path("/sys/fs/cgroup")
_STATUS = Path("/proc/self/status")
_OWN_GROUPS = Path("/proc/self/cgroup")
_UNLIMITED = 2**60  # what version 1 of the control groups says where there is no limit


def available() -> tuple[int, str] | None:
    """Return the bytes that this process may still take, and which limit says so.

    It is the least of the machine's memory, the limits of control groups (containers, job
    schedulers) and those of the process (ulimit -v, ulimit -d). None if the system tells nothing.
    """
    resident, virtual, data = (_held(name) for name in ("VmRSS", "VmSize", "VmData"))
    limits = []
    machine = _physical()
    if machine is not None:
        limits.append((machine - resident, f"this machine has {gibibytes(machine)}"))
    group = _of_groups()
    if group is not None:
        limits.append((group - resident, f"its control group allows {gibibytes(group)}"))
    for name, held, option in (("RLIMIT_AS", virtual, "v"), ("RLIMIT_DATA", data, "d")):
        limit = _of_process(name)
        if limit is not None:
            limits.append((limit - held, f"ulimit -{option} allows {gibibytes(limit)}"))
    return min(limits) if limits else None


def check_memory(
    needed: int,
    what: str = "this fit",
    remedy: str = "use fewer components, or fewer documents or words",
) -> None:
    """Refuse what cannot be held, before anything is allocated."""
    found = available()
    if found is not None and needed > found[0]:
        raise _too_little(needed, found, what, remedy)


@contextlib.contextmanager
def enough_memory(what: str, needed: int | None = None) -> Iterator[None]:
    """Turn a MemoryError into one line that says what to do.

    ``what`` needs memory, about ``needed`` bytes if that is known.
    """
    try:
        yield
    except MemoryError:
        raise _too_little(needed, available(), what) from None


def _too_little(
    needed: int | None, found: tuple[int, str] | None, what: str,
    remedy: str = "use fewer components, or fewer documents or words",
) -> LimitError:  # fmt: skip
    known = "more memory than there is"
    about = known if needed is None else f"about {gibibytes(needed)} of memory"
    limit = "" if found is None else f"; {found[1]}, of which {gibibytes(max(found[0], 0))} is left"
    return LimitError(f"{what} needs {about}{limit}", remedy=remedy)


def gibibytes(n_bytes: int) -> str:
    """Return a number of bytes in words."""
    return f"{n_bytes / 2**30:.3g} GiB"


def _physical() -> int | None:
    """Memory of the machine."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None  # not on this system


def _of_process(name: str) -> int | None:
    """Limit of the process; None if there is none."""
    module = system_module("resource")
    if module is None or not hasattr(module, name):
        return None
    limit: int = module.getrlimit(getattr(module, name))[0]
    return None if limit == module.RLIM_INFINITY else limit


def _of_groups() -> int | None:
    """Least limit of the control groups of the process and of those above them."""
    limits = []
    for line in _lines(_OWN_GROUPS):
        number, controllers, own = [*line.split(":", 2), "", ""][:3]
        if number == "0" and not controllers:
            root, name = _GROUPS, "memory.max"
        elif "memory" in controllers.split(","):
            root, name = _GROUPS / "memory", "memory.limit_in_bytes"
        else:
            continue
        folder = root / own.lstrip("/")
        # inside a container the group's own folder may be mounted as the root
        for above in (folder, *folder.parents):
            limits += [int(text) for text in _lines(above / name) if text.isdigit()]
            if above == root:
                break
    known = [limit for limit in limits if limit < _UNLIMITED]
    return min(known) if known else None


def _held(name: str) -> int:
    """Bytes that the process holds now; 0 if the system does not tell."""
    for line in _lines(_STATUS):
        if line.startswith(f"{name}:"):
            return 1024 * int(line.split()[1])
    return 0


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("ascii", "replace").split("\n")
    except OSError:
        return []
