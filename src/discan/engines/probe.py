# SPDX-License-Identifier: BSD-3-Clause
"""What a process is: versions, sources, processor. Workers with other answers are refused."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import secrets
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import discan

__all__ = ["Fingerprint", "Probed", "fingerprint", "probe"]

PACKAGES = ("numpy", "numba", "llvmlite", "scipy")


class Fingerprint(NamedTuple):
    """What decides the bits of an answer beside data and settings."""

    discan: str
    sources: str
    python: str
    packages: tuple[tuple[str, str], ...]
    processor: str

    def difference(self, other: Fingerprint) -> str:
        """Say how another process differs in its versions; "" if it does not."""
        if self.discan != other.discan:
            return f"discan {other.discan}, here {self.discan}"
        if self.python != other.python:
            return f"Python {other.python}, here {self.python}"
        for (name, here), (_, there) in zip(self.packages, other.packages, strict=True):
            if here != there:
                return f"{name} {there}, here {here}"
        if self.sources != other.sources:
            return "other source files of discan than here"
        return ""


class Probed(NamedTuple):
    """What a worker answered."""

    fingerprint: Fingerprint
    problem: str  # with the folder; "" if there is none


@cache
def fingerprint() -> Fingerprint:
    """Return what this process is."""
    return Fingerprint(
        discan.__version__,
        _sources(),
        ".".join(platform.python_version_tuple()[:2]),
        tuple((name, _version(name)) for name in PACKAGES),
        _processor(),
    )


def probe(folder: str, token: str) -> Probed:
    """Try in a worker whether it sees the run folder, and can write to it.

    The folder holds a file ``token``, with that text.
    """
    problem = ""
    try:
        if (Path(folder) / token).read_text() != token:
            problem = "sees another folder"
        mine = Path(folder) / secrets.token_hex(8)
        mine.write_text(token)
        with contextlib.suppress(OSError):
            os.unlink(mine)
    except FileNotFoundError:
        problem = "does not see the run folder"
    except OSError as error:
        problem = f"cannot use the run folder ({error.strerror})"
    return Probed(fingerprint(), problem)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


def _sources() -> str:
    """Return a digest of all source files."""
    root = Path(discan.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + b"\0")
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _processor() -> str:
    """Name the processor that Numba compiles for, and its features."""
    from llvmlite import binding  # type: ignore[import-untyped, unused-ignore]

    name = os.environ.get("NUMBA_CPU_NAME") or binding.get_host_cpu_name()
    features = os.environ.get("NUMBA_CPU_FEATURES")
    if features is None:
        found = {} if name == "generic" else binding.get_host_cpu_features()
        features = ",".join(sorted(feature for feature, has in found.items() if has))
    return f"{name} ({hashlib.sha256(features.encode()).hexdigest()[:8]})"
