# SPDX-License-Identifier: BSD-3-Clause
"""Name a file that is not ours for what it is, by its first bytes."""

from __future__ import annotations

import json
import os
import re
import struct
import zipfile
from pathlib import Path

__all__ = ["foreign", "is_no_text", "kind_of_file", "unreadable"]

LOOKED_AT = 2**12
LARGEST = 2**62  # bytes of a file
OURS = b'{"__metadata__":'

RTF = b"{\\rtf"

# First bytes, and what begins with them.
SIGNS = {
    b"\x89HDF\r\n\x1a\n": "an HDF5 file (.h5ad, .loom)",
    b"\x93NUMPY": "a NumPy array",
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"SQLite format 3\x00": "an SQLite database",
    b"l\x1b\x01": "a PLINK .bed file",
    b"%PDF": "a PDF document",
    RTF: "an RTF document",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"\x7fELF": "a program",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an old Microsoft Office file",
    b"RDX": "an R data file",
    b"$FL2": "an SPSS file",
    b"$FL3": "an SPSS file",
    b"ASCII SPSS PORT FILE": "a portable SPSS file",
    b"\0" * 12 + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf": "a SAS file",
    b"<stata_dta>": "a Stata file",
    b"\x1f\x8b": "a file packed with gzip",
    b"BZh": "a file packed with bzip2",
    b"\xfd7zXZ\x00": "a file packed with xz",
    b"\x28\xb5\x2f\xfd": "a file packed with zstandard",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!": "a RAR archive",
}
# Members of zip archives.
INSIDE = {
    "xl/": "an Excel workbook",
    "word/": "a Word document",
    "ppt/": "a PowerPoint presentation",
    "META-INF/": "an OpenDocument file",
    "content.xml": "an OpenDocument file",
    ".npy": "a NumPy .npz file",
    "data.pkl": "a PyTorch model",
}
# What no reader takes, and what to do with it.
UNREADABLE = {
    "a pickle": "save its data as CSV, .npz or .mtx",
    "a NumPy array": "save it as .npz",
    "a PyTorch model": "it is not a table of counts",
    "an Excel workbook": "save it as .csv",
    "an OpenDocument file": "save it as .csv or .txt",
    "an old Microsoft Office file": "save it as .csv or .txt",
    "a Word document": "save it as .txt",
    "a PowerPoint presentation": "save it as .txt",
    "a PDF document": "extract its text",
    "an RTF document": "save it as .txt",
    "an R data file": "save it as CSV",
    "a portable SPSS file": "save it as CSV",
    "a SAS file": "save it as CSV, or pass pandas.read_sas(...)",
    "an SQLite database": "save its tables as CSV or Parquet",
    "an Arrow file": "save it as Parquet",
    "a PNG image": "it is neither text nor a table",
    "a JPEG image": "it is neither text nor a table",
    "a GIF image": "it is neither text nor a table",
    "a program": "it is neither text nor a table",
    "a 7z archive": "unpack it",
    "a RAR archive": "unpack it",
    "a damaged zip archive": "copy it again",
}


def unreadable(path: str | os.PathLike[str]) -> str | None:
    """Say what a file is that no reader of data takes, and what to do; None for any other."""
    kind = kind_of_file(path)
    return None if kind not in UNREADABLE else f"{kind}; {UNREADABLE[kind]}"


def is_no_text(data: bytes) -> bool:
    """Tell whether the content of a file is no text, but an image, an office's document, ..."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):  # UTF-16
        return False
    if b"\0" in data:
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return data.startswith(tuple(SIGNS))
    return data.startswith(RTF)


def foreign(path: str | os.PathLike[str]) -> str | None:
    """Say what a file is that is not discan's, or that is cut short; None for a file of discan."""
    head, size = _head(Path(path))
    if head[8:24] == OURS:
        needed = _bytes_needed(Path(path), size)
        if size >= needed:
            return None
        return f"the end of the file is missing ({size:,} of {needed:,} bytes); copy it again"
    found = kind_of_file(path)
    if found == "a pickle":
        return "is a pickle, not a file of discan; save a model with its method save"
    return "is not a file of discan" if found is None else f"is {found}, not a file of discan"


def kind_of_file(path: str | os.PathLike[str]) -> str | None:
    """Tell what a file is by its first bytes; None if they tell nothing."""
    file = Path(path)
    head, size = _head(file)
    if size == 0:
        return "empty"
    for sign, name in SIGNS.items():
        if head.startswith(sign):
            return name
    if head[:2] in (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"):
        return "a pickle"
    if head[:2] in (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda"):
        return "a file packed with zlib, as joblib writes"
    if head[:4] == b"PK\x03\x04":
        return _kind_of_zip(file)
    if head[257:262] == b"ustar":
        return "a tar archive"
    return _kind_of_text(head)


def _head(path: Path) -> tuple[bytes, int]:
    """Return the first bytes of a file and its size; nothing of what cannot be read."""
    try:
        with path.open("rb") as stream:
            head = stream.read(LOOKED_AT)
            return head, max(path.stat().st_size, len(head))
    except OSError:
        return b"\x00", 1


def _bytes_needed(path: Path, size: int) -> int:
    """Size that a file of discan should have, by its header."""
    with path.open("rb") as stream:
        [header] = struct.unpack("<Q", stream.read(8))
        if 8 + header > size:
            return int(8 + header)
        try:
            entries = json.loads(stream.read(header)).values()
            ends = [entry["data_offsets"][1] for entry in entries if "data_offsets" in entry]
            needed = 8 + header + max(ends, default=0)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
            return 0
        return needed if type(needed) is int and needed < LARGEST else 0


def _kind_of_zip(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return "a damaged zip archive"
    for part, name in INSIDE.items():
        if any(member.startswith(part) or member.endswith(part) for member in names):
            return name
    return "a zip archive"


def _kind_of_text(head: bytes) -> str | None:
    """Tell JSON, HTML and other text apart; None if it is not text."""
    text = head.decode("utf-8-sig", errors="replace")
    if text.count("\ufffd") > 1 or re.search("[\x00-\x08\x0e-\x1f]", text):
        return None
    text = text.lstrip()
    if re.match(r"<(!doctype html|html)", text, re.IGNORECASE):
        return "an HTML page"
    if re.match(r'\{\s*("|\})|\[\s*["\d{\[\]-]', text):
        return "JSON"
    return "text"
