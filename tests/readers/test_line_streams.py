# SPDX-License-Identifier: BSD-3-Clause
"""Genotypes, answers and lines of pairs converted in pieces are the corpora that readers give."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from genotype_files import write_plink, write_vcf
from same_corpus import assert_same
from scipy import sparse

import discan
from discan.data.folders import sorting, tiles
from discan.errors import DiscanError, InputError
from discan.readers import arrays, dosage_lines, genetics, numbers, vcf


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """A few cells are held in memory, so that there are several bands, runs and blocks."""
    monkeypatch.setattr(tiles, "BAND_CELLS", 60)
    monkeypatch.setattr(genetics, "GENOTYPES_AT_ONCE", 30)
    monkeypatch.setattr(vcf, "CALLS_AT_ONCE", 30)
    for module in (genetics, vcf, dosage_lines):
        monkeypatch.setattr(module, "CELLS_AT_ONCE", 50)
    monkeypatch.setattr(sorting, "RUN_ENTRIES", 40)
    monkeypatch.setattr(sorting, "_FEWEST", 5)
    monkeypatch.setattr(numbers, "CHUNK", 100)
    monkeypatch.setattr(arrays, "ENTRIES_AT_ONCE", 30)


def convert_and_compare(path, big, format=None, **options):
    """Convert in pieces, and in one; return the corpus."""
    corpus = discan.read(path, format, **options)
    manifest = discan.convert(path, big, format, shard_entries=90, **options)
    assert len(manifest.shards) > 1
    assert_same(big, corpus)
    assert (corpus.exposures is not None) == manifest.exposed
    return corpus


@pytest.mark.parametrize("missing", [True, False])
@pytest.mark.parametrize("packed", [True, False])
def test_plink(tmp_path, missing, packed):
    codes = np.random.default_rng(1).integers(0, 4, size=(21, 13))
    codes[codes == 1] = 1 if missing else 0
    path = write_plink(tmp_path, codes)
    (tmp_path / "x.pop").write_text("".join(f"{'AB'[n % 2]}\n" for n in range(13)))
    if packed:
        path.with_suffix(".bed.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
        path = path.with_suffix(".bed.gz")
    corpus = convert_and_compare(path, tmp_path / "big")
    assert list(corpus.metadata) == ["family", "population"]
    assert (corpus.exposures is not None) == missing
    convert_and_compare(path, tmp_path / "all", exposures=False)


@pytest.mark.parametrize("options", [{}, {"passed": True}, {"exposures": False}])
def test_vcf(tmp_path, options):
    path = tmp_path / "x.vcf"
    write_vcf(path)
    corpus = convert_and_compare(path, tmp_path / "big", **options)
    assert (len(corpus), corpus.n_groups) == (11, 17 if "passed" in options else 20)


@pytest.mark.parametrize("kind", ["geno", "012", "lfmm", "raw", "csv"])
@pytest.mark.parametrize("missing", [True, False])
def test_dosages(tmp_path, kind, missing):
    counts = np.random.default_rng(6).integers(0, 4 if missing else 3, (14, 9))
    marks = {"geno": "9", "012": "-1", "lfmm": "9", "raw": "NA", "csv": ""}
    rows = [["012"[w] if w < 3 else marks[kind] for w in row] for row in counts.tolist()]
    rows[0][0] = rows[0][0] if kind == "geno" else "0.25"
    heads = [[]] * 14
    if kind == "geno":
        lines = ["".join(row) for row in zip(*rows, strict=True)]
    elif kind == "raw":
        heads = [f"f{n % 2} i{n} 0 0 {1 + n % 2} -9".split() for n in range(-1, 14)]
        rows.insert(0, [f"rs{n}_A" for n in range(9)])
        heads[0] = "FID IID PAT MAT SEX PHENOTYPE".split()
        lines = [" ".join(head + row) for head, row in zip(heads, rows, strict=True)]
    else:
        first = {"012": "{}\t", "lfmm": "", "csv": "i{},"}[kind]
        lines = [first.format(n) + (first[-1:] or " ").join(row) for n, row in enumerate(rows)]
        lines = ["person," + ",".join(f"rs{n}" for n in range(9))] * (kind == "csv") + lines
    path = tmp_path / f"x.{kind}"
    path.write_text("\n".join(lines) + "\n")
    corpus = convert_and_compare(path, tmp_path / "big", "dosages" if kind == "csv" else None)
    assert (len(corpus), corpus.n_groups) == (14, 9)
    assert (corpus.exposures is not None) == missing
    assert corpus.integral == (kind == "geno")


@pytest.mark.parametrize("vocabulary", [True, False])
def test_ldac(tmp_path, vocabulary):
    rng = np.random.default_rng(3)
    rows = [np.flatnonzero(rng.random(20) < 0.3) for _ in range(40)]
    rows[4] = rows[39] = rows[4][:0]
    path = tmp_path / "x.ldac"
    lines = [f"{len(r)} {' '.join(f'{j}:{j + 1}' for j in r)}".strip() for r in rows]
    path.write_text("\n".join(lines) + "\n")
    if vocabulary:
        (tmp_path / "vocab.txt").write_text("".join(f"w{n}\n" for n in range(25)))
    corpus = convert_and_compare(path, tmp_path / "big")
    assert (len(corpus), corpus.n_words) == (40, 25 if vocabulary else 20)


@pytest.mark.parametrize("labels", [True, False])
@pytest.mark.parametrize("least", [0, 1])
def test_svmlight(tmp_path, least, labels):
    rng = np.random.default_rng(4)
    lines = ["# made here"] if labels else []
    for n in range(40):
        words = np.flatnonzero(rng.random(20) < 0.3) + least
        cells = [f"{j}:{0.5 * j + 1:g}" for j in words] + ["3:2"] * (n % 5 == 0)  # a word twice
        lines.append(f"{n % 3 - 1} {' '.join(cells)}")
    path = tmp_path / "x.svmlight"
    path.write_text("\n".join(lines) + "\n")
    corpus = convert_and_compare(path, tmp_path / "big", labels=labels)
    assert (len(corpus), corpus.n_words, len(corpus.metadata)) == (40, 20, 1)


def write_answers(path, kind="plain"):
    """Write a survey of 60 people, or microsatellites."""
    rng = np.random.default_rng(5)
    rows = ["person,age,party,q1,q2,note,q3"]
    for n in range(60):
        if kind == "alleles":
            cells = [f"{a}/{b}" for a, b in 100 + 2 * rng.integers(0, 6, (3, 2))]
        else:
            cells = ["yes,no,Yes ,NA,maybe".split(",")[k] for k in rng.integers(0, 5, 3)]
        if kind == "complete":
            cells = ["a" if cell == "NA" else cell for cell in cells]
        age = rng.integers(20, 90)
        note = f"said {n} things, and then some more" if n % 3 else ""
        rows.append(f'p{n},{age},{"xyz"[n % 3]},{cells[0]},{cells[1]},"{note}",{cells[2]}')
    path.write_text("\n".join(rows) + "\n")


ANSWERS = {
    "plain": {},
    "merged": {"merge": True, "bins": "age=4", "metadata": "party"},
    "complete": {"answers": "q*", "missing": ""},
    "alleles": {"alleles": "/", "answers": "q*"},
    "all": {"exposures": False, "id_column": "party"},
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_answers(tmp_path, monkeypatch, caplog, kind):
    monkeypatch.setattr("discan.readers.categorical.ROWS_AT_ONCE", 7)
    monkeypatch.setattr("discan.data.answers.CELLS_AT_ONCE", 30)
    path = tmp_path / "x.csv"
    write_answers(path, kind)
    with caplog.at_level("INFO", logger="discan"):
        corpus = convert_and_compare(path, tmp_path / "big", "categorical", **ANSWERS[kind])
    said = [record.getMessage() for record in caplog.records]
    half = len(said) // 2
    assert said[:half] == said[half:]  # the same remarks
    assert half >= 1
    assert len(corpus) == 60
    assert corpus.metadata
    assert (corpus.exposures is None) == (kind in ("complete", "all", "alleles"))


def test_single_answers_and_other_headings(tmp_path):
    """A table to pivot is read whole; further rows of titles are left out in pieces, too."""
    path = tmp_path / "x.csv"
    votes = [f"m{i},v{j},{'yn'[(i + j) % 2]}" for i in range(20) for j in range(9)]
    path.write_text("\n".join(["member,rollcall,vote", *votes]))
    convert_and_compare(path, tmp_path / "big", "categorical", pivot="member,rollcall,vote")
    convert_and_compare(path, tmp_path / "one", "categorical")
    marks = ",".join(['"{""ImportId"":""a""}"'] * 3)
    rows = [f"r{n},{'abc'[n % 3]},{'yn'[n % 2]}" for n in range(60)]
    path.write_text("\n".join(["id,Q1,Q2", "id,first,second", marks, *rows]))
    assert len(convert_and_compare(path, tmp_path / "two", "categorical")) == 60


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_npz(tmp_path, kind):
    rng = np.random.default_rng(7)
    table = sparse.random_array((50, 12), density=0.3, rng=rng, format="coo")
    table.data[:] = rng.integers(1, 400, table.data.size) / (1 + (kind == "coo"))
    path = tmp_path / "x.npz"
    if kind == "coo":  # some cells twice
        counts, *places = (np.append(a, a[:9]) for a in (table.data, *table.coords))
        table = sparse.coo_array((counts, tuple(places)), shape=(50, 12))
    sparse.save_npz(path, table.asformat(kind))
    (tmp_path / "x.words.txt").write_text("".join(f"w{n}\n" for n in range(12)))
    corpus = convert_and_compare(path, tmp_path / "big")
    assert (len(corpus), corpus.integral) == (50, kind != "coo")


@pytest.mark.parametrize("damage", ["indptr", "end", "indices", "data", "sizes"])
def test_a_damaged_npz(tmp_path, damage):
    table = sparse.csr_array(np.random.default_rng(8).integers(1, 5, (9, 6)))
    parts = {"indptr": table.indptr, "indices": table.indices, "data": table.data}
    if damage == "sizes":
        parts["data"] = parts["data"][:-1]
    else:
        name, place = ("indptr", -1) if damage == "end" else (damage, 3)
        parts[name] = parts[name].copy()
        parts[name][place] = -7
    path = tmp_path / "x.npz"
    np.savez(path, format=b"csr", shape=np.array(table.shape), **parts)
    for use in (discan.read, lambda p: discan.convert(p, tmp_path / "big")):
        with pytest.raises(DiscanError, match=r"x\.npz") as caught:
            use(path)
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "big").exists()


def test_what_is_wrong_in_the_end(tmp_path):
    """What is only known when all was read leaves nothing behind either."""
    path = tmp_path / "x.svmlight"
    path.write_text("".join(f"1 {n}:1\n" for n in range(1, 200)))
    (tmp_path / "vocab.txt").write_text("one\ntwo\n")
    for use in (discan.read, lambda p: discan.convert(p, tmp_path / "big")):
        with pytest.raises(InputError, match=r"word 199 is beyond the 2 words"):
            use(path)
    bed = write_plink(tmp_path, np.zeros((9, 9)))
    bed.write_bytes(bed.read_bytes()[:-1])
    with pytest.raises(InputError, match="is it cut short"):
        discan.convert(bed, tmp_path / "big")
    assert not (tmp_path / "big").exists()


# ---- interrupted ----


@pytest.mark.parametrize("kind", ["vcf", "csv"])
def test_goes_on_behind_the_last_band(tmp_path, monkeypatch, caplog, kind):
    """After Ctrl-C, lines that were read before are not coded again."""
    monkeypatch.setattr("discan.readers.categorical.ROWS_AT_ONCE", 7)
    path, big = tmp_path / f"x.{kind}", tmp_path / "big"
    form = "vcf" if kind == "vcf" else "categorical"
    (write_vcf if kind == "vcf" else write_answers)(path)
    real, bands = tiles.TileSpool.flush, []

    def flush(self, mark):
        if len(bands) == 2 and self._held:
            raise KeyboardInterrupt
        bands.append(self._held)
        real(self, mark)

    with monkeypatch.context() as patched:
        patched.setattr(tiles.TileSpool, "flush", flush)
        with pytest.raises(KeyboardInterrupt):
            discan.convert(path, big, form)
    with caplog.at_level("INFO", logger="discan"):
        discan.convert(path, big, form)
    assert f"goes on after {sum(bands)} cells" in caplog.text
    assert_same(big, discan.read(path, form))


# ---- memory ----

MEASURED = """
import sys, threading, time, discan
from discan.data import answers
from discan.data.folders import sorting, tiles
from discan.readers import dosage_lines, genetics, vcf
sorting.RUN_ENTRIES = answers.CELLS_AT_ONCE = 2**16
tiles.BAND_CELLS = 2**18
for module in (genetics, vcf, dosage_lines):
    module.CELLS_AT_ONCE = 2**16
genetics.GENOTYPES_AT_ONCE = vcf.CALLS_AT_ONCE = 2**16
peak = 0
def watch():
    global peak
    while True:
        with open("/proc/self/status") as lines:
            found = next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))
        peak = max(peak, found)
        time.sleep(0.002)
threading.Thread(target=watch, daemon=True).start()
discan.convert(sys.argv[1], sys.argv[2], shard_entries=2**17)
print(peak)
"""


def write_large(folder, kind, n):
    """Write a file of about 500 n cells; its names are few."""
    rng = np.random.default_rng(0)
    if kind == "plink":
        return write_plink(folder, rng.integers(0, 4, (n, 500)))
    path = folder / f"x.{kind}"
    if kind == "vcf":
        write_vcf(path, n, 500)
    elif kind == "csv":
        rows = np.array(["yes", "no", "maybe", "", "never"])[rng.integers(0, 5, (10 * n, 50))]
        lines = [",".join(f"q{j}" for j in range(50)), *map(",".join, rows.tolist())]
        path.write_text("\n".join(lines))
    else:
        rows = rng.integers(1, 500, (10 * n, 50)).tolist()
        path.write_text("".join(f"1 {':2 '.join(map(str, row))}:2\n" for row in rows))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plink", "vcf", "csv", "svmlight"])
def test_memory_does_not_grow(tmp_path, kind):
    """Ten times as many lines take at most a tenth more memory, besides their names."""
    if not Path("/proc/self/status").exists():
        pytest.skip("memory is measured on Linux only")
    peaks = []
    for n in (400, 4000):
        (tmp_path / str(n)).mkdir()
        path = write_large(tmp_path / str(n), kind, n)
        command = [sys.executable, "-c", MEASURED, str(path), str(tmp_path / f"big{n}")]
        source = str(Path(discan.__file__).parents[1])
        environment = {**os.environ, "PYTHONPATH": source, "MALLOC_TRIM_THRESHOLD_": "100000"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout))
    names = {"plink": 0.6, "vcf": 0.6, "csv": 0, "svmlight": 1}[kind] * 3600  # kB
    assert peaks[1] <= 1.10 * peaks[0] + names, peaks
