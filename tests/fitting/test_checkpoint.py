# SPDX-License-Identifier: BSD-3-Clause
"""A run that ends in any way is taken up again and ends with the bits of the unbroken run."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import discan
from discan.data.nouns import Nouns
from discan.data.storage import locked
from discan.errors import InputError, ModelFileError, StorageError

W = np.random.default_rng(0).poisson(0.8, (40, 15))
OPTIONS = {"n_components": 3, "random_state": 3, "max_iter": 14, "tol": 0.0}
CELLS = [
    ("dm", "variational", ("alpha", "gamma")),
    ("dm", discan.Variational(online=True, batch_entries=50), ()),
    ("dm", "map", ()),
    ("dm", "cvb0", ("gamma",)),
    ("dm", "ml", ()),
    ("dm", discan.MaximumLikelihood(tau="auto"), ()),
    ("gp", "gibbs", ("alpha", "beta")),
    ("cgp", "variational", ("rho",)),
    ("cgp", discan.Collapsed(burn_in=6, n_draws=4, thin=2, keep_draws=True), ("rho", "gamma")),
    ("dm", discan.Collapsed(burn_in=6, n_draws=8, schedule="blocked"), ("alpha",)),
]


def same(a, b):
    for name in ("components_", "component_counts_", "scores_", "alpha_", "gamma_"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    np.testing.assert_array_equal(a.trace_["objective"], b.trace_["objective"])
    np.testing.assert_array_equal(a.transform(W), b.transform(W))


class Died(Exception):
    pass


@pytest.mark.parametrize(("model", "algorithm", "learn"), CELLS)
@pytest.mark.parametrize("death", [2, 5, 9, 13])
def test_resumed_equals_unbroken(tmp_path, model, algorithm, learn, death):
    def die(run):
        if run.cycle == death:
            raise Died

    settings = {**OPTIONS, "model": model, "algorithm": algorithm, "learn": learn}
    whole = discan.DCA(**settings).fit(W)
    with pytest.raises(Died):
        discan.DCA(**settings, checkpoint=tmp_path, checkpoint_every=3, callback=die).fit(W)
    resumed = discan.resume(tmp_path, n_jobs=2)
    same(resumed, whole)
    if whole.draws_ is not None:
        np.testing.assert_array_equal(resumed.draws_.loadings, whole.draws_.loadings)
    same(discan.resume(tmp_path), whole)  # a finished run stays as it is


@pytest.mark.parametrize("algorithm", ["variational", "map", "ml"])
def test_a_run_that_converged_stays_as_it_is(tmp_path, algorithm):
    settings = {"n_components": 3, "random_state": 3, "tol": 1e-3, "algorithm": algorithm}
    whole = discan.DCA(**settings, checkpoint=tmp_path).fit(W)
    assert whole.converged_
    resumed = discan.resume(tmp_path)
    same(resumed, whole)
    assert resumed.stop_reason_ == whole.stop_reason_
    assert resumed.converged_


def test_a_resumed_run_knows_about_its_documents(tmp_path):
    about = {"metadata": {"n": np.arange(40.0)}, "nouns": Nouns("cell"), "reading": {"format": "x"}}

    def die(run):
        raise Died

    estimator = discan.LDA(2, max_iter=3, checkpoint=tmp_path, callback=die)
    with pytest.raises(Died):
        estimator.fit(discan.Corpus(W, **about))
    fit = discan.resume(tmp_path).fit_
    assert fit.metadata["n"].tolist() == list(range(40))
    assert (fit.nouns, fit.reading) == (about["nouns"], about["reading"])


def test_an_empty_folder_has_no_run(tmp_path):
    with pytest.raises(InputError, match="no run was begun here"):
        discan.resume(tmp_path)


def test_a_folder_with_a_run_is_not_overwritten(tmp_path):
    discan.DCA(**OPTIONS, checkpoint=tmp_path).fit(W)
    with pytest.raises(InputError, match="holds a run already"):
        discan.DCA(**OPTIONS, checkpoint=tmp_path).fit(W)


def test_a_second_process_is_refused(tmp_path):
    code = (
        "import sys, discan.data.storage as s; from pathlib import Path\n"
        "with s.locked(Path(sys.argv[1])):\n"
        "    print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(StorageError, match=f"in use by process {holder.pid}"):
        discan.DCA(**OPTIONS, checkpoint=tmp_path).fit(W)
    holder.kill()
    holder.wait()
    with locked(tmp_path):  # a dead process holds nothing
        pass


def test_a_damaged_checkpoint_is_refused(tmp_path):
    discan.DCA(**OPTIONS, checkpoint=tmp_path).fit(W)
    state = tmp_path / "state.discan"
    data = bytearray(state.read_bytes())
    data[-1] ^= 1
    state.write_bytes(data)
    with pytest.raises(ModelFileError, match="checksum"):
        discan.resume(tmp_path)


SCRIPT = """
import sys, time, numpy as np, discan
W = np.random.default_rng(0).poisson(0.8, (40, 15))
def slow(run): time.sleep(0.01)
print("ready", flush=True)
discan.DCA(3, algorithm="collapsed", random_state=3, max_iter=60,
           checkpoint=sys.argv[1], checkpoint_every=2, callback=slow).fit(W)
"""


def unbroken():
    return discan.DCA(3, algorithm="collapsed", random_state=3, max_iter=60).fit(W)


def start(folder):
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("seed", range(4))
def test_kill_9_at_any_moment(tmp_path, seed):
    process = start(tmp_path)
    while not (tmp_path / "settings.discan").exists() and process.poll() is None:
        time.sleep(0.005)
    time.sleep(random.Random(seed).uniform(0, 0.8))
    process.send_signal(signal.SIGKILL)
    process.wait()
    same(discan.resume(tmp_path), unbroken())


def test_sigterm_writes_a_checkpoint_first(tmp_path):
    process = start(tmp_path)
    while not (tmp_path / "state.discan").exists():
        time.sleep(0.005)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=20) == -signal.SIGTERM
    assert not list(tmp_path.glob(".*.tmp"))
    same(discan.resume(tmp_path), unbroken())


def test_state_files_are_private_until_complete(tmp_path):
    discan.DCA(**OPTIONS, checkpoint=tmp_path).fit(W)
    names = sorted(os.listdir(tmp_path))
    assert names == ["corpus.discan", "lock", "settings.discan", "state.discan"]


RUNS = Path(__file__).parents[1] / "golden" / "runs"


@pytest.mark.parametrize("name", sorted(path.name for path in RUNS.iterdir()) or ["missing"])
def test_runs_of_every_release_resume_for_ever(name, tmp_path):
    """Run folders written by each release, stopped half way, end as the whole runs did."""
    folder = tmp_path / name
    shutil.copytree(RUNS / name, folder)
    resumed = discan.resume(folder, progress=False)
    expected = np.load(folder / "expected.npz")
    assert resumed.n_iter_ == len(expected["objective"])
    # the first releases kept the order of the start; now the largest component is the first
    order = np.argsort(-expected["counts"].sum(axis=0), kind="stable")
    for mine, theirs in (
        (resumed.components_, expected["components"][order]),
        (resumed.scores_, expected["scores"][:, order]),
        (resumed.component_counts_, expected["counts"][:, order]),
        (resumed.alpha_, expected["alpha"][order]),
        (resumed.trace_["objective"], expected["objective"]),
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-12)
