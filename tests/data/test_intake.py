# SPDX-License-Identifier: BSD-3-Clause
"""A corpus holds the same bits whichever way the table comes in, and refuses bad tables."""

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from discan.data import intake
from discan.data.corpus import Corpus
from discan.errors import InputError, LimitError

DENSE = np.array([[0, 2, 0, 1], [0, 0, 0, 0], [5, 0, 0, 3], [0, 0, 7, 0], [1, 1, 1, 1]])


def bits(corpus):
    arrays = (corpus.indptr, corpus.words, corpus.counts)
    return tuple((array.dtype.str, array.shape, array.tobytes()) for array in arrays)


def digest(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()


def with_index_dtype(dtype):
    table = sparse.csr_array(DENSE)
    table.indices = table.indices.astype(dtype)
    table.indptr = table.indptr.astype(dtype)
    return table


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def shuffled(table, random):
    """The same table in COO form, out of order, with split duplicates and explicit zeros."""
    rows, columns = np.nonzero(table)
    values = table[rows, columns]
    rows = np.concatenate([rows, rows, [0, 1]])
    columns = np.concatenate([columns, columns, [0, 3]])
    values = np.concatenate([values - 1, np.ones_like(values), [0, 0]])
    order = random.permutation(rows.size)
    coordinates = (rows[order], columns[order])
    return sparse.coo_array((values[order], coordinates), shape=table.shape)


# ---- the same table, whichever way it comes in ----


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("name", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
@pytest.mark.parametrize("dtype", ["?", "i1", "u4", "i8", "f4", "f8"])
def test_every_sparse_format(kind, name, dtype):
    values = DENSE.astype(dtype)
    table = getattr(sparse, f"{name}_{kind}")(sparse.coo_array(values))
    assert bits(Corpus(table)) == bits(Corpus(values.astype(float)))


@pytest.mark.parametrize(
    "table",
    [
        DENSE.tolist(),
        np.asfortranarray(DENSE),
        read_only(DENSE),
        DENSE.astype(np.float16),
        DENSE.astype(np.longdouble),
        DENSE[:, ::-1][:, ::-1],
        with_index_dtype(np.int32),
        with_index_dtype(np.int64),
        with_index_dtype(np.uint32),
        with_index_dtype(np.uint64),
        with_index_dtype(np.int16),
        shuffled(DENSE, np.random.default_rng(0)),
        shuffled(DENSE, np.random.default_rng(1)).astype(np.float32),
    ],
)
def test_every_way_in(table):
    corpus = Corpus(table)
    assert bits(corpus) == bits(Corpus(DENSE))
    assert corpus.indptr.dtype == np.int64
    assert corpus.words.dtype == corpus.counts.dtype == np.int32
    assert (corpus.to_csr().toarray() == DENSE).all()


def test_memory_map(tmp_path):
    np.save(tmp_path / "table.npy", DENSE)
    assert bits(Corpus(np.load(tmp_path / "table.npy", mmap_mode="r"))) == bits(Corpus(DENSE))


def test_frames():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    words, people = ["a", "b", "c", "d"], ["v", "w", "x", "y", "z"]
    frame = pandas.DataFrame(DENSE, columns=words, index=people)
    plain = pandas.DataFrame(DENSE)
    thin = frame.astype(pandas.SparseDtype("int64", 0))
    nullable = frame.astype({"a": "Int64", "b": "Int8", "c": float})
    mixed = frame.assign(e=True)
    for table in (frame, thin, nullable):
        corpus = Corpus(table)
        assert bits(corpus) == bits(Corpus(DENSE))
        assert corpus.layout.word_names == tuple(words)
        assert corpus.document_names == tuple(people)
    assert Corpus(plain).document_names is None
    assert Corpus(plain).layout.word_names is None
    assert Corpus(mixed).n_words == 5
    corpus = Corpus(polars.DataFrame(DENSE, schema=words))
    assert bits(corpus) == bits(Corpus(DENSE))
    assert (corpus.layout.word_names, corpus.document_names) == (tuple(words), None)
    with pytest.raises(InputError, match="NaN"):
        Corpus(polars.DataFrame({"a": [1, None]}))
    with pytest.raises(InputError, match="NaN"):
        Corpus(frame.astype("Int64").where(frame != 7))
    with pytest.raises(InputError, match="'a' is not numeric"):
        Corpus(frame.assign(a="text"))
    with pytest.raises(InputError, match="collect it"):
        Corpus(polars.DataFrame(DENSE).lazy())


def test_dense_in_several_chunks(monkeypatch):
    expected = bits(Corpus(DENSE))
    monkeypatch.setattr(intake, "_DENSE_CELLS_AT_ONCE", 8)
    assert bits(Corpus(DENSE)) == expected
    with pytest.raises(InputError, match=r"row 3, column 2 holds -7"):
        Corpus(np.where(DENSE == 7, -7, DENSE))


def test_duplicates_are_summed_in_the_order_they_came():
    values = np.array([1e10, 0.1, 1e-7, 3.0])
    rows, columns = np.array([1, 1, 1, 0]), np.array([2, 2, 2, 0])
    triples = sparse.coo_array((values, (rows, columns)), shape=(2, 3))
    by_row = sparse.csr_array((values[[3, 0, 1, 2]], [0, 2, 2, 2], [0, 1, 4]), shape=(2, 3))
    unsorted = sparse.csr_array(
        (np.r_[3.0, values[:2], 0.0, values[2]], [0, 2, 2, 1, 2], [0, 1, 5]), shape=(2, 3)
    )
    by_column = sparse.csc_array((values[[3, 0, 1, 2]], [0, 1, 1, 1], [0, 1, 1, 4]), shape=(2, 3))
    expected = bits(Corpus([[3.0, 0, 0], [0, 0, 1e10 + 0.1 + 1e-7]]))
    for table in (triples, by_row, unsorted, by_column):
        assert bits(Corpus(table)) == expected


def test_input_is_neither_changed_nor_shared():
    table = sparse.csr_array((np.ones(3), [2, 0, 2], [0, 3, 3]), shape=(2, 3))
    for source in (table, sparse.csr_array(DENSE.astype(np.int32)), sparse.coo_array(DENSE)):
        if source.format == "coo":
            arrays = (source.data, *source.coords)
        else:
            arrays = (source.data, source.indices, source.indptr)
        before = digest(*arrays)
        corpus = Corpus(source)
        corpus.to_csr().data[:] = 9
        corpus.counts[:] = 8
        corpus.words[:] = 0
        corpus.indptr[:] = 0
        assert digest(*arrays) == before


# ---- refusals ----


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (-1, InputError, "Negative values in data"),
        (-np.inf, InputError, "inf"),
        (np.nan, InputError, "NaN"),
        (np.inf, InputError, "inf"),
        (1e300, LimitError, "1e[+]300"),
        (2e15, LimitError, "2000000000000000"),
    ],
)
@pytest.mark.parametrize("form", ["dense", "csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_bad_value_is_named(value, error, words, form):
    table = DENSE.astype(float)
    table[3, 2] = value
    table = table if form == "dense" else sparse.coo_array(table).asformat(form)
    with pytest.raises(error, match=f"(?s)(?=.*{words}).*row 3, column 2 holds") as caught:
        Corpus(table)
    assert "\n" not in str(caught.value)


def test_float16_infinity():
    with pytest.raises(InputError, match="inf"):
        Corpus(np.array([[np.inf, 1]], dtype=np.float16))


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (np.zeros((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required\."),
        (np.zeros((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required\."),
        (sparse.csr_array((3, 0)), r"0 feature\(s\)"),
        (np.ones(3), "Reshape your data"),
        (sparse.coo_array(np.ones(3)), "Reshape your data"),
        (np.ones((2, 2, 2)), "2D"),
        (3, "2D"),
        (None, "dtype object"),
        ([[1, 2], [3]], "rows of equal length"),
        ([["1", "2"]], "not numeric"),
        ([[1, None]], "dtype object"),
        (np.array([[1, 2]], dtype=object), "dtype object"),
        (np.array([[1j]]), "Complex data not supported"),
        (sparse.csr_array(np.array([[1j]])), "Complex data not supported"),
        (np.ma.masked_equal([[1, 2]], 2), "masked"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), "not numeric"),
    ],
)
def test_no_table_of_counts(table, words):
    with pytest.raises(InputError, match=words):
        Corpus(table)


def test_limits():
    with pytest.raises(LimitError, match="words"):
        Corpus(sparse.coo_array((2, 2**31)))
    with pytest.raises(LimitError, match="sum"):
        Corpus(np.full((100, 100), 1e15))
    with pytest.raises(LimitError, match="row 0, column 0"):
        Corpus(sparse.coo_array((np.full(2, 9e14), ([0, 0], [0, 0])), shape=(1, 1)))


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize(
    "damage",
    [
        {"indptr": [1, 2, 4, 5]},
        {"indptr": [0, 4, 2, 5]},
        {"indptr": [0, 2, 4, 6]},
        {"indptr": [0, 2, 5]},
        {"indptr": [[0, 2, 4, 5]]},
        {"indptr": [0.0, 2.0, 4.0, 5.0]},
        {"indptr": [0, -(2**40), 4, 5]},
        {"indices": [0, 1, 3, 0, 1]},
        {"indices": [0, 1, -1, 0, 1]},
        {"indices": [0, 1, 2**40, 0, 1]},
        {"indices": [0, 1, 2, 0]},
        {"indices": [0.0, 1, 2, 0, 1]},
        {"data": [1, 1, 1, 1]},
        {"data": np.array([1, 1, 1, 1, None])},
    ],
)
def test_damaged_compressed_table(form, damage):
    kind = getattr(sparse, f"{form}_array")
    table = kind((np.ones(5), [0, 1, 2, 0, 1], [0, 2, 4, 5]), shape=(3, 3))
    for name, values in damage.items():
        setattr(table, name, np.asarray(values))
    with pytest.raises(InputError):
        Corpus(table)


numbers = st.integers(-3, 9) | st.sampled_from([2**31, 2**40, -(2**40), 2**63 - 1])
counts = numbers | st.floats(width=32)


@settings(max_examples=300, deadline=None)
@given(
    form=st.sampled_from(["csr", "csc", "coo", "bsr"]),
    indptr=st.lists(numbers, max_size=6),
    indices=st.lists(numbers, max_size=6),
    data=st.lists(counts, max_size=6),
    repair=st.integers(0, 7),
)
def test_damage_never_gets_past_the_checks(form, indptr, indices, data, repair):
    table = getattr(sparse, f"{form}_array")(np.ones((3, 4)))
    data = np.array(data, dtype=float)
    arrays = {"data": data if form != "bsr" else data[:, None, None]}
    if form == "coo":
        table.coords = (np.array(indptr, dtype=np.int64), np.array(indices, dtype=np.int64))
    else:
        arrays |= {"indptr": np.array(indptr, np.int64), "indices": np.array(indices, np.int64)}
    for bit, (name, values) in enumerate(arrays.items()):
        if not repair & (1 << bit):
            setattr(table, name, values)
    try:
        corpus = Corpus(table)
    except (InputError, LimitError) as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert corpus.n_documents == 3
        assert corpus.indptr[-1] == corpus.words.size == corpus.counts.size
        assert (corpus.counts > 0).all()
