# SPDX-License-Identifier: BSD-3-Clause
"""Register the readers, guess the format of a file, and read the file into a corpus."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from discan.data.corpus import Corpus
from discan.errors import InputError
from discan.readers.options import Option, options_of
from discan.readers.source import MAX_UNPACKED, Source
from discan.readers.tokens import TextOptions

__all__ = ["READERS", "Reader", "guess", "read", "reader"]

log = logging.getLogger("discan")


@dataclass(frozen=True)
class Reader:
    """A format: its name, what it is, the endings and a test that tell it, and the function.

    ``is_text`` says whether the reader counts the words of texts; it then takes the options of
    `TextOptions` besides those in the signature of its function.
    """

    name: str
    summary: str
    endings: tuple[str, ...]
    sniff: Callable[[Source], bool] | None
    function: Callable[..., Corpus]
    is_text: bool = False

    @cached_property
    def options(self) -> dict[str, Option]:
        """The options that the reader takes, by name."""
        return options_of(self.function) | (options_of(TextOptions) if self.is_text else {})


READERS: dict[str, Reader] = {}


def reader(
    name: str,
    summary: str,
    endings: tuple[str, ...] = (),
    sniff: Callable[[Source], bool] | None = None,
    is_text: bool = False,
) -> Callable[[Callable[..., Corpus]], Callable[..., Corpus]]:
    """Register ``function(source, **options) -> Corpus`` under a name; use as a decorator.

    ``sniff(source)`` tells whether the source looks like this format.
    """

    def decorate(function: Callable[..., Corpus]) -> Callable[..., Corpus]:
        READERS[name] = Reader(name, summary, endings, sniff, function, is_text)
        return function

    return decorate


def read(
    path: str | os.PathLike[str] | Source,
    format: str | None = None,
    *,
    max_unpacked: int = MAX_UNPACKED,
    **options: Any,
) -> Corpus:
    """Read a file or folder into a corpus.

    Parameters
    ----------
    path : file or folder, or a Source made of it
        Files packed as .gz, .xz, .bz2 or .zst are unpacked while they are read.
    format : name of a reader (``discan.readers.READERS``), guessed if not given
    max_unpacked : int, default=2**30
        A file is refused if it unpacks to more bytes than this and than a hundred times its size.
        A Source has this limit already.
    **options
        Options of the reader, e.g. ``field`` for JSON lines or ``stop_words`` for text.
    """
    source = path if isinstance(path, Source) else Source(path, max_unpacked)
    if format is None:
        format = guess(source)
        log.info("%s: read as %s", source.path, format)
    if format not in READERS:
        use = {"format": tuple(READERS)}
        raise InputError("{} is not known", argument="format", value=format, use=use)
    known = READERS[format].options
    for name in options:
        if name not in known:
            names = ", ".join(known) or "none"
            raise source.error(f"read as {format}, which has no option {name!r}; it has {names}")
    corpus = READERS[format].function(source, **options)
    reading = {"format": format, "options": {name: _plain(v) for name, v in options.items()}}
    return corpus.described(reading={**reading, **corpus.reading})


def _plain(value: Any) -> Any:
    """Return an option as JSON can hold it: numbers, text and lists of these."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return [_plain(item) for item in value] if isinstance(value, Iterable) else str(value)


def guess(source: Source) -> str:
    """Guess the format: the first reader that recognises the content.

    The ending of a file's name decides which readers are asked, except for .txt; their own errors
    then tell what is wrong. Readers of text, the most lenient, are asked last.
    """
    readers = READERS.values()
    meant = [r for r in readers if r.endings and source.name.endswith(r.endings)]
    asked = meant
    if not meant or source.is_folder or source.name.endswith(".txt"):
        asked = [r for r in readers if not r.is_text]
        if not any(r in asked for r in meant):
            asked += [*meant, *(r for r in readers if r.is_text)]
    for found in asked:
        if found.sniff is not None and found.sniff(source):
            return found.name
    if meant:
        return meant[0].name
    if not source.is_folder and source.path.stat().st_size == 0:
        raise source.error("the file is empty")
    raise source.error("cannot tell the format", use={"format": tuple(READERS)})
