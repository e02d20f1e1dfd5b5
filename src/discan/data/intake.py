# SPDX-License-Identifier: BSD-3-Clause
"""Check tables of counts and bring them into canonical form."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from discan.errors import InputError, LimitError
from discan.typing import Array
from discan.validation import LARGEST, LEAST

__all__ = [
    "LARGEST_COUNT",
    "LARGEST_INT32",
    "LEAST_COUNT",
    "Table",
    "as_array",
    "bounded_int",
    "offsets",
    "read_table",
    "reason",
    "tightest",
]

LARGEST_COUNT = LARGEST
"""Counts above it are refused: below it every whole number is exact in float64."""

LEAST_COUNT = LEAST
"""Counts below it, but above 0, are refused: products with them could be too small for float64."""

LARGEST_TOTAL = 2**63 - 1
"""Token offsets are int64."""

_MOST_DIGITS, _BEYOND = 40, 10**40
LARGEST_INT32 = 2**31 - 1

_DENSE_CELLS_AT_ONCE = 2**22

# ---- reading tables ----


class Table(NamedTuple):
    """A canonical table; values are float64, or int32 if they were given so."""

    n_words: int
    indptr: Array
    words: Array
    values: Array
    document_names: list[str] | None = None
    word_names: list[str] | None = None


def read_table(counts: Any) -> Table:
    """Read a sparse, dense or framed table into canonical arrays of its own."""
    document_names = word_names = None
    if hasattr(type(counts), "columns"):  # asked of the class: a lazy frame may compute it
        counts, document_names, word_names = _read_frame(counts)
    table = _read_sparse(counts) if sparse.issparse(counts) else _read_dense(counts)
    total = table.values.sum()
    if total > 0.999 * LARGEST_TOTAL:
        raise LimitError(f"the counts sum to {total:.6g}, above 2**63 - 1; rescale them")
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
            f"column {column.name!r} is not numeric ({reason(error)}); convert it to numbers "
            "or leave it out; a frame of answers in words is read by discan.read(frame)"
        ) from None


def _read_dense(counts: Any) -> Table:
    if isinstance(counts, np.ma.MaskedArray) and np.ma.is_masked(counts):
        raise InputError("masked cells have no count; fill them first, or use exposures")
    what = f"a {type(counts).__name__} cannot be read as a table of counts"
    dense = as_array(counts, what, "pass rows of equal length")
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
    indptr = offsets(np.concatenate(lengths))
    return Table(n_words, indptr, np.concatenate(words), np.concatenate(values))


def _read_sparse(counts: Any) -> Table:
    """Check a SciPy sparse table in NumPy, before any compiled code of SciPy sees it."""
    n_documents, n_words = _check_shape(counts.shape)
    if counts.format in ("csr", "csc"):
        by_row = counts.format == "csr"
        data, indices, indptr = map(np.asarray, (counts.data, counts.indices, counts.indptr))
        _check_dtype(data.dtype)
        n_major, n_minor = (n_documents, n_words) if by_row else (n_words, n_documents)
        _check_indptr(indptr, n_major, indices, data)
        _check_indices(indices, n_minor, "column" if by_row else "row")

        def where(n: int) -> tuple[int, int]:
            major = int(np.searchsorted(indptr, n, side="right")) - 1
            return (major, int(indices[n])) if by_row else (int(indices[n]), major)

        _check_values(data, where)
        if by_row and _is_ascending(indptr, indices):
            values = data.astype(np.int32 if data.dtype == np.int32 else np.float64)
            return _finish(n_words, indptr.astype(np.int64), indices.astype(np.int32), values)
        kind = sparse.csr_array if by_row else sparse.csc_array
        arrays = (data.astype(np.float64), _signed(indices), _signed(indptr))
        ordered = kind(arrays, shape=(n_documents, n_words)).tocsc()
    else:
        data, rows, columns = _triples(counts)
        _check_dtype(data.dtype)
        if not data.shape == rows.shape == columns.shape or data.ndim != 1:
            raise _damaged(
                f"{data.shape} data, {rows.shape} row and {columns.shape} column indices"
            )
        _check_indices(rows, n_documents, "row")
        _check_indices(columns, n_words, "column")
        _check_values(data, lambda n: (rows[n], columns[n]))
        parts = (data.astype(np.float64), (_signed(rows), _signed(columns)))
        triples = sparse.coo_array(parts, shape=(n_documents, n_words))
        # Marked as canonical, so that SciPy does not sum the duplicates or change their order.
        triples.has_canonical_format = True
        ordered = triples.tocsr().tocsc()
    # A change between CSC and CSR is a stable counting sort: linear, and duplicates keep the
    # order, so their sum has the same bits each time.
    ordered = ordered.tocsr()
    indptr, words = ordered.indptr.astype(np.int64), ordered.indices.astype(np.int32)
    return _finish(n_words, indptr, words, ordered.data)


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
        raise _damaged(reason(error), f" ({counts.format})") from None


def _finish(n_words: int, indptr: Array, words: Array, values: Array) -> Table:
    """Sum duplicates and drop zeros of a table whose words ascend inside each document."""
    if words.size > 1:
        first = np.ones(words.size, dtype=bool)
        np.not_equal(words[1:], words[:-1], out=first[1:])
        starts = indptr[:-1]
        first[starts[starts < words.size]] = True
        if not first.all():
            values = np.add.reduceat(values.astype(np.float64), np.flatnonzero(first))
            indptr = offsets(first)[indptr]
            words = words[first]
            _check_values(values, lambda n: (np.searchsorted(indptr, n, "right") - 1, words[n]))
    kept = values != 0
    if not kept.all():
        indptr = offsets(kept)[indptr]
        words, values = words[kept], values[kept]
    return Table(n_words, indptr, words, values)


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


def as_array(values: Any, problem: str, remedy: str) -> Array:
    """Return an array of what was passed, or raise an error."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as error:
        raise InputError(f"{problem} ({reason(error)}); {remedy}") from None


def offsets(lengths: Array) -> Array:
    """Return where each of n parts begins and the last one ends, (n + 1,) int64."""
    return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))


def bounded_int(text: str) -> int:
    """Return the whole number that a text holds; 10**40 stands for any of more than 40 digits.

    Python refuses to parse thousands of digits, and no number or index in data has so many.
    """
    text = text.strip()
    if len(text) <= _MOST_DIGITS:
        return int(text)
    return -_BEYOND if text.startswith("-") else _BEYOND


def reason(error: Exception) -> str:
    """Return the message of an error in one short line."""
    return " ".join(str(error).split())[:200] or type(error).__name__


def tightest(values: Array) -> Array:
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
    if 0 in shape:
        thing = "sample" if shape[0] == 0 else "feature"
        raise InputError(
            f"Found array with 0 {thing}(s) (shape={shape}) while a minimum of 1 is required."
        )
    if shape[1] > LARGEST_INT32:
        raise LimitError(
            f"{shape[1]} words (columns), above the limit of {LARGEST_INT32}; drop rare words or "
            "hash them into fewer columns"
        )
    if shape[0] > LARGEST_INT32:
        raise LimitError(f"{shape[0]} documents (rows), above the limit of {LARGEST_INT32}")
    return int(shape[0]), int(shape[1])


def _check_dtype(dtype: np.dtype[Any]) -> None:
    if dtype.kind == "c":
        raise InputError(f"Complex data not supported (dtype {dtype}); pass real counts")
    if dtype.kind not in "biuf":
        raise InputError(
            f"counts have dtype {dtype}, which is not numeric; convert them to numbers"
        )


def _check_values(values: Array, where: Any) -> None:
    """Refuse the first count that is NaN, infinite, negative or too large; the error says where."""
    if values.dtype.kind == "b":
        return
    with np.errstate(invalid="ignore"):
        good = (values >= 0) & (values <= np.float64(LARGEST_COUNT))
        if values.dtype.kind == "f" and values.dtype.itemsize >= 8:
            good &= (values == 0) | (values >= LEAST_COUNT)
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
    if value < 1:
        raise LimitError(f"count below {LEAST_COUNT:g}: {place}; set it to 0 or rescale the counts")
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
        raise _damaged(problem)


def _check_indices(indices: Array, limit: int, what: str) -> None:
    if indices.size == 0:
        return
    if indices.dtype.kind not in "iu":
        raise _damaged(f"{what} indices have dtype {indices.dtype}")
    bad = (indices < 0) | (indices >= limit)
    if bad.any():
        n = int(np.argmax(bad))
        raise _damaged(f"{what} index {indices[n]} (entry {n}) is outside 0 .. {limit - 1}")


def _damaged(problem: str, kind: str = "") -> InputError:
    return InputError(f"sparse table{kind} is damaged: {problem}; rebuild it")
