# SPDX-License-Identifier: BSD-3-Clause
"""What commands say, and where to."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from discan.cli.printing import Style, listing, plain
from discan.errors import StorageError

__all__ = [
    "begin",
    "block_of",
    "check_writable",
    "flat_rows",
    "imputed_rows",
    "say",
    "set_up_remarks",
    "shown_default",
    "style_of",
    "unigram_of",
    "write_text",
]

log = logging.getLogger("discan")


def block_of(component: Any, grouped: bool, width: int | None) -> str:
    """One component as a paragraph."""

    def lift(word: Any) -> str:
        if not grouped:
            return str(word.name)
        return f"{word.name} ({_percent(word.probability)}, all {_percent(word.overall)})"

    entries = {
        "by probability": [word.name for word in component.words],
        "by lift": [lift(word) for word in component.distinctive],
        "typical": [name for name, _ in component.documents],
    }
    title = f"{component.name}: {100 * component.size:.1f} % of the tokens"
    return listing(title, entries, width)


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"  # no space, where a line could break


def flat_rows(component: Any) -> Iterator[tuple[Any, ...]]:
    """One component as rows of a table."""
    lists = {
        "probability": [(word.name, word.probability) for word in component.words],
        "lift": [(word.name, word.lift) for word in component.distinctive],
        "documents": component.documents,
    }
    for kind, items in lists.items():
        for rank, (name, value) in enumerate(items, start=1):
            yield component.name, component.size, kind, rank, name, value


def imputed_rows(estimator: Any, corpus: Any) -> Iterator[tuple[Any, ...]]:
    """Document, group, word and expected count of whatever is missing."""
    filled, layout = estimator._fill(estimator._countable(corpus)), estimator._layout
    documents, words, groups = corpus.document_names, layout.word_names, layout.group_names
    for i, j, value in zip(*filled, strict=True):
        g = layout.group_of_word[j]
        yield (
            str(i) if documents is None else documents[i],
            str(g) if groups is None else groups[g],
            str(j) if words is None else words[j],
            float(value),
        )


def unigram_of(estimator: Any, corpus: Any) -> float:
    """Log-likelihood a token of one component for all: the training data's word shares."""
    from discan.estimators.dca import DCA

    sizes = estimator.component_counts_.sum(axis=0)
    overall = (sizes / sizes.sum()) @ estimator.components_
    groups = estimator._layout.group_of_word
    single = DCA.from_components(
        overall[None, :], groups=groups, algorithm="map", alpha=1.0, random_state=0
    )
    return single.score(corpus)


def shown_default(value: Any) -> str:
    """A default as help shows it."""
    return "" if value is None or isinstance(value, type) else str(value)


def style_of(json: bool, csv: bool) -> Style:
    """How to print, by the flags given."""
    if json and csv:
        raise typer.BadParameter("choose one of --json and --csv")
    return Style.JSON if json else Style.CSV if csv else Style.TABLE


def check_writable(path: Path) -> None:
    """Fail now, not after the work, if a file cannot be written."""
    from discan.data.storage import probe

    if path.exists() and not path.is_file() and not path.is_dir():
        return  # a device or a pipe
    probe(path)


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all; a device or a pipe is written to as it is."""
    data = text.encode("utf-8", "backslashreplace")
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(name, 0o666 & ~umask)
            os.replace(name, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror or error}") from None


class _Remarks(logging.Handler):
    """Remarks of the library, a line each on stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(plain(record.getMessage()) + "\n")


def set_up_remarks() -> None:
    """Send the remarks of the library to stderr."""
    if not any(isinstance(handler, _Remarks) for handler in log.handlers):
        log.addHandler(_Remarks())
    log.propagate = False


def begin(quiet: bool) -> None:
    """Choose how much is said."""
    log.setLevel(logging.CRITICAL if quiet else logging.INFO)


def say(quiet: bool, text: str) -> None:
    """Say something on stderr, unless told to be quiet."""
    if not quiet:
        sys.stderr.write(plain(text) + "\n")
