# SPDX-License-Identifier: BSD-3-Clause
"""Conversions of tables in a process that dies at the N-th step of writing, and then go on.

``python tests/interrupted.py FOLDER KIND`` converts a table; the process dies at the N-th open,
write, fsync or replace of a file, for N = 1, 2, ... until it ends by itself. After each death
another process makes the same call, and the folder must hold the bytes of a conversion that was not
interrupted. It prints one line of JSON: how many deaths there were, how many of the conversions
went on behind entries or parts that were not read again, and what went wrong.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
from pathlib import Path

import numpy as np
from faults import KILLED, Shim
from genotype_files import write_plink, write_vcf

import discan
from discan.data.folders import sorting, tiles
from discan.readers import (
    arrays,
    categorical,
    cells,
    dosage_lines,
    genetics,
    numbers,
    row_entries,
    vcf,
)

COUNTS = np.random.default_rng(0).poisson(0.8, (30, 9)) * 7
WORDS = [f"w{n}" for n in range(9)]


def triples():
    """Iterate over entries in no order, numbered from 1."""
    rows, columns = np.nonzero(COUNTS)
    for n in np.random.default_rng(1).permutation(rows.size):
        yield int(rows[n]) + 1, int(columns[n]) + 1, int(COUNTS[rows[n], columns[n]])


def write_mtx(folder):
    lines = [f"{i} {j} {w}\n" for i, j, w in triples()]
    head = "%%MatrixMarket matrix coordinate integer general\n"
    (folder / "x.mtx").write_text(f"{head}30 9 {len(lines)}\n{''.join(lines)}")
    return folder / "x.mtx", {}


def write_gz(folder):
    import gzip

    path, options = write_mtx(folder)
    packed = path.with_suffix(".mtx.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    return packed, options


def write_uci(folder):
    lines = [f"{i} {j} {w}\n" for i, j, w in triples()]
    (folder / "docword.x.txt").write_text(f"30\n9\n{len(lines)}\n{''.join(lines)}")
    return folder / "docword.x.txt", {}


def write_long(folder):
    lines = [f"u{i},i{j},{w},{'AB'[i % 2]},{w % 5}\n" for i, j, w in triples()]
    (folder / "x.csv").write_text(f"user,item,plays,country,other\n{''.join(lines)}")
    return folder / "x.csv", {"columns": ("user", "item", "plays"), "format": "long"}


def write_wide(folder):
    rows = [f"r{n},{','.join(map(str, row))},x{n % 4}\n" for n, row in enumerate(COUNTS)]
    (folder / "x.csv").write_text(f"name,{','.join(WORDS)},party\n{''.join(rows)}")
    return folder / "x.csv", {"format": "wide"}


def as_parquet(write):
    def written(folder):
        from pyarrow import csv, parquet

        path, options = write(folder)
        parquet.write_table(csv.read_csv(path), folder / "x.parquet", row_group_size=40)
        return folder / "x.parquet", options

    return written


def write_h5ad(folder, by_column=False):
    import h5py
    from scipy import sparse

    from discan.data.h5ad import write_h5ad

    names = [f"c{n}" for n in range(30)]
    write_h5ad(
        folder / "x.h5ad", discan.Corpus(COUNTS, document_names=names, word_names=WORDS), {}, {}, {}
    )
    if by_column:
        table = sparse.csc_array(COUNTS)
        with h5py.File(folder / "x.h5ad", "r+") as file:
            del file["X"]
            group = file.create_group("X")
            group.attrs.update({"encoding-type": "csc_matrix", "shape": table.shape})
            for name in ("data", "indices", "indptr"):
                group[name] = getattr(table, name)
    return folder / "x.h5ad", {}


def write_ldac(folder):
    rows = [[f"{j}:{w}" for j, w in enumerate(row.tolist()) if w] for row in COUNTS]
    (folder / "x.ldac").write_text("".join(f"{len(row)} {' '.join(row)}\n" for row in rows))
    return folder / "x.ldac", {"format": "ldac"}


def write_svmlight(folder):
    rows = [[f"{j}:{w}" for j, w in enumerate(row.tolist()) if w] for row in COUNTS]
    lines = [f"{n % 3} {' '.join(row)}\n" for n, row in enumerate(rows)]
    (folder / "x.svmlight").write_text("".join(lines))
    return folder / "x.svmlight", {"labels": True}


def write_bed(folder):
    return write_plink(folder, COUNTS.T // 7 % 4), {}


def write_calls(folder):
    write_vcf(folder / "x.vcf")
    return folder / "x.vcf", {}


def write_geno(folder):
    lines = ["".join("0129"[w // 7 % 4] for w in row) for row in COUNTS.T]
    (folder / "x.geno").write_text("\n".join(lines))
    return folder / "x.geno", {}


def write_raw(folder):
    titles = "FID IID PAT MAT SEX PHENOTYPE".split() + WORDS
    rows = [
        f"f i{n} 0 0 1 -9 {' '.join('012'[w // 7 % 3] for w in row)}"
        for n, row in enumerate(COUNTS)
    ]
    (folder / "x.raw").write_text("\n".join([" ".join(titles), *rows]))
    return folder / "x.raw", {}


def write_npz(folder):
    from scipy import sparse

    sparse.save_npz(folder / "x.npz", sparse.csc_array(COUNTS))
    return folder / "x.npz", {}


def write_answers(folder):
    rows = [f"p{n},{','.join('abcdefghij'[k // 7] for k in row)}\n" for n, row in enumerate(COUNTS)]
    marks = ",".join(['"{""ImportId"":""a""}"'] * 10)  # below the heading, as Qualtrics writes
    text = f"name,{','.join(WORDS)}\nname,{','.join(WORDS)}\n{marks}\n{''.join(rows)}"
    (folder / "x.csv").write_text(text)
    return folder / "x.csv", {"format": "categorical"}


def dask_array(folder):
    from dask import array

    return array.from_array(COUNTS, chunks=(7, 9)), {"word_names": WORDS}


def dask_frame(folder):
    import pandas
    from dask import dataframe

    frame = pandas.DataFrame(COUNTS, columns=WORDS)
    return dataframe.from_pandas(frame, npartitions=4), {}


def pyarrow_set(folder):
    import pyarrow
    from pyarrow import dataset, parquet

    paths = [folder / f"part{n}.parquet" for n in range(4)]
    for n, path in enumerate(paths):
        if not path.exists():  # its time tells whether it has changed
            part = COUNTS[8 * n : 8 * n + 8]
            table = pyarrow.table({word: part[:, k] for k, word in enumerate(WORDS)})
            parquet.write_table(table, path)
    return dataset.dataset(paths), {}


KINDS = {
    "mtx": write_mtx, "mtx.gz": write_gz, "uci": write_uci, "long": write_long,
    "long parquet": as_parquet(write_long), "wide": write_wide,
    "wide parquet": as_parquet(write_wide), "h5ad by gene": lambda f: write_h5ad(f, True),
    "h5ad": write_h5ad, "ldac": write_ldac, "svmlight": write_svmlight, "npz": write_npz,
    "plink": write_bed, "vcf": write_calls, "geno": write_geno, "raw": write_raw,
    "answers": write_answers, "dask array": dask_array, "dask frame": dask_frame,
    "pyarrow": pyarrow_set,
}  # fmt: skip


class Remarks(logging.Handler):
    """Keeps what is said."""

    def __init__(self):
        super().__init__(logging.INFO)
        self.said = []

    def emit(self, record):
        self.said.append(record.getMessage())


def convert(kind, folder, big, at):
    """Convert in a process of its own, which dies at a step; return its exit code and remarks."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        remarks = Remarks()
        logging.getLogger("discan").addHandler(remarks)
        logging.getLogger("discan").setLevel(logging.INFO)
        code = 1
        try:
            data, options = KINDS[kind](folder)
            with Shim(at, None):
                discan.convert(data, big, shard_entries=120, **options)
            code = 0
        finally:
            os.write(writing, "\n".join(remarks.said).encode()[:60_000])
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as stream:
        said = stream.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


def content(folder):
    """Return the files of a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def main(folder, kind):
    """Die at every step."""
    os.fsync = lambda descriptor: None  # the disk itself does not fail here
    sorting.RUN_ENTRIES, sorting._FEWEST = 50, 5
    tiles.BAND_CELLS = genetics.GENOTYPES_AT_ONCE = vcf.CALLS_AT_ONCE = 60
    genetics.CELLS_AT_ONCE = vcf.CELLS_AT_ONCE = dosage_lines.CELLS_AT_ONCE = 60
    categorical.ROWS_AT_ONCE = 4
    arrays.ENTRIES_AT_ONCE = 30
    numbers.CHUNK, row_entries.ROWS_AT_ONCE, cells.CELLS_AT_ONCE = 100, 20, 40
    folder = Path(folder)
    whole, big = folder / "whole", folder / "big"
    problems, deaths, continued = [], 0, 0
    assert convert(kind, folder, whole, 10**9)[0] == 0
    for at in range(1, 10_000):
        shutil.rmtree(big, ignore_errors=True)
        code, _ = convert(kind, folder, big, at)
        if code == 0:
            break
        deaths += 1
        if code != KILLED:
            problems.append(f"step {at}: exit code {code}")
        code, said = convert(kind, folder, big, 10**9)
        continued += "goes on after" in said
        if code != 0 or content(big) != content(whole):
            problems.append(f"step {at}: exit code {code}, other bytes; {said}")
    print(json.dumps({"deaths": deaths, "continued": continued, "problems": problems}))


if __name__ == "__main__":
    main(*sys.argv[1:])
