# SPDX-License-Identifier: BSD-3-Clause
"""Read e-mail: an mbox, an .eml file, or a folder of messages; headers are no words."""

from __future__ import annotations

import email.parser
import email.policy
import logging
import os
import re
from collections.abc import Iterator
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from itertools import islice
from pathlib import Path
from typing import Any

from discan.readers.document import Document
from discan.readers.listing import LOOKED_AT, text_files
from discan.readers.markup import strip_markup
from discan.readers.source import MAX_LINE, Source
from discan.readers.streams import TextStream, label_fact, table_fact, text_reader
from discan.readers.tokens import TextOptions

__all__ = ["read_mail"]

log = logging.getLogger("discan")

_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]*:( |\t|\n|\r)")
_SURE = ("message-id:", "received:", "return-path:", "mime-version:", "delivered-to:")
_START = re.compile(rb"From \S+ .*\d\d:\d\d")  # of a message in an mbox


def _is_mail(source: Source) -> bool:
    if not source.is_folder:
        first, _, rest = source.head.partition("\n")
        return source.name.endswith((".mbox", ".eml")) or (
            first.startswith("From ") and _HEADER.match(rest) is not None
        )
    names = list(islice(text_files(os.fspath(source.path), "*"), LOOKED_AT))
    if names and all(name.lower().endswith(".eml") for name in names):
        return True
    heads = [_head(source, name) for name in names[:5]]
    return bool(heads) and all(_is_message(head) for head in heads)


def _head(source: Source, name: str) -> str:
    try:
        with open(source.path / name, "rb") as stream:
            return stream.read(2**12).decode("latin-1")
    except OSError:
        return ""


def _is_message(head: str) -> bool:
    """Tell whether a text begins with the headers of a message that was sent."""
    headers = re.split(r"\r?\n\r?\n", head)[0].lower()
    known = f"\n{headers}"
    return "\nfrom:" in known and any(f"\n{name}" in known for name in _SURE)


@text_reader(
    "mail",
    "e-mail: an mbox, an .eml file or a folder of messages; sender, date and subject are metadata",
    endings=(".mbox", ".eml"),
    sniff=_is_mail,
)
def read_mail(source: Source, **options: Any) -> TextStream:
    """Read the subjects and texts of messages; of a text in two forms the plain one is read."""
    facts = (label_fact("from"), table_fact("date"), label_fact("subject"))
    return TextStream(
        str(source.path), _documents(source), TextOptions(**options), named=True, facts=facts
    )


def _documents(source: Source) -> Iterator[Document]:
    parser = email.parser.BytesParser(policy=email.policy.default)
    for number, (name, data) in enumerate(_messages(source), start=1):
        with source.faults(f"message {number} cannot be read; leave it out"):
            message = parser.parsebytes(data)
        subject = _header(message, "subject")
        text = f"{subject}\n{_body(message)}".replace("\0", " ")
        facts = (_header(message, "from"), _date(message), subject)
        yield Document((text,), name or f"message {number}", facts)


def _messages(source: Source) -> Iterator[tuple[str, bytes]]:
    """Iterate over (name of the file, message)."""
    if source.is_folder:
        for name in text_files(os.fspath(source.path), "*"):
            with source.open(Path(source.path / name)) as stream:
                data = stream.read(source.max_unpacked + 1)
            source.check_unpacked(len(data), source.path / name)
            yield name.replace(os.sep, "/"), data
        return
    with source.open() as stream, source.faults("cannot be read"):
        lines: list[bytes] = []
        before = b"\n"
        while line := stream.readline(MAX_LINE):
            starts = not before.strip() and _START.match(line) is not None
            if starts and lines:
                yield "", b"".join(lines)
                lines = []
            if not starts:
                lines.append(line)
            before = line
    if lines:
        yield "", b"".join(lines)


def _header(message: EmailMessage, name: str) -> str:
    try:
        text = str(message.get(name, ""))
    except Exception:  # the parser of headers stumbles over many malformed ones
        return ""
    text = text.encode("utf-8", errors="replace").decode("utf-8")
    return re.sub(r"\s+", " ", text).strip()


def _date(message: EmailMessage) -> str:
    try:
        return parsedate_to_datetime(str(message.get("date", ""))).strftime("%Y-%m-%d")
    except Exception:
        return ""


def _body(message: EmailMessage) -> str:
    try:
        part = message.get_body(preferencelist=("plain", "html"))
        content = "" if part is None else part.get_content()
        is_html = part is not None and part.get_content_subtype() == "html"
    except Exception:  # an unknown encoding, or parts that are damaged
        payload = message.get_payload(decode=True)
        content = payload.decode("latin-1") if isinstance(payload, bytes) else ""
        is_html = False
    content = str(content).encode("utf-8", errors="replace").decode("utf-8")
    return strip_markup(content) if is_html else content
