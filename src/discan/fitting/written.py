# SPDX-License-Identifier: BSD-3-Clause
"""Answers of a fit about any number of documents, written to a file block by block."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from discan.data.corpus import Corpus
from discan.data.tables import Rows
from discan.engines import Engine
from discan.fitting.by_block import Answer, names_of, write_answers, write_table
from discan.fitting.result import Fit

__all__ = ["write_filled", "write_predictions", "write_scores"]

Path = str | os.PathLike[str]


def write_scores(
    path: Path, fit: Fit, corpus: Corpus, engine: Engine, counts: bool = False, sd: bool = False
) -> None:
    """Write the scores of documents, or their expected tokens, with names and metadata.

    Parameters
    ----------
    path : file that ends in .csv, .parquet or .npy
    fit, corpus, engine
    counts : bool
        Whether to write expected tokens instead of scores.
    sd : bool
        Whether to add columns of standard deviations.
    """
    titles = list(fit.component_names)
    answer: Answer
    if sd:
        titles += [f"{name} sd" for name in fit.component_names]

        def answer(part: Corpus, inner: Engine) -> Any:
            found, errors = fit.infer_with_sd(part, inner)
            return np.hstack([found.scores, errors])
    else:

        def answer(part: Corpus, inner: Engine) -> Any:
            found = fit.infer(part, inner)
            return found.component_counts if counts else found.scores

    write_answers(path, corpus, fit.nouns.document, titles, answer, engine)


def write_predictions(
    path: Path, fit: Fit, corpus: Corpus, group: Any, engine: Engine, all_words: bool = False
) -> None:
    """Write the likeliest word of a group in each document, or the probability of every one."""
    words = [str(word) for word in fit.group_words(group)]
    answers = np.array(words, dtype=object)

    def rows(first: int, part: Corpus, inner: Engine) -> Rows:
        chances = fit.predict_group(part, group, inner)
        if all_words:
            return Rows([names_of(first, part)], chances)
        best = answers[chances.argmax(axis=1)]
        return Rows([names_of(first, part), best], chances.max(axis=1, keepdims=True))

    noun = fit.nouns.document
    titles = ([noun], words) if all_words else ([noun, "prediction"], ["probability"])
    write_table(path, corpus, *titles, rows, engine)


def write_filled(path: Path, fit: Fit, corpus: Corpus, engine: Engine, totals: Any = None) -> int:
    """Write document, group, word and expected count of all missing data; return their number."""
    layout, n_rows = fit.layout, 0
    words = np.array(layout.word_names or range(layout.n_words), dtype=object)
    groups = np.array(layout.group_names or range(layout.n_groups), dtype=object)
    if layout.word_names is None:
        words = words.astype(str).astype(object)
    if layout.group_names is None:
        groups = groups.astype(str).astype(object)

    def rows(first: int, part: Corpus, inner: Engine) -> Rows:
        nonlocal n_rows
        documents, columns, values = fit.fill(part, totals, inner, quiet=True)
        n_rows += len(values)
        names = names_of(first, part)[documents]
        facts = [names, groups[layout.group_of_word[columns]], words[columns]]
        return Rows(facts, values[:, None])

    titles = [fit.nouns.document, "group", fit.nouns.word], ["expected"]
    write_table(path, corpus, *titles, rows, engine, listed=True)
    return n_rows
