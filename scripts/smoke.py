# SPDX-License-Identifier: BSD-3-Clause
"""Try an installed discan as a new user would, with nothing but its dependencies.

``python scripts/smoke.py [--extras parquet,cells,zstandard,dask,arviz]`` fits, saves, loads,
resumes, searches and draws, in Python and by commands, in a temporary folder. With --extras it also
tries what these extras are for. It ends with an error at the first thing that does not work.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import discan

EXTRAS = ("parquet", "cells", "zstandard", "dask", "arviz")
COUNTS = np.kron(np.eye(2, dtype=int), np.full((10, 4), 3)) + np.tile([1, 0, 2, 0], (20, 2))


def main() -> None:
    """Try all parts."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--extras", default="", help="names, with commas between them")
    extras = [name for name in arguments.parse_args().extras.split(",") if name]
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        in_python(folder)
        by_commands(folder)
        for extra in extras:
            if extra not in EXTRAS:
                sys.exit(f"unknown extra {extra}; the extras are {', '.join(EXTRAS)}")
            globals()[f"try_{extra}"](folder)
    packages = ("numpy", "scipy", "scikit-learn", "numba", "plotly", "typer")
    print(
        f"discan {discan.__version__} works in {time.perf_counter() - began:.0f} s: Python "
        f"{sys.version.split()[0]}, {', '.join(f'{p} {version(p)}' for p in packages)}"
        + (f"; extras {', '.join(extras)}" if extras else "")
    )


def in_python(folder: Path) -> None:
    """Fit every model, save, load, resume, search and draw."""
    for model, algorithm in (("dm", "map"), ("gp", "variational"), ("cgp", "collapsed")):
        estimator = discan.DCA(2, model=model, algorithm=algorithm, random_state=0, max_iter=20)
        shares = estimator.fit(COUNTS).transform(COUNTS)
        halves = shares[:10].mean(axis=0), shares[10:].mean(axis=0)
        check(abs(halves[0] - halves[1]).max() > 0.3, f"{model} by {algorithm} tells halves apart")
        estimator.save(folder / "model.discan")
        again = discan.load(folder / "model.discan").transform(COUNTS)
        check(np.array_equal(shares, again), f"{model} by {algorithm} comes back from its file")
    settings: dict[str, Any] = {
        "algorithm": "map", "random_state": 0, "max_iter": 8, "tol": 0.0,
    }  # fmt: skip
    whole = discan.LDA(2, **settings).fit(COUNTS)
    discan.LDA(2, **settings, checkpoint=folder / "run", checkpoint_every=1,
               callback=lambda run: run.cycle == 4).fit(COUNTS)  # fmt: skip
    resumed = discan.resume(folder / "run")
    check(np.array_equal(whole.components_, resumed.components_), "a resumed run is the same")
    first = whole.search([0, 0, 0, 0, 0, 1, 0, 0], COUNTS, n=3)[0]
    check(first.number >= 10, "search finds the right half")
    discan.explore(whole, COUNTS).save(folder / "explore.html")
    check((folder / "explore.html").stat().st_size > 50_000, "the explorer's page is written")
    from sklearn.base import clone

    check(clone(whole).get_params()["n_components"] == 2, "scikit-learn clones it")


def by_commands(folder: Path) -> None:
    """Fit, show, apply and draw by commands."""
    table = folder / "votes.csv"
    with table.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["name", *(f"vote {j}" for j in range(8))])
        for i, row in enumerate(COUNTS):
            rows.writerow([f"senator {i}", *("yea" if n > 2 else "nay" for n in row)])
    model, page, shares = folder / "votes.discan", folder / "report.html", folder / "shares.csv"
    check(command("--version").split()[-1] == discan.__version__, "discan --version")
    command("fit", table, "-k", "2", "-o", model, "--algorithm", "map", "--seed", "0")
    check("vote" in command("show", model), "discan show")
    command("transform", model, table, "-o", shares)
    check(len(shares.read_text().splitlines()) == 1 + len(COUNTS), "discan transform")
    command("report", model, table, "-o", page)
    check("<html" in page.read_text("utf-8"), "discan report")
    command("plot", model, "sizes", "-o", folder / "sizes.svg")
    check("<svg" in (folder / "sizes.svg").read_text("utf-8"), "discan plot")


def try_parquet(folder: Path) -> None:
    """Write a table as Parquet and read it."""
    discan.LDA(2, algorithm="map", random_state=0, max_iter=5).fit(COUNTS).save(folder / "p.discan")
    command("export", folder / "p.discan", "-o", folder / "tables", "--format", "parquet")
    found = sorted(folder.glob("tables-*.parquet"))
    check(len(found) == 2, "discan export writes Parquet")
    import pyarrow.parquet as parquet

    check(parquet.read_table(found[0]).num_rows > 0, "its tables can be read")


def try_cells(folder: Path) -> None:
    """Read cells from a file of AnnData."""
    import h5py

    with h5py.File(folder / "cells.h5ad", "w") as file:
        file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
        file.create_dataset("X", data=COUNTS.astype("f4"))
        for axis, size in (("obs", 20), ("var", 8)):
            group = file.create_group(axis)
            group.attrs.update({"_index": "_index", "encoding-type": "dataframe",
                                "encoding-version": "0.2.0", "column-order": []})  # fmt: skip
            group.create_dataset("_index", data=[f"{axis}{n}".encode() for n in range(size)])
    check(discan.read(folder / "cells.h5ad").shape == COUNTS.shape, "a file of AnnData is read")


def try_zstandard(folder: Path) -> None:
    """Read a packed file."""
    import zstandard

    text = (folder / "votes.csv").read_bytes()
    (folder / "votes.csv.zst").write_bytes(zstandard.ZstdCompressor().compress(text))
    same = discan.read(folder / "votes.csv").digest == discan.read(folder / "votes.csv.zst").digest
    check(same, "a file packed by Zstandard is read")


def try_dask(folder: Path) -> None:
    """Fit to a corpus folder on a cluster of one worker, in this process."""
    from distributed import Client

    from discan.data.folders.writer import write_corpus

    write_corpus(discan.Corpus(COUNTS), folder / "data")
    settings: dict[str, Any] = {"algorithm": "map", "random_state": 0, "max_iter": 5}
    here = discan.LDA(2, **settings).fit(COUNTS)
    local = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with Client(processes=False, **local) as client:
        there = discan.LDA(2, **settings, engine=discan.Dask(client)).fit(folder / "data")
    check(np.array_equal(here.components_, there.components_), "a fit by Dask is the same")


def try_arviz(folder: Path) -> None:
    """Hand the draws of chains to ArviZ."""
    algorithm = discan.Collapsed(burn_in=5, n_draws=10)
    estimator = discan.LDA(2, algorithm=algorithm, n_chains=2, random_state=0).fit(COUNTS)
    posterior = estimator.to_arviz()["posterior"]
    check(posterior.sizes["chain"] == 2, "ArviZ gets the draws")


def command(*arguments: Any) -> str:
    """Run the command ``discan`` of this Python, and return what it prints."""
    program = Path(sys.executable).with_name("discan")
    given = [str(program), *map(str, arguments)]
    done = subprocess.run(given, capture_output=True, text=True, encoding="utf-8", timeout=300)  # noqa: S603
    if done.returncode:
        sys.exit(f"discan {' '.join(given[1:])}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(holds: bool, what: str) -> None:
    """End with an error unless something holds."""
    if not holds:
        sys.exit(f"not so: {what}")


if __name__ == "__main__":
    main()
