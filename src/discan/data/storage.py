# SPDX-License-Identifier: BSD-3-Clause
"""Write and read checksummed files of arrays; a file is written whole or not at all.

A file is in the safetensors format. Its metadata hold our header as JSON text under ``discan`` and
the SHA-256 of that text under ``sha256``; the header holds the SHA-256 of every tensor. The same
content gives the same bytes. Nothing is ever unpickled.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import stat
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from discan import __version__
from discan.data.drafts import Place, replace_file, storage_errors, try_place
from discan.data.foreign import foreign
from discan.data.intake import reason
from discan.data.regular import open_regular
from discan.errors import InputError, LimitError, ModelFileError, StorageError, shown
from discan.typing import Array

__all__ = [
    "FORMAT", "HEAD", "StoredArray", "parse_json", "probe", "read_file", "read_places",
    "write_file", "write_whole",
]  # fmt: skip

FORMAT = 1
HEAD = ("format", "kind", "library")
"""What a file's header holds besides what was given to ``write_file``."""
# Types of arrays, as the safetensors format calls them.
_TYPES = {
    "f8": "F64", "f4": "F32", "f2": "F16", "i8": "I64", "i4": "I32", "i2": "I16", "i1": "I8",
    "u8": "U64", "u4": "U32", "u2": "U16", "u1": "U8", "b1": "BOOL",
}  # fmt: skip
# Longer lists of names are kept as arrays: a header of more than 100 MB is not read.
_MANY_NAMES = 10_000
_LARGEST_HEADER = 100_000_000
_AT_ONCE = 2**30  # bytes; some systems read no more at a time
_NAMES = "names."


# ---- writing ----


def write_file(
    path: str | os.PathLike[str],
    kind: str,
    header: Mapping[str, Any],
    arrays: Mapping[str, Array],
    *,
    follow: bool = True,
) -> None:
    """Write a file; at any moment ``path`` is either the old file or the whole new one.

    A link is followed to the file that it names, or refused if ``follow`` is False. So is anything
    that is not a regular file.
    """
    place = Place.of(path, follow)
    place.check_regular()
    kept = {name: _plain(name, value) for name, value in arrays.items()}
    header = _with_names_apart(dict(header), kept, "")
    ordered = dict(sorted(kept.items(), key=lambda item: (-item[1].itemsize, item[0])))
    full = {
        "format": FORMAT, "kind": kind, "library": __version__, **header,
        "sha256": {name: _sha(ordered[name]) for name in sorted(ordered)},
    }  # fmt: skip
    replace_file(place, _parts(json.dumps(full, ensure_ascii=True, allow_nan=False), ordered))


def write_whole(path: str | os.PathLike[str], data: bytes | str, *, follow: bool = True) -> None:
    """Write a file; at any moment ``path`` is either the old file or the whole new one.

    Text is written as UTF-8. A device or a pipe is written to directly. A link is followed, or
    refused if ``follow`` is False.
    """
    place = Place.of(path, follow)
    content = data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data
    if place.is_special:
        with storage_errors(place.path):
            place.path.write_bytes(content)
    else:
        replace_file(place, [content])


def probe(path: str | os.PathLike[str], *, directly: bool = False, follow: bool = True) -> None:
    """Raise an error before the work starts, if ``path`` cannot be written.

    ``directly`` tells whether a device or a pipe will do, which is not tried; ``follow`` whether a
    link is followed or refused.
    """
    place = Place.of(path, follow)
    if not directly:
        place.check_regular()
    if not place.is_special:
        try_place(place)


def _parts(text: str, arrays: Mapping[str, Array]) -> Iterator[bytes | memoryview]:
    """Iterate over the bytes of a file in the safetensors format: header, then arrays."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    entries: dict[str, Any] = {"__metadata__": {"discan": text, "sha256": digest}}
    end = 0
    for name, value in arrays.items():
        kind = _TYPES[value.dtype.str[1:]]
        begin, end = end, end + value.nbytes
        entries[name] = {"dtype": kind, "shape": list(value.shape), "data_offsets": [begin, end]}
    head = json.dumps(entries, ensure_ascii=True, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    if len(head) > _LARGEST_HEADER:
        raise LimitError("the names and settings take more than 100 MB; leave names out")
    yield len(head).to_bytes(8, "little") + head
    for value in arrays.values():
        yield value.reshape(-1).view(np.uint8).data


def _plain(name: str, value: Array) -> Array:
    """Return an array as the file holds it: contiguous, and with the lowest byte first."""
    value = np.asarray(value, order="C")
    if value.dtype.str[1:] not in _TYPES:
        raise InputError(f"{name}: arrays of type {value.dtype} cannot be saved; use numbers")
    return value.astype(value.dtype.newbyteorder("<"), copy=False)


def _with_names_apart(value: Any, arrays: dict[str, Array], path: str) -> Any:
    """Put long lists of names into arrays of bytes, and note in the header where they are."""
    if isinstance(value, dict):
        return {str(k): _with_names_apart(v, arrays, f"{path}.{k}") for k, v in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [_with_names_apart(v, arrays, f"{path}.{n}") for n, v in enumerate(value)]
    many = isinstance(value, (list, tuple)) and len(value) > _MANY_NAMES
    if not many or not all(item is None or isinstance(item, str) for item in value):
        return value
    text = json.dumps(value, ensure_ascii=True).encode()
    name = f"{_NAMES}{len(arrays)}{path}"
    arrays[name] = np.frombuffer(text, dtype=np.uint8)
    return {"names": name}


# ---- reading ----


def read_file(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """Read a file; if anything is wrong with it, raise a ModelFileError with the reason.

    Checksums tell damage, not deceit: what a header and arrays mean is for the caller to check.
    The file is read and not mapped: a mapped file that is cut short would kill the process.
    """
    try:
        with _opened(path) as stream:
            header, places = _head(path, stream, kind)
            arrays = {name: _array(path, stream, name, place) for name, place in places.items()}
        return _verified(path, header, arrays), arrays
    except MemoryError:
        raise LimitError(f"{path}: there is not enough memory to load it") from None


def _verified(
    path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, Array]
) -> Any:
    """Compare the arrays with their checksums; return the header, with its long lists of names."""
    sums = header.pop("sha256", None)
    if not isinstance(sums, dict) or set(sums) != set(arrays):
        raise ModelFileError(f"{path}: arrays are missing or superfluous; the file is damaged")
    for name, value in arrays.items():
        if _sha(value) != sums[name]:
            raise ModelFileError(
                f"{path}: array {shown(name)} fails its checksum; the file is damaged"
            )
    return _with_names_back(path, header, arrays)


@contextlib.contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file; what is none is refused: a pipe would never end."""
    _check_file(path)
    with storage_errors(path), open_regular(path) as stream:
        yield stream


def _array(path: str | os.PathLike[str], stream: BinaryIO, name: str, place: StoredArray) -> Array:
    """Read an array."""
    try:
        result = np.empty(place.shape, dtype=place.dtype)
    except (ValueError, OverflowError):  # too many dimensions, or a size beside a 0
        raise ModelFileError(f"{path}: array {shown(name)} has no possible shape") from None
    view = result.reshape(-1).view(np.uint8)
    stream.seek(place.start)
    at = 0
    while at < view.size:
        n_bytes = stream.readinto(view[at : at + _AT_ONCE].data)  # type: ignore[attr-defined]
        if not n_bytes:
            raise ModelFileError(f"{path}: cut short while it was read")
        at += n_bytes
    if place.dtype == np.bool_ and view.size and view.max() > 1:
        raise ModelFileError(f"{path}: array {shown(name)} holds what is neither true nor false")
    return result


def _check_file(path: str | os.PathLike[str]) -> None:
    """Refuse anything but a file: reading a pipe would never end."""
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise ModelFileError(f"{path}: no such file") from None
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:
        raise ModelFileError(f"{str(path)!r} is not a file name ({error})") from None
    if stat.S_ISDIR(mode):
        raise StorageError(f"{path}: a folder (directory), not a file")
    if not stat.S_ISREG(mode):
        raise ModelFileError(f"{path}: a device or a pipe, not a file")
    if not os.access(path, os.R_OK):
        raise StorageError(f"{path}: permission denied")


def _header(path: str | os.PathLike[str], metadata: Mapping[str, str]) -> dict[str, Any]:
    text = metadata.get("discan")
    if not isinstance(text, str):
        raise ModelFileError(f"{path}: a safetensors file, but not one of discan's")
    if hashlib.sha256(text.encode("utf-8", "replace")).hexdigest() != metadata.get("sha256"):
        raise ModelFileError(f"{path}: the header fails its checksum; the file is damaged")
    header = parse_json(path, text)
    if not isinstance(header, dict):
        raise ModelFileError(f"{path}: holds {_a(None)}, not a file of discan's")
    version = header.get("format")
    if type(version) is not int or not 1 <= version <= FORMAT:
        raise ModelFileError(
            f"{path}: format {_word(version)}, written by discan {_word(header.get('library'))}; "
            f"this is discan {__version__}, which reads formats up to {FORMAT}: upgrade discan"
        )
    return header


class StoredArray(NamedTuple):
    """Where a file holds an array: its type and shape, and the place of its first byte."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int


def read_places(
    path: str | os.PathLike[str], kind: str
) -> tuple[dict[str, Any], dict[str, StoredArray]]:
    """Read the header of a file, and where its arrays are, so that parts of them can be read.

    The checksum of the header is verified, and those of the arrays are not.
    """
    with _opened(path) as stream:
        return _head(path, stream, kind)


def _head(
    path: str | os.PathLike[str], stream: BinaryIO, kind: str
) -> tuple[dict[str, Any], dict[str, StoredArray]]:
    """Read the header of an open file, and where its arrays are: side by side, to its end."""
    size = os.fstat(stream.fileno()).st_size
    n_bytes = int.from_bytes(stream.read(8), "little")
    text = stream.read(n_bytes) if n_bytes <= min(size - 8, _LARGEST_HEADER) else b""
    if not text or len(text) != n_bytes:
        raise ModelFileError(f"{path}: {foreign(path) or 'not a whole discan file'}")
    try:
        entries = parse_json(path, text)
    except ModelFileError:
        if found := foreign(path):
            raise ModelFileError(f"{path}: {found}") from None
        raise
    metadata = entries.pop("__metadata__", None) if isinstance(entries, dict) else None
    if not isinstance(metadata, dict):
        raise ModelFileError(f"{path}: a safetensors file, but not one of discan's")
    header = _header(path, metadata)
    places = {name: _place(path, name, entry, 8 + n_bytes) for name, entry in entries.items()}
    end = 8 + n_bytes
    for place in sorted(places.values(), key=lambda place: (place.start, _n_bytes(place))):
        if place.start != end:
            raise ModelFileError(f"{path}: arrays overlap, or leave gaps; the file is damaged")
        end += _n_bytes(place)
    if end != size:
        problem = foreign(path) or f"holds {size:,} bytes, not {end:,}; the file is damaged"
        raise ModelFileError(f"{path}: {problem}")
    if header.get("kind") != kind:
        raise ModelFileError(f"{path}: holds {_a(header.get('kind'))}, not {_a(kind)}")
    return header, places


def _place(path: str | os.PathLike[str], name: str, entry: Any, start: int) -> StoredArray:
    """Return where an array is, as the header of a safetensors file says."""
    types = {kind: dtype for dtype, kind in _TYPES.items()}
    try:
        dtype = np.dtype("<" + types[entry["dtype"]])
        shape = tuple(entry["shape"])
        begin, end = entry["data_offsets"]
        sound = all(type(n) is int and n >= 0 for n in (*shape, begin, end))
        found = StoredArray(dtype, shape, start + begin)
        sound = sound and _n_bytes(found) == end - begin
    except (KeyError, TypeError, ValueError):
        sound = False
    if not sound:
        raise ModelFileError(f"{path}: the place of array {shown(name)} cannot be read")
    return found


def _n_bytes(place: StoredArray) -> int:
    return math.prod(place.shape) * place.dtype.itemsize


def parse_json(path: str | os.PathLike[str], text: str | bytes) -> Any:
    """Parse JSON strictly: no key twice, no infinite number."""
    try:
        return json.loads(
            text,
            object_pairs_hook=_no_twins,
            parse_constant=_no_constants,
            parse_float=_finite,
        )
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{path}: unreadable header ({reason(error)})") from None


def _with_names_back(path: str | os.PathLike[str], value: Any, arrays: dict[str, Array]) -> Any:
    """Put long lists of names back into the header."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [_with_names_back(path, item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    name = value.get("names")
    if set(value) != {"names"} or not isinstance(name, str) or not name.startswith(_NAMES):
        return {key: _with_names_back(path, item, arrays) for key, item in value.items()}
    kept = arrays.pop(name, None)
    if kept is None or kept.dtype != np.uint8 or kept.ndim != 1:
        raise ModelFileError(f"{path}: the list {shown(name)} is missing")
    return parse_json(path, kept.tobytes())


def _word(value: Any) -> str:
    """Return a value for a message, text as it is if it is short and printable."""
    plain = isinstance(value, str) and value.isprintable() and len(value) < 80
    return str(value) if plain else shown(value)


def _sha(value: Array) -> str:
    digest = hashlib.sha256(f"{value.dtype.str} {value.shape} ".encode())
    digest.update(np.ascontiguousarray(value).data if value.size else b"")
    return digest.hexdigest()


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key occurs twice")
    return result


def _no_constants(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _a(kind: Any) -> str:
    """Word a kind of file: "a model", "the settings of a run"."""
    known = {"settings": "the settings of a run", "state": "the state of a run"}
    return known.get(str(kind), f"a {_word(kind)}")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{text[:40]} is too large")
    return value
