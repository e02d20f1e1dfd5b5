# SPDX-License-Identifier: BSD-3-Clause
"""Write and read checksummed files of arrays; a file is written whole or not at all.

A file is in the safetensors format. Its metadata hold our header as JSON text under ``discan`` and
the SHA-256 of that text under ``sha256``; the header holds the SHA-256 of every tensor. Nothing is
ever unpickled.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from discan import __version__
from discan.data.foreign import foreign
from discan.data.intake import reason
from discan.errors import ModelFileError, StorageError
from discan.typing import Array

__all__ = ["FORMAT", "HEAD", "locked", "probe", "read_file", "write_file", "write_whole"]

FORMAT = 1
HEAD = ("format", "kind", "library", "sha256")
"""What a file's header holds besides what was given to ``write_file``."""


def write_file(
    path: Path, kind: str, header: Mapping[str, Any], arrays: Mapping[str, Array]
) -> None:
    """Write a file; at any moment ``path`` is either the old file or the whole new one."""
    from safetensors.numpy import save

    ordered = {name: np.ascontiguousarray(arrays[name]) for name in sorted(arrays)}
    sums = {name: _sha(value) for name, value in ordered.items()}
    full = {"format": FORMAT, "kind": kind, "library": __version__, **header, "sha256": sums}
    text = json.dumps(full, ensure_ascii=True, allow_nan=False)
    digest = hashlib.sha256(text.encode()).hexdigest()
    write_whole(path, save(ordered, metadata={"discan": text, "sha256": digest}))


def read_file(path: Path, kind: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """Read a file; if anything is wrong with it, raise a ModelFileError with the reason."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as stream:
            metadata = stream.metadata() or {}
            header = _header(path, metadata, kind)
            arrays = {name: stream.get_tensor(name) for name in stream.keys()}
    except FileNotFoundError:
        raise ModelFileError(f"{path}: no such file") from None
    except (IsADirectoryError, PermissionError) as error:
        raise StorageError(f"{path}: {error.strerror or error}") from None
    except (SafetensorError, OSError, TypeError, AttributeError) as error:
        found = foreign(path) or f"not a whole discan file ({reason(error)})"
        raise ModelFileError(f"{path}: {found}") from None
    sums = header.get("sha256")
    if not isinstance(sums, dict) or set(sums) != set(arrays):
        raise ModelFileError(f"{path}: arrays are missing or superfluous; the file is damaged")
    for name, value in arrays.items():
        if _sha(value) != sums[name]:
            raise ModelFileError(f"{path}: array {name!r} fails its checksum; the file is damaged")
    return header, arrays


def write_whole(path: str | os.PathLike[str], data: bytes | str) -> None:
    """Write a file; at any moment ``path`` is either the old file or the whole new one.

    Text is written as UTF-8. A device or a pipe is written to directly.
    """
    path = Path(path)
    content = data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data
    with _storage_errors(path):
        if _is_device(path):
            path.write_bytes(content)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(memoryview(content))
                stream.flush()
                os.fsync(stream.fileno())
            os.chmod(name, _mode(path))
            os.replace(name, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
        _sync(path.parent)


def probe(path: Path) -> None:
    """Raise an error before the work starts, if ``path`` cannot be written."""
    if path.is_dir():
        raise StorageError(f"{path}: is a folder; name a file")
    if _is_device(path):
        return
    with _storage_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=".discan-", dir=path.parent)
        os.close(descriptor)
        os.unlink(name)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder for this process; a second process is refused, a dead one holds no lock."""
    import fcntl

    with _storage_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        stream = (folder / "lock").open("a+")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        stream.seek(0)
        holder = stream.read().strip() or "unknown"
        stream.close()
        raise StorageError(
            f"{folder}: in use by process {holder}; wait for it, or stop it"
        ) from None
    try:
        stream.truncate(0)
        stream.write(str(os.getpid()))
        stream.flush()
        yield
    finally:
        stream.close()


def _header(path: Path, metadata: Mapping[str, str], kind: str) -> dict[str, Any]:
    text = metadata.get("discan")
    if text is None:
        raise ModelFileError(f"{path}: a safetensors file, but not one of discan's")
    if hashlib.sha256(text.encode()).hexdigest() != metadata.get("sha256"):
        raise ModelFileError(f"{path}: the header fails its checksum; the file is damaged")
    try:
        header = json.loads(text, object_pairs_hook=_no_twins, parse_constant=_no_constants)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{path}: unreadable header ({reason(error)})") from None
    if not isinstance(header, dict) or header.get("kind") != kind:
        found = header.get("kind") if isinstance(header, dict) else None
        raise ModelFileError(f"{path}: holds {_a(found)}, not {_a(kind)}")
    version = header.get("format")
    if not isinstance(version, int) or version > FORMAT:
        raise ModelFileError(
            f"{path}: format {version}, written by discan {header.get('library')}; this is discan "
            f"{__version__}, which reads formats up to {FORMAT}: upgrade discan"
        )
    return header


def _sync(folder: Path) -> None:
    """Make sure that the new name of a file is on the disk too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_device(path: Path) -> bool:
    """Whether a path is a device or a pipe, which is written to directly."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _mode(path: Path) -> int:
    """Return the permissions of any new file, or those of the file that is replaced."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sweep(path: Path) -> None:
    """Remove the drafts that killed processes left behind."""
    for left in path.parent.glob(f".{path.name}.*.tmp"):
        with contextlib.suppress(OSError):
            left.unlink()


@contextlib.contextmanager
def _storage_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if isinstance(error, StorageError):
            raise
        reason = error.strerror or str(error)
        if error.errno == errno.ENOSPC:
            reason = "no space left on the disk"
        raise StorageError(f"{path}: {reason}") from None


def _sha(value: Array) -> str:
    digest = hashlib.sha256(f"{value.dtype.str} {value.shape} ".encode())
    digest.update(np.ascontiguousarray(value).data if value.size else b"")
    return digest.hexdigest()


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key stands twice")
    return result


def _no_constants(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _a(kind: Any) -> str:
    """Word a kind of file: "a model", "the settings of a run"."""
    return {"settings": "the settings of a run", "state": "the state of a run"}.get(
        str(kind), f"a {kind}"
    )
