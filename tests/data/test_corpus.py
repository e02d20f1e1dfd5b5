# SPDX-License-Identifier: BSD-3-Clause
"""A corpus holds the same bits whichever way the table comes in, and refuses bad tables."""

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import gammaln

from discan.data import corpus as corpus_module
from discan.data import intake
from discan.data.corpus import Corpus, Layout
from discan.errors import DiscanError, InputError, LimitError

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


# ---- groups, exposures, names ----


def test_groups_by_number_and_by_label():
    by_number = Corpus(DENSE, groups=[1, 0, 1, 2])
    by_label = Corpus(DENSE, groups=["x", "y", "x", "z"])
    assert by_number.layout.group_of_word.tolist() == [1, 0, 1, 2]
    assert by_label.layout.group_of_word.tolist() == [0, 1, 0, 2]
    assert by_label.layout.group_names == ("x", "y", "z")
    assert by_label.layout.group_of_word.dtype == np.int32
    assert by_label.layout.group_sizes.tolist() == [2, 1, 1]
    assert Corpus(DENSE, groups=[0.0, 1.0, 1.0, 0.0]).n_groups == 2
    named = Corpus(DENSE, groups=[0, 1, 1, 0], group_names=["this", "that"])
    assert named.layout.group_names == ("this", "that")


@pytest.mark.parametrize(
    "groups",
    [
        [0, 1],
        [[0, 0, 1, 1]],
        [0, -1, 0, 1],
        [0, 2, 2, 0],
        [1, 1, 1, 1],
        [0, 10**15, 1, 1],
        [0, np.nan, 1, 1],
        [0, 0.5, 1, 1],
        [0, np.inf, 1, 1],
        ["a", None, "b", "b"],
        np.array(["a", np.nan, "b", "b"], dtype=object),
        "abcd",
        3,
    ],
)
def test_bad_groups(groups):
    with pytest.raises(InputError, match="group"):
        Corpus(DENSE, groups=groups)


def test_exposures():
    corpus = Corpus(DENSE, groups=[0, 0, 1, 1], exposures=np.array([[1, 2]] * 4 + [[2, 2]]))
    assert corpus.exposure_levels.tolist() == [3.0, 4.0]
    assert corpus.levels.tolist() == [0, 0, 0, 0, 1]
    assert Corpus(DENSE, exposures=[1, 0, 1, 1, 1]).exposures.shape == (5, 1)
    with pytest.raises(InputError, match="document 2 holds 3 counts in group 1"):
        Corpus(DENSE, groups=[0, 0, 1, 1], exposures=[[1, 1], [1, 1], [1, 0], [1, 1], [1, 1]])
    for bad in (np.ones((5, 3)), np.ones(4), -np.ones(5), np.full(5, np.nan), ["a"] * 5, [[1], 2]):
        with pytest.raises(InputError, match="exposure"):
            Corpus(DENSE, exposures=bad)


def test_names():
    corpus = Corpus(DENSE, word_names=[1, 2, 3, 3])
    assert corpus.layout.word_names == ("1", "2", "3", "3")
    for bad in ("abcd", ["a"], 7):
        with pytest.raises(InputError, match="word_names"):
            Corpus(DENSE, word_names=bad)


# ---- what the numbers add up to ----


@pytest.mark.parametrize("groups", [None, [1, 0, 1, 2]])
@pytest.mark.parametrize("scale", [1, 0.5, 2**33])
def test_sums(groups, scale):
    table = DENSE * scale
    corpus = Corpus(table, groups=groups, exposures=None)
    assert corpus.integral == (scale != 0.5)
    assert corpus.counts.dtype == (np.int32 if scale == 1 else np.float64)
    assert corpus.n_tokens == table.sum()
    assert isinstance(corpus.n_tokens, int if corpus.integral else float)
    assert corpus.lengths.tolist() == table.sum(axis=1).tolist()
    assert corpus.word_totals.tolist() == table.sum(axis=0).tolist()
    codes = corpus.layout.group_of_word
    lengths = np.stack([table[:, codes == g].sum(axis=1) for g in range(corpus.n_groups)], axis=1)
    np.testing.assert_allclose(corpus.log_count_factorials, gammaln(table + 1.0).sum(axis=1))
    np.testing.assert_allclose(corpus.log_group_factorials, gammaln(lengths + 1.0).sum(axis=1))
    assert corpus.log_exposure_powers.tolist() == [0.0] * 5
    assert corpus.total_exposures.tolist() == [corpus.n_groups] * 5
    exposures = np.where(lengths > 0, 1.5 + np.arange(5)[:, None], 0.0)
    exposed = Corpus(table, groups=groups, exposures=exposures)
    expected = (lengths * np.log(np.where(lengths > 0, exposures, 1.0))).sum(axis=1)
    np.testing.assert_allclose(exposed.log_exposure_powers, expected)


def test_exact_token_count_beyond_float():
    assert Corpus([[10**15 - 1] * 11]).n_tokens == 11 * (10**15 - 1)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
@pytest.mark.parametrize("groups", [[0, 0, 0], [1, 0, 1]])
def test_group_sums(dtype, groups):
    matrix = np.arange(6, dtype=dtype).reshape(3, 2)
    layout = Layout(3, np.array(groups, dtype=np.int32), max(groups) + 1)
    sums = layout.group_sums(matrix)
    assert sums.dtype == (np.int64 if dtype == "i4" else np.float64)
    assert sums.tolist() == ([[6, 9]] if groups == [0, 0, 0] else [[2, 3], [4, 6]])


# ---- parts ----


def test_blocks_tile_the_corpus(monkeypatch):
    monkeypatch.setattr(corpus_module, "BLOCK_ENTRIES", 3)
    corpus = Corpus(np.concatenate([DENSE, np.zeros((2, 4), int)]), exposures=np.arange(1.0, 8.0))
    blocks = corpus.blocks
    assert [(b.index, b.start, b.stop) for b in blocks] == [
        (0, 0, 2),
        (1, 2, 4),
        (2, 4, 5),
        (3, 5, 7),
    ]
    assert [(b.token_start, b.token_stop) for b in blocks] == [(0, 3), (3, 18), (18, 22), (22, 22)]
    for block in blocks:
        assert block.words is corpus.words
        assert np.shares_memory(block.indptr, corpus.indptr)
        assert block.indptr.size == block.stop - block.start + 1
        assert block.levels.tolist() == corpus.levels[block.start : block.stop].tolist()


def test_empty_documents_make_one_block():
    corpus = Corpus(np.zeros((3, 2)))
    assert [(b.start, b.stop) for b in corpus.blocks] == [(0, 3)]
    assert corpus.n_tokens == 0
    assert corpus.lengths.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    "documents", [[3, 0, 3], slice(1, 4), [-1], np.array([True, False, True, False, True])]
)
def test_select(documents):
    corpus = Corpus(
        DENSE, groups=[0, 0, 1, 1], exposures=np.ones((5, 2)), document_names=list("vwxyz")
    )
    chosen = corpus.select(documents)
    assert bits(chosen) == bits(Corpus(DENSE[documents]))
    assert chosen.document_names == tuple(np.array(list("vwxyz"))[documents])
    assert chosen.exposures.shape == (len(chosen), 2)


def test_select_tightens_and_refuses():
    corpus = Corpus([[0.5, 1], [2, 3]])
    assert corpus.select([1]).counts.dtype == np.int32
    for bad in ([], [2], [-3], [0.5], [True], [[0]]):
        with pytest.raises(DiscanError):
            corpus.select(bad)


def test_of_and_repr():
    corpus = Corpus(DENSE, groups=["a", "a", "b", "b"])
    assert Corpus.of(corpus) is corpus
    assert Corpus.of(corpus, groups=[0, 0, 1, 1]) is corpus
    assert len(Corpus.of(DENSE)) == 5
    with pytest.raises(InputError, match="groups differ"):
        Corpus.of(corpus, groups=[0, 1, 1, 1])
    assert repr(corpus) == (
        "<Corpus: 5 documents x 4 words, 22 tokens in 9 non-zeros (45 %), 2 groups>"
    )


def test_a_corpus_is_indexed_by_documents():
    corpus = Corpus(DENSE, document_names=list("abcde"), exposures=np.arange(1.0, 6.0))
    assert corpus.shape == (5, 4)
    assert corpus[[3, 1]].document_names == ("d", "b")
    assert corpus[1:3].exposures.ravel().tolist() == [2.0, 3.0]
    assert corpus[np.arange(5) > 2, ...].shape == (2, 4)
    assert corpus[[0], :].document_names == ("a",)
    assert corpus[-1].document_names == ("e",)
    with pytest.raises(IndexError, match="outside"):
        corpus[5]
    with pytest.raises(InputError, match="documents alone"):
        corpus[[0], 1]
    with pytest.raises(TypeError):
        iter(corpus)
    with pytest.raises(TypeError):
        np.asarray(corpus)
