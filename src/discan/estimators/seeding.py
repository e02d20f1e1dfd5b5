# SPDX-License-Identifier: BSD-3-Clause
"""Read seeds and fixed components: tokens that some components had beforehand, and their names."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from discan.data.corpus import Corpus
from discan.data.layout import Layout
from discan.errors import InputError, shown
from discan.fitting.modelfile import load_fit
from discan.fitting.naming import Given, default_names
from discan.fitting.result import Fit, fit_of
from discan.models.seeds import MOST_SEEDS, Seeds
from discan.typing import Array
from discan.validation import LARGEST, whole

__all__ = ["Known", "fixed_rows", "label_seeds", "read_known"]

log = logging.getLogger("discan")

# By default, the seeds of a component weigh no more than this share of a component's mean tokens.
MOST_SHARE = 0.5
# Prior weight of a fixed component, in times the tokens of the data: no loading moves by over 1 %.
FIXED_WEIGHT = 100
NAMED = 8  # unknown words that a remark lists


class Known(NamedTuple):
    """What is known of components beforehand: their seeds, and their names (K,)."""

    seeds: Seeds | None = None
    names: Given = ()


def read_known(
    corpus: Corpus, n_components: int, seed_words: Any, seed_strength: Any, fixed: Any
) -> Known:
    """Turn ``seed_words`` and ``fixed_components`` into tokens seen beforehand.

    Fixed components come first, then those with seeds, then the others.
    """
    if seed_words is None and seed_strength is not None:
        raise InputError(
            "{} is for seeds", argument="seed_strength", value=seed_strength,
            remedy="leave it out", use={"seed_words": ...},
        )  # fmt: skip
    layout = corpus.layout
    kept = fixed_rows(fixed, layout) or {}
    seeded = _seeded(corpus, seed_words, seed_strength, n_components)
    names = [*kept, *seeded]
    if not names:
        return Known()
    if len(names) > n_components:
        raise InputError(
            f"{len(names)} components have seeds or are fixed, more than there are",
            use={"n_components": len(names)},
        )
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InputError(f"{shown(repeated[0])} is the name of a fixed component and of seeds")
    table = np.zeros((corpus.n_words, n_components), dtype=np.int64)
    for k, row in enumerate(kept.values()):
        table[:, k] = _fixed_tokens(row, corpus)
    for k, tokens in enumerate(seeded.values(), len(kept)):
        table[:, k] = tokens
    if kept:
        log.info(
            "%s: prior weight of %d times the tokens of the data each",
            _number(len(kept), "fixed component"), FIXED_WEIGHT,
        )  # fmt: skip
    return Known(Seeds.of(table), (*names, *(None,) * (n_components - len(names))))


def label_seeds(X: Any, labels: Any, most: int | None = None) -> dict[str, Array]:
    """Return seeds from documents of known labels, for ``seed_words``.

    The tokens of all documents of a label are the seeds of a component of that name: individuals of
    known populations, cells of known types, texts of known subjects. If they are among the
    documents of the fit too, they count twice.

    Parameters
    ----------
    X : (I, J) counts or Corpus
        Documents.
    labels : (I,) sequence, or the name of a column of the metadata
        A label for each document; None, NaN and "" are unknown.
    most : int, optional
        Tokens of a label in a group of columns, at most: all are reduced in proportion.

    Returns
    -------
    dict of str to (J,) array
        Whole tokens of each word, by label.
    """
    corpus = Corpus.of(X)
    if isinstance(labels, str):
        if labels not in corpus.metadata:
            raise InputError(
                "{}: there is no such column of the metadata", argument="labels", value=labels
            )
        labels = corpus.metadata[labels]
    names = [_label(label) for label in labels]
    if len(names) != corpus.n_documents:
        raise InputError(f"there are {len(names)} labels for {corpus.n_documents} documents")
    table, found = corpus.to_csr(), {}
    for name in sorted({name for name in names if name is not None}):
        rows = np.array([other == name for other in names])
        tokens = np.asarray(table[rows].sum(axis=0), dtype=np.float64).ravel()
        if most is not None:
            totals = corpus.layout.group_sums(tokens[:, None])[corpus.layout.group_of_word, 0]
            tokens *= np.minimum(1.0, whole("most", most, 1) / np.maximum(totals, 1e-300))
        found[name] = np.rint(tokens)
    if not found:
        raise InputError("no document has a label")
    return found


def fixed_rows(fixed: Any, layout: Layout) -> dict[str, Array] | None:
    """Return fixed components by name, each (J,), with the columns of a layout."""
    if fixed is None:
        return None
    if isinstance(fixed, (str, Path)):
        fixed = load_fit(fixed)[0]
    fit = fit_of(fixed)
    if fit is not None:
        return _rows_of_fit(fit, layout)
    if isinstance(fixed, Mapping):
        names = [str(name) for name in fixed]
        rows = _matrix(list(fixed.values()), layout)
    else:
        rows = _matrix(fixed, layout)
        names = list(default_names("fixed", len(rows)))
    return dict(zip(names, rows, strict=True))


def _rows_of_fit(fit: Fit, layout: Layout) -> dict[str, Array]:
    """Return the components of an earlier fit; words are found by their names."""
    given = fit.given_names or (None,) * fit.n_components
    defaults = default_names("fixed", fit.n_components)
    names = [name or other for name, other in zip(given, defaults, strict=True)]
    rows, old, new = fit.components, fit.layout.word_names, layout.word_names
    if old is None or new is None or old == new:
        return dict(zip(names, _matrix(rows, layout), strict=True))
    place = {word: j for j, word in enumerate(old)}
    columns = np.array([place.get(word, -1) for word in new])
    known = columns >= 0
    if not known.any():
        raise InputError(
            "{}: the earlier model knows none of the words of the data",
            argument="fixed_components", value=...,
        )  # fmt: skip
    if not known.all():
        log.info(
            "fixed components: %d of %d words are not in the earlier model",
            int((~known).sum()), len(new),
        )  # fmt: skip
    found = np.where(known, rows[:, np.maximum(columns, 0)], 0.0)
    return dict(zip(names, found, strict=True))


def _matrix(rows: Any, layout: Layout) -> Array:
    try:
        matrix = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "fixed_components must be a fitted model, the name of its file, or rows of numbers"
        ) from None
    if matrix.ndim != 2 or matrix.shape[1] != layout.n_words or not len(matrix):
        raise InputError(
            f"fixed_components have shape {matrix.shape}; the data have {layout.n_words} columns"
        )
    if not ((matrix >= 0) & (matrix <= LARGEST)).all() or not matrix.any(axis=1).all():
        raise InputError("fixed_components must be at least 0, and not all 0")
    return matrix


def _fixed_tokens(row: Array, corpus: Corpus) -> Array:
    """Tokens of each word of a fixed component, (J,): many times those of the data in a group."""
    layout = corpus.layout
    groups = layout.group_of_word
    tokens = FIXED_WEIGHT * np.maximum(layout.group_sums(corpus.word_totals[:, None])[:, 0], 1.0)
    sums = layout.group_sums(row[:, None])[:, 0]
    share = row / np.where(sums > 0.0, sums, 1.0)[groups]
    found = np.rint(share * np.minimum(tokens, MOST_SEEDS)[groups])
    return np.asarray(found.astype(np.int64))


# ---- seeds ----


def _seeded(
    corpus: Corpus, seed_words: Any, strength: Any, n_components: int
) -> dict[str, Array]:  # fmt: skip
    """Return the tokens (J,) of the seeds of each component, by name."""
    if seed_words is None:
        return {}
    if not isinstance(seed_words, Mapping) or not seed_words:
        raise InputError(
            "{}; give a mapping from names of components to words, e.g. {'law': ['court']}",
            argument="seed_words", value=seed_words,
        )  # fmt: skip
    tokens_each = None if strength is None else whole("seed_strength", strength, 1, MOST_SEEDS)
    finder = _Finder(corpus.layout)
    found: dict[str, Array] = {}
    for name, given in seed_words.items():
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"seed_words: {shown(name)} is not the name of a component; give text")
        found[name.strip()] = _tokens(name, given, corpus, tokens_each, finder, n_components)
    if finder.unknown:
        listed = ", ".join(finder.unknown[:NAMED])
        more = len(finder.unknown) - NAMED
        log.warning(
            "seeds that are not among the words of the data: %s%s",
            listed, f" and {more} more" if more > 0 else "",
        )  # fmt: skip
    totals = [int(tokens.sum()) for tokens in found.values()]
    n_words = sum(int((tokens > 0).sum()) for tokens in found.values())
    low, high = f"{min(totals):,}", f"{max(totals):,}"
    log.info(
        "seeds of %s: %s, with a prior weight of %s tokens per component",
        _number(len(found), "component"), _number(n_words, "word"),
        low if low == high else f"{low} to {high}",
    )  # fmt: skip
    return found


class _Finder:
    """Find columns by the names of words, or by their numbers if they have no names."""

    def __init__(self, layout: Layout) -> None:
        self.n_words, self.unknown = layout.n_words, list[str]()
        self.place: dict[str, list[int]] = {}
        for j, word in enumerate(layout.word_names or ()):
            self.place.setdefault(word, []).append(j)

    def columns(self, word: Any) -> list[int]:
        """Return the columns of a word; none if it is not known, which is noted."""
        if not self.place:
            return [whole("a seed, the number of a column,", word, 0, self.n_words - 1)]
        text = str(word).strip()
        found = self.place.get(text) or self.place.get(text.lower()) or []
        if not found:
            self.unknown.append(text)
        return found


def _tokens(
    name: str, given: Any, corpus: Corpus, strength: int | None, finder: _Finder, n_components: int
) -> Array:
    """Return the tokens (J,) of the seeds of a component.

    Words alone get ``strength`` tokens each, by default as many as they have in the data; a mapping
    gives the tokens of each word, an array those of all words.
    """
    result = np.zeros(corpus.n_words)
    if isinstance(given, np.ndarray) and given.dtype.kind in "iuf":
        if given.shape != (corpus.n_words,):
            raise InputError(
                f"seed_words: {shown(name)} has shape {given.shape}; the data have "
                f"{corpus.n_words} columns"
            )
        result += given
    elif isinstance(given, Mapping):
        for word, tokens in given.items():
            result[finder.columns(word)] = _amount(name, word, tokens)
    else:
        words = given.split() if isinstance(given, str) else given
        if not isinstance(words, Iterable):
            raise InputError(f"seed_words: {shown(name)} has {shown(given)}; give a list of words")
        columns = [j for word in words for j in finder.columns(word)]
        result[columns] = corpus.word_totals[columns] if strength is None else strength
        result[columns] = np.maximum(result[columns], 1.0)
        if strength is None:  # the seeds must not outweigh what the data say of a component
            most = max(1.0, MOST_SHARE * float(corpus.n_tokens) / n_components)
            share = min(1.0, most / max(result.sum(), 1.0))
            result[columns] = np.maximum(result[columns] * share, 1.0)
    if not ((result >= 0.0) & (result <= MOST_SEEDS)).all():
        raise InputError(
            f"seed_words: the tokens of {shown(name)} must be at least 0 and at most {MOST_SEEDS:,}"
        )
    result = np.rint(result)
    if not result.any():
        raise InputError(
            f"no seed of {shown(name)} is among the words of the data: {shown(_listed(given))}",
            remedy="correct the words, or leave the component out",
        )
    return result.astype(np.int64)


def _listed(given: Any) -> Any:
    several = isinstance(given, Iterable) and not isinstance(given, str)
    return list(given)[:NAMED] if several else given


def _number(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def _amount(name: str, word: Any, tokens: Any) -> float:
    if isinstance(tokens, bool) or not isinstance(tokens, (int, float, np.number)):
        raise InputError(f"seed_words: {shown(name)} gives {shown(word)} {shown(tokens)} tokens")
    return float(tokens)


def _label(label: Any) -> str | None:
    """Return a label as text; None if it is unknown."""
    if isinstance(label, (float, np.floating)):
        return None if np.isnan(label) else f"{label:g}"
    return None if label is None or label == "" else str(label)
