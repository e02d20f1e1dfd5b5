# SPDX-License-Identifier: BSD-3-Clause
"""Read Reuters-21578 as it is distributed: .sgm files with many stories in each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Annotated, Any, NamedTuple

from discan.data.corpus import Corpus
from discan.readers.document import Document
from discan.readers.folders import members
from discan.readers.public_files import PublicFiles, StrPath
from discan.readers.source import Source
from discan.readers.streams import TextStream, collect, label_fact, text_reader
from discan.readers.tokens import TextOptions
from discan.validation import one_of

__all__ = ["Story", "read_reuters", "read_stories"]

FILES = PublicFiles(
    "Reuters-21578",
    ("reuters21578.tar.gz", "reut2-000.sgm"),
    "https://archive.ics.uci.edu/dataset/137/reuters+21578+text+categorization+collection",
)

_NAME = re.compile(r"reut2-\d+\.sgm|reuters21578\.(tar|tgz)")
_STORY = re.compile(r"<REUTERS (?P<head>[^>]*)>(?P<inside>.*?)</REUTERS>", re.DOTALL)
_FIELDS = re.compile(r"<(TITLE|BODY)>(.*?)</\1>", re.DOTALL)
_TOPICS = re.compile(r"<TOPICS>(.*?)</TOPICS>", re.DOTALL)


class Story(NamedTuple):
    """A story: its number, "train" or "test", its topics with spaces between, and its text."""

    name: str
    split: str
    topics: str
    text: str


def _is_reuters(source: Source) -> bool:
    if source.is_folder:
        return next(source.path.glob("reut2-*.sgm"), None) is not None
    return _NAME.fullmatch(source.name) is not None


@text_reader(
    "reuters",
    "Reuters-21578 as distributed, reuters21578.tar.gz or its folder of .sgm files; one document "
    "per story",
    endings=(".sgm", "reuters21578.tar", "reuters21578.tgz"),
    sniff=_is_reuters,
)
def read_reuters(
    source: Source,
    subset: Annotated[str, "Stories to read: 'all', 'train' or 'test'."] = "all",
    **options: Any,
) -> TextStream:
    """Read the stories of the ModApte split of Reuters-21578, from any of its files."""
    path = source.path.parent if source.name.endswith(".sgm") else source.path
    return _stream(path, subset, options, lambda _: None)


def read_stories(
    path: StrPath | None, subset: str = "all", **options: Any
) -> tuple[Corpus, list[Story]]:
    """Read the stories of the ModApte split; ``options`` are those of `TextOptions`."""
    stories: list[Story] = []
    corpus = collect(_stream(path, subset, options, stories.append))
    return corpus, stories


def _stream(
    path: StrPath | None, subset: str, options: dict[str, Any], keep: Callable[[Story], None]
) -> TextStream:
    """Return the stories as documents; ``keep`` is called with each, without its text."""
    one_of("subset", subset, ("all", "train", "test"))
    source = Source(FILES.locate(path))

    def documents() -> Iterator[Document]:
        for story in _stories(source):
            if subset in ("all", story.split):
                keep(story._replace(text=""))
                yield Document((story.text,), story.name, (story.split, story.topics))

    def check(n_documents: int) -> None:
        if not n_documents:
            raise source.error("no story of the ModApte split in it; is it Reuters-21578?")

    return TextStream(
        str(source.path),
        documents(),
        TextOptions.of(options),
        named=True,
        facts=(label_fact("split"), label_fact("topics")),
        check=check,
    )


def _stories(source: Source) -> Iterator[Story]:
    """Iterate over the stories of the ModApte split: those with TOPICS="YES"."""
    for page in _pages(source):
        for story in _STORY.finditer(page):
            head = dict(re.findall(r'(\w+)="([^"]*)"', story["head"]))
            split = {"TRAIN": "train", "TEST": "test"}.get(head.get("LEWISSPLIT", ""))
            if split is None or head.get("TOPICS") != "YES":
                continue
            topics = _TOPICS.search(story["inside"])
            labels = re.findall(r"<D>(.*?)</D>", topics[1]) if topics else []
            fields = [text for _, text in _FIELDS.findall(story["inside"])]
            if not fields:  # stories of type UNPROC hold bare text
                _, tag, rest = story["inside"].partition("<TEXT")
                fields = [re.sub(r"<[^>]*>", " ", tag + rest)]
            text = unescape("\n".join(fields))
            yield Story(head.get("NEWID", ""), split, " ".join(labels), text)


def _pages(source: Source) -> Iterator[str]:
    """Iterate over the .sgm files of a folder or of an archive."""
    if source.name.endswith(".sgm"):
        for file in sorted(source.path.parent.glob("reut2-*.sgm")):
            yield file.read_text("latin-1")
        return
    for name, data in members(source):
        if name.endswith(".sgm"):
            yield data.decode("latin-1")
