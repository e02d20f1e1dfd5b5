# SPDX-License-Identifier: BSD-3-Clause
"""Answers about documents block by block, in order, so that a few blocks are in memory at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from discan.data.corpus import Corpus
from discan.data.tables import Rows, check_ending, write_rows
from discan.engines import Engine, Threads
from discan.errors import InputError
from discan.typing import Array

__all__ = ["Answer", "in_order", "names_of", "write_answers", "write_table"]

Result = TypeVar("Result")

AT_ONCE = 4  # blocks per thread
Answer = Callable[[Corpus, Engine], Array]
"""Takes documents and where to work on them; returns numbers about them, (n, V)."""


def in_order(
    corpus: Corpus,
    work: Callable[[int, Any, Engine], Result],
    engine: Engine,
    before: Callable[[Corpus], Any] | None = None,
) -> Iterator[Result]:
    """Iterate over the results of ``work`` on each block, in order.

    Each thread works on a block; if there are few blocks, all threads share each of them.

    Parameters
    ----------
    corpus : Corpus
    work : callable
        Takes the number of the first document, the documents, and where to work on them.
    engine : Engine
    before : callable, optional
        Makes what ``work`` takes of the documents; it is called in the order of the blocks.
    """
    blocks, few = corpus.blocks, len(corpus.blocks) < 2 * engine.n_workers
    inner, outer = (engine, Threads(1)) if few else (Threads(1), engine)
    step = AT_ONCE * outer.n_workers

    def read(block: Any) -> Corpus:
        return corpus.documents(block.start, block.stop)

    def done(block: Any) -> Result:
        return work(block.start, read(block), inner)

    def then_done(pair: tuple[int, Any]) -> Result:
        return work(*pair, inner)

    for first in range(0, len(blocks), step):
        some = blocks[first : first + step]
        if before is None:
            yield from outer.run(done, some)
        else:
            pairs = [(block.start, before(read(block))) for block in some]
            yield from outer.run(then_done, pairs)


def names_of(first: int, part: Corpus) -> Array:
    """Names of documents, or their numbers from ``first`` on, (n,) objects."""
    names = part.document_names or [str(first + n) for n in range(part.n_documents)]
    return np.array(names, dtype=object)


def write_table(
    path: str | os.PathLike[str], corpus: Corpus, facts: Sequence[str], values: Sequence[str],
    rows: Callable[[int, Corpus, Engine], Rows], engine: Engine, listed: bool = False,
) -> None:  # fmt: skip
    """Write a table as ``rows`` makes it of each block, with these titles; all or nothing.

    With ``listed``, a document may have any number of rows, and the file cannot be .npy.
    """
    check_ending(path)
    if listed and Path(path).suffix.lower() == ".npy":
        raise InputError(f"{path}: a .npy file has a row per document; use .csv or .parquet")
    write_rows(path, facts, values, corpus.n_documents, in_order(corpus, rows, engine))


def write_answers(
    path: str | os.PathLike[str], corpus: Corpus, noun: str, titles: Sequence[str], answer: Answer,
    engine: Engine, kept: Callable[[str], bool] = bool,
) -> None:  # fmt: skip
    """Write a table with a row per document: its name, its metadata and an answer.

    Parameters
    ----------
    path : file that ends in .csv, .parquet or .npy
        A .npy file holds the answers alone.
    corpus : Corpus
    noun : str
        Title of the column of names.
    titles : (V,) sequence of str
        Titles of the columns of the answer.
    answer : callable
        Returns the rows of the documents of a block, (n, V).
    engine : Engine
    kept : callable, optional
        Tells by its name whether a column of metadata is written; by default all are.
    """
    about = corpus.documents(0, min(1, corpus.n_documents)).metadata
    columns = [name for name in about if kept(name)]

    def rows(first: int, part: Corpus, inner: Engine) -> Rows:
        facts = [names_of(first, part), *(part.metadata[name] for name in columns)]
        return Rows(facts, answer(part, inner))

    write_table(path, corpus, [noun, *columns], titles, rows, engine)
