# SPDX-License-Identifier: BSD-3-Clause
"""Fits on the workers of a Dask cluster: the bits of threads, whatever happens to the workers."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import discan
from discan import DCA, Collapsed, Corpus, Gibbs
from discan.data import corpus as corpora
from discan.data.folders.writer import write_corpus
from discan.engines import dask as engine
from discan.engines.probe import fingerprint
from discan.errors import InputError, LimitError, StorageError

distributed = pytest.importorskip("distributed", reason="the extra discan[dask] is not installed")

K = 4
FITS = {
    "cvb0": {"algorithm": "cvb0", "max_iter": 4},
    "cvb0-online": {
        "algorithm": discan.CollapsedVariational(online=True, visits=2, batch_entries=1500),
        "max_iter": 2,
    },
    "map": {"algorithm": "map", "max_iter": 4},
    "ml": {"algorithm": "ml", "model": "gp", "max_iter": 5},
    "variational": {"algorithm": "variational", "model": "gp", "max_iter": 3},
    "variational-conditional": {"algorithm": "variational", "model": "cgp", "max_iter": 3},
    "collapsed": {"algorithm": Collapsed(burn_in=2, n_draws=2, schedule="blocked")},
    "gibbs": {"algorithm": Gibbs(burn_in=2, n_draws=2)},
    "parents": {"algorithm": Gibbs(burn_in=2, n_draws=2), "n_parents": 2},
}


class Killer(distributed.WorkerPlugin):
    """Kills its worker with SIGKILL when it begins a task for the n-th time, once."""

    name = "killer"

    def __init__(self, path, number):
        self.path, self.number = path, number

    def setup(self, worker):
        self.seen = 0

    def transition(self, key, start, finish, **kwargs):
        if finish != "executing" or not str(key).startswith("discan-"):
            return
        self.seen += 1
        if self.seen >= self.number:
            try:
                with open(self.path, "x"):  # only one worker, and only once
                    pass
            except FileExistsError:
                return
            os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture(scope="module", autouse=True)
def _small_blocks():
    patch = pytest.MonkeyPatch()
    patch.setattr(corpora, "BLOCK_ENTRIES", 400)
    patch.setattr("discan.data.folders.corpus.BLOCK_ENTRIES", 400)
    yield
    patch.undo()


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Documents with two groups of words in fifteen blocks, in memory and in a folder."""
    rng = np.random.default_rng(0)
    scores = rng.gamma(0.3, size=(500, K))
    counts = rng.poisson(scores @ rng.dirichlet(np.full(60, 0.2), K) * 20)
    corpus = Corpus(counts, groups=np.arange(60) % 2)
    path = tmp_path_factory.mktemp("dask") / "big"
    write_corpus(corpus, path, shard_entries=1000)
    assert len(corpus.blocks) > 10
    return corpus, path


@pytest.fixture(scope="module")
def cluster():
    local = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0",
        host="127.0.0.1", silence_logs=50,
    )  # fmt: skip
    yield local
    local.close(timeout=20)


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster) as connected:
        yield connected


@pytest.fixture(scope="module")
def dask():
    """Two workers in this process, which are quick to make; an engine for them."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None,
            silence_logs=50,
        ) as local,
        distributed.Client(local) as own,
    ):  # fmt: skip
        yield discan.Dask(own, n_jobs=1)


@pytest.fixture
def fresh(dask):
    """An engine that has probed no worker."""
    return discan.Dask(dask.client, n_jobs=1)


def scaled(cluster, client, n_workers):
    if n_workers > len(cluster.workers):
        cluster.scale(n_workers)
    client.wait_for_workers(n_workers, timeout=60)
    return discan.Dask(client, n_jobs=1)


def make(name, **settings):
    return DCA(K, random_state=0, **FITS[name], **settings)


def bits(estimator):
    fit = estimator.fit_
    parts = [fit.components, fit.sizes, fit.trace["objective"]]
    parts += [np.asarray(value) for value in fit.params.model.values().values()]
    return b"".join(np.ascontiguousarray(part).tobytes() for part in parts)


@pytest.fixture(scope="module")
def expected(data):
    """Bits of the fits on threads, from the folder."""
    return {name: bits(make(name, n_jobs=2).fit(data[1])) for name in FITS}


def test_names_of_words_do_not_travel(data, dask, tmp_path, monkeypatch):
    """They would be most of a message, which goes through the scheduler."""
    names = [f"word-{n}-{'x' * 2000}" for n in range(60)]
    whole = Corpus(data[0].to_csr(), groups=np.arange(60) % 2, word_names=names)
    write_corpus(whole, tmp_path / "named")
    sizes = []
    pack = engine.Parcel.pack

    def weighed(content, folder):
        parcel = pack(content, folder)
        sizes.append(len(parcel.message))
        return parcel

    monkeypatch.setattr(engine.Parcel, "pack", weighed)
    for name in ("cvb0", "collapsed"):
        make(name, engine=dask).fit(tmp_path / "named")
    assert sizes
    assert max(sizes) < 60 * 2000 / 2


# ---- the same bits ----


@pytest.mark.parametrize("n_workers", [1, 2, 3])
def test_any_number_of_workers_gives_the_bits_of_threads(
    data, cluster, client, expected, n_workers, tmp_path
):
    dask = scaled(cluster, client, n_workers)
    names = FITS if n_workers == 3 else ("cvb0", "map", "variational", "collapsed", "gibbs")
    found = {
        name: bits(make(name, engine=dask, checkpoint=tmp_path / name).fit(data[1]))
        for name in names
    }
    assert [name for name in names if found[name] != expected[name]] == []
    left = [path for path in tmp_path.rglob("*") if ".parcel" in path.name]
    assert left == []


def test_a_start_that_loads_the_folder(data, dask):
    """Merging runs here, on threads; the chain on the workers."""
    sampler = Gibbs(burn_in=2, n_draws=2)
    settings = {"n_components": "auto", "max_components": 6, "random_state": 0}
    found = DCA(algorithm=sampler, engine=dask, **settings).fit(data[1])
    assert bits(found) == bits(DCA(algorithm=sampler, **settings).fit(data[1]))


def test_memory_gives_the_same_components(data, expected):
    for name in ("cvb0", "map", "variational"):
        fit = make(name).fit(data[0]).fit_
        assert fit.components.tobytes() == expected[name][: fit.components.nbytes]


@pytest.mark.parametrize(("name", "number"), [("cvb0", 4), ("variational", 1), ("collapsed", 4)])
def test_a_killed_worker_changes_nothing(data, cluster, client, expected, name, number, tmp_path):
    """Killed in the first task, where first states are made, and in a later one."""
    dask = scaled(cluster, client, 3)
    before = set(client.scheduler_info()["workers"])
    client.register_plugin(Killer(str(tmp_path / "killed"), number))
    try:
        estimator = make(name, engine=dask, checkpoint=tmp_path / "run").fit(data[1])
    finally:
        client.unregister_worker_plugin("killer")
    assert (tmp_path / "killed").exists()
    assert set(client.scheduler_info()["workers"]) != before
    assert bits(estimator) == expected[name]


def test_a_run_on_workers_is_resumed_on_threads_and_back(data, dask, expected, tmp_path):
    for name in ("cvb0", "collapsed"):
        folder = tmp_path / name
        stopped = make(
            name, engine=dask, checkpoint=folder, checkpoint_every=1,
            callback=lambda run: run.cycle == 2,
        )  # fmt: skip
        stopped.fit(data[1])
        assert stopped.n_iter_ == 2
        continued = discan.resume(folder, callback=None)
        assert continued.engine is None
        assert bits(continued) == expected[name]
        begun = make(name, checkpoint=folder.with_suffix(".2"), callback=lambda run: run.cycle == 1)
        begun.fit(data[1])
        again = discan.resume(folder.with_suffix(".2"), engine=dask, callback=None)
        assert bits(again) == expected[name]


def test_answers_after_a_fit_on_workers(data, dask, tmp_path):
    corpus, path = data
    estimator = make("map", engine=dask).fit(path)
    plain = make("map").fit(path)
    np.testing.assert_array_equal(estimator.transform(corpus), plain.transform(path))
    estimator.save(tmp_path / "m.discan")
    assert discan.load(tmp_path / "m.discan").engine is None
    from sklearn.base import clone

    assert clone(estimator).engine is dask


def test_a_lost_scheduler_ends_with_a_message_and_threads_resume(data, expected, tmp_path):
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None,
        silence_logs=50,
    ) as local, distributed.Client(local) as own:  # fmt: skip

        def close(run):
            if run.cycle == 2:
                local.close(timeout=10)

        estimator = make(
            "cvb0", engine=discan.Dask(own), checkpoint=tmp_path / "run", checkpoint_every=1,
            callback=close,
        )  # fmt: skip
        with pytest.raises(StorageError, match=r"scheduler .* is lost.*discan resume"):
            estimator.fit(data[1])
    continued = discan.resume(tmp_path / "run", callback=None)
    assert bits(continued) == expected["cvb0"]


# ---- refusals ----


def test_what_cannot_run_on_workers_is_refused(data, dask):
    corpus, path = data
    with pytest.raises(InputError, match="corpus folder"):
        make("map", engine=dask).fit(corpus)
    exact = Collapsed(burn_in=1, n_draws=1, schedule="exact")
    with pytest.raises(InputError, match=r"sequential.*schedule='blocked'"):
        DCA(K, algorithm=exact, engine=dask).fit(path)
    with pytest.raises(InputError, match=r"discan\.Dask\(client\)"):
        make("map", engine=dask.client).fit(path)


@pytest.mark.parametrize("given", [None, "tcp://127.0.0.1:8786", object()])
def test_an_engine_needs_a_client(given):
    with pytest.raises(InputError, match="discan makes no cluster"):
        discan.Dask(given)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"discan": "9.9"}, "has discan 9.9, here"),
        ({"python": "2.7"}, "has Python 2.7, here"),
        ({"sources": "other"}, "other source files"),
        ({"packages": (("numpy", "1"), *fingerprint().packages[1:])}, "has numpy 1, here"),
    ],
)
def test_workers_of_other_versions_are_refused(data, fresh, monkeypatch, changes, said):
    other = fingerprint()._replace(**changes)
    answer = engine.probe("", "")._replace(fingerprint=other, problem="")
    monkeypatch.setattr(
        fresh.client, "run", lambda *a, workers, **k: dict.fromkeys(workers, answer)
    )
    with pytest.raises(InputError, match=said):
        make("map", engine=fresh).fit(data[1])


def test_a_worker_that_joins_later_is_checked_by_itself(tmp_path):
    """A task says so if it runs where the versions are others."""
    from discan.engines.parcels import Parcel

    parcel = Parcel.pack(len, str(tmp_path))
    fine = engine.work_elsewhere(parcel, (1, 2), str(tmp_path), fingerprint())
    assert fine.parcel.open() == 2
    wanted = fingerprint()._replace(discan="0.0")
    refused = engine.work_elsewhere(parcel, (1,), str(tmp_path), wanted)
    assert refused.kind == "InputError"
    assert "here 0.0" in refused.error


def test_workers_that_do_not_see_the_folder_are_refused(data, fresh, monkeypatch):
    answer = engine.probe("/nonexistent", "token")
    assert answer.problem == "does not see the run folder"
    monkeypatch.setattr(
        fresh.client, "run", lambda *a, workers, **k: dict.fromkeys(workers, answer)
    )
    with pytest.raises(InputError, match=r"does not see the run folder.*checkpoint"):
        make("map", engine=fresh).fit(data[1])


def test_unlike_processors_get_a_remark(data, fresh, monkeypatch, caplog):
    other = fingerprint()._replace(processor="another")
    answer = engine.probe("", "")._replace(fingerprint=other, problem="")
    monkeypatch.setattr(
        fresh.client, "run", lambda *a, workers, **k: dict.fromkeys(workers, answer)
    )
    make("map", engine=fresh).fit(data[1])
    assert caplog.text.count("NUMBA_CPU_NAME") == 1


def test_too_little_memory_on_a_worker_is_refused(data, dask, monkeypatch):
    monkeypatch.setattr("discan.engines.parcels.IN_MESSAGE", 1)
    monkeypatch.setattr(engine, "MOST_MEMORY", 1e-9)
    with pytest.raises(LimitError, match="memory_limit"):
        make("map", engine=dask).fit(data[1])


def test_an_error_of_ours_on_a_worker_is_raised_here(data, dask, tmp_path):
    """A damaged shard is not tried again on other workers."""
    import shutil

    broken = tmp_path / "broken"
    shutil.copytree(data[1], broken)
    shards = sorted((broken / "shards").iterdir())

    def damage(run):
        content = bytearray(shards[2].read_bytes())
        content[-100] ^= 1
        shards[2].write_bytes(content)

    with pytest.raises(discan.ModelFileError, match=r"a worker failed: .*checksum"):
        make("map", engine=dask, callback=damage).fit(broken)


def test_no_workers_for_long_ends_with_a_message(data, monkeypatch):
    monkeypatch.setattr(engine, "LONGEST_WITHOUT_WORKERS", 0.5)
    monkeypatch.setattr(engine, "POLL", 0.1)
    with distributed.LocalCluster(
        n_workers=0, processes=False, dashboard_address=None, silence_logs=50
    ) as local, distributed.Client(local) as own:  # fmt: skip
        with pytest.raises(StorageError, match=r"no workers.*discan resume"):
            make("map", engine=discan.Dask(own)).fit(data[1])


@pytest.mark.parametrize(
    ("address", "warns"),
    [
        ("tcp://10.0.0.7:8786", True), ("tls://10.0.0.7:8786", False),
        ("tcp://127.0.0.1:8786", False), ("tcp://[::1]:8786", False), ("", False),
    ],
)  # fmt: skip
def test_an_open_scheduler_gets_a_remark(address, warns, caplog):
    engine._remark_on_address(address)
    assert ("not encrypted" in caplog.text) is warns


# ---- no ports ----


def test_discan_opens_no_port(data):
    code = (
        "import sys, os, discan; discan.Dask;"
        f"discan.DCA(2, algorithm='map', max_iter=2, n_jobs=2).fit({str(data[1])!r});"
        "print(sum(os.readlink(f'/proc/self/fd/{n}').startswith('socket:')"
        " for n in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{n}')));"
        "print('distributed' in sys.modules)"
    )
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("the system does not list open files")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.stdout.split() == ["0", "False"]
