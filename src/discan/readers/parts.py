# SPDX-License-Identifier: BSD-3-Clause
"""Objects that hold a table in parts: iterables, pyarrow data sets, dask arrays and data frames."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from discan import __version__
from discan.data.annotated import is_annotated
from discan.data.corpus import Corpus
from discan.data.folders.format import Manifest
from discan.data.folders.pieces import Piece
from discan.data.folders.writer import FolderWriter
from discan.data.frames import is_frame
from discan.data.layout import Layout
from discan.data.nouns import Nouns
from discan.data.store import load_corpus, save_corpus
from discan.errors import DiscanError, InputError, ModelFileError

__all__ = ["convert_parts", "is_lasting", "is_whole"]

log = logging.getLogger("discan")

_OPTIONS = ("groups", "group_names", "word_names")


def is_whole(data: Any) -> bool:
    """Tell whether an object is one table in memory: it is read as `discan.read` reads it."""
    in_parts = any(hasattr(data, name) for name in ("partitions", "scanner", "read_next_batch"))
    return not in_parts and (is_annotated(data) or is_frame(data))


def is_lasting(data: Any) -> bool:
    """Tell whether the same parts can be had again later: those of dask, and of files of pyarrow.

    The parts of an iterable are gone when they were read.
    """
    return _is_dask(data) or (hasattr(data, "files") and hasattr(data, "filesystem"))


def convert_parts(
    data: Any,
    writer: FolderWriter,
    folder: Path,
    unit: str | None,
    progress: Any,
    options: dict[str, Any],
) -> Manifest:
    """Write parts of a table, one after another, to a corpus folder.

    Parameters
    ----------
    data : iterable of tables, each some documents with all words; or an object that has such parts
    folder : Path
        Where parts are kept meanwhile, if they last; the caller removes it.
    options : groups, group_names, word_names
        As for a Corpus; they are the same for all parts.
    """
    for name in options:
        if name not in _OPTIONS:
            raise InputError(f"parts of a table have no option {name!r}; use {', '.join(_OPTIONS)}")
    first: Corpus | None = None
    n_documents = 0
    kept = _Kept(folder, data, options) if is_lasting(data) else None
    for number, part in enumerate(_parts(data), start=1):
        make = partial(_corpus, part, options)
        try:
            corpus = make() if kept is None else kept.get(number, make)
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


class _Kept:
    """Files of parts that were converted, so that a conversion that was interrupted goes on."""

    def __init__(self, folder: Path, data: Any, options: dict[str, Any]) -> None:
        given = {name: np.asarray(value).tolist() for name, value in options.items()}
        how = repr((__version__, _identity(data), given))
        key = hashlib.sha256(how.encode("utf-8", "backslashreplace")).hexdigest()[:32]
        self._folder, self._ending = folder, f"-{key}.discan"
        old = list(folder.glob("*.discan"))
        for path in old:
            if not path.name.endswith(self._ending):
                path.unlink(missing_ok=True)
        if old:
            n_parts = len(list(folder.glob("*.discan")))
            remark = f"goes on after {n_parts} part{'s' * (n_parts != 1)}"
            if not n_parts:
                remark = "begins again, because the data or the options are not those of before"
            log.info("%s: was interrupted; %s", folder.parent, remark)

    def get(self, number: int, make: Callable[[], Corpus]) -> Corpus:
        """Return a part from its file, or else make it and keep it."""
        path = self._folder / f"{number:06}{self._ending}"
        try:
            return load_corpus(path)
        except ModelFileError:  # there is none, or it is damaged
            corpus = make()
            save_corpus(corpus, path)
            return corpus


def _identity(data: Any) -> str:
    """Return what stands for data that last: dask's token, or names, sizes and times of files."""
    if _is_dask(data):
        from dask.base import tokenize

        return str(tokenize(data))
    files = data.filesystem.get_file_info(list(data.files))
    return repr([(file.path, file.size, file.mtime_ns) for file in files] + [str(data.schema)])


def _is_dask(data: Any) -> bool:
    return hasattr(data, "numblocks") or hasattr(data, "npartitions")


def _parts(data: Any) -> Iterator[Any]:
    """Iterate over the parts of an object; those of dask are functions that compute them."""
    if sparse.issparse(data) or isinstance(data, np.ndarray):
        yield data
    elif hasattr(data, "numblocks") and hasattr(data, "rechunk"):  # dask array
        if len(data.numblocks) != 2:
            raise InputError(f"a dask array of {len(data.numblocks)} dimensions; two are needed")
        rows = data.rechunk({1: -1}) if data.numblocks[1] > 1 else data
        for n in range(rows.numblocks[0]):
            yield rows.blocks[n].compute
    elif hasattr(data, "partitions") and hasattr(data, "npartitions"):  # dask data frame
        for n in range(data.npartitions):
            yield data.partitions[n].compute
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
    """Make a corpus of a part: a table, a data frame, a batch of pyarrow, or one to compute."""
    if callable(part):
        part = part()
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
