# SPDX-License-Identifier: BSD-3-Clause
"""Read text: folders and archives of files, lines, JSON lines, MALLET, texts of several fields."""

from __future__ import annotations

import csv
import json
import logging
import os
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from fnmatch import fnmatchcase
from lzma import LZMAError
from pathlib import Path
from typing import Any

from discan.data.corpus import Corpus
from discan.errors import DiscanError, InputError, LimitError, StorageError
from discan.readers.source import MAX_LINE, MAX_RATIO, READERS, Source, reader
from discan.readers.words import TextCounts, TextOptions, find_surrogate

__all__ = [
    "read_archive",
    "read_fields",
    "read_folder",
    "read_jsonl",
    "read_lines",
    "read_mallet",
]

log = logging.getLogger("discan")

_PACKED_STARTS = (b"\x1f\x8b", b"\xfd7zXZ\x00", b"BZh", b"\x28\xb5\x2f\xfd")
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_JSON_LINES = (".jsonl", ".ndjson")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


# ---- one file a document ----


def _is_text_folder(source: Source, head: str) -> bool:
    return source.is_folder and not _is_claimed(source, head)


@reader("folder", "a folder of text files, one document each", sniff=_is_text_folder)
def read_folder(
    source: Source, *, encoding: str = "auto", pattern: str = "*", **options: Any
) -> Corpus:
    """Read a folder of text files and those of its subfolders, in order of their paths.

    Parameters
    ----------
    source : Source
        Hidden files and folders are passed over; compressed files are unpacked on the way.
    encoding : "auto" or the name of an encoding
        "auto" is UTF-8, and Latin-1 for files that are not UTF-8.
    pattern : str
        Read only files whose names match, e.g. ``"*.txt"``.
    **options
        Those of `discan.readers.words.TextOptions`.
    """
    if not source.is_folder:
        raise InputError(f"{source.path}: not a folder; use format='lines' or 'archive' for a file")
    counts = _counts(source, options)
    decode = _Decoder(encoding)
    names = []
    root = os.fspath(source.path)
    for name in _text_files(root, pattern):
        path = os.path.join(root, name)
        counts.add(decode(_file_bytes(source, path), path))
        names.append(_printable(name.replace(os.sep, "/")))
    if not names:
        raise InputError(f"{source.path}: no files that match {pattern!r} in this folder")
    decode.report(source.path)
    return counts.finish(names)


def _is_archive(source: Source, head: str) -> bool:
    is_tar = head[257:262] == "ustar"
    return is_tar or (source.name.endswith(".zip") and head.startswith("PK"))


@reader(
    "archive",
    "a tar or zip archive of text files, one document each",
    endings=(".tar", ".tgz", ".tbz2", ".txz", ".zip"),
    sniff=_is_archive,
)
def read_archive(
    source: Source, *, encoding: str = "auto", pattern: str = "*", **options: Any
) -> Corpus:
    """Read the text files of an archive, in the archive's order; nothing is written to disk.

    Parameters
    ----------
    source : Source
        Links, devices and hidden files are passed over.
    encoding, pattern, **options
        As for `read_folder`.
    """
    if source.is_folder:
        raise InputError(f"{source.path}: a folder, not an archive; use format='folder'")
    counts = _counts(source, options)
    decode = _Decoder(encoding)
    names = []
    with source.path.open("rb") as stream:
        is_zip = stream.read(4) in _ZIP_STARTS
    with _damage(source.path):
        for name, data in _zip_members(source) if is_zip else _tar_members(source):
            if not _is_hidden(name) and fnmatchcase(name.rpartition("/")[2], pattern):
                place = f"{source.path}, member {_printable(name)!r}"
                if data.startswith(_PACKED_STARTS):
                    raise InputError(f"{place}: compressed inside the archive; unpack it first")
                counts.add(decode(data, place))
                names.append(_printable(name.removeprefix("./")))
    if not names:
        raise InputError(f"{source.path}: no files that match {pattern!r} in this archive")
    decode.report(source.path)
    return counts.finish(names)


# ---- one line a document ----


def _is_lines(source: Source, head: str) -> bool:
    is_text = source.name.endswith(".txt") and bool(head) and "\0" not in head
    return is_text and not _is_claimed(source, head)


@reader("lines", "text, one document a line", endings=(".txt",), sniff=_is_lines)
def read_lines(source: Source, **options: Any) -> Corpus:
    """Read a file of one document a line; an empty line is an empty document.

    Parameters
    ----------
    source : Source
    **options
        Those of `discan.readers.words.TextOptions`.
    """
    counts = _counts(source, options)
    for _, line in _lines(source):
        counts.add(line)
    _check_any(source, counts)
    return counts.finish()


def _is_json_lines(source: Source, head: str) -> bool:
    first, newline, _ = head.lstrip("\ufeff \t\r\n").partition("\n")
    return first.startswith("{") and (first.rstrip().endswith("}") or not newline)


@reader(
    "jsonl",
    "JSON lines, one object a line, the text in one of its fields",
    endings=_JSON_LINES,
    sniff=_is_json_lines,
)
def read_jsonl(
    source: Source, *, field: str = "text", id_field: str | None = None, **options: Any
) -> Corpus:
    """Read JSON lines: an object a line, a document each.

    Parameters
    ----------
    source : Source
    field : str
        The field that holds the text: a string, a list of strings, or null for no words.
    id_field : str, optional
        The field that holds the document's name.
    **options
        Those of `discan.readers.words.TextOptions`.
    """
    counts = _counts(source, options)
    names = []
    for line, record in _json_records(source):
        counts.add(_text_of(source, line, record, field))
        if id_field is not None:
            names.append(_name_of(source, line, record, id_field))
    _check_any(source, counts)
    return counts.finish(None if id_field is None else names)


@reader("mallet", "MALLET, one document a line: name, label, text", endings=(".mallet",))
def read_mallet(source: Source, *, label_group: bool = False, **options: Any) -> Corpus:
    """Read MALLET's lines of a name, a label and the text.

    Parameters
    ----------
    source : Source
        Names become those of the documents; blank lines are passed over.
    label_group : bool
        Whether the labels are words too, in a group of their own.
    **options
        Those of `discan.readers.words.TextOptions`.
    """
    parts = ("text", "label") if label_group else ()
    counts = _counts(source, options, fields=parts, whole=("label",))
    names = []
    for line, text in _lines(source):
        split = text.split(None, 2)
        if not split:
            continue
        if len(split) == 1:
            raise source.error(
                line, f"only {split[0][:80]!r}; each line needs a name, a label and the text"
            )
        name, label, *rest = split
        words = rest[0] if rest else ""
        counts.add(*((words, label) if label_group else (words,)))
        names.append(name)
    _check_any(source, counts)
    return counts.finish(names)


# ---- several fields ----


@reader("fields", "text in several fields of JSON lines, CSV or TSV, each field a group")
def read_fields(
    source: Source,
    *,
    fields: str | Sequence[str] = (),
    id_field: str | None = None,
    delimiter: str | None = None,
    **options: Any,
) -> Corpus:
    """Read documents of several texts, such as title, body and tags; each field is a group.

    Parameters
    ----------
    source : Source
        JSON lines, or a table with a line of column names.
    fields : sequence of str, or str with commas
        The fields to read. Words are named ``field:word``, or ``word`` if there is but one field.
    id_field : str, optional
        The field that holds the document's name.
    delimiter : str, optional
        What stands between columns; by default the most frequent of comma, tab, semicolon and
        bar in the first line.
    **options
        Those of `discan.readers.words.TextOptions`.
    """
    names = tuple(fields.split(",")) if isinstance(fields, str) and fields else tuple(fields)
    if len(set(names)) != len(names) or not all(isinstance(n, str) and n for n in names):
        raise InputError(f"fields={fields!r} must be names, each one once")
    head = source.head()
    is_json = source.name.endswith(_JSON_LINES) or _is_json_lines(source, head)
    found: set[str] = set()
    counts = None
    document_names = []
    records = _json_records(source) if is_json else _table_records(source, delimiter)
    with closing(records):
        for line, record in records:
            if counts is None:
                if not names:
                    raise InputError(
                        f"{source.path}: say which fields with fields=(...); {_there(record)}"
                    )
                counts = _counts(source, options, fields=names)
            if len(found) < len(names):
                found.update(name for name in names if name in record)
            if not any(name in record for name in names):
                _missing(source, line, record, names[0])
            counts.add(*(_text_of(source, line, record, n) if n in record else "" for n in names))
            if id_field is not None:
                document_names.append(_name_of(source, line, record, id_field))
    if counts is None:
        raise InputError(f"{source.path}: no documents; the file is empty")
    for name in names:
        if name not in found:
            raise InputError(f"{source.path}: no document has a field {name!r}; correct fields")
    return counts.finish(None if id_field is None else document_names)


# ---- what the readers share ----


class _Decoder:
    """Decode whole documents; count those that were not UTF-8."""

    def __init__(self, encoding: str) -> None:
        self._is_auto = encoding == "auto"
        self._encoding = "utf-8" if self._is_auto else encoding
        self.n_others = 0
        try:
            b"  ".decode(self._encoding, "replace")  # an empty one is not looked up
        except (LookupError, TypeError, ValueError):
            raise InputError(
                f"encoding={encoding!r} is not known; use 'auto', 'utf-8', 'latin-1' or another"
            ) from None

    def __call__(self, data: bytes, place: str) -> str:
        try:
            text = data.decode(self._encoding)
        except UnicodeError as error:
            if not self._is_auto:
                reason = getattr(error, "reason", error)
                raise InputError(
                    f"{_printable(place)}: not {self._encoding} ({reason}); set encoding='latin-1' "
                    "or 'auto'"
                ) from None
            text = data.decode("latin-1")
            self.n_others += "\0" not in text
        if "\0" in text:
            raise InputError(
                f"{_printable(place)}: holds NUL bytes, so it is no text; remove it, pass it over "
                "with pattern='*.txt', or set its encoding, e.g. encoding='utf-16'"
            )
        return text.removeprefix("\ufeff")

    def report(self, path: Path) -> None:
        if self.n_others:
            log.warning("%s: %d files are not UTF-8 and were read as Latin-1", path, self.n_others)


def _counts(source: Source, options: dict[str, Any], **more: Any) -> TextCounts:
    return TextCounts(TextOptions(**options), origin=str(source.path), **more)


def _check_any(source: Source, counts: TextCounts) -> None:
    if counts.n_documents == 0:
        raise InputError(f"{source.path}: no documents; the file is empty")


def _is_claimed(source: Source, head: str) -> bool:
    """Tell whether a reader of something other than text knows the source."""
    for other in READERS.values():
        if other.function.__module__ == __name__:
            continue
        if other.endings and source.name.endswith(other.endings):
            return True
        if other.sniff is not None and other.sniff(source, head):
            return True
    return False


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    for number, line in source.lines():
        if "\0" in line:
            raise source.error(number, "holds a NUL byte, so it is no text; convert it to UTF-8")
        yield number, line


def _printable(name: str) -> str:
    """Return a file's name as one line of proper Unicode; names on disk may be any bytes."""
    return name if name.isprintable() else _UNPRINTABLE.sub("\ufffd", name)


def _is_hidden(name: str) -> bool:
    parts = name.split("/")
    return "__MACOSX" in parts or any(p.startswith(".") and p not in (".", "..") for p in parts)


# ---- files and members ----


def _text_files(root: str, pattern: str) -> list[str]:
    """List the paths of files under a folder, relative to it, sorted."""
    found = []
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    path = os.path.join(folder, entry.name)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(path)
                    elif entry.is_file() and fnmatchcase(entry.name, pattern):
                        found.append(path)
        except OSError as error:
            place = _printable(os.path.join(root, folder))
            raise StorageError(f"{place}: cannot be listed: {error.strerror}") from None
    return sorted(found)


def _file_bytes(source: Source, path: str) -> bytes:
    """Read a whole file, unpacked."""
    try:
        with open(path, "rb", buffering=0) as stream:
            if os.fstat(stream.fileno()).st_size > source.max_unpacked:
                raise _too_large(source, path)
            data = stream.read()
    except OSError as error:
        raise InputError(
            f"{_printable(path)}: cannot be read ({error.strerror}); set its permissions, or "
            "remove it"
        ) from None
    if data.startswith(_PACKED_STARTS):
        with _damage(Path(path)), source.open(Path(path)) as unpacked:
            data = unpacked.read(source.max_unpacked + 1)
        if len(data) > source.max_unpacked:
            raise _too_large(source, path)
    return data


def _too_large(source: Source, path: str) -> LimitError:
    return LimitError(
        f"{_printable(path)}: a document of more than {source.max_unpacked:,} bytes; split it"
    )


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    """Turn what the libraries of archives raise on damaged files into one line."""
    try:
        yield
    except DiscanError:
        raise
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        zlib.error,
        LZMAError,
        struct.error,
        EOFError,
        OSError,
        ArithmeticError,
        LookupError,
        ValueError,
        TypeError,
        RuntimeError,
    ) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            f"{_printable(str(path))}: damaged or not an archive ({reason}); fetch it again"
        ) from None


class _Budget:
    """Count unpacked bytes against a limit."""

    def __init__(self, source: Source) -> None:
        self._path = source.path
        self._limit = max(source.max_unpacked, MAX_RATIO * source.path.stat().st_size)
        self.left = self._limit

    def spend(self, n_bytes: int) -> None:
        self.left -= n_bytes
        if self.left < 0:
            raise LimitError(
                f"{self._path}: unpacks to more than {self._limit:,} bytes; unpack it yourself if "
                "you trust it, and read the folder"
            )


class _StrictMember(tarfile.TarInfo):
    """A member of a tar archive that does not take a damaged header for the archive's end."""

    @classmethod
    def fromtarfile(cls, tarfile_: tarfile.TarFile) -> _StrictMember:
        try:
            return super().fromtarfile(tarfile_)
        except tarfile.HeaderError as error:
            if type(error).__name__ in ("EOFHeaderError", "EmptyHeaderError"):
                raise
            raise tarfile.ReadError(str(error)) from None


def _tar_members(source: Source) -> Iterator[tuple[str, bytes]]:
    budget = _Budget(source)
    with (
        source.open() as stream,
        tarfile.open(fileobj=stream, mode="r|", tarinfo=_StrictMember) as archive,
    ):
        while (member := archive.next()) is not None:
            archive.members.clear()  # type: ignore[attr-defined]  # it would remember every one
            if not member.isreg():
                continue
            budget.spend(member.size)
            content = archive.extractfile(member)
            data = content.read() if content is not None else b""
            if len(data) != member.size:
                raise tarfile.ReadError(f"{member.name!r} is cut short")
            yield member.name, data


def _zip_members(source: Source) -> Iterator[tuple[str, bytes]]:
    budget = _Budget(source)
    with zipfile.ZipFile(source.path) as archive:
        for member in archive.infolist():
            kind = stat.S_IFMT(member.external_attr >> 16)
            if member.is_dir() or kind not in (0, stat.S_IFREG):
                continue
            name = _printable(member.filename)
            if member.flag_bits & 0x1:
                raise InputError(f"{source.path}, member {name!r}: encrypted; decrypt it first")
            with archive.open(member) as stream:
                data = stream.read(budget.left + 1)
            budget.spend(len(data))
            yield member.filename, data


# ---- records ----

_Records = Generator[tuple[int, dict[str, Any]], None, None]


def _json_records(source: Source) -> _Records:
    for number, line in _lines(source):
        if not line or line.isspace():
            continue
        try:
            record = json.loads(line)
        except RecursionError:
            raise source.error(number, "nested too deeply; flatten it") from None
        except ValueError as error:
            reason = getattr(error, "msg", None) or str(error)
            raise source.error(number, f"not JSON ({reason}); write one object a line") from None
        if not isinstance(record, dict):
            raise source.error(
                number, f"a JSON {type(record).__name__}, not an object; write one object a line"
            )
        yield number, record


def _table_records(source: Source, delimiter: str | None) -> _Records:
    """Iterate over the lines of a table with a line of column names."""
    if delimiter is None:
        first, _, _ = source.head().partition("\n")
        delimiter = max(",\t;|", key=first.count)
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n':
        raise InputError(f"delimiter={delimiter!r} must be one character, such as ',' or ';'")
    header: list[str] | None = None
    before = csv.field_size_limit(MAX_LINE)
    rows = csv.reader((line + "\n" for _, line in _lines(source)), delimiter=delimiter, strict=True)
    try:
        for row in rows:
            if not row:
                continue
            if header is None:
                header = row
                twice = next((name for name in row if row.count(name) > 1), None)
                if twice is not None:
                    raise source.error(
                        rows.line_num, f"two columns are named {twice[:80]!r}; rename one"
                    )
                continue
            if len(row) != len(header):
                raise source.error(
                    rows.line_num,
                    f"{len(row)} columns where the first line has {len(header)}; quote texts that "
                    f"hold {delimiter!r}, or set delimiter",
                )
            yield rows.line_num, dict(zip(header, row, strict=True))
    except csv.Error as error:
        raise source.error(rows.line_num, f"{error}; correct the quotes") from None
    finally:
        csv.field_size_limit(before)


def _text_of(source: Source, line: int, record: dict[str, Any], field: str) -> str:
    if field not in record:
        _missing(source, line, record, field)
    value = record[field]
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = "\n".join(value)
    if not isinstance(value, str):
        raise source.error(
            line, f"field {field!r} is a {type(value).__name__}, not text; convert it to a string"
        )
    found = find_surrogate(value)
    if found:
        raise source.error(
            line, f"field {field!r} holds a lone surrogate {found}, no character; replace it"
        )
    return value


def _name_of(source: Source, line: int, record: dict[str, Any], field: str) -> str:
    if field not in record:
        _missing(source, line, record, field, option="id_field")
    value = record[field]
    if not isinstance(value, str | int) or find_surrogate(str(value)):
        raise source.error(line, f"field {field!r} is no name; use a string or a whole number")
    return str(value)


def _missing(
    source: Source, line: int, record: dict[str, Any], field: str, option: str = "field"
) -> None:
    raise source.error(line, f"no field {field!r}; {_there(record)}; say which with {option}=...")


def _there(record: dict[str, Any]) -> str:
    if not record:
        return "there are none"
    names = [ascii(name[:40]) for name in list(record)[:12]]
    return f"there are {', '.join(names)}" + (", ..." if len(record) > 12 else "")
