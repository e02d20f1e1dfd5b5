# SPDX-License-Identifier: BSD-3-Clause
"""Texts with titles: messages of newsgroups, stories of Reuters, and dispatches of AP."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import NamedTuple

__all__ = ["Text", "dispatches", "messages", "stories"]


class Text(NamedTuple):
    """A text: its title, which is not searched, its body, and its labels, if it has any."""

    title: str
    body: str
    labels: frozenset[str]


def messages(path: Path) -> Iterator[Text]:
    """Iterate over the messages of 20 newsgroups."""
    with tarfile.open(path) as members:
        for member in members:
            content = members.extractfile(member) if member.isreg() else None
            if content is not None:
                head, _, body = content.read().decode("latin-1").partition("\n\n")
                subject = re.search(r"^Subject:(.*)$", head, re.MULTILINE)
                title = re.sub(r"(?i)\b(re|fwd)\s*:", " ", subject[1] if subject else "")
                yield Text(title, body, frozenset([member.name.split("/")[-2]]))


def stories(path: Path) -> Iterator[Text]:
    """Iterate over the stories of Reuters that have topics, a title and a body."""
    with tarfile.open(path) as members:
        for member in sorted(members.getmembers(), key=lambda m: m.name):
            content = members.extractfile(member) if member.name.endswith(".sgm") else None
            page = "" if content is None else content.read().decode("latin-1")
            for story in re.findall(r"<REUTERS .*?</REUTERS>", page, re.DOTALL):
                parts = [re.search(rf"<{t}>(.*?)</{t}>", story, re.DOTALL)
                         for t in ("TITLE", "BODY", "TOPICS")]  # fmt: skip
                title, body, topics = (unescape(p[1]) if p else "" for p in parts)
                labels = frozenset(re.findall(r"<D>(.*?)</D>", topics))
                if title and body and labels:
                    yield Text(title, body, labels)


def dispatches(path: Path) -> Iterator[Text]:
    """Iterate over the dispatches of AP, which have neither titles nor labels.

    The first sentence sums up the others, so it stands for a title. A full stop in its first 60
    characters is taken for that of an abbreviation.
    """
    page = path.read_text("latin-1")
    for text in re.findall(r"<TEXT>(.*?)</TEXT>", page, re.DOTALL):
        parts = re.match(r"\s*(.{60,}?[.!?][`'\"]*)\s+(?=[A-Z`])(.*)", text, re.DOTALL)
        if parts:
            yield Text(parts[1], parts[2], frozenset())
