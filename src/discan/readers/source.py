# SPDX-License-Identifier: BSD-3-Clause
"""Open files safely: decompression, limits, lines, and errors that name the place."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import logging
import lzma
import os
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any, BinaryIO, cast

from discan.data.corpus import Corpus
from discan.data.intake import reason
from discan.data.regular import open_regular
from discan.errors import DiscanError, InputError, LimitError, StorageError

__all__ = [
    "MAX_LINE",
    "MAX_RATIO",
    "MAX_UNPACKED",
    "PACKED_STARTS",
    "UTF16",
    "Source",
    "TextSource",
    "unpacked_name",
]

log = logging.getLogger("discan")

MAX_UNPACKED = 2**30  # bytes; a file that unpacks to more, and a hundredfold, is refused as a bomb
MAX_RATIO = 100
MAX_LINE = 2**28  # bytes

PACKED = (".gz", ".bgz", ".xz", ".bz2", ".zst")
ALONE = (".csv", ".tsv", ".tab", ".dat", ".data", ".json", ".jsonl", ".ndjson", ".vcf")
"""Endings of data that are often packed in a zip archive of their own."""

UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Source:
    """A file or folder to read, with its decompression and its limits.

    ``name`` is the file's name in lower case without a suffix of compression.
    """

    def __init__(self, path: str | os.PathLike[str], max_unpacked: int = MAX_UNPACKED) -> None:
        if not os.fspath(path):
            raise InputError("the name of the file to read is empty")
        self.path = _meant(Path(path))
        self.max_unpacked = max_unpacked
        self._limits: dict[Path, int] = {}
        self._remarked: set[tuple[Any, ...]] = set()
        mode = _mode(self.path)
        self.is_folder = stat.S_ISDIR(mode)
        if not self.is_folder and not stat.S_ISREG(mode):
            raise self.error("a pipe or a device, not a file or folder; save it to a file first")
        self.name = unpacked_name(self.path)
        self.member = _only_member(self.path) if self.name.endswith(".zip") else None
        if self.member is not None:
            log.info("%s: holds one file, %s, which is read", self.path, self.member)
            self.name = unpacked_name(Path(self.member))

    def limit(self, path: Path | None = None) -> int:
        """Return the largest number of bytes that the file may unpack to."""
        path = path or self.path
        if path not in self._limits:  # asked once: a file may be removed while it is read
            self._limits[path] = max(self.max_unpacked, MAX_RATIO * path.stat().st_size)
        return self._limits[path]

    def check_unpacked(self, n_bytes: int, path: Path | None = None) -> None:
        """Refuse a file that unpacks to more bytes than the limit."""
        limit = self.limit(path)
        if n_bytes > limit:
            raise self.error(
                f"unpacks to more than {limit:,} bytes",
                path=path,
                kind=LimitError,
                remedy="unpack it yourself if you trust it, or raise max_unpacked",
            )

    def open(self, path: Path | None = None) -> BinaryIO:
        """Open the file, or another file of its family, to read its unpacked bytes."""
        path = path or self.path
        with self.faults("cannot be opened", path):
            raw: Any = open_regular(path)
            start = raw.peek(6)
            unpack = next(
                (_UNPACKERS[magic] for magic in PACKED_STARTS if start.startswith(magic)), None
            )
            if path == self.path and self.member is not None:
                unpack = partial(_open_member, name=self.member)
            if unpack is not None:
                raw = io.BufferedReader(_Limited(self, path, unpack(raw)), 2**16)
                start = raw.peek(6)
            if start.startswith(UTF16):
                raw = io.BufferedReader(_Limited(self, path, _AsUtf8(raw)), 2**16)
        return cast("BinaryIO", raw)

    def lines(self, path: Path | None = None, lenient: bool = False) -> Iterator[tuple[int, str]]:
        """Iterate over (line number from 1, text without its end of line), UTF-8 checked.

        If ``lenient``, a line that is not UTF-8 is read as Windows-1252, which is remarked on.
        """
        number = n_others = 0
        with self.open(path) as stream, self.faults("cannot be read", path):
            try:
                # Each read is bounded: a file without ends of line must not fill the memory.
                parts = iter(partial(stream.readline, MAX_LINE + 1), b"")
                for number, line in enumerate(parts, start=1):
                    if len(line) > MAX_LINE:
                        problem = f"longer than {MAX_LINE:,} bytes; is it text?"
                        raise self.error(problem, number, path, LimitError)
                    if number == 1:
                        line = line.removeprefix(b"\xef\xbb\xbf")
                    try:
                        text = line.decode("utf-8")
                    except UnicodeDecodeError:
                        if not lenient or line.startswith((b"\xff\xfe", b"\xfe\xff")):
                            raise
                        text = line.decode("cp1252", errors="replace")
                        n_others += 1
                    yield number, text.rstrip("\r\n")
            except UnicodeDecodeError as error:
                problem = f"byte {error.start} is not UTF-8; convert the file to UTF-8 first"
                raise self.error(problem, number, path) from None
        if n_others:
            remark = "%s: %d lines are not UTF-8 and were read as Windows-1252 (Latin-1)"
            self.warn_once(remark, path or self.path, n_others)

    def warn_once(self, remark: str, *arguments: Any) -> None:
        """Log a warning, unless it was logged while the format was guessed."""
        if (remark, *arguments) not in self._remarked:
            self._remarked.add((remark, *arguments))
            log.warning(remark, *arguments)

    @cached_property
    def head(self) -> str:
        """The first characters, for guessing; empty for a folder or if they cannot be read."""
        if self.is_folder:
            return ""
        try:
            with self.open() as stream:
                return stream.read(2**14).decode("utf-8", errors="replace")
        except (DiscanError, OSError):
            return ""

    def beside(self, *names: str) -> Path | None:
        """Find the first of the names in the folder of this file, packed or not."""
        candidates = (self.path.with_name(name + end) for name in names for end in ("", *PACKED))
        return next((path for path in candidates if path.is_file()), None)

    def corpus(self, counts: Any, **parts: Any) -> Corpus:
        """Make a corpus of a table of counts; an error names the file."""
        with self.naming():
            return Corpus(counts, **parts)

    @contextmanager
    def enough_memory(self) -> Iterator[None]:
        """Word the error that there is too little memory to read the file."""
        try:
            yield
        except MemoryError:
            problem = "there is not enough memory to read it; split it, or leave out rare words"
            raise self.error(problem, kind=LimitError) from None

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Put the name of the file before the message of an error."""
        try:
            yield
        except (InputError, LimitError) as error:
            if error.problem.startswith(f"{self.path}"):
                raise
            problem = f"{self.path}: {error.problem}"
            fields = {"argument": error.argument, "value": error.value, "use": error.use}
            raise type(error)(problem, remedy=error.remedy, **fields) from None

    def error(
        self,
        problem: str,
        line: int | None = None,
        path: Path | None = None,
        kind: type[DiscanError] = InputError,
        **fields: Any,
    ) -> DiscanError:
        """Make an error that names the file and the line; ``fields`` are those of the error."""
        place = f"{path or self.path}" if line is None else f"{path or self.path}, line {line}"
        return kind(f"{place}: {problem}", **fields)

    @contextmanager
    def faults(self, problem: str, path: Path | None = None) -> Iterator[None]:
        """Turn what libraries raise on damaged files into one error that names the file."""
        try:
            yield
        except (DiscanError, MemoryError):
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.strerror:
                raise self.error(error.strerror, path=path, kind=StorageError) from None
            raise self.error(f"{problem} ({reason(error)})", path=path) from None


def unpacked_name(path: Path) -> str:
    """Return the name of a file in lower case, without a suffix of compression."""
    name = path.name.lower()
    for suffix in PACKED:
        name = name.removesuffix(suffix)
    return name


class _Limited(io.RawIOBase):
    """Count unpacked bytes while reading, and stop a decompression bomb."""

    def __init__(self, source: Source, path: Path, stream: Any) -> None:
        self._source, self._path, self._stream, self._seen = source, path, stream, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            part = self._stream.read(len(buffer))
        except Exception as error:  # each compression library has its own errors
            problem = f"damaged compressed file ({reason(error)})"
            raise self._source.error(problem, path=self._path) from None
        self._seen += len(part)
        self._source.check_unpacked(self._seen, self._path)
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self._stream.close()
        super().close()


class _AsUtf8:
    """Read UTF-16, as Excel's "Unicode text" is, as UTF-8."""

    def __init__(self, raw: Any) -> None:
        self._raw, self._decoder = raw, codecs.getincrementaldecoder("utf-16")()

    def read(self, size: int) -> bytes:
        while part := self._raw.read(max(2, size // 4)):  # a character may take twice the bytes
            if text := self._decoder.decode(part):
                return text.encode("utf-8")
        self._decoder.decode(b"", final=True)
        return b""

    def close(self) -> None:
        self._raw.close()


class _Zst:
    """Unpack .zst frame by frame; the library's own reader accepts a file that is cut short."""

    def __init__(self, raw: Any) -> None:
        try:
            import zstandard  # type: ignore[import-not-found,unused-ignore]
        except ImportError:
            problem = "reading .zst files needs the package zstandard: pip install zstandard"
            raise InputError(problem) from None
        self._raw, self._new_frame = raw, zstandard.ZstdDecompressor().decompressobj
        self._frame: Any = None
        self._rest = b""  # packed, not yet unpacked
        self._ready = b""  # unpacked, not yet returned

    def read(self, size: int) -> bytes:
        while not self._ready:
            # Small parts: a few packed bytes may unpack to very many.
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


def _only_member(path: Path) -> str | None:
    """Return the name of the one file in a zip archive, if it is no text of its own."""
    try:
        with zipfile.ZipFile(path) as archive:
            files = [member for member in archive.infolist() if not member.is_dir()]
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return None
    names = [file.filename for file in files if not file.filename.startswith("__MACOSX/")]
    return names[0] if len(names) == 1 and names[0].lower().endswith(ALONE) else None


def _open_member(raw: Any, name: str) -> Any:
    return zipfile.ZipFile(raw).open(name)


class TextSource(Source):
    """Text in memory, read as a file ``name`` would be; ``title`` is its name in remarks."""

    def __init__(self, title: str, text: bytes, name: str = "table.csv") -> None:
        self.path, self.name, self.is_folder = Path(title), name, False
        self.member = None
        self._remarked = set()
        self.max_unpacked = len(text)
        self._text = text

    def open(self, path: Path | None = None) -> BinaryIO:
        """Return the text as a stream of bytes."""
        return io.BytesIO(self._text)


def _meant(path: Path) -> Path:
    """Return the .bed file of PLINK whose name is given without its ending, as PLINK takes it."""
    bed = path.with_name(f"{path.name}.bed") if path.name else path
    try:
        return bed if not path.exists() and bed.is_file() else path
    except (OSError, ValueError):
        return path


def _mode(path: Path) -> int:
    """Return the mode of a file, or raise an error in one line."""
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{path}: no such file or folder") from None
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:  # a NUL in the name
        raise InputError(f"{str(path)!r} is no name of a file ({error})") from None


# How a compressed file begins, and what opens it.
_UNPACKERS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"BZh": bz2.open,
    b"\x28\xb5\x2f\xfd": _Zst,
}
PACKED_STARTS = tuple(_UNPACKERS)
