# SPDX-License-Identifier: BSD-3-Clause
"""Objects that hold a table in parts: iterables, pyarrow data sets, dask arrays and data frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from discan.data.annotated import is_annotated
from discan.data.corpus import Corpus
from discan.data.folders.format import Manifest
from discan.data.folders.pieces import Piece
from discan.data.folders.writer import FolderWriter
from discan.data.frames import is_frame
from discan.data.layout import Layout
from discan.data.nouns import Nouns
from discan.errors import DiscanError, InputError

__all__ = ["convert_parts", "is_whole"]

_OPTIONS = ("groups", "group_names", "word_names")


def is_whole(data: Any) -> bool:
    """Tell whether an object is one table in memory: it is read as `discan.read` reads it."""
    in_parts = any(hasattr(data, name) for name in ("partitions", "scanner", "read_next_batch"))
    return not in_parts and (is_annotated(data) or is_frame(data))


def convert_parts(
    data: Any, writer: FolderWriter, unit: str | None, progress: Any, options: dict[str, Any]
) -> Manifest:
    """Write parts of a table, one after another, to a corpus folder.

    Parameters
    ----------
    data : iterable of tables, each some documents with all words; or an object that has such parts
    options : groups, group_names, word_names
        As for a Corpus; they are the same for all parts.
    """
    for name in options:
        if name not in _OPTIONS:
            raise InputError(f"parts of a table have no option {name!r}; use {', '.join(_OPTIONS)}")
    first: Corpus | None = None
    n_documents = 0
    for number, part in enumerate(_parts(data), start=1):
        try:
            corpus = _corpus(part, options)
            if first is None:
                first = corpus
            _check_alike(first.layout, corpus.layout)
        except DiscanError as error:
            text = f"part {number}: {error}"
            raise InputError(text) from None
        writer.add(_piece(corpus))
        n_documents += corpus.n_documents
        progress(f"writing: {n_documents:,} documents")
        if number == 1:
            first = corpus.select([0])  # its layout and its nouns are enough
    if first is None:
        raise InputError("there are no parts to convert; the iterable is empty")
    nouns = first.nouns if unit is None else Nouns.of(unit, first.nouns)
    return writer.finish(first.layout, nouns, first.reading, first.left_out)


def _parts(data: Any) -> Iterator[Any]:
    """Iterate over the parts of an object."""
    if sparse.issparse(data) or isinstance(data, np.ndarray):
        yield data
    elif hasattr(data, "numblocks") and hasattr(data, "rechunk"):  # dask array
        if len(data.numblocks) != 2:
            raise InputError(f"a dask array of {len(data.numblocks)} dimensions; two are needed")
        rows = data.rechunk({1: -1}) if data.numblocks[1] > 1 else data
        for n in range(rows.numblocks[0]):
            yield rows.blocks[n].compute()
    elif hasattr(data, "partitions") and hasattr(data, "npartitions"):  # dask data frame
        for n in range(data.npartitions):
            yield data.partitions[n].compute()
    elif hasattr(data, "to_batches"):  # pyarrow data set
        yield from data.to_batches()
    elif isinstance(data, Iterable):
        yield from data
    else:
        raise InputError(
            f"a {type(data).__name__} cannot be converted; pass a path, or an iterable of sparse "
            "matrices, arrays or data frames"
        )


def _corpus(part: Any, options: dict[str, Any]) -> Corpus:
    """Make a corpus of a part: a table, a data frame or a batch of pyarrow."""
    if isinstance(part, Corpus):
        if options:
            raise InputError(f"it is a Corpus, which has its own {', '.join(_OPTIONS)}")
        return part
    if hasattr(part, "schema") and hasattr(part, "num_rows"):
        names = [str(name) for name in part.schema.names]
        columns = [np.asarray(column.to_numpy(zero_copy_only=False)) for column in part.columns]
        for name, column in zip(names, columns, strict=True):
            if column.dtype.kind not in "biuf":
                raise InputError(f"column {name!r} holds no numbers; select columns of counts")
        return Corpus(np.column_stack(columns), **{"word_names": names, **options})
    corpus = Corpus(part, **options)
    # a plain index numbers the rows, in each part or in all of them
    if type(getattr(part, "index", None)).__name__ == "RangeIndex":
        return corpus.described(document_names=None)
    return corpus


def _check_alike(one: Layout, other: Layout) -> None:
    """Refuse a part with other words or groups than the first."""
    if one.n_words != other.n_words:
        raise InputError(f"{other.n_words} words, but the first part has {one.n_words}")
    for what, a, b in (("words", one.word_names, other.word_names),
                       ("groups", one.group_names, other.group_names)):  # fmt: skip
        if a != b:
            raise InputError(f"its {what} have other names than those of the first part")
    if not np.array_equal(one.group_of_word, other.group_of_word):
        raise InputError("its words are in other groups than those of the first part")


def _piece(corpus: Corpus) -> Piece:
    arrays = (corpus.indptr, corpus.words, corpus.counts, corpus.exposures)
    return Piece(*arrays, corpus.document_names, corpus.metadata)
