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
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from discan.data.foreign import is_no_text
from discan.errors import InputError, LimitError, shown
from discan.readers.document import Document
from discan.readers.listing import LOOKED_AT, printable, text_files
from discan.readers.source import PACKED_STARTS, UTF16, Source, unpacked_name
from discan.readers.streams import Fact, TextStream, text_reader
from discan.readers.tokens import TextOptions
from discan.typing import Array

__all__ = ["members", "read_archive", "read_folder"]

log = logging.getLogger("discan")

Encoding = Annotated[
    str,
    "Name of an encoding, or 'auto': UTF-8 or UTF-16, and Windows-1252 for files that are neither.",
]
Pattern = Annotated[str, 'Read only files whose names match, e.g. "*.txt".']

_NO_TEXTS = {  # endings of files, and what to do with a folder of them
    (".csv", ".tsv", ".tab", ".parquet", ".mtx", ".h5ad", ".h5", ".vcf", ".xlsx", ".sav", ".dta"): (
        "name one of the files"
    ),
    (".json", ".jsonl", ".ndjson"): "join them: cat *.json > all.jsonl, one object per line",
}

_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_File = tuple[str, str, bytes]  # name, place for messages, content


@text_reader(
    "folder",
    "a folder of text files, one document each",
    sniff=lambda source: source.is_folder and not _refuse_tables(source),
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
        place = f"{source.path}, member {printable(name)!r}"
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
    no_texts: list[str] = []
    lenient = pattern == "*" and encoding == "auto"

    def documents() -> Iterator[Document]:
        for path, place, data in files:
            name = printable(path.replace(os.sep, "/"))
            if lenient and is_no_text(data):
                no_texts.append(name)
            else:
                yield Document((decode(data, place),), name, (name.rpartition("/")[0],))

    def check(n_documents: int) -> None:
        if not n_documents:
            if no_texts:
                problem = f"no text in it; {len(no_texts)} other files, e.g. {shown(no_texts[0])}"
                raise source.error(problem, use={"encoding": "utf-16"})
            raise source.error(f"no files that match {pattern!r} in it")
        if no_texts:
            what = "1 file is" if len(no_texts) == 1 else f"{len(no_texts)} files are"
            some = ", ".join(map(shown, no_texts[:3])) + (", ..." if len(no_texts) > 3 else "")
            log.warning("%s: %s no text and left out: %s", source.path, what, some)
        if decode.n_others:
            remark = "%s: %d files are not UTF-8 and were read as Windows-1252 (Latin-1)"
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


def _refuse_tables(source: Source) -> bool:
    """Refuse a folder of tables, which are no texts; return False for any other."""
    names = list(islice(text_files(os.fspath(source.path), "*"), LOOKED_AT))
    for endings, remedy in _NO_TEXTS.items():
        found = [name for name in names if unpacked_name(Path(name)).endswith(endings)]
        if len(found) > 0.5 * len(names):
            some = ", ".join(map(shown, found[:3])) + (", ..." if len(found) > 3 else "")
            what = f"holds no texts but {some}"
            matrix = next((n for n in found if re.search(r"/matrix\.mtx(\.gz)?$", n)), None)
            if matrix is not None:  # above a folder of 10x Genomics
                remedy = f"name the folder {shown(matrix.rpartition('/')[0])} in it"
            raise source.error(what, remedy=remedy, use={"format": "folder"})
    return False


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
        is_utf16 = self._is_auto and data.startswith(UTF16)
        try:
            text = data.decode("utf-16" if is_utf16 else self._encoding)
        except UnicodeError as error:
            if not self._is_auto:
                problem = f"not {self._encoding} ({getattr(error, 'reason', error)})"
                use = {"encoding": ("latin-1", "auto")}
                raise InputError(f"{printable(place)}: {problem}", use=use) from None
            text = data.decode("cp1252", errors="replace")
            self.n_others += "\0" not in text
        if "\0" in text:
            raise InputError(
                f"{printable(place)}: holds NUL bytes, so it is no text",
                remedy="remove it",
                use={"pattern": "*.txt", "encoding": "utf-16"},
            )
        return text.removeprefix("\ufeff")


def _file_bytes(source: Source, path: str) -> bytes:
    """Read a whole file, unpacked."""
    limit = source.max_unpacked
    try:
        with open(path, "rb", buffering=0) as stream:
            is_large = os.fstat(stream.fileno()).st_size > limit
            data = b"" if is_large else stream.read()
    except OSError as error:
        problem = f"cannot be read ({error.strerror}); set its permissions, or remove it"
        raise InputError(f"{printable(path)}: {problem}") from None
    if data.startswith(PACKED_STARTS):
        with source.open(Path(path)) as unpacked:
            data = unpacked.read(limit + 1)
        is_large = len(data) > limit
    if is_large:
        problem = f"a document of more than {limit:,} bytes; split it"
        raise LimitError(f"{printable(path)}: {problem}")
    return data


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
                name = printable(member.filename)
                raise source.error(f"member {name!r} is encrypted; decrypt it first")
            with archive.open(member) as stream:
                data = stream.read(source.limit() - seen + 1)
            seen += len(data)
            source.check_unpacked(seen)
            yield member.filename, data


def _is_file(member: zipfile.ZipInfo) -> bool:
    """Whether a member of a zip archive is a regular file."""
    return not member.is_dir() and stat.S_IFMT(member.external_attr >> 16) in (0, stat.S_IFREG)
