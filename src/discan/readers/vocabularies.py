# SPDX-License-Identifier: BSD-3-Clause
"""Find and read the vocabulary beside a matrix: one word per line, or a column of a table."""

from __future__ import annotations

import csv
import logging
import os
import re
from collections import Counter
from pathlib import Path
from typing import Annotated, NamedTuple

from discan.data.intake import reason
from discan.errors import InputError, shown
from discan.readers.source import Source, unpacked_name

__all__ = ["Vocabulary", "Words", "read_titles", "read_words", "stem"]

log = logging.getLogger("discan")

Vocabulary = Annotated[
    str | os.PathLike[str] | bool | None,
    "File of words: one word per line, or a .csv or .tsv with a column of words. Without it a "
    "file such as vocab.txt, NAME.vocab or NAME.tokens beside the data is used; False means none.",
]

_NAMES = (
    "vocab.txt", "vocabulary.txt", "words.txt", "vocab.tokens", "vocab.dat", "vocab", "genes.tsv",
    "features.tsv",
)  # fmt: skip
_ENDINGS = (
    ".vocab", ".tokens", ".vocab.txt", "_vocab.txt", "-vocab.txt", ".words", ".words.txt", ".terms",
    ".dict", ".voc", ".vocabulary",
)  # fmt: skip
_COLUMNS = ("word", "term", "symbol", "gene", "name")
_NO_VOCABULARY = {"vocabulary": False}


class Words(NamedTuple):
    """The words of a vocabulary file, and the file; both None if there is no such file."""

    names: list[str] | None = None
    path: Path | None = None

    def check_size(self, source: Source, n_words: int) -> None:
        """Refuse a vocabulary whose length is not the number of words in the data."""
        if self.names is not None and len(self.names) != n_words:
            raise InputError(
                f"{self.path}: {len(self.names):,} words, but {source.path} has {n_words:,}",
                use={"vocabulary": (..., False)},
            )


def read_words(source: Source, vocabulary: Vocabulary, *names: str) -> Words:
    """Read the vocabulary that is given, or one beside the source; ``names`` come first."""
    path = _find(source, vocabulary, names)
    if path is None:
        return Words()
    texts = [text for _, text in source.lines(path)]
    while texts and not texts[-1].strip():
        texts.pop()
    try:
        first, words = _words_of(unpacked_name(path), texts)
    except (csv.Error, IndexError, ValueError) as error:
        problem = f"not a table of words ({reason(error)}); pass one word per line"
        raise source.error(problem, path=path) from None
    seen: dict[str, int] = {}
    for line, word in enumerate(words, start=first):
        if not word:
            raise source.error("an empty word; name it", line, path, use=_NO_VOCABULARY)
        if seen.setdefault(word, line) != line:
            problem = (
                f"word {shown(word)} stands in line {seen[word]} too; make the words different"
            )
            raise source.error(problem, line, path, use=_NO_VOCABULARY)
    log.info("%s: words named by %s", source.path, path)
    return Words(words, path)


def read_titles(source: Source, n_documents: int) -> list[str] | None:
    """Return the titles of documents, of a file NAME.titles beside the data."""
    path = source.beside(f"{_own_stem(source)}.titles", f"{stem(source)}.titles")
    if path is None:
        return None
    titles = [text.strip() for _, text in source.lines(path)]
    if len(titles) != n_documents:
        remark = "%s: %d titles for %d documents; not used"
        log.warning(remark, path, len(titles), n_documents)
        return None
    log.info("%s: documents named by %s", source.path, path)
    return titles


def stem(source: Source) -> str:
    """Return the name of the file without its ending."""
    return re.sub(r"\.[^.]*$", "", source.name)


def _own_stem(source: Source) -> str:
    """Return the name of the file without its endings, in its own case."""
    return re.sub(r"\.[^.]*$", "", source.path.name[: len(source.name)])


def _find(source: Source, vocabulary: Vocabulary, names: tuple[str, ...]) -> Path | None:
    if vocabulary is False:
        return None
    if vocabulary is not None and not isinstance(vocabulary, bool):
        path = Path(vocabulary)
        if not path.is_file():
            raise InputError(f"vocabulary {path}: no such file")
        return path
    bases = dict.fromkeys((stem(source), _own_stem(source)))
    own = [name for b in bases for name in (f"vocab.{b}.txt", *(f"{b}{end}" for end in _ENDINGS))]
    found = source.beside(*names, *own, *_NAMES)
    if found is not None:
        return found
    # vocab.*, or NAME.vocab.*, whatever it ends in
    others = sorted(source.path.parent.glob("*vocab*"))
    kept = [p for p in others if _is_vocabulary(p, stem(source)) and p != source.path]
    return kept[0] if len(kept) == 1 and kept[0].is_file() else None


def _is_vocabulary(path: Path, base: str) -> bool:
    """Tell whether a name is vocab.NAME or NAME.vocab with any ending, of these data or of any."""
    name = unpacked_name(path)
    mine = re.escape(base)
    form = rf"(vocab|vocabulary)(\.\w+)?|{mine}[._-]vocab(ulary)?(\.\w+)?"
    return re.fullmatch(form, name) is not None


def _words_of(name: str, texts: list[str]) -> tuple[int, list[str]]:
    """Return the line of the first word, and the words, of a file with that name."""
    if name.endswith(".csv"):
        heading, *rows = csv.reader(texts, strict=True)
        titles = [title.lower() for title in heading]
        column = next((titles.index(name) for name in _COLUMNS if name in titles), -1)
        return 2, _distinct(rows, column)
    if name.endswith(".tsv"):
        rows = [text.split("\t") for text in texts]
        return 1, _distinct(rows, min(1, len(rows[0]) - 1)) if rows else []
    return 1, [text.strip() for text in texts]


def _distinct(rows: list[list[str]], column: int) -> list[str]:
    """Return a column of names; names that repeat, as symbols of genes do, with an identifier."""
    words = [row[column] for row in rows]
    if len(set(words)) == len(words):
        return words
    times = Counter(words)
    for other in range(len(rows[0])):
        identifiers = [row[other] for row in rows]
        if len(set(identifiers)) == len(rows) and not all(map(str.isdigit, identifiers)):
            return [
                word if times[word] == 1 else f"{word} ({identifier})"
                for word, identifier in zip(words, identifiers, strict=True)
            ]
    return words
