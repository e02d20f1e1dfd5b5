# SPDX-License-Identifier: BSD-3-Clause
"""Tables in parts: iterables, data sets of pyarrow, arrays and data frames of dask."""

import numpy as np
import pytest
from same_corpus import assert_same
from scipy import sparse

import discan
from discan.errors import InputError

COUNTS = np.random.default_rng(0).poisson(0.6, (50, 7))
NAMES = [f"w{n}" for n in range(7)]


@pytest.mark.parametrize(
    "form", [sparse.csr_array, sparse.coo_matrix, np.asarray, np.ndarray.tolist]
)
def test_iterables_of_tables(tmp_path, form):
    parts = (form(COUNTS[start : start + 12]) for start in range(0, 50, 12))
    groups = np.arange(7) % 2
    discan.convert(parts, tmp_path / "big", word_names=NAMES, groups=groups, shard_entries=40)
    assert_same(tmp_path / "big", discan.Corpus(COUNTS, groups=groups, word_names=NAMES))


def test_one_table(tmp_path):
    discan.convert(sparse.csr_array(COUNTS), tmp_path / "sparse")
    assert_same(tmp_path / "sparse", discan.Corpus(COUNTS))
    discan.convert(COUNTS, tmp_path / "dense", unit="person")
    assert discan.read(tmp_path / "dense").nouns.document == "person"


def test_iterables_of_corpora(tmp_path):
    corpus = discan.Corpus(
        COUNTS,
        exposures=np.arange(1.0, 51.0),
        document_names=[f"d{n}" for n in range(50)],
        metadata={"x": np.arange(50.0), "t": list("ab") * 25},
    )
    discan.convert([corpus[:20], corpus[20:21], corpus[21:]], tmp_path / "big")
    assert_same(tmp_path / "big", corpus)


def test_frames(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(COUNTS, columns=NAMES)
    named = frame.set_axis([f"d{n}" for n in range(50)])
    for name, whole in (("plain", frame), ("named", named)):
        parts = [whole.iloc[start : start + 9] for start in range(0, 50, 9)]
        discan.convert(parts, tmp_path / name)
        names = None if name == "plain" else list(named.index)
        expected = discan.Corpus(COUNTS, word_names=NAMES, document_names=names)
        assert_same(tmp_path / name, expected)
    discan.convert(frame, tmp_path / "one")
    assert_same(tmp_path / "one", discan.read(frame))


def test_pyarrow(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import dataset, parquet

    table = pyarrow.table({name: COUNTS[:, n] for n, name in enumerate(NAMES)})
    parquet.write_table(table, tmp_path / "x.parquet", row_group_size=11)
    expected = discan.Corpus(COUNTS, word_names=NAMES)
    discan.convert(dataset.dataset(tmp_path / "x.parquet"), tmp_path / "set")
    discan.convert(table.to_reader(max_chunksize=8), tmp_path / "reader")
    for name in ("set", "reader"):
        assert_same(tmp_path / name, expected)
    text = pyarrow.table({"w": ["a", "b"], "n": [1, 2]})
    with pytest.raises(InputError, match="part 1: column 'w' holds no numbers"):
        discan.convert(text.to_reader(), tmp_path / "text")


def test_dask_arrays(tmp_path):
    array = pytest.importorskip("dask.array")
    expected = discan.Corpus(COUNTS)
    for name, chunks in (("rows", (9, 7)), ("both", (20, 3))):
        discan.convert(array.from_array(COUNTS, chunks=chunks), tmp_path / name)
        assert_same(tmp_path / name, expected)
    lazy = array.from_array(COUNTS, chunks=(9, 7)).map_blocks(sparse.csr_matrix)
    discan.convert(lazy, tmp_path / "sparse")
    assert_same(tmp_path / "sparse", expected)
    with pytest.raises(InputError, match="3 dimensions"):
        discan.convert(array.zeros((2, 2, 2)), tmp_path / "cube")


def test_dask_frames(tmp_path):
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(COUNTS, columns=NAMES)
    discan.convert(frames.from_pandas(frame, npartitions=4), tmp_path / "big")
    assert_same(tmp_path / "big", discan.Corpus(COUNTS, word_names=NAMES))


def test_parts_that_were_computed_are_not_computed_again(tmp_path, caplog):
    array = pytest.importorskip("dask.array")
    computed = []

    def compute(block, limit=[2]):  # noqa: B006 - dask must not see it change
        computed.append(1)
        if len(computed) == limit[0]:
            raise KeyboardInterrupt
        return block

    lazy = array.from_array(COUNTS, chunks=(9, 7)).map_blocks(
        compute, dtype=int, meta=np.zeros((0, 0)), token="test"
    )
    with pytest.raises(KeyboardInterrupt):
        discan.convert(lazy, tmp_path / "big")
    with caplog.at_level("INFO", logger="discan"):
        discan.convert(lazy, tmp_path / "big")
    assert "big: was interrupted; goes on after 1 part" in caplog.text
    assert len(computed) == 2 + 5  # the first one of six is not computed again
    assert_same(tmp_path / "big", discan.Corpus(COUNTS))


def test_an_iterable_begins_again_and_says_so(tmp_path, caplog):
    def parts(n):
        yield from (COUNTS[start : start + 10] for start in range(0, n, 10))
        if n < 50:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        discan.convert(parts(40), tmp_path / "big", shard_entries=40)
    with caplog.at_level("INFO", logger="discan"):
        discan.convert(parts(50), tmp_path / "big", shard_entries=40)
    said = "was interrupted; parts of an iterable cannot be had again, so it begins again"
    assert caplog.text.count(said) == 1
    assert_same(tmp_path / "big", discan.Corpus(COUNTS))


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ([], "the iterable is empty"),
        ([COUNTS, COUNTS[:, 1:]], "part 2: 6 words, but the first part has 7"),
        ([COUNTS, -COUNTS], "part 2: Negative values"),
        ([COUNTS, "x"], "part 2: "),
        (7, "a int cannot be converted"),
        ([discan.Corpus(COUNTS), discan.Corpus(COUNTS, word_names=NAMES)], "other names"),
        ([discan.Corpus(COUNTS), discan.Corpus(COUNTS, groups=[0] * 6 + [1])], "other groups"),
    ],
)
def test_what_is_refused(tmp_path, parts, problem):
    with pytest.raises(InputError, match=problem) as caught:
        discan.convert(parts, tmp_path / "big")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "big" / "manifest.json").exists()


def test_options_of_parts(tmp_path):
    with pytest.raises(InputError, match="no option 'stop_words'"):
        discan.convert([COUNTS], tmp_path / "big", stop_words="none")
    with pytest.raises(InputError, match="its own groups"):
        discan.convert([discan.Corpus(COUNTS)], tmp_path / "big", groups=[0] * 7)
