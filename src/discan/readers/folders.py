# SPDX-License-Identifier: BSD-3-Clause
"""Read folders and archives of text files, one document per file; nothing is unpacked to disk."""

from __future__ import annotations

import logging
import os
import re
import stat
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from discan.errors import InputError, LimitError, StorageError, shown
from discan.readers.source import PACKED_STARTS, Source
from discan.readers.streams import Document, Fact, TextStream, text_reader
from discan.readers.tokens import TextOptions
from discan.typing import Array

__all__ = ["members", "read_archive", "read_folder", "text_files"]

log = logging.getLogger("discan")

Encoding = Annotated[
    str,
    "Name of an encoding, or 'auto': UTF-8, and Latin-1 for files that are not UTF-8.",
]
Pattern = Annotated[str, 'Read only files whose names match, e.g. "*.txt".']

_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_File = tuple[str, str, bytes]  # name, place for messages, content


@text_reader(
    "folder",
    "a folder of text files, one document each",
    sniff=lambda source: source.is_folder,
)
def read_folder(
    source: Source, *, encoding: Encoding = "auto", pattern: Pattern = "*", **options: Any
) -> TextStream:
    """Read a folder of text files and those of its subfolders, in order of their paths.

    Hidden files and folders are skipped; compressed files are unpacked while they are read.
    """
    if not source.is_folder:
        raise source.error("not a folder", use={"format": ("lines", "archive")})
    root = os.fspath(source.path)
    paths = ((name, os.path.join(root, name)) for name in text_files(root, pattern))
    files = ((name, path, _file_bytes(source, path)) for name, path in paths)
    return _read_files(source, files, encoding, pattern, options)


def _is_archive(source: Source) -> bool:
    is_tar = source.head[257:262] == "ustar"
    return is_tar or (source.name.endswith(".zip") and source.head.startswith("PK"))


@text_reader(
    "archive",
    "a tar or zip archive of text files, one document each",
    endings=(".tar", ".tgz", ".tbz2", ".txz", ".zip"),
    sniff=_is_archive,
)
def read_archive(
    source: Source, *, encoding: Encoding = "auto", pattern: Pattern = "*", **options: Any
) -> TextStream:
    """Read the text files of an archive, in the archive's order; nothing is written to disk.

    Links, devices and hidden files are skipped.
    """
    if source.is_folder:
        raise source.error("a folder, not an archive", use={"format": "folder"})
    return _read_files(source, _archived(source, pattern), encoding, pattern, options)


def _archived(source: Source, pattern: str) -> Iterator[_File]:
    for name, data in members(source):
        if _is_hidden(name) or not fnmatchcase(name.rpartition("/")[2], pattern):
            continue
        place = f"{source.path}, member {_printable(name)!r}"
        if data.startswith(PACKED_STARTS):
            raise InputError(f"{place}: compressed inside the archive; unpack it first")
        yield name.removeprefix("./"), place, data


def _is_hidden(name: str) -> bool:
    parts = name.split("/")
    return "__MACOSX" in parts or any(p.startswith(".") and p not in (".", "..") for p in parts)


def _read_files(
    source: Source, files: Iterable[_File], encoding: str, pattern: str, options: dict[str, Any]
) -> TextStream:
    decode = _Decoder(encoding)

    def documents() -> Iterator[Document]:
        for path, place, data in files:
            name = _printable(path.replace(os.sep, "/"))
            yield Document((decode(data, place),), name, (name.rpartition("/")[0],))

    def check(n_documents: int) -> None:
        if not n_documents:
            raise source.error(f"no files that match {pattern!r} in it")
        if decode.n_others:
            remark = "%s: %d files are not UTF-8 and were read as Latin-1"
            log.warning(remark, source.path, decode.n_others)

    return TextStream(
        str(source.path),
        documents(),
        TextOptions(**options),
        named=True,
        facts=(_folder_fact(source),),
        check=check,
    )


def _folder_fact(source: Source) -> Fact:
    """Return the folder of each file inside the source, if there are several: often its label."""

    def values(folders: Sequence[str], _: bool) -> Array | None:
        if len(folders) < 2:
            return None
        start = folders[0].split("/")[0]
        if all(folder.split("/")[0] == start for folder in folders):  # an archive of one folder
            folders = [folder.partition("/")[2] for folder in folders]
        some = ", ".join(map(shown, folders[:3]))
        log.info("%s: the folder of each file is kept as metadata: %s, ...", source.path, some)
        return plain(folders)

    def plain(folders: Sequence[str]) -> Array:
        result = np.empty(len(folders), dtype=object)
        result[:] = [folder or None for folder in folders]
        return result

    return Fact("folder", values, lambda _: False, plain)


class _Decoder:
    """Decode whole documents; count those that were not UTF-8."""

    def __init__(self, encoding: str) -> None:
        self._is_auto = encoding == "auto"
        self._encoding = "utf-8" if self._is_auto else encoding
        self.n_others = 0
        try:
            b"  ".decode(self._encoding, "replace")  # an empty text needs no encoding
        except (LookupError, TypeError, ValueError):
            problem = "{} is not known; use 'auto', 'utf-8', 'latin-1' or another"
            raise InputError(problem, argument="encoding", value=encoding) from None

    def __call__(self, data: bytes, place: str) -> str:
        try:
            text = data.decode(self._encoding)
        except UnicodeError as error:
            if not self._is_auto:
                problem = f"not {self._encoding} ({getattr(error, 'reason', error)})"
                use = {"encoding": ("latin-1", "auto")}
                raise InputError(f"{_printable(place)}: {problem}", use=use) from None
            text = data.decode("latin-1")
            self.n_others += "\0" not in text
        if "\0" in text:
            raise InputError(
                f"{_printable(place)}: holds NUL bytes, so it is no text",
                remedy="remove it",
                use={"pattern": "*.txt", "encoding": "utf-16"},
            )
        return text.removeprefix("\ufeff")


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
            place = _printable(os.path.join(root, path))
            raise StorageError(f"{place}: cannot be listed: {error.strerror}") from None
        left += sorted(found, reverse=True)
    if n_outside:
        log.warning("%s: %d links that lead out of the folder were skipped", root, n_outside)


def _is_inside(path: str, folder: str) -> bool:
    """Whether a link leads to a file of a folder, whose real name ends in a slash."""
    return os.path.realpath(path).startswith(folder)


def _file_bytes(source: Source, path: str) -> bytes:
    """Read a whole file, unpacked."""
    limit = source.max_unpacked
    try:
        with open(path, "rb", buffering=0) as stream:
            is_large = os.fstat(stream.fileno()).st_size > limit
            data = b"" if is_large else stream.read()
    except OSError as error:
        problem = f"cannot be read ({error.strerror}); set its permissions, or remove it"
        raise InputError(f"{_printable(path)}: {problem}") from None
    if data.startswith(PACKED_STARTS):
        with source.open(Path(path)) as unpacked:
            data = unpacked.read(limit + 1)
        is_large = len(data) > limit
    if is_large:
        problem = f"a document of more than {limit:,} bytes; split it"
        raise LimitError(f"{_printable(path)}: {problem}")
    return data


def _printable(name: str) -> str:
    """Return a file's name as one line of proper Unicode; names on disk may be any bytes."""
    return name if name.isprintable() else _UNPRINTABLE.sub("\ufffd", name)


# ---- members of archives ----


def members(source: Source) -> Iterator[tuple[str, bytes]]:
    """Iterate over (name, content) of the regular files in an archive, in its order."""
    with source.path.open("rb") as stream:
        is_zip = stream.read(4) in _ZIP_STARTS
    with source.faults("damaged or not an archive; fetch it again"):
        yield from (_zip_members if is_zip else _tar_members)(source)


class _StrictMember(tarfile.TarInfo):
    """A member of a tar archive; a damaged header is an error, not the end of the archive."""

    @classmethod
    def fromtarfile(cls, tarfile_: tarfile.TarFile) -> _StrictMember:
        try:
            return super().fromtarfile(tarfile_)
        except tarfile.HeaderError as error:
            if type(error).__name__ in ("EOFHeaderError", "EmptyHeaderError"):
                raise
            raise tarfile.ReadError(str(error)) from None


def _tar_members(source: Source) -> Iterator[tuple[str, bytes]]:
    seen = 0
    with (
        source.open() as stream,
        tarfile.open(fileobj=stream, mode="r|", tarinfo=_StrictMember) as archive,
    ):
        while (member := archive.next()) is not None:
            archive.members.clear()  # type: ignore[attr-defined]  # it would remember every one
            if not member.isreg():
                continue
            seen += member.size
            source.check_unpacked(seen)
            content = archive.extractfile(member)
            data = content.read() if content is not None else b""
            if len(data) != member.size:
                raise tarfile.ReadError(f"{member.name!r} is cut short")
            yield member.name, data


def _zip_members(source: Source) -> Iterator[tuple[str, bytes]]:
    seen = 0
    with zipfile.ZipFile(source.path) as archive:
        files = [member for member in archive.infolist() if _is_file(member)]
        # the directory of the archive states all sizes: a bomb is refused before it is unpacked
        source.check_unpacked(sum(member.file_size for member in files))
        for member in files:
            if member.flag_bits & 0x1:
                name = _printable(member.filename)
                raise source.error(f"member {name!r} is encrypted; decrypt it first")
            with archive.open(member) as stream:
                data = stream.read(source.limit() - seen + 1)
            seen += len(data)
            source.check_unpacked(seen)
            yield member.filename, data


def _is_file(member: zipfile.ZipInfo) -> bool:
    """Whether a member of a zip archive is a regular file."""
    return not member.is_dir() and stat.S_IFMT(member.external_attr >> 16) in (0, stat.S_IFREG)
