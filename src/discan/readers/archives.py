# SPDX-License-Identifier: BSD-3-Clause
"""Iterate over the files inside tar and zip archives; nothing is written to disk."""

from __future__ import annotations

import re
import stat
import tarfile
import zipfile
from collections.abc import Iterator

from discan.errors import LimitError
from discan.readers.source import Source

__all__ = ["members", "printable"]

_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def members(source: Source) -> Iterator[tuple[str, bytes]]:
    """Iterate over (name, content) of the regular files in an archive, in its order."""
    with source.path.open("rb") as stream:
        is_zip = stream.read(4) in _ZIP_STARTS
    with source.faults("damaged or not an archive; fetch it again"):
        yield from (_zip_members if is_zip else _tar_members)(source, _Budget(source))


def printable(name: str) -> str:
    """Return a file's name as one line of proper Unicode; names on disk may be any bytes."""
    return name if name.isprintable() else _UNPRINTABLE.sub("\ufffd", name)


class _Budget:
    """Count unpacked bytes against the limit of the source."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.left = source.limit()

    def spend(self, n_bytes: int) -> None:
        self.left -= n_bytes
        if self.left < 0:
            raise self._source.error(
                f"unpacks to more than {self._source.limit():,} bytes; unpack it yourself if you "
                "trust it, and read the folder",
                kind=LimitError,
            )


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


def _tar_members(source: Source, budget: _Budget) -> Iterator[tuple[str, bytes]]:
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


def _zip_members(source: Source, budget: _Budget) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(source.path) as archive:
        for member in archive.infolist():
            kind = stat.S_IFMT(member.external_attr >> 16)
            if member.is_dir() or kind not in (0, stat.S_IFREG):
                continue
            if member.flag_bits & 0x1:
                name = printable(member.filename)
                raise source.error(f"member {name!r} is encrypted; decrypt it first")
            with archive.open(member) as stream:
                data = stream.read(budget.left + 1)
            budget.spend(len(data))
            yield member.filename, data
