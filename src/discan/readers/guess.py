# SPDX-License-Identifier: BSD-3-Clause
"""Register the readers, guess the format of a file, and read the file into a corpus."""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from discan.data.align import align
from discan.data.annotated import is_annotated, read_annotated
from discan.data.answer_remarks import FRAME
from discan.data.corpus import Corpus
from discan.data.foreign import kind_of_file, unreadable
from discan.data.frames import frame_as_csv, is_frame, read_frame, texts_as_json
from discan.errors import Argument, InputError, shown
from discan.readers.options import Option, options_of
from discan.readers.source import MAX_UNPACKED, Source, TextSource
from discan.readers.tokens import TextOptions, word_list

__all__ = ["READERS", "Reader", "check_options", "guess", "plain_options", "read", "reader"]

log = logging.getLogger("discan")


@dataclass(frozen=True)
class Reader:
    """A format: its name, what it is, the endings and a test that tell it, and the function.

    ``stream`` gives documents of text one after another, and ``table`` a table in pieces, if the
    reader can: functions like the reader's own that return a `TextStream` or a `TableStream`.
    ``is_text`` says whether the reader counts the words of texts; it then takes the options of
    `TextOptions` besides those in the signature of its function.
    """

    name: str
    summary: str
    endings: tuple[str, ...]
    sniff: Callable[[Source], bool] | None
    function: Callable[..., Corpus]
    is_text: bool = False
    family: frozenset[str] = frozenset()  # readers of one family read the same kinds of files
    stream: Callable[..., Any] | None = None
    table: Callable[..., Any] | None = None

    @cached_property
    def remembers(self) -> bool:
        """Whether the function reads data ``like`` those of a model."""
        return "like" in inspect.signature(self.function).parameters

    @cached_property
    def options(self) -> dict[str, Option]:
        """The options that the reader takes, by name."""
        return options_of(self.function) | (options_of(TextOptions) if self.is_text else {})


READERS: dict[str, Reader] = {}

TOTALS = {"total", "totals", "grand total", "gesamt", "summe", "totaal"}

FRAME_FORMATS = ("long", "texts", "fields", "wide", "categorical", "dosages")
"""Kinds of tables that a data frame may be read as."""
_WITH_NAMES = ("wide", "categorical", "dosages")  # those whose first column may name the rows


def reader(
    name: str,
    summary: str,
    endings: tuple[str, ...] = (),
    sniff: Callable[[Source], bool] | None = None,
    is_text: bool = False,
    family: tuple[str, ...] = (),
    stream: Callable[..., Any] | None = None,
    table: Callable[..., Any] | None = None,
) -> Callable[[Callable[..., Corpus]], Callable[..., Corpus]]:
    """Register ``function(source, **options) -> Corpus`` under a name; use as a decorator.

    ``sniff(source)`` tells whether the source looks like this format.
    """

    def decorate(function: Callable[..., Corpus]) -> Callable[..., Corpus]:
        READERS[name] = Reader(
            name, summary, endings, sniff, function, is_text, frozenset(family), stream, table
        )
        return function

    return decorate


def read(
    path: Any,
    format: str | None = None,
    *,
    like: Any = None,
    unknown: bool = False,
    max_unseen: float = 1.0,
    max_unpacked: int = MAX_UNPACKED,
    **options: Any,
) -> Corpus:
    """Read a file or folder into a corpus.

    Parameters
    ----------
    path : file or folder, or a Source made of it; data frame, AnnData or MuData; sequence of texts
        Files packed as .gz, .xz, .bz2 or .zst are unpacked while they are read. A data frame takes
        the options of tables of answers, or with ``format`` those of another kind of table: "long",
        "texts", "fields", "wide", "categorical" or "dosages". AnnData and MuData take ``layer`` and
        ``raw``. The words of a list or column of texts are counted, with the options of "jsonl".
    format : str, optional
        Name of a reader (``discan.readers.READERS``); by default it is guessed.
    like : fitted estimator, Fit or Corpus, optional
        The data are read as its data were, and arranged in its columns; words that it does not
        have are dropped. Options that you give come before those that it remembers.
    unknown : bool, default=False
        With ``like``: whether to add columns ``known`` and ``unknown`` to the metadata, the numbers
        of tokens of each document that the model knows, and that it never saw.
    max_unseen : float, default=1.0
        With ``like``: an error is raised if the model never saw a larger share of the tokens.
    max_unpacked : int, default=2**30
        A file is refused if it unpacks to more bytes than this and than a hundred times its size.
        A Source has this limit already.
    **options
        Options of the reader, e.g. ``field`` for JSON lines or ``stop_words`` for text.

    Returns
    -------
    Corpus
    """
    like = getattr(like, "fit_", like)
    before = "" if like is None else like.reading.get("format", "")
    texts = texts_as_json(path)
    if texts is not None:
        if format not in (None, "jsonl"):
            problem = "{} is no format of texts in memory"
            raise InputError(problem, argument="format", value=format, use={"format": ("jsonl",)})
        path, format = TextSource("the texts", texts, "texts.jsonl"), "jsonl"
    if is_frame(path) and not is_annotated(path):
        if format is None and before in FRAME_FORMATS:
            format = before
        if format is not None:
            if format not in FRAME_FORMATS:
                use = {"format": FRAME_FORMATS}
                problem = "{} is no format of a data frame"
                raise InputError(problem, argument="format", value=format, use=use)
            path = TextSource(FRAME, frame_as_csv(path, format in _WITH_NAMES))
            options = {"delimiter": ",", **options}
    if is_annotated(path) or is_frame(path):
        corpus = _read_object(path, like, options)
        if like is None:
            return corpus
        return align(corpus, like.layout, max_unseen, like.left_out, unknown)
    source = path if isinstance(path, Source) else Source(path, max_unpacked)
    if format is None:
        with source.enough_memory():
            format = guess(source, options, like)
        log.info("%s: read as %s", source.path, format)
    found = check_options(source, format, options)
    if like is None and (unknown or max_unseen < 1):
        raise InputError("unknown and max_unseen need a model to compare with; use like=model")
    if like is not None:
        options = as_before(found, like, options, source) | options
        if found.remembers:
            options["like"] = like
    with source.enough_memory():
        corpus = found.function(source, **options)
    options.pop("like", None)
    reading = {"format": format, "options": plain_options(options)}
    corpus = corpus.described(reading={**reading, **corpus.reading})
    if "table" in found.family and not found.is_text:
        _remark_on_totals(source, corpus)
    if like is None:
        return corpus
    return align(corpus, like.layout, max_unseen, like.left_out, unknown, found.is_text)


def _remark_on_totals(source: Source, corpus: Corpus) -> None:
    """Say that the last row or column seems to be a sum of the others."""
    last = {"row": corpus.document_names, "column": corpus.word_names}
    for what, names in last.items():
        if names and names[-1].partition("=")[0].strip(" :").casefold() in TOTALS:
            remark = (
                "%s: the last %s is called %s and is counted as any other; remove it if it is a sum"
            )
            log.warning(remark, source.path, what, shown(names[-1]))


def check_options(source: Source, format: str, options: Iterable[str]) -> Reader:
    """Return the reader of a format, if there is one and it has these options."""
    if format not in READERS:
        use = {"format": tuple(READERS)}
        raise InputError("{} is not known", argument="format", value=format, use=use)
    found = READERS[format]
    for name in options:
        if name not in found.options:
            names = ", ".join(found.options) or "none"
            raise source.error(f"read as {format}, which has no option {name!r}; it has {names}")
    return found


def _read_object(data: Any, like: Any, options: dict[str, Any]) -> Corpus:
    """Read an AnnData, a MuData or a data frame."""
    if not is_annotated(data):
        return read_frame(data, like, **options)
    for name in options:
        if name not in ("layer", "raw"):
            raise InputError(f"AnnData and MuData have no option {name!r}; they have layer and raw")
    return read_annotated(data, like, **options)


def guess(source: Source, options: Iterable[str] = (), like: Any = None) -> str:
    """Guess the format: the first reader that recognises the content.

    The ending of a file's name decides which readers are asked, except for .txt; their own errors
    then tell what is wrong. Readers of text, the most lenient, are asked last. Of readers of the
    same family, that of the data of ``like`` is preferred, or one that takes the ``options``.
    """
    before = None if like is None else READERS.get(like.reading.get("format", ""))
    try:
        found = _recognised(source)
    except InputError:
        if before is None or "table" not in before.family:
            raise
        found = before.name  # a table too small to tell
    family = [r for r in READERS.values() if r.family & READERS[found].family]
    if before in family and "long" not in (found, before.name):  # triples are told with certainty
        found = before.name
    wanted = set(options)
    if wanted <= set(READERS[found].options):
        return found
    return next((r.name for r in family if wanted <= set(r.options)), found)


def _recognised(source: Source) -> str:
    """Return the first reader that recognises the content."""
    readers = READERS.values()
    meant = [r for r in readers if r.endings and source.name.endswith(r.endings)]
    if not source.is_folder:
        _refuse_foreign(source, {reader.name for reader in meant})
    asked = meant
    if not meant or source.is_folder or source.name.endswith(".txt"):
        asked = [r for r in readers if not r.is_text or "table" in r.family]
        if not any(r in asked for r in meant):
            asked += [*meant, *(r for r in readers if r.is_text)]
    for other in asked:
        if other.sniff is not None and other.sniff(source):
            return other.name
    if meant:
        return meant[0].name
    if not source.is_folder and source.path.stat().st_size == 0:
        raise source.error("the file is empty")
    raise source.error("cannot tell the format", use={"format": tuple(READERS)})


def _refuse_foreign(source: Source, meant: set[str]) -> None:
    """Refuse a file that no reader takes, or whose name does not tell what it is."""
    no_data = unreadable(source.path)
    if no_data is not None:
        raise source.error(no_data)
    kind = kind_of_file(source.path)
    formats = {
        "an HDF5 file (.h5ad, .loom)": ("h5ad", "tenx", "loom"),
        "a NumPy .npz file": ("npz",),
    }.get(kind or "", ())
    if formats and not meant.intersection(formats):
        raise source.error(str(kind), use={"format": formats})


# ---- how data were read, and reading others in the same way ----

# Options that choose words; a model has chosen its words already.
_CHOOSING = ("min_df", "max_df", "max_words", "vocabulary")


def plain_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as JSON can hold them; a file of stop words becomes the words."""
    result = {name: _plain(value) for name, value in options.items()}
    words = result.get("stop_words")
    if _is_path(words):
        result["stop_words"] = word_list(words, "stop_words", "'english', 'none'")
    return result


def _is_path(stop_words: Any) -> bool:
    """Whether stop words are given as the name of a file; no model remembers them so."""
    return isinstance(stop_words, str) and stop_words not in ("english", "none")


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, Iterable) else str(value)


def as_before(found: Reader, like: Any, given: Mapping[str, Any], source: Source) -> dict[str, Any]:
    """Return the options by which the data of ``like`` were read, as far as a reader has them."""
    remembered = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in like.reading.get("options", {}).items()
        if name in found.options and name not in given and name not in _CHOOSING
    }
    for name, value in remembered.items():
        if not found.options[name].takes(value) or (name == "stop_words" and _is_path(value)):
            problem = f"the model remembers {name} as {shown(value)}, which cannot be used"
            raise source.error(problem, use={name: ...})
    if remembered:
        (first, value), *others = remembered.items()
        options = Argument(first, value, others=dict(others))
        log.info("%s: read as the data of the model were, with %s", source.path, options)
    vocabulary = like.reading.get("options", {}).get("vocabulary")
    if not found.is_text:
        takes_one = "vocabulary" in found.options and "vocabulary" not in given
        if takes_one and isinstance(vocabulary, str) and os.path.isfile(vocabulary):
            remembered["vocabulary"] = vocabulary
        return remembered
    words = like.layout.word_names or ()
    if "format" not in like.reading:  # an older model: its words tell how they were made
        longest = max((word.count(" ") for word in words), default=0) + 1
        capitals = any(word != word.lower() for word in words)
        remembered = {"ngrams": (1, longest), "lowercase": not capitals}
    # all words are counted, so that one can tell which the model does not know
    return remembered | {"min_df": 1, "max_df": 1.0}
