# SPDX-License-Identifier: BSD-3-Clause
"""Hold a checked table of counts: who (documents), what (words, in groups), how many."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import gammaln, xlogy

from discan.errors import InputError, LimitError
from discan.typing import Array

__all__ = ["BLOCK_ENTRIES", "LARGEST_COUNT", "Block", "Corpus", "Layout"]

BLOCK_ENTRIES = 2**16
"""Non-zeros in a block, about; it fixes the numbering of blocks, hence the answer's bits."""

LARGEST_COUNT = 1e15
"""Counts above it are refused: below it every whole number is exact in float64."""

LARGEST_TOTAL = 2**63 - 1
"""Token offsets are int64."""

LARGEST_INT32 = 2**31 - 1

_DENSE_CELLS_AT_ONCE = 2**22


@dataclass(frozen=True, eq=False)
class Layout:
    """The columns of a table: words, and the group each one belongs to.

    Attributes
    ----------
    n_words, n_groups : int
        J and G.
    group_of_word : (J,) int32 array
        Number of the group that owns each word.
    word_names, group_names : tuple of str or None
    """

    n_words: int
    group_of_word: Array
    n_groups: int
    word_names: tuple[str, ...] | None = None
    group_names: tuple[str, ...] | None = None

    @cached_property
    def group_sizes(self) -> Array:
        """Number of words of each group, (G,) int64."""
        return np.bincount(self.group_of_word, minlength=self.n_groups).astype(np.int64)

    @cached_property
    def indicator(self) -> Any:
        """Sparse (J, G) table with a one where the group owns the word."""
        rows = np.arange(self.n_words + 1)
        ones = np.ones(self.n_words)
        shape = (self.n_words, self.n_groups)
        return sparse.csr_array((ones, self.group_of_word, rows), shape=shape)

    def group_sums(self, matrix: Array) -> Array:
        """Sum the rows of a (J, K) matrix inside each group.

        Returns
        -------
        (G, K) array, int64 for whole-number types and float64 otherwise.
        """
        dtype = np.dtype(np.int64 if matrix.dtype.kind in "biu" else np.float64)
        if self.n_groups == 1:
            return np.asarray(matrix.sum(axis=0, keepdims=True, dtype=dtype))
        return np.asarray(self._indicator_transposed.astype(dtype) @ matrix.astype(dtype))

    @cached_property
    def _indicator_transposed(self) -> Any:
        return self.indicator.T.tocsr()


@dataclass(frozen=True, eq=False)
class Block:
    """A run of whole documents: the unit of work.

    Attributes
    ----------
    index : int
        Number of the block in its corpus.
    start, stop : int
        Documents `start .. stop - 1`.
    indptr : (stop - start + 1,) int64 array
        Offsets into the *whole* `words` and `counts`.
    words, counts : (n_entries,) arrays
        Those of the whole corpus.
    levels : (stop - start,) int32 array
        Index of each document's total exposure in `Corpus.exposure_levels`.
    token_start, token_stop : int
        The block's tokens in the numbering of all tokens; both 0 when counts are fractional.
    """

    index: int
    start: int
    stop: int
    indptr: Array
    words: Array
    counts: Array
    levels: Array
    token_start: int
    token_stop: int


class Corpus:
    """A table of non-negative counts, documents by words, checked and in canonical form.

    Whichever way the same table comes in, the arrays held are the same, bit for bit; the
    caller's data are neither changed nor shared.

    Parameters
    ----------
    counts : (I, J) SciPy sparse matrix or array, NumPy array, nested list or data frame
        Column names of a frame become `word_names`, and its index `document_names`.
    groups : (J,) array-like, optional
        Group of each word: whole numbers 0 .. G-1, or labels, then numbered in order of first
        appearance. Without it all words are one group.
    exposures : (I, G) array-like, optional
        How much of each group each document was exposed to; 0 means not observed.
        With one group (I,) will do. Without it, every exposure is 1.
    document_names, word_names, group_names : sequence of str, optional

    Attributes
    ----------
    indptr : (I + 1,) int64 array
    words : (n_entries,) int32 array
        Ascending inside each document.
    counts : (n_entries,) array
        int32 when every count is a whole number that fits, else float64. Never zero.
    layout : Layout
    exposures : (I, G) float64 array or None
    document_names : tuple of str or None
    """

    indptr: Array
    words: Array
    counts: Array
    layout: Layout
    exposures: Array | None
    document_names: tuple[str, ...] | None

    def __init__(
        self,
        counts: Any,
        groups: Any = None,
        exposures: Any = None,
        document_names: Iterable[Any] | None = None,
        word_names: Iterable[Any] | None = None,
        group_names: Iterable[Any] | None = None,
    ) -> None:
        table = _read_table(counts)
        if document_names is None:
            document_names = table.document_names
        if word_names is None:
            word_names = table.word_names
        n_documents = table.indptr.size - 1
        codes, n_groups, labels = _read_groups(groups, table.n_words)
        self.indptr = table.indptr
        self.words = table.words
        self.counts = _tightest(table.values)
        self.layout = Layout(
            n_words=table.n_words,
            group_of_word=codes,
            n_groups=n_groups,
            word_names=_read_names(word_names, table.n_words, "word"),
            group_names=_read_names(
                labels if group_names is None else group_names, n_groups, "group"
            ),
        )
        self.exposures = _read_exposures(exposures, n_documents, n_groups)
        self.document_names = _read_names(document_names, n_documents, "document")
        _check_unexposed(self)

    @classmethod
    def of(cls, x: Any, groups: Any = None) -> Corpus:
        """Return `x` itself when it is a corpus, else make one of it."""
        if not isinstance(x, Corpus):
            return cls(x, groups=groups)
        if groups is not None:
            codes, _, _ = _read_groups(groups, x.n_words)
            if not np.array_equal(codes, x.layout.group_of_word):
                raise InputError(
                    "groups differ from those of the Corpus; leave groups out, or make the Corpus "
                    "with the groups you want"
                )
        return x

    @classmethod
    def assemble(
        cls,
        indptr: Array,
        words: Array,
        counts: Array,
        layout: Layout,
        exposures: Array | None = None,
        document_names: tuple[str, ...] | None = None,
    ) -> Corpus:
        """Make a corpus of canonical arrays, as they are: neither checked nor copied."""
        corpus = cls.__new__(cls)
        corpus.indptr = indptr
        corpus.words = words
        corpus.counts = counts
        corpus.layout = layout
        corpus.exposures = exposures
        corpus.document_names = document_names
        return corpus

    # ---- sizes ----

    @property
    def n_documents(self) -> int:
        """Number of documents, I."""
        return int(self.indptr.size - 1)

    @property
    def n_words(self) -> int:
        """Number of different words, J."""
        return self.layout.n_words

    @property
    def n_groups(self) -> int:
        """Number of groups of words, G."""
        return self.layout.n_groups

    @property
    def n_entries(self) -> int:
        """Number of non-zero counts."""
        return int(self.words.size)

    @cached_property
    def n_tokens(self) -> int | float:
        """Sum of all counts, exact when they are whole numbers."""
        if self.integral:
            return int(self.counts.sum(dtype=np.int64))
        return float(self.counts.sum())

    @cached_property
    def integral(self) -> bool:
        """Whether every count is a whole number."""
        return self.counts.dtype.kind == "i" or bool((np.rint(self.counts) == self.counts).all())

    @cached_property
    def lengths(self) -> Array:
        """Sum of each document's counts, (I,) float64."""
        return self._row_sums(self.counts)

    # ---- exposures ----

    @cached_property
    def total_exposures(self) -> Array:
        """Sum of each document's exposures, (I,) float64; the number of groups by default."""
        if self.exposures is None:
            return np.full(self.n_documents, float(self.n_groups))
        return np.asarray(self.exposures.sum(axis=1))

    @cached_property
    def exposure_levels(self) -> Array:
        """Distinct values of `total_exposures`, ascending, (T,) float64."""
        return np.unique(self.total_exposures)

    @cached_property
    def levels(self) -> Array:
        """Index of each document's total exposure in `exposure_levels`, (I,) int32."""
        return np.searchsorted(self.exposure_levels, self.total_exposures).astype(np.int32)

    # ---- constants of the likelihood ----

    @cached_property
    def group_lengths(self) -> Any:
        """Sum of each document's counts inside each group, sparse (I, G) float64."""
        values = self.counts.astype(np.float64)
        return sparse.csr_array(self._shared_csr(values) @ self.layout.indicator)

    @cached_property
    def log_count_factorials(self) -> Array:
        """Sum over words of log w_ij!, (I,) float64."""
        return self._row_sums(gammaln(self.counts.astype(np.float64) + 1.0))

    @cached_property
    def log_group_factorials(self) -> Array:
        """Sum over groups of log L_ig!, (I,) float64."""
        return self._sum_over_groups(lambda lengths, _: gammaln(lengths + 1.0))

    @cached_property
    def log_exposure_powers(self) -> Array:
        """Sum over groups of L_ig log e_ig, (I,) float64, where 0 log 0 = 0."""
        if self.exposures is None:
            return np.zeros(self.n_documents)
        return self._sum_over_groups(xlogy)

    # ---- parts ----

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Runs of whole documents of about `BLOCK_ENTRIES` non-zeros, whatever the threads."""
        return self.blocks_of(BLOCK_ENTRIES)

    def blocks_of(self, n_entries: int) -> tuple[Block, ...]:
        """Cut the corpus into runs of whole documents of about `n_entries` non-zeros each."""
        blocks: list[Block] = []
        start = token_start = 0
        while start < self.n_documents:
            limit = self.indptr[start] + n_entries
            stop = max(start + 1, int(np.searchsorted(self.indptr, limit, side="right")) - 1)
            entries = slice(self.indptr[start], self.indptr[stop])
            token_stop = token_start
            if self.integral:
                token_stop += int(self.counts[entries].sum(dtype=np.int64))
            blocks.append(
                Block(
                    index=len(blocks),
                    start=start,
                    stop=stop,
                    indptr=self.indptr[start : stop + 1],
                    words=self.words,
                    counts=self.counts,
                    levels=self.levels[start:stop],
                    token_start=token_start,
                    token_stop=token_stop,
                )
            )
            start, token_start = stop, token_stop
        return tuple(blocks)

    def select(self, documents: Any) -> Corpus:
        """Return the corpus of some documents, in the order given.

        Parameters
        ----------
        documents : slice, (I,) boolean mask, or array-like of document numbers
        """
        chosen = _read_selection(documents, self.n_documents)
        lengths = np.diff(self.indptr)[chosen]
        indptr = np.zeros(chosen.size + 1, dtype=np.int64)
        np.cumsum(lengths, out=indptr[1:])
        entries = np.arange(indptr[-1]) + np.repeat(self.indptr[chosen] - indptr[:-1], lengths)
        names = self.document_names
        return Corpus.assemble(
            indptr=indptr,
            words=self.words[entries],
            counts=_tightest(self.counts[entries]),
            layout=self.layout,
            exposures=None if self.exposures is None else self.exposures[chosen],
            document_names=None if names is None else tuple(names[i] for i in chosen),
        )

    def with_counts(self, counts: Array, exposures: Array | None = None) -> Corpus:
        """Return the same documents with other counts in the same entries; zeros are dropped."""
        kept = counts != 0
        return Corpus.assemble(
            indptr=np.concatenate(([0], np.cumsum(kept, dtype=np.int64)))[self.indptr],
            words=self.words[kept],
            counts=_tightest(counts[kept]),
            layout=self.layout,
            exposures=exposures,
            document_names=self.document_names,
        )

    def to_csr(self) -> Any:
        """Return the counts as a new SciPy CSR array."""
        return self._shared_csr(self.counts).copy()

    def __len__(self) -> int:
        """Return the number of documents."""
        return self.n_documents

    def __repr__(self) -> str:
        """Describe the corpus in one line."""
        tokens = f"{self.n_tokens:,}" if self.integral else f"{self.n_tokens:,.6g}"
        share = 100.0 * self.n_entries / (self.n_documents * self.n_words)
        parts = [
            f"{self.n_documents:,} documents x {self.n_words:,} words",
            f"{tokens} tokens in {self.n_entries:,} non-zeros ({share:.3g} %)",
        ]
        if self.n_groups > 1:
            parts.append(f"{self.n_groups:,} groups")
        if self.exposures is not None:
            parts.append("exposures")
        return f"<Corpus: {', '.join(parts)}>"

    def _shared_csr(self, values: Array) -> Any:
        shape = (self.n_documents, self.n_words)
        return sparse.csr_array((values, self.words, self.indptr), shape=shape)

    def _row_sums(self, values: Array) -> Array:
        return np.asarray(self._shared_csr(values.astype(np.float64)) @ np.ones(self.n_words))

    def _sum_over_groups(self, function: Any) -> Array:
        if self.n_groups == 1:
            exposures = None if self.exposures is None else self.exposures[:, 0]
            return np.asarray(function(self.lengths, exposures))
        lengths = self.group_lengths.tocoo()
        rows, groups = lengths.coords
        exposures = None if self.exposures is None else self.exposures[rows, groups]
        values = function(lengths.data, exposures)
        return np.bincount(rows, weights=values, minlength=self.n_documents)


# ---- reading tables ----


class _Table(NamedTuple):
    """A canonical table; values are float64."""

    n_words: int
    indptr: Array
    words: Array
    values: Array
    document_names: list[str] | None = None
    word_names: list[str] | None = None


def _read_table(counts: Any) -> _Table:
    document_names = word_names = None
    if hasattr(type(counts), "columns"):  # asked of the class: a lazy frame may compute it
        counts, document_names, word_names = _read_frame(counts)
    table = _read_sparse(counts) if sparse.issparse(counts) else _read_dense(counts)
    if table.values.size and table.values.sum() > 0.999 * LARGEST_TOTAL:
        raise LimitError(
            f"the counts sum to {table.values.sum():.6g}, above 2**63 - 1; rescale them"
        )
    return table._replace(document_names=document_names, word_names=word_names)


def _read_frame(frame: Any) -> tuple[Any, list[str] | None, list[str] | None]:
    """Take a pandas- or polars-like frame apart into values, row names and column names."""
    if not hasattr(frame, "to_numpy"):
        raise InputError(
            f"a {type(frame).__name__} cannot be read as it is; collect it into a data frame first"
        )
    index = getattr(frame, "index", None)
    row_names = None if index is None or _is_plain_range(index) else [str(name) for name in index]
    columns = frame.columns
    column_names = None if _is_plain_range(columns) else [str(name) for name in columns]
    return _frame_values(frame), row_names, column_names


def _is_plain_range(index: Any) -> bool:
    """Tell whether a pandas index is only 0, 1, 2, ..."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def _frame_values(frame: Any) -> Any:
    if hasattr(frame, "iloc") and frame.shape[1] and frame.shape[0]:
        if all(hasattr(dtype, "fill_value") and dtype.fill_value == 0 for dtype in frame.dtypes):
            return frame.sparse.to_coo()
    values = frame.to_numpy()
    if values.dtype != object or not hasattr(frame, "iloc"):
        return values
    # Columns of several numeric types, or nullable ones, only meet in an object array.
    return np.column_stack([_column_values(frame.iloc[:, j]) for j in range(frame.shape[1])])


def _column_values(column: Any) -> Array:
    try:
        if column.dtype == object:
            raise TypeError("it holds Python objects")
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"column {column.name!r} is not numeric ({_line(error)}); "
            "convert it to numbers or leave it out"
        ) from None


def _read_dense(counts: Any) -> _Table:
    if isinstance(counts, np.ma.MaskedArray) and np.ma.is_masked(counts):
        raise InputError("masked cells have no count; fill them first, or use exposures")
    try:
        dense = np.asarray(counts)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"a {type(counts).__name__} cannot be read as a table of counts ({_line(error)}); "
            "pass rows of equal length"
        ) from None
    _check_dtype(dense.dtype)
    n_documents, n_words = _check_shape(dense.shape)
    step = max(1, _DENSE_CELLS_AT_ONCE // n_words)
    lengths, words, values = [], [], []
    for start in range(0, n_documents, step):
        part = dense[start : start + step]
        rows, columns = np.nonzero(part)
        found = part[rows, columns]
        _check_values(found, lambda n, r=rows + start, c=columns: (r[n], c[n]))
        lengths.append(np.bincount(rows, minlength=part.shape[0]))
        words.append(columns.astype(np.int32))
        values.append(found.astype(np.float64))
    indptr = np.concatenate(([0], np.cumsum(np.concatenate(lengths), dtype=np.int64)))
    return _Table(n_words, indptr, np.concatenate(words), np.concatenate(values))


def _read_sparse(counts: Any) -> _Table:
    """Check a SciPy sparse table in NumPy, before any compiled code of SciPy sees it."""
    n_documents, n_words = _check_shape(counts.shape)
    if counts.format in ("csr", "csc"):
        by_row = counts.format == "csr"
        data, indices, indptr = (
            np.asarray(a) for a in (counts.data, counts.indices, counts.indptr)
        )
        _check_dtype(data.dtype)
        n_major, n_minor = (n_documents, n_words) if by_row else (n_words, n_documents)
        _check_indptr(indptr, n_major, indices, data)
        _check_indices(indices, n_minor, "column" if by_row else "row")

        def where(n: int) -> tuple[int, int]:
            major = int(np.searchsorted(indptr, n, side="right")) - 1
            return (major, int(indices[n])) if by_row else (int(indices[n]), major)

        _check_values(data, where)
        if by_row and _is_ascending(indptr, indices):
            compressed = (
                indptr.astype(np.int64),
                indices.astype(np.int32),
                data.astype(np.float64),
            )
            return _finish(n_words, *compressed)
        kind = sparse.csr_array if by_row else sparse.csc_array
        arrays = (data.astype(np.float64), _signed(indices), _signed(indptr))
        ordered = kind(arrays, shape=(n_documents, n_words)).tocsc()
    else:
        data, rows, columns = _triples(counts)
        _check_dtype(data.dtype)
        if not data.shape == rows.shape == columns.shape or data.ndim != 1:
            raise InputError(
                f"sparse table is damaged: {data.shape} data, {rows.shape} row and "
                f"{columns.shape} column indices; rebuild it"
            )
        _check_indices(rows, n_documents, "row")
        _check_indices(columns, n_words, "column")
        _check_values(data, lambda n: (rows[n], columns[n]))
        coordinates = (_signed(rows), _signed(columns))
        triples = sparse.coo_array(
            (data.astype(np.float64), coordinates), shape=(n_documents, n_words)
        )
        # Said to be canonical so that SciPy leaves the duplicates alone, in their order.
        triples.has_canonical_format = True
        ordered = triples.tocsr().tocsc()
    # A change between CSC and CSR is a stable counting sort: linear, and duplicates keep the
    # order they came in, so their sum has the same bits each time.
    ordered = ordered.tocsr()
    return _finish(
        n_words,
        ordered.indptr.astype(np.int64),
        ordered.indices.astype(np.int32),
        ordered.data,
    )


def _triples(counts: Any) -> tuple[Array, Array, Array]:
    """Return data, rows and columns of a sparse table that is neither CSR nor CSC."""
    try:
        if counts.format == "lil":
            lengths = [len(row) for row in counts.rows]
            if lengths != [len(row) for row in counts.data] or len(lengths) != counts.shape[0]:
                raise ValueError("rows and data differ in length")
            columns = np.array([j for row in counts.rows for j in row], dtype=np.int64)
            values = [value for row in counts.data for value in row]
            data = np.array(values) if values else np.zeros(0, dtype=np.int64)
            return data, np.repeat(np.arange(len(lengths)), lengths), columns
        if counts.format == "bsr":
            height = counts.blocksize[0]
            _check_dtype(counts.data.dtype)
            _check_indptr(counts.indptr, counts.shape[0] // height, counts.indices, counts.data)
            _check_indices(counts.indices, counts.shape[1] // counts.blocksize[1], "block column")
        if counts.format == "dia":
            _check_dtype(counts.data.dtype)
        if counts.format != "coo":
            counts = counts.tocoo(copy=True)
        rows, columns = counts.coords if hasattr(counts, "coords") else (counts.row, counts.col)
        return np.asarray(counts.data), np.asarray(rows), np.asarray(columns)
    except InputError:
        raise
    except (TypeError, ValueError, IndexError, KeyError, AttributeError, OverflowError) as error:
        raise InputError(
            f"sparse table ({counts.format}) is damaged: {_line(error)}; rebuild it"
        ) from None


def _finish(n_words: int, indptr: Array, words: Array, values: Array) -> _Table:
    """Sum duplicates and drop zeros of a table whose words ascend inside each document."""
    if words.size > 1:
        first = np.ones(words.size, dtype=bool)
        np.not_equal(words[1:], words[:-1], out=first[1:])
        starts = indptr[:-1]
        first[starts[starts < words.size]] = True
        if not first.all():
            values = np.add.reduceat(values, np.flatnonzero(first))
            indptr = np.concatenate(([0], np.cumsum(first, dtype=np.int64)))[indptr]
            words = words[first]
            _check_values(values, lambda n: (np.searchsorted(indptr, n, "right") - 1, words[n]))
    kept = values != 0
    if not kept.all():
        indptr = np.concatenate(([0], np.cumsum(kept, dtype=np.int64)))[indptr]
        words, values = words[kept], values[kept]
    return _Table(n_words, indptr, words, values)


def _is_ascending(indptr: Array, indices: Array) -> bool:
    """Tell whether indices never descend inside a row (equal ones are duplicates)."""
    if indices.size < 2:
        return True
    ascending = indices[1:] >= indices[:-1]
    starts = indptr[(indptr > 0) & (indptr < indices.size)].astype(np.int64)
    ascending[starts - 1] = True
    return bool(ascending.all())


def _signed(indices: Array) -> Array:
    """Return checked indices in a signed type that SciPy knows."""
    small = indices.dtype.kind == "i" and indices.dtype.itemsize <= 4
    return indices.astype(np.int32 if small else np.int64)


def _line(error: Exception) -> str:
    """Return an error's message on one line."""
    return " ".join(str(error).split())


def _tightest(values: Array) -> Array:
    """Return counts as int32 when nothing is lost, else as float64."""
    if values.dtype == np.int32:
        return values
    if values.size == 0 or (values.max() <= LARGEST_INT32 and (np.rint(values) == values).all()):
        return values.astype(np.int32)
    return values.astype(np.float64, copy=False)


# ---- checks ----


def _check_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    if len(shape) != 2:
        raise InputError(
            f"Expected 2D array, got {len(shape)}D array instead (shape={shape}). "
            "Reshape your data to one row per document and one column per word, e.g. with "
            "array.reshape(1, -1)"
        )
    for size, thing in zip(shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise InputError(
                f"Found array with 0 {thing}(s) (shape={shape}) while a minimum of 1 is required."
            )
    if shape[1] > LARGEST_INT32:
        raise LimitError(
            f"{shape[1]} words (columns), above the limit of {LARGEST_INT32}; drop rare words or "
            "hash them into fewer columns"
        )
    return int(shape[0]), int(shape[1])


def _check_dtype(dtype: np.dtype[Any]) -> None:
    if dtype.kind == "c":
        raise InputError(f"Complex data not supported (dtype {dtype}); pass real counts")
    if dtype.kind not in "biuf":
        raise InputError(
            f"counts have dtype {dtype}, which is not numeric; convert them to numbers"
        )


def _check_values(values: Array, where: Any) -> None:
    """Refuse the first count that is NaN, infinite, negative or absurd, and say where it is."""
    if values.dtype.kind == "b":
        return
    with np.errstate(invalid="ignore"):
        good = (values >= 0) & (values <= np.float64(LARGEST_COUNT))
    if good.all():
        return
    n = int(np.argmin(good))
    row, column = where(n)
    value = values[n].item()
    place = f"row {row}, column {column} holds {value}"
    if values.dtype.kind == "f" and np.isnan(value):
        raise InputError(f"NaN in data: {place}; remove it, set it to 0, or use exposures")
    if values.dtype.kind == "f" and np.isinf(value):
        raise InputError(f"inf in data: {place}; counts must be finite, correct or remove it")
    if value < 0:
        raise InputError(f"Negative values in data: {place}; counts must be 0 or more, correct it")
    raise LimitError(f"count above {LARGEST_COUNT:g}: {place}; correct it or rescale the counts")


def _check_indptr(indptr: Array, n_major: int, indices: Array, data: Array) -> None:
    problem = None
    if indptr.ndim != 1 or indptr.dtype.kind not in "iu":
        problem = f"indptr has dtype {indptr.dtype} and {indptr.ndim} dimensions, not whole numbers"
    elif indptr.size != n_major + 1:
        problem = f"indptr has {indptr.size} entries, not {n_major + 1}"
    elif indptr[0] != 0:
        problem = f"indptr starts at {indptr[0]}, not at 0"
    elif (indptr[1:] < indptr[:-1]).any():
        n = int(np.argmax(indptr[1:] < indptr[:-1]))
        problem = f"indptr falls from {indptr[n]} to {indptr[n + 1]} at {n + 1}"
    elif indices.ndim != 1 or len(indices) != indptr[-1]:
        problem = f"indptr ends at {indptr[-1]} but indices have shape {indices.shape}"
    elif data.ndim not in (1, 3) or len(data) != indptr[-1]:
        problem = f"indptr ends at {indptr[-1]} but data have shape {data.shape}"
    if problem is not None:
        raise InputError(f"sparse table is damaged: {problem}; rebuild it")


def _check_indices(indices: Array, limit: int, what: str) -> None:
    if indices.size == 0:
        return
    if indices.dtype.kind not in "iu":
        raise InputError(
            f"sparse table is damaged: {what} indices have dtype {indices.dtype}; rebuild it"
        )
    bad = (indices < 0) | (indices >= limit)
    if bad.any():
        n = int(np.argmax(bad))
        raise InputError(
            f"sparse table is damaged: {what} index {indices[n]} (entry {n}) is outside "
            f"0 .. {limit - 1}; rebuild it"
        )


def _check_unexposed(corpus: Corpus) -> None:
    """Refuse a positive count where the document was not exposed to the group."""
    if corpus.exposures is None or corpus.exposures.all():
        return
    lengths = corpus.group_lengths.tocoo()
    rows, groups = lengths.coords
    bad = corpus.exposures[rows, groups] == 0
    if bad.any():
        n = int(np.argmax(bad))
        raise InputError(
            f"document {rows[n]} holds {lengths.data[n]:g} counts in group {groups[n]} but its "
            "exposure there is 0; raise the exposure or remove the counts"
        )


# ---- groups, exposures, names, selections ----


def _read_groups(groups: Any, n_words: int) -> tuple[Array, int, list[str] | None]:
    """Return group numbers (J,) int32, how many groups there are, and their labels if any."""
    if groups is None:
        return np.zeros(n_words, dtype=np.int32), 1, None
    if isinstance(groups, str):
        raise InputError("groups must be one number or label per word, not a string")
    try:
        labels = np.asarray(groups)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"groups cannot be read ({_line(error)}); pass one label per word"
        ) from None
    if labels.shape != (n_words,):
        raise InputError(f"groups have shape {labels.shape}, expected ({n_words},): one per word")
    if labels.dtype.kind == "f":
        whole = np.isfinite(labels)
        whole[whole] = np.rint(labels[whole]) == labels[whole]
        whole &= np.abs(labels) < 2.0**62
        if not whole.all():
            j = int(np.argmin(whole))
            value = "NaN" if np.isnan(labels[j]) else f"{labels[j]}"
            raise InputError(f"group of word {j} is {value}; use whole numbers from 0, or strings")
        labels = labels.astype(np.int64)
    if labels.dtype.kind not in "iu":
        return _number_labels(labels)
    if labels.min() < 0:
        j = int(np.argmax(labels < 0))
        raise InputError(f"group of word {j} is {labels[j]}; number the groups from 0")
    n_groups = int(labels.max()) + 1
    present = np.unique(labels)
    if present.size != n_groups:
        gap = int(np.argmax(np.append(present != np.arange(present.size), True)))
        raise InputError(
            f"group {gap} owns no word although the largest group is {n_groups - 1}; number the "
            "groups 0 .. G-1 without gaps"
        )
    return labels.astype(np.int32), n_groups, None


def _number_labels(labels: Array) -> tuple[Array, int, list[str]]:
    numbers: dict[str, int] = {}
    codes = np.empty(labels.size, dtype=np.int32)
    for j, label in enumerate(labels.tolist()):
        if label is None or label != label:
            raise InputError(f"group of word {j} is {label} (NaN or None); give it a label")
        codes[j] = numbers.setdefault(str(label), len(numbers))
    return codes, len(numbers), list(numbers)


def _read_exposures(exposures: Any, n_documents: int, n_groups: int) -> Array | None:
    if exposures is None:
        return None
    if sparse.issparse(exposures):
        raise InputError("exposures must be a dense array; convert them with .toarray()")
    try:
        values = np.asarray(exposures)
    except (TypeError, ValueError) as error:
        raise InputError(f"exposures cannot be read ({_line(error)}); pass numbers") from None
    if values.dtype.kind not in "biuf":
        raise InputError(f"exposures have dtype {values.dtype}; convert them to numbers")
    if values.ndim == 1 and n_groups == 1:
        values = values[:, np.newaxis]
    if values.shape != (n_documents, n_groups):
        raise InputError(
            f"exposures have shape {values.shape}, expected ({n_documents}, {n_groups}): "
            "documents by groups"
        )
    values = np.array(values, dtype=np.float64, order="C")
    good = np.isfinite(values) & (values >= 0)
    if not good.all():
        i, g = np.unravel_index(int(np.argmin(good)), good.shape)
        raise InputError(
            f"exposure of document {i} to group {g} is {values[i, g]}; it must be finite and 0 or "
            "more (0 means not observed)"
        )
    return values


def _read_names(names: Iterable[Any] | None, size: int, what: str) -> tuple[str, ...] | None:
    if names is None:
        return None
    if isinstance(names, str):
        raise InputError(f"{what}_names is a single string; pass a sequence of {size} names")
    try:
        strings = tuple(str(name) for name in names)
    except TypeError:
        raise InputError(f"{what}_names is no sequence; pass {size} names") from None
    if len(strings) != size:
        raise InputError(f"{what}_names holds {len(strings)} names, expected {size}")
    return strings


def _read_selection(documents: Any, n_documents: int) -> Array:
    if isinstance(documents, slice):
        chosen = np.arange(n_documents)[documents]
    else:
        chosen = np.asarray(documents)
        if chosen.dtype.kind == "b":
            if chosen.shape != (n_documents,):
                raise InputError(f"mask has shape {chosen.shape}, expected ({n_documents},)")
            chosen = np.flatnonzero(chosen)
    if chosen.size == 0:
        raise InputError("no documents selected; select at least one")
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise InputError("select documents by a slice, a mask or a list of whole numbers")
    chosen = chosen.astype(np.int64)
    outside = (chosen < -n_documents) | (chosen >= n_documents)
    if outside.any():
        raise InputError(f"document {chosen[np.argmax(outside)]} is outside 0 .. {n_documents - 1}")
    return chosen % n_documents
