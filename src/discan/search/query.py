# SPDX-License-Identifier: BSD-3-Clause
"""Read a query: text, names of words, or counts."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from discan.data.corpus import Corpus
from discan.data.layout import Layout
from discan.errors import InputError, shown
from discan.fitting.result import Fit
from discan.fitting.summary import word_labels
from discan.typing import Array
from discan.validation import whole

__all__ = ["read_query"]

log = logging.getLogger("discan")

LONGEST = 10_000  # tokens of a query


def read_query(query: Any, fit: Fit) -> Array:
    """Return the columns of the tokens of a query, (T,) int64.

    Parameters
    ----------
    query : str, sequence of str, mapping of str to int, (J,) counts or Corpus of one document
        A text is split into words as texts are. For votes, answers and alleles it names words,
        with semicolons between them: "12=yea; 13=nay".
    fit : Fit
        Its layout has the words, and its reading says how texts were read.
    """
    if isinstance(query, str):
        words = _of_text(query, fit)
    elif isinstance(query, Mapping):
        found = _Names(fit.layout, fit.nouns.word)
        numbers = {name: whole(f"count of {shown(name)}", n, 0) for name, n in query.items()}
        _check_length(sum(numbers.values()))
        words = [found.exactly(name) for name, n in numbers.items() for _ in range(n)]
    elif _is_counts(query):
        words = _of_counts(query, fit.layout)
    elif isinstance(query, Sequence) and all(isinstance(name, str) for name in query):
        found = _Names(fit.layout, fit.nouns.word)
        words = [found.exactly(name) for name in query]
    else:
        raise InputError("{}; give a text, names of words, or counts", argument="query",
                         value=query)  # fmt: skip
    if not words:
        raise InputError("{} is empty", argument="query", value=query)
    _check_length(len(words))
    return np.array(words, dtype=np.int64)


class _Names:
    """Columns by the names of words, as they are written or as they are shown."""

    def __init__(self, layout: Layout, noun: str) -> None:
        self.layout, self.noun = layout, noun
        self.columns: dict[str, int] = {}
        for names in (layout.word_names or (), word_labels(layout, noun)):
            for column, name in enumerate(names):
                self.columns.setdefault(name, column)

    def find(self, name: str) -> int | None:
        """Return the column of a name, in any case; of a field if the name leaves it out."""
        name = name.strip()
        for form in (name, name.lower()):
            if form in self.columns:
                return self.columns[form]
        folded = self._folded.get(name.casefold())
        return folded if folded is not None else self._in_a_field(name)

    def exactly(self, name: str) -> int:
        """Return the column of a name; an unknown one is an error."""
        column = self.find(name)
        if column is None:
            near = [other for other in self.columns if name.casefold() in other.casefold()]
            hint = f"; did you mean {', '.join(map(shown, near[:3]))}?" if near else ""
            raise InputError(f"the model has no {self.noun} {shown(name)}{hint}")
        return column

    @cached_property
    def _folded(self) -> dict[str, int]:
        folded: dict[str, int] = {}
        for name, column in self.columns.items():
            folded.setdefault(name.casefold(), column)
        return folded

    def _in_a_field(self, name: str) -> int | None:
        """Look in the fields of a text, the one with most words first."""
        sizes = self.layout.group_sizes
        fields = self.layout.group_names or ()
        for g in np.argsort(-sizes, kind="stable") if len(fields) > 1 else ():
            column = self.columns.get(f"{fields[g]}:{name.lower()}")
            if column is not None:
                return column
        return None


def _of_text(query: str, fit: Fit) -> list[int]:
    found = _Names(fit.layout, fit.nouns.word)
    whole_query = found.find(query)
    if whole_query is not None:
        return [whole_query]
    if ";" in query or (fit.layout.n_groups > 1 and "=" in query):
        return list(_items(query.split(";"), found))
    words, unknown = [], []
    for token in _tokens(query, fit.reading):
        column = found.find(token)
        if column is None:
            unknown.append(token)
        else:
            words.append(column)
    if not words and fit.layout.n_groups > 1:
        return [found.exactly(query)]  # an error with names that are near
    if not words:
        raise InputError(
            f"the model knows no {fit.nouns.word} of the query {shown(query)}",
            remedy="use words that the data have; words that are too rare or too frequent were "
            "left out at the fit",
        )
    if unknown:
        log.info("not among the model's %s, and ignored: %s", fit.nouns.words, ", ".join(unknown))
    return words


def _items(parts: list[str], found: _Names) -> Iterator[int]:
    """Columns of names between semicolons; a name may hold semicolons itself."""
    while parts:
        for size in range(len(parts), 0, -1):
            column = found.find(";".join(parts[:size]))
            if column is not None:
                yield column
                break
        else:
            if parts[0].strip():
                found.exactly(parts[0])
            size = 1
        parts = parts[size:]


def _tokens(text: str, reading: Mapping[str, Any]) -> Iterator[str]:
    """Split a text as those of the model were; words that were joined are joined."""
    from discan.readers.tokens import TextOptions, WordForms, finder, read_ngrams

    given = reading.get("options") or {}
    names = ("lowercase", "token_pattern", "stop_words", "numbers", "ngrams")
    options = TextOptions.of({name: given[name] for name in names if name in given})
    forms = WordForms(options)
    words = [forms[token] for token in finder(options)(text)]
    words = [word for word in words if word]
    fewest, most = read_ngrams(options.ngrams)
    for size in range(fewest, most + 1):
        for start in range(len(words) - size + 1):
            yield " ".join(words[start : start + size])


def _is_counts(query: Any) -> bool:
    if isinstance(query, Corpus) or sparse.issparse(query):
        return True
    return isinstance(query, (np.ndarray, list, tuple)) and np.asarray(query).dtype.kind in "iuf"


def _of_counts(query: Any, layout: Layout) -> list[int]:
    corpus = Corpus.of(query if sparse.issparse(query) or isinstance(query, Corpus)
                       else np.atleast_2d(np.asarray(query)))  # fmt: skip
    if corpus.shape != (1, layout.n_words):
        raise InputError(f"a query of shape {corpus.shape}; expected (1, {layout.n_words})")
    if not corpus.integral:
        raise InputError("the counts of a query must be whole numbers")
    _check_length(int(corpus.n_tokens))
    return list(np.repeat(corpus.words, corpus.counts.astype(np.int64)))


def _check_length(n_tokens: int) -> None:
    if n_tokens > LONGEST:
        raise InputError(f"a query of {n_tokens:,} tokens; use at most {LONGEST:,}")
