# SPDX-License-Identifier: BSD-3-Clause
"""A run that ends in any way is taken up again and ends with the bits of the unbroken run."""

import dataclasses
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
from golden_files import check_run

import discan
from discan.algorithms import ALGORITHMS
from discan.data.locks import locked
from discan.data.nouns import Nouns
from discan.data.rules import rule_of
from discan.data.storage import read_file, write_file
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
    ("dm", discan.Collapsed(burn_in=2, n_draws=18, forget=True), ("alpha", "gamma")),
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
        "import sys, discan.data.locks as s; from pathlib import Path\n"
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
    check_run(RUNS / name, tmp_path / name)


# ---- content that is wrong behind right checksums; tests/resigned.py makes thousands more ----


def half_run(folder, **options):
    """A run that was stopped half way."""
    settings = {**OPTIONS, **options, "checkpoint": folder, "checkpoint_every": 1}
    discan.DCA(**settings, callback=lambda run: run.cycle == 8).fit(W)


def resign(folder, change):
    """Write the state again with right checksums, after ``change(header, arrays)``."""
    path = folder / "state.discan"
    header, arrays = read_file(path, "state")
    change(header, arrays)
    arrays = {name: value for name, value in arrays.items() if value is not None}
    kept = {key: header[key] for key in header if key not in ("format", "kind", "library")}
    write_file(path, "state", kept, arrays)


def put(at, value):
    def change(array):
        array = array.copy()
        array[at] = value
        return array

    return change


def exchanged(array):
    """The counts of two words, exchanged within a component: all sums but the words' stay."""
    array = array.copy()
    array[[0, 1]] = array[[1, 0]]
    return array


CHAIN = discan.Collapsed(burn_in=2, n_draws=10, schedule="exact")
BLOCKED = discan.Collapsed(burn_in=2, n_draws=10, schedule="blocked", keep_draws=True)
KEPT = "draws.loadings"
# Change of a state: the algorithm, the array, what becomes of it, and a piece of the message.
WRONG_STATES = {
    "alpha of one row": (CHAIN, "model.alpha", lambda a: a[None], "model.alpha has shape"),
    "alpha of 0": (CHAIN, "model.alpha", np.zeros_like, "alpha"),
    "gamma not a number": (CHAIN, "gamma", put(0, np.nan), "gamma holds nan"),
    "counts of one row": (CHAIN, "params.loading_counts", lambda a: a[:1], "shape"),
    "huge counts": (CHAIN, "params.loading_counts", put((0, 0), 2**31 - 1), "not those of the t"),
    "negative counts": (CHAIN, "params.loading_counts", put((0, 0), -5), "holds -5"),
    "counts of 64 bits": (CHAIN, "params.loading_counts", lambda a: a.astype("i8"), "int64"),
    "counts of other words": (CHAIN, "params.loading_counts", exchanged, "not those of the tokens"),
    "totals": (CHAIN, "params.totals", lambda a: a + 1, "not those of the tokens"),
    "component 3 of 3": (CHAIN, "state.0.assignments", put(0, 3), "assignments holds 3"),
    "component 65,535": (BLOCKED, "state.0.assignments", put(0, 65535), "holds 65535"),
    "too few tokens": (CHAIN, "state.0.assignments", lambda a: a[:-1], "shape"),
    "no tokens": (CHAIN, "state.0.assignments", lambda a: None, "is missing"),
    "trace of fewer cycles": (CHAIN, "trace", lambda a: a[:-1].copy(), "trace has shape"),
    "trace in disorder": (CHAIN, "trace", lambda a: a[::-1].copy(), "1, 2, 3"),
    "sums of other documents": (CHAIN, "averages.0.sums", lambda a: a + 1, "documents"),
    "sums of one row": (CHAIN, "averages.0.sums", lambda a: a[:1], "shape"),
    "sums of another type": (CHAIN, "averages.0.sums", lambda a: a.astype("i8"), "int64"),
    "offsets": (CHAIN, "averages.0.indptr", put(3, 10**6), "lead from 0"),
    "components in disorder": (CHAIN, "averages.0.components", lambda a: a[::-1].copy(), "ascend"),
    "mean loadings of one row": (CHAIN, "averages.loadings", lambda a: a[:1], "shape"),
    "mean loadings": (CHAIN, "averages.loadings", lambda a: a / 2, "sum to 1"),
    "hyperparameters": (CHAIN, "averages.hyper.alpha", lambda a: -a, "holds -"),
    "models": (CHAIN, "averages.models.alpha", lambda a: np.tile(a, (2, 1)), "shape"),
    "kept draws": (BLOCKED, KEPT, lambda a: a[:1], "draws.loadings has shape"),
    "kept loadings": (BLOCKED, KEPT, put((0, 0, 0), 2.0), "draws.loadings holds 2"),
    "counts of a block": ("gibbs", "state.0.component_counts", lambda a: a + 1, "block 0"),
    "scores of one row": ("gibbs", "state.0.scores", lambda a: a[:1], "shape"),
    "negative scores": ("map", "state.0.score_shape", put((0, 0), -1.0), "holds -1"),
    "scores of 0": ("map", "state.0.score_shape", put((0, 0), 0.0), "a score is 0"),
    "loadings": ("map", "params.loadings", lambda a: a * 2, "holds|sum to 1"),
    "no loadings": ("map", "params.loadings", lambda a: None, "params.loadings is missing"),
    "shape of loadings": ("variational", "params.loading_shape", np.zeros_like, "loading_shape"),
    "where a pair began": ("ml", "note.begun", lambda a: None, "pair of passes"),
    "best result": (
        discan.MaximumLikelihood(tau="auto"), "note.best_loadings", lambda a: None, "best result",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG_STATES)
def test_wrong_states_are_refused(tmp_path, case):
    algorithm, name, change, piece = WRONG_STATES[case]
    half_run(tmp_path, algorithm=algorithm)
    resign(tmp_path, lambda header, arrays: arrays.update({name: change(arrays[name])}))
    with pytest.raises(ModelFileError, match=piece) as caught:
        discan.resume(tmp_path)
    assert "\n" not in str(caught.value)
    assert "state.discan" in str(caught.value)


def test_draws_of_another_number_of_groups_are_refused(tmp_path):
    """A later draw could not be put beside them."""
    half_run(tmp_path, algorithm=discan.Collapsed(2, 20), learn=("alpha", "gamma"))

    def widen(_, arrays):
        gamma = arrays["record.gamma"]
        assert gamma.size
        arrays["record.gamma"] = np.hstack([gamma, gamma])

    resign(tmp_path, widen)
    with pytest.raises(ModelFileError, match=r"record\.gamma"):
        discan.resume(tmp_path)


@pytest.mark.parametrize("accelerate", [False, "squarem", "quasi-newton"])
def test_scores_of_other_documents_are_refused_where_they_make_a_word_impossible(
    tmp_path, accelerate
):
    """Without priors scores can be 0; -inf would be the objective of a run that cannot be."""
    halves = np.kron(np.eye(2, dtype=int), np.random.default_rng(0).poisson(3, (6, 5)) + 1)
    options = {
        **OPTIONS, "n_components": 2, "checkpoint": tmp_path / "run", "checkpoint_every": 1,
        "init": np.kron(np.eye(2), np.full((1, 5), 0.2)),
        "algorithm": discan.MaximumLikelihood(accelerate=accelerate),
    }  # fmt: skip
    discan.DCA(**options, callback=lambda run: run.cycle == 2).fit(halves)
    shutil.copytree(tmp_path / "run", tmp_path / "sound")
    assert np.isfinite(discan.resume(tmp_path / "sound").trace_["objective"]).all()
    name = "state.0.score_shape"
    resign(tmp_path / "run", lambda _, arrays: arrays.update({name: arrays[name][::-1].copy()}))
    with pytest.raises(ModelFileError, match=r"state\.0: .* probability 0") as caught:
        discan.resume(tmp_path / "run")
    assert "\n" not in str(caught.value)


def test_a_run_whose_words_were_impossible_from_the_start_is_resumed(tmp_path):
    table = np.array([[1, 1, 0], [0, 1, 2], [3, 0, 1]])
    start = np.array([[1.0, 0, 0], [0, 1.0, 0]])  # no component has the last word
    options = {**OPTIONS, "n_components": 2, "algorithm": "ml", "init": start, "max_iter": 6}
    unbroken = discan.DCA(**options).fit(table)
    stopped = discan.DCA(
        **options, checkpoint=tmp_path, checkpoint_every=1, callback=lambda run: run.cycle == 3
    )
    stopped.fit(table)
    resumed = discan.resume(tmp_path)
    np.testing.assert_array_equal(resumed.trace_["objective"], unbroken.trace_["objective"])


@pytest.mark.parametrize(
    ("algorithm", "change", "piece"),
    [
        (CHAIN, {"cycle": 0}, "cycle holds 0"),
        (CHAIN, {"cycle": "8"}, "cycle is '8'"),
        (CHAIN, {"n_draws": 100}, "100 draws of 8 cycles"),
        (CHAIN, {"n_later": 1}, "1 later draws"),
        ("map", {"n_draws": 1}, "1 draws"),
        (CHAIN, {"converged": "no"}, "converged"),
        (CHAIN, {"notes": {"live": False}}, "live is not that of this run"),
        ("map", {"notes": {"tau": 2.0}}, "tau holds 2"),
        ("map", {"notes": {"over": 5}}, "over is 5"),
        ("map", {"notes": {"updates": -1}}, "updates holds -1"),
        ("ml", {"notes": {"stride": 0.5}}, "stride holds 0.5"),
        (discan.MaximumLikelihood(tau="auto"), {"notes": {"gained": False}}, "best result"),
    ],
    ids=str,
)
def test_wrong_headers_of_states_are_refused(tmp_path, algorithm, change, piece):
    half_run(tmp_path, algorithm=algorithm)

    def changed(header, arrays):
        header.update(change)
        if piece == "best result":
            arrays.pop("note.best_loadings", None)

    resign(tmp_path, changed)
    with pytest.raises(ModelFileError, match=piece):
        discan.resume(tmp_path)


@pytest.mark.parametrize("accelerate", ["squarem", False])
def test_a_run_of_version_0_1_goes_on_as_it_began(tmp_path, accelerate):
    """Quasi-Newton steps would be chosen now; version 0.1 had none, and no digest of a run."""
    second = np.random.default_rng(1).binomial(2, 0.4, (60, 120))
    alleles = np.stack([2 - second, second], axis=2).reshape(60, 240)
    options = {**OPTIONS, "groups": np.repeat(np.arange(120), 2), "init": "documents"}
    then = {**options, "algorithm": discan.MaximumLikelihood(accelerate=accelerate)}
    now = {**options, "algorithm": "ml"}
    unbroken = discan.DCA(**then).fit(alleles)
    for name, settings in (("then", then), ("now", now)):
        discan.DCA(
            **settings, checkpoint=tmp_path / name, checkpoint_every=1,
            callback=lambda run: run.cycle == 6,
        ).fit(alleles)  # fmt: skip
    assert "note.steps" in read_file(tmp_path / "now" / "state.discan", "state")[1]
    shutil.copy(tmp_path / "then" / "state.discan", tmp_path / "now" / "state.discan")
    resign(tmp_path / "now", lambda header, arrays: header.pop("run"))
    resumed = discan.resume(tmp_path / "now")
    np.testing.assert_array_equal(resumed.trace_["objective"], unbroken.trace_["objective"])
    np.testing.assert_array_equal(resumed.components_, unbroken.components_)


@pytest.mark.parametrize("change", [{"random_state": 4}, {"alpha": 0.3}, {"data": W[::-1]}])
def test_the_state_of_another_run_is_refused(tmp_path, change):
    """Other data, another seed or other settings, of the same sizes."""
    half_run(tmp_path / "a", algorithm="gibbs")
    options = {**OPTIONS, "algorithm": "gibbs", **change}
    table = options.pop("data", W)
    discan.DCA(
        **options, checkpoint=tmp_path / "b", checkpoint_every=1,
        callback=lambda run: run.cycle == 8,
    ).fit(table)  # fmt: skip
    shutil.copy(tmp_path / "b" / "state.discan", tmp_path / "a" / "state.discan")
    with pytest.raises(ModelFileError, match="the state of another run"):
        discan.resume(tmp_path / "a")


@pytest.mark.parametrize("name", ["corpus.discan", "settings.discan", "state.discan"])
def test_links_in_a_run_folder_are_not_followed(tmp_path, name):
    """A run folder from elsewhere must not make us overwrite other files."""
    mine, run = tmp_path / "mine", tmp_path / "run"
    mine.write_text("precious")
    run.mkdir()
    (run / name).symlink_to(mine)
    with pytest.raises((StorageError, InputError)):
        discan.DCA(**OPTIONS, checkpoint=run).fit(W)
    assert mine.read_text() == "precious"
    assert (run / name).is_symlink()


@pytest.mark.parametrize("every", [0, "x", None])
def test_settings_of_a_run_are_checked(tmp_path, every):
    half_run(tmp_path)
    header, arrays = read_file(tmp_path / "settings.discan", "settings")
    kept = {key: header[key] for key in header if key not in ("format", "kind", "library")}
    write_file(tmp_path / "settings.discan", "settings", {**kept, "every": every}, arrays)
    with pytest.raises(ModelFileError, match="every"):
        discan.resume(tmp_path)
    kept["settings"]["checkpoint"] = str(tmp_path / "elsewhere")
    write_file(tmp_path / "settings.discan", "settings", kept, arrays)
    with pytest.raises(ModelFileError, match="may not set 'checkpoint'"):
        discan.resume(tmp_path)


def test_every_field_of_a_state_is_declared():
    """A new field of a state or memory is one line, with the rule of its values."""
    corpus = discan.Corpus(W)
    for algorithm in (*(cls() for cls in ALGORITHMS), discan.MaximumLikelihood(tau="auto")):
        schedule = algorithm.plan(corpus, 3, np.uint64(0))
        for kind in filter(None, (schedule.state_type, schedule.memory_type)):
            for field in dataclasses.fields(kind):
                assert rule_of(field) or field.metadata.get("transient"), (kind, field.name)
