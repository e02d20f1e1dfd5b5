# SPDX-License-Identifier: BSD-3-Clause
"""What every reader shares: opening files safely and guessing formats."""

from __future__ import annotations

import bz2
import gzip
import inspect
import io
import logging
import lzma
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from discan.data.corpus import Corpus
from discan.errors import InputError, LimitError, StorageError

__all__ = ["READERS", "Option", "Reader", "Source", "guess", "read", "reader"]

log = logging.getLogger("discan")

MAX_UNPACKED = 2**30  # bytes; beyond it a file that shrank a hundredfold is taken for a bomb
MAX_RATIO = 100
MAX_LINE = 2**28  # bytes

PACKED = (".gz", ".xz", ".bz2", ".zst")


class Source:
    """A file or folder to read, with its decompression and its limits.

    ``name`` is the file's name in lower case without a suffix of compression.
    """

    def __init__(self, path: str | os.PathLike[str], max_unpacked: int = MAX_UNPACKED) -> None:
        if not os.fspath(path):
            raise InputError("the name of the file to read is empty")
        self.path = Path(path)
        self.max_unpacked = max_unpacked
        mode = _mode(self.path)
        self.is_folder = stat.S_ISDIR(mode)
        if not self.is_folder and not stat.S_ISREG(mode):
            raise InputError(
                f"{self.path}: a pipe or a device, not a file or folder; save it to a file first"
            )
        self.name = self.path.name.lower()
        for suffix in PACKED:
            self.name = self.name.removesuffix(suffix)

    def open(self, path: Path | None = None) -> BinaryIO:
        """Open for reading bytes, unpacked; the same for another file of the family."""
        path = path or self.path
        try:
            raw: Any = path.open("rb")
            start = raw.peek(6)
        except OSError as error:
            raise StorageError(f"{path}: {error.strerror or error}") from None
        unpack = next(
            (opener for magic, opener in _OPENERS.items() if start.startswith(magic)), None
        )
        if unpack is None:
            return cast("BinaryIO", raw)
        limit = max(self.max_unpacked, MAX_RATIO * path.stat().st_size)
        return cast("BinaryIO", io.BufferedReader(_Limited(unpack(raw), path, limit), 2**16))

    def lines(self, path: Path | None = None) -> Iterator[tuple[int, str]]:
        """Iterate over (line number from 1, text without its end of line), UTF-8 checked."""
        path = path or self.path
        with self.open(path) as stream:
            number = 0
            try:
                # Bounded, so that a file without ends of line does not fill the memory.
                parts = iter(partial(stream.readline, MAX_LINE + 1), b"")
                for number, line in enumerate(parts, start=1):
                    if len(line) > MAX_LINE:
                        raise LimitError(
                            f"{path}, line {number}: longer than {MAX_LINE:,} bytes; is it text?"
                        )
                    if number == 1:
                        line = line.removeprefix(b"\xef\xbb\xbf")
                    yield number, line.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{path}, line {number}: byte {error.start} is not UTF-8; convert the file to "
                    "UTF-8 first"
                ) from None
            except (EOFError, zlib.error, lzma.LZMAError) as error:
                raise InputError(f"{path}: damaged compressed file ({error})") from None
            except OSError as error:
                raise StorageError(f"{path}: {error.strerror or error}") from None

    def head(self, n_bytes: int = 2**14) -> str:
        """Return the first characters, for guessing; empty for a folder or on any trouble."""
        if self.is_folder:
            return ""
        try:
            with self.open() as stream:
                return stream.read(n_bytes).decode("utf-8", errors="replace")
        except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError):
            return ""

    def error(self, line: int, message: str, path: Path | None = None) -> InputError:
        """Make an error that names the file and the line."""
        return InputError(f"{path or self.path}, line {line}: {message}")


class Option(NamedTuple):
    """An option of a reader: its name, its default, the type as written, and what it is."""

    name: str
    default: Any
    type: str
    help: str


@dataclass(frozen=True)
class Reader:
    """A format: its name, what it is, the endings and a test that tell it, and the function."""

    name: str
    summary: str
    endings: tuple[str, ...]
    sniff: Callable[[Source, str], bool] | None
    function: Callable[..., Corpus]

    @cached_property
    def options(self) -> dict[str, Option]:
        """What the function takes besides the source, from its signature and docstring."""
        result: dict[str, Option] = {}
        parameters = dict(inspect.signature(self.function).parameters)
        helps = _described(self.function)
        if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            from discan.readers.words import TextOptions

            parameters |= inspect.signature(TextOptions).parameters
            helps |= _described(TextOptions)
        for p in list(parameters.values())[1:]:
            if p.kind is not p.VAR_KEYWORD:
                result[p.name] = Option(p.name, p.default, str(p.annotation), helps.get(p.name, ""))
        return result

    @property
    def is_text(self) -> bool:
        """Whether it counts the words of texts."""
        return "stop_words" in self.options


READERS: dict[str, Reader] = {}


def reader(
    name: str,
    summary: str,
    endings: tuple[str, ...] = (),
    sniff: Callable[[Source, str], bool] | None = None,
) -> Callable[[Callable[..., Corpus]], Callable[..., Corpus]]:
    """Register ``function(source, **options) -> Corpus`` under a name; use as a decorator.

    ``sniff(source, head)`` says whether the source looks like this format.
    """

    def decorate(function: Callable[..., Corpus]) -> Callable[..., Corpus]:
        READERS[name] = Reader(name, summary, endings, sniff, function)
        return function

    return decorate


def read(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    max_unpacked: int = MAX_UNPACKED,
    **options: Any,
) -> Corpus:
    """Read a file or folder into a corpus.

    Parameters
    ----------
    path : file or folder; .gz, .xz, .bz2 and .zst are unpacked on the way
    format : name of a reader (``discan.readers.READERS``), guessed if not given
    max_unpacked : int, default=2**30
        A file that unpacks to more bytes than this, and than a hundred times its size, is taken
        for a bomb and refused.
    **options
        Options of the reader, e.g. ``field`` for JSON lines or ``stop_words`` for text.
    """
    source = Source(path, max_unpacked)
    if format is None:
        format = guess(source)
        log.info("%s: read as %s", source.path, format)
    if format not in READERS:
        raise InputError(f"format={format!r} is not known; use one of {', '.join(READERS)}")
    known = READERS[format].options
    for name in options:
        if name not in known:
            raise InputError(
                f"{source.path}: read as {format}, which has no option {name!r}; it has "
                f"{', '.join(known) or 'none'}"
            )
    return READERS[format].function(source, **options)


def guess(source: Source) -> str:
    """Guess the format: by what the content looks like among the readers of its ending."""
    head = source.head()
    by_ending = [r for r in READERS.values() if r.endings and source.name.endswith(r.endings)]
    others = list(READERS.values())
    if by_ending and not source.is_folder and not source.name.endswith(".txt"):
        others = []  # such an ending says what the file is meant to be: its reader tells the fault
    for candidates in (by_ending, others):
        for found in candidates:
            if found.sniff is not None and found.sniff(source, head):
                return found.name
    if by_ending:
        return by_ending[0].name
    if not source.is_folder and source.path.stat().st_size == 0:
        raise InputError(f"{source.path}: the file is empty")
    raise InputError(
        f"{source.path}: cannot tell the format; say which with format=..., one of "
        f"{', '.join(READERS)}"
    )


class _Limited(io.RawIOBase):
    """Count unpacked bytes while reading, and stop a decompression bomb."""

    def __init__(self, stream: Any, path: Path, limit: int) -> None:
        self._stream, self._path, self._limit, self._seen = stream, path, limit, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            part = self._stream.read(len(buffer))
        except Exception as error:  # each library of compression has errors of its own
            raise InputError(f"{self._path}: damaged compressed file ({error})") from None
        self._seen += len(part)
        if self._seen > self._limit:
            raise LimitError(
                f"{self._path}: unpacks to more than {self._limit:,} bytes; unpack it yourself if "
                "you trust it, or raise max_unpacked"
            )
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self._stream.close()
        super().close()


def _open_zst(raw: Any) -> Any:
    try:
        import zstandard  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise InputError(
            "reading .zst files needs the package zstandard: pip install zstandard"
        ) from None
    return _Zst(raw, zstandard.ZstdDecompressor().decompressobj)


class _Zst:
    """Unpack .zst, frame by frame; the library's own reader takes a file cut short for whole."""

    def __init__(self, raw: Any, new_frame: Callable[[], Any]) -> None:
        self._raw, self._new_frame = raw, new_frame
        self._frame: Any = None
        self._rest = b""  # packed, not yet looked at
        self._ready = b""  # unpacked, not yet given

    def read(self, size: int) -> bytes:
        while not self._ready:
            # Little at a time: a few bytes may unpack to very many.
            part = self._rest or self._raw.read(2**10)
            self._rest = b""
            if not part:
                if self._frame is not None:
                    raise EOFError("it is cut short")
                return b""
            if self._frame is None:
                self._frame = self._new_frame()
            self._ready = self._frame.decompress(part)
            if self._frame.eof:
                self._rest, self._frame = self._frame.unused_data, None
        result, self._ready = self._ready[:size], self._ready[size:]
        return result

    def close(self) -> None:
        self._raw.close()


def _mode(path: Path) -> int:
    """Return the kind of a file; say so in one line if there is none."""
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{path}: no such file or folder") from None
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:  # a NUL in the name
        raise InputError(f"{str(path)!r} is no name of a file ({error})") from None


def _described(thing: Any) -> dict[str, str]:
    """Read the section of parameters of a docstring: {name: text}."""
    result: dict[str, str] = {}
    names: list[str] = []
    lines = inspect.getdoc(thing) or ""
    _, _, section = lines.partition("Parameters\n----------\n")
    for line in section.splitlines():
        if not line.strip():
            break
        if line.startswith(" "):
            for name in names:
                result[name] = f"{result[name]} {line.strip()}".strip()
        else:
            heads, _, kind = line.partition(" : ")
            names = re.findall(r"\w+", heads)
            result |= dict.fromkeys(names, f"({kind})" if kind else "")
    return result


# How a compressed file begins, and what opens it.
_OPENERS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"BZh": bz2.open,
    b"\x28\xb5\x2f\xfd": _open_zst,
}
