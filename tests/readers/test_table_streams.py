# SPDX-License-Identifier: BSD-3-Clause
"""Tables converted in pieces are the tables that the readers give."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from same_corpus import assert_same
from scipy import sparse

import discan
from discan.data.folders import sorting
from discan.errors import DiscanError, InputError
from discan.readers import READERS, row_entries

SOURCE = Path(discan.__file__).parents[1]


@pytest.fixture
def small_runs(monkeypatch):
    """Few entries are sorted in memory, so that several runs are merged."""
    monkeypatch.setattr(sorting, "RUN_ENTRIES", 40)
    monkeypatch.setattr(sorting, "_FEWEST", 5)


def triples(rng, n=300, shape=(40, 12), shuffled=True):
    table = sparse.random_array(shape, density=0.4, rng=rng, format="coo")
    rows, columns = table.coords
    order = rng.permutation(rows.size) if shuffled else np.argsort(rows, kind="stable")
    return rows[order], columns[order], rng.integers(1, 9, rows.size)


def write_mtx(path, rows, columns, counts, shape):
    lines = [f"{i + 1} {j + 1} {w}" for i, j, w in zip(rows, columns, counts, strict=True)]
    head = "%%MatrixMarket matrix coordinate integer general\n%% made here\n"
    path.write_text(f"{head}{shape[0]} {shape[1]} {len(lines)}\n" + "\n".join(lines) + "\n")


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("names", ["none", "columns", "rows"])
def test_mtx(tmp_path, small_runs, shuffled, names):
    rng = np.random.default_rng(0)
    path = tmp_path / "x.mtx"
    write_mtx(path, *triples(rng, shuffled=shuffled), (40, 12))
    if names != "none":
        n = 12 if names == "columns" else 40
        (tmp_path / "genes.tsv").write_text("".join(f"id{k}\tgene{k}\n" for k in range(n)))
        n_cells = 52 - n
        (tmp_path / "barcodes.tsv").write_text("".join(f"c{k}\n" for k in range(n_cells)))
    corpus = discan.read(path)
    discan.convert(path, tmp_path / "big", shard_entries=50)
    assert_same(tmp_path / "big", corpus)
    assert len(corpus) == (12 if names == "rows" else 40)


def test_uci(tmp_path, small_runs):
    rng = np.random.default_rng(0)
    rows, columns, counts = triples(rng)
    lines = [f"{i + 1} {j + 1} {w}" for i, j, w in zip(rows, columns, counts, strict=True)]
    path = tmp_path / "docword.x.txt"
    path.write_text(f"41\n12\n{len(lines)}\n" + "\n".join(lines))
    (tmp_path / "vocab.x.txt").write_text("\n".join(f"w{n}" for n in range(12)))
    discan.convert(path, tmp_path / "big", shard_entries=50)
    assert_same(tmp_path / "big", discan.read(path))
    path.write_text(f"41\n12\n{len(lines) + 1}\n" + "\n".join(lines))
    with pytest.raises(InputError, match="is it cut short"):
        discan.convert(path, tmp_path / "cut")
    assert not (tmp_path / "cut").exists()


LONG = "user,item,plays,country\n"


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_long(tmp_path, small_runs, kind):
    rng = np.random.default_rng(0)
    rows, columns, counts = triples(rng)
    lines = [f"u{i},i{j},{w},{'AB'[i % 2]}" for i, j, w in zip(rows, columns, counts, strict=True)]
    path = tmp_path / f"x.{kind}"
    (tmp_path / "x.csv").write_text(LONG + "\n".join([*lines, *lines[:5]]))  # some repeat
    if kind == "parquet":
        pandas = pytest.importorskip("pandas")
        pandas.read_csv(tmp_path / "x.csv").to_parquet(path)
    corpus = discan.read(path)
    discan.convert(path, tmp_path / "big", shard_entries=50)
    assert_same(tmp_path / "big", corpus)
    assert list(corpus.metadata) == ["country"]
    assert corpus.nouns.document == "user"


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_wide(tmp_path, small_runs, monkeypatch, kind):
    monkeypatch.setattr("discan.readers.row_entries.ROWS_AT_ONCE", 30)
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.5, (50, 8)) * rng.integers(1, 40, (50, 8))
    counts[7] = 0
    rows = [f"r{n},{n % 3},{','.join(map(str, row))},x{n % 4}" for n, row in enumerate(counts)]
    words = ",".join(f"w{n}" for n in range(8))
    path = tmp_path / f"x.{kind}"
    (tmp_path / "x.csv").write_text(f"name,w8,{words},party\n" + "\n".join(rows))
    if kind == "parquet":
        pandas = pytest.importorskip("pandas")
        pandas.read_csv(tmp_path / "x.csv").to_parquet(path)
    corpus = discan.read(path, "wide")
    discan.convert(path, tmp_path / "big", "wide", shard_entries=50)
    assert_same(tmp_path / "big", corpus)
    assert (list(corpus.metadata), len(corpus), corpus.n_words) == (["party"], 50, 9)


@pytest.mark.parametrize("stored", ["csr", "csc", "dense", "fractions"])
def test_h5ad(tmp_path, small_runs, monkeypatch, stored):
    h5py = pytest.importorskip("h5py")
    from discan.data.h5ad import write_h5ad

    monkeypatch.setattr("discan.readers.cells.CELLS_AT_ONCE", 40)
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.7, (30, 9)).astype(np.float32)
    counts[4] = 0
    corpus = discan.Corpus(
        counts,
        document_names=[f"c{n}" for n in range(30)],
        word_names=[f"g{n}" for n in range(9)],
        metadata={"kind": ["a", "b", "c"] * 10, "depth": rng.random(30)},
    )
    path = tmp_path / "x.h5ad"
    write_h5ad(path, corpus, {}, {}, {})
    with h5py.File(path, "r+") as file:
        if stored == "csc":
            table = sparse.csc_array(counts)
            file["X"].attrs["encoding-type"] = "csc_matrix"
            for name in ("data", "indices", "indptr"):
                del file["X"][name]
                file["X"][name] = getattr(table, name)
        elif stored == "dense":
            del file["X"]
            file["X"] = counts
        elif stored == "fractions":  # X is normalised, and a layer holds the counts
            file["layers"]["counts"] = counts.astype(np.int32)
            data = file["X"]["data"][()]
            del file["X"]["data"]
            file["X"]["data"] = np.log1p(data)
    expected = discan.read(path)
    discan.convert(path, tmp_path / "big", shard_entries=50)
    assert_same(tmp_path / "big", expected)
    assert expected.digest == corpus.digest


@pytest.mark.parametrize("damage", ["indptr", "indices", "data", "shape"])
@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_a_damaged_h5ad(tmp_path, damage, kind):
    h5py = pytest.importorskip("h5py")
    from discan.data.h5ad import write_h5ad

    counts = np.random.default_rng(0).poisson(0.7, (30, 9))
    path = tmp_path / "x.h5ad"
    write_h5ad(path, discan.Corpus(counts), {}, {}, {})
    with h5py.File(path, "r+") as file:
        table = sparse.csr_array(counts) if kind == "csr" else sparse.csc_array(counts)
        file["X"].attrs["encoding-type"] = f"{kind}_matrix"
        for name in ("data", "indices", "indptr"):
            del file["X"][name]
            file["X"][name] = getattr(table, name)
        if damage == "shape":
            file["X"].attrs["shape"] = np.array([29, 9])
        else:
            file["X"][damage][3] = -7
    for use in (discan.read, lambda p: discan.convert(p, tmp_path / "big")):
        with pytest.raises(DiscanError, match=r"x\.h5ad") as caught:
            use(path)
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "big" / "manifest.json").exists()


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_h5ad_of_very_many_cells(tmp_path, monkeypatch, kind):
    """What a file may claim without an entry for each grows with its entries."""
    h5py = pytest.importorskip("h5py")
    from discan.data.h5ad import write_h5ad

    monkeypatch.setattr("discan.readers.numbers.FREE_SIZE", 5)
    path = tmp_path / "x.h5ad"
    write_h5ad(path, discan.Corpus(np.eye(60) + 1), {}, {}, {})
    with h5py.File(path, "r+") as file:
        file["X"].attrs["encoding-type"] = f"{kind}_matrix"
    discan.convert(path, tmp_path / "big")
    assert_same(tmp_path / "big", discan.read(path))


def press_ctrl_c(*_):
    raise KeyboardInterrupt


def test_h5ad_by_cell_begins_again(tmp_path, monkeypatch, caplog):
    pytest.importorskip("h5py")
    from discan.data.folders.writer import FolderWriter
    from discan.data.h5ad import write_h5ad

    path, big = tmp_path / "x.h5ad", tmp_path / "big"
    write_h5ad(path, discan.Corpus(np.eye(60) + 1), {}, {}, {})
    with monkeypatch.context() as patched:
        patched.setattr(FolderWriter, "finish", press_ctrl_c)
        with pytest.raises(KeyboardInterrupt):
            discan.convert(path, big, shard_entries=500)
    with caplog.at_level("INFO", logger="discan"):
        discan.convert(path, big, shard_entries=500)
    assert "was interrupted; h5ad by document is read again" in caplog.text
    assert_same(big, discan.read(path))


def test_which_readers_work_in_pieces():
    """The guide lists them."""
    guide = (Path(__file__).parents[2] / "docs" / "convert.md").read_text("utf-8")
    in_pieces = {r.name for r in READERS.values() if r.stream is not None or r.table is not None}
    assert {"uci", "mtx", "long", "wide", "h5ad", "lines", "folder", "jsonl"} <= in_pieces
    line = next(line for line in guide.splitlines() if line.startswith("| in pieces |"))
    assert in_pieces == set(line.split("|")[2].replace("`", "").replace(" ", "").split(","))


# ---- memory ----

MEASURED = """
import sys, threading, time, discan
from discan.data.folders import sorting
sorting.RUN_ENTRIES = 2**16
peak = 0
def watch():
    global peak
    while True:
        with open("/proc/self/status") as lines:
            found = next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))
        peak = max(peak, found)
        time.sleep(0.002)
threading.Thread(target=watch, daemon=True).start()
discan.convert(sys.argv[1], sys.argv[2], shard_entries=2**16)
print(peak)
"""


def test_memory_does_not_grow(tmp_path):
    """Ten times as many entries, in no order, take at most a tenth more memory."""
    if not Path("/proc/self/status").exists():
        pytest.skip("memory is measured on Linux only")
    rng = np.random.default_rng(0)
    peaks = []
    for n in (100_000, 1_000_000):
        rows, columns = rng.integers(0, n // 100, n), rng.integers(0, 500, n)
        path = tmp_path / f"{n}.mtx"
        write_mtx(path, rows, columns, np.ones(n, dtype=int), (n // 100, 500))
        command = [sys.executable, "-c", MEASURED, str(path), str(tmp_path / f"big{n}")]
        environment = {**os.environ, "PYTHONPATH": str(SOURCE), "MALLOC_TRIM_THRESHOLD_": "100000"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout))
    assert peaks[1] <= 1.10 * peaks[0], peaks


# ---- interrupted ----

INTERRUPTED = Path(__file__).parents[1] / "interrupted.py"
IN_RUNS = (
    "mtx", "mtx.gz", "uci", "long", "long parquet", "wide", "wide parquet", "h5ad by gene",
    "ldac", "svmlight", "plink", "vcf", "answers", "geno", "raw", "npz",
)  # fmt: skip
IN_PARTS = ("dask array", "dask frame", "pyarrow")
OTHERS = ("h5ad",)
USUAL = ("mtx", "long", "wide")  # the others load a library in each of a hundred processes
KINDS = [pytest.param(k, marks=() if k in USUAL else pytest.mark.slow)
        for k in (*IN_RUNS, *IN_PARTS, *OTHERS)]  # fmt: skip


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the process that dies is a fork")
@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_every_step_and_continued(tmp_path, kind):
    """The folder has the bytes of a conversion that was not interrupted."""
    packages = {"parquet": "pyarrow", "h5ad": "h5py", "pyarrow": "pyarrow", "dask": "dask"}
    for word, package in packages.items():
        if word in kind:
            pytest.importorskip(package)
    command = [sys.executable, str(INTERRUPTED), str(tmp_path), kind]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["problems"] == []
    assert found["deaths"] > 20
    # those that die before the first run or part is whole begin again
    assert found["continued"] == 0 if kind in OTHERS else found["continued"] > 0.6 * found["deaths"]


def interrupted(path, big, patch, n_batches, **options):
    """Convert, and press Ctrl-C after some batches; return how many runs are kept."""
    real, left = sorting.TripleSpool.add, [n_batches]

    def add(self, *arguments):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        real(self, *arguments)

    with patch.context() as patched:
        patched.setattr(sorting.TripleSpool, "add", add)
        with pytest.raises(KeyboardInterrupt):
            discan.convert(path, big, **options)
    return len(list((big / "tmp").glob("*.run")))


@pytest.mark.parametrize("what", ["nothing", "data", "options", "a run", "the first run"])
def test_what_changed_meanwhile_is_read_again(tmp_path, small_runs, monkeypatch, caplog, what):
    monkeypatch.setattr("discan.readers.row_entries.ROWS_AT_ONCE", 20)
    rng = np.random.default_rng(0)
    lines = [f"u{i},i{j},{w}" for i, j, w in zip(*triples(rng), strict=True)]
    path, big, options = tmp_path / "x.csv", tmp_path / "big", {"format": "long"}
    path.write_text("user,item,plays\n" + "\n".join(lines))
    assert interrupted(path, big, monkeypatch, 6, **options) == 3
    runs = sorted((big / "tmp").glob("*.run"))
    if what == "data":  # of the same size and time
        times = path.stat()
        path.write_text("user,item,plays\n" + "\n".join([lines[1], lines[0], *lines[2:]]))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    elif what == "options":
        options["columns"] = (0, 1)
    elif what != "nothing":
        run = runs[0 if "first" in what else -1]
        run.write_bytes(run.read_bytes()[:-1])
    rows = []
    real = row_entries.check_count
    monkeypatch.setattr(
        row_entries, "check_count", lambda *arguments: (rows.append(1), real(*arguments))[1]
    )
    with caplog.at_level("INFO", logger="discan"):
        discan.convert(path, big, **options)
    n_kept = {"nothing": 120, "a run": 80}.get(what, 0)
    assert (f"goes on after {n_kept} entries" if n_kept else "begins again") in caplog.text
    if what != "options":  # which count 1 per row
        assert len(rows) == len(lines) - n_kept
    assert_same(big, discan.read(path, **options))
    assert not (big / "tmp").exists()


def test_an_error_keeps_nothing(tmp_path, small_runs, monkeypatch):
    """Data that are wrong have to change, so there is nothing to go on with."""
    rng = np.random.default_rng(0)
    path, big = tmp_path / "x.mtx", tmp_path / "big"
    write_mtx(path, *triples(rng), (40, 12))
    monkeypatch.setattr("discan.readers.numbers.CHUNK", 100)
    path.write_text(path.read_text() + "1 1 -4\n")
    with pytest.raises(InputError, match="line"):
        discan.convert(path, big)
    assert not big.exists()
