# SPDX-License-Identifier: BSD-3-Clause
"""A fit to a corpus folder has the bits of the same fit in memory, and none of its memory."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import discan
import discan.algorithms.collapsed as collapsed
import discan.algorithms.expectation as expectation
import discan.data.corpus as corpus_module
import discan.data.counts as counts_module
import discan.data.folders.corpus as folder_module
import discan.data.folders.writer as writer
from discan.data.corpus import Corpus
from discan.data.folders.corpus import FolderCorpus
from discan.data.folders.writer import write_corpus
from discan.errors import DiscanError, InputError, LimitError, ModelFileError, StorageError
from discan.fitting import states as states_module

SOURCE = Path(__file__).parents[2] / "src"
FEW = 300  # non-zeros of a block, so that there are several
ALGORITHMS = {
    "map": discan.MAP(),
    "quasi-newton": discan.MAP(accelerate="quasi-newton"),
    "map-online": discan.MAP(online=True, visits=2),
    "ml": discan.MaximumLikelihood(),
    "cvb0": discan.CollapsedVariational(),
    "vb": discan.Variational(),
    "vb-online": discan.Variational(online=True, visits=2),
    "exact": discan.Collapsed(3, 4, start="documents"),
    "blocked": discan.Collapsed(3, 4, schedule="blocked", start="map"),
    "gibbs": discan.Gibbs(3, 4),
}


def table(kind):
    """A table of counts: one group, three groups, or exposures."""
    rng = np.random.default_rng(3)
    chances = rng.dirichlet(np.full(42, 0.2), 4)[rng.integers(0, 4, 260)]
    counts = rng.poisson(25.0 * chances)
    groups = np.arange(42) % 3
    if kind == "one group":
        return Corpus(counts)
    if kind == "three groups":
        return Corpus(counts, groups=groups)
    exposures = rng.integers(0, 4, (260, 3)) / 2.0
    return Corpus(np.where(exposures[:, groups] > 0, counts, 0), groups=groups, exposures=exposures)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    for module in (corpus_module, counts_module, folder_module, writer, expectation, collapsed):
        monkeypatch.setattr(module, "BLOCK_ENTRIES", FEW)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The same tables in folders, whose shards end inside blocks."""
    place = tmp_path_factory.mktemp("folders")
    for kind in ("one group", "three groups", "exposures"):
        write_corpus(table(kind), place / kind, 700)
    return place


def same_fit(one, other):
    np.testing.assert_array_equal(one.components_, other.components_)
    np.testing.assert_array_equal(one.trace_["objective"], other.trace_["objective"])
    np.testing.assert_array_equal(one.sizes_, other.sizes_)
    for name in ("alpha_", "beta_", "rho_", "gamma_", "group_totals_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def make(algorithm, model="dm", **options):
    settings = {"max_iter": 7, "tol": 0.0, "random_state": 5, **options}
    return discan.DCA(3, model=model, algorithm=algorithm, **settings)


# ---- the same bits ----


@pytest.mark.parametrize("kind", ["one group", "three groups", "exposures"])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_disk_is_memory(name, kind, folders):
    model = "gp" if kind == "exposures" else "dm"
    whole, algorithm = table(kind), ALGORITHMS[name]
    assert len(whole.blocks) > 4
    stored = FolderCorpus(folders / kind)
    inside = {start for start in stored.manifest.starts[1:-1]} - {b.stop for b in whole.blocks}
    assert inside, "blocks must straddle shards"
    expected = make(algorithm, model).fit(whole)
    for n_jobs in (1, 2, 3):
        same_fit(expected, make(algorithm, model, n_jobs=n_jobs).fit(str(folders / kind)))


@pytest.mark.parametrize("name", ["vb", "exact", "gibbs"])
def test_scores_that_can_be_absent(name, folders):
    expected = make(ALGORITHMS[name], "cgp").fit(table("exposures"))
    same_fit(expected, make(ALGORITHMS[name], "cgp").fit(folders / "exposures"))


@pytest.mark.parametrize("name", ["map", "cvb0", "vb"])
def test_fractions(name, tmp_path):
    fractions = Corpus(table("three groups").to_csr() * 0.3, groups=np.arange(42) % 3)
    write_corpus(fractions, tmp_path / "data", 700)  # with sums of as many words as in memory
    expected = make(ALGORITHMS[name]).fit(fractions)
    same_fit(expected, make(ALGORITHMS[name]).fit(tmp_path / "data"))


@pytest.mark.parametrize("init", ["random", "documents", "words", "corners", "map"])
def test_starts(init, folders):
    expected = make("cvb0", init=init).fit(table("three groups"))
    same_fit(expected, make("cvb0", init=init).fit(folders / "three groups"))


def test_the_default(folders):
    expected = discan.DCA(3, random_state=1, max_iter=5).fit(table("one group"))
    same_fit(expected, discan.DCA(3, random_state=1, max_iter=5).fit(folders / "one group"))


@pytest.mark.parametrize("name", ["map", "exact"])
def test_several_chains(name, folders, tmp_path):
    """They run one after the other, and are chosen and compared as in memory."""
    options = {"n_chains": 3, "n_jobs": 2}
    expected = make(ALGORITHMS[name], **options).fit(table("one group"))
    path = folders / "one group"
    for settings in ({}, {"checkpoint": tmp_path / "run"}):
        found = make(ALGORITHMS[name], **options, **settings).fit(path)
        same_fit(expected, found)
        assert found.chains_.report == expected.chains_.report
        np.testing.assert_array_equal(found.chains_.value, expected.chains_.value)
        np.testing.assert_array_equal(found.chains_.components, expected.chains_.components)
    again = discan.resume(tmp_path / "run")
    same_fit(expected, again)
    assert again.chains_.report == expected.chains_.report


def test_chains_are_continued(folders, tmp_path):
    """Three chains were begun; the first had ended, the second was interrupted."""
    options = {"n_chains": 3, "n_jobs": 1, "checkpoint_every": 1}
    expected = make(ALGORITHMS["exact"], **options).fit(table("one group"))
    seeds = []

    def interrupt(run):
        seeds.append(run.task.seed)
        if len(set(seeds)) == 2 and run.cycle == 2:
            raise RuntimeError("killed")

    path, run = folders / "one group", tmp_path / "run"
    with pytest.raises(RuntimeError):
        make(ALGORITHMS["exact"], **options, checkpoint=run, callback=interrupt).fit(path)
    same_fit(expected, discan.resume(run))


@pytest.mark.parametrize("kind", ["one group", "exposures"])
@pytest.mark.parametrize("name", ["vb", "exact", "gibbs"])
def test_classes(name, kind, tmp_path):
    """The column stays in the folder; labels may also be given."""
    model = "gp" if kind == "exposures" else "dm"
    plain = table(kind)
    labels = [("", "first", "second", "third")[n % 4] for n in range(plain.n_documents)]
    whole = plain.described(metadata={"kind": np.array(labels, dtype=object)})
    write_corpus(whole, tmp_path / "data", 700)
    expected = make(ALGORITHMS[name], model, class_of_document="kind").fit(whole)
    assert expected.class_names_ == ("first", "second", "third")
    for given in ("kind", labels):
        made = make(ALGORITHMS[name], model, class_of_document=given, n_jobs=2)
        same_fit(expected, made.fit(tmp_path / "data"))
    assert np.ptp(expected.alpha_, axis=0).max() > 0.0
    stored = make(ALGORITHMS[name], model, class_of_document="kind").fit(tmp_path / "data")
    np.testing.assert_array_equal(stored.transform(tmp_path / "data"), expected.transform(whole))
    assert stored.score(tmp_path / "data") == expected.score(whole)
    with pytest.raises(InputError, match="the columns are: kind"):
        make(ALGORITHMS[name], model, class_of_document="sort").fit(tmp_path / "data")


def test_classes_of_a_resumed_run(tmp_path):
    plain = table("one group")
    labels = np.array([("a", "b")[n % 2] for n in range(plain.n_documents)], dtype=object)
    whole = plain.described(metadata={"kind": labels})
    write_corpus(whole, tmp_path / "data", 700)
    options = {"class_of_document": "kind", "max_iter": 6}
    expected = make(ALGORITHMS["gibbs"], **options).fit(whole)

    def stop(run):
        return run.cycle == 3

    run = tmp_path / "run"
    make(ALGORITHMS["gibbs"], **options, checkpoint=run, callback=stop).fit(tmp_path / "data")
    same_fit(expected, discan.resume(run))


def test_components_that_are_counted(folders):
    """Merging takes the documents into memory for the start; the chain reads them."""
    settings = {"n_components": "auto", "max_components": 8, "random_state": 5, "max_iter": 12}
    expected = discan.DCA(**settings).fit(table("one group"))
    found = discan.DCA(**settings).fit(folders / "one group")
    same_fit(expected, found)
    assert found.n_used_ == expected.n_used_


# ---- parents ----

PARENTS = ("parents_", "parent_sizes_")


@pytest.fixture
def short_starts(monkeypatch):
    monkeypatch.setattr("discan.fitting.starting.MERGE_SWEEPS", (3, 5))


def same_parents(one, other):
    same_fit(one, other)
    for name in PARENTS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def with_parents(kind, **options):
    model = "gp" if kind == "exposures" else "dm"
    return make(discan.Gibbs(3, 4), model, n_parents=2, **options)


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("kind", ["one group", "three groups", "exposures"])
@pytest.mark.usefixtures("short_starts")
def test_parents(kind, large, folders, tmp_path, monkeypatch):
    """A flat chain of few tokens is started in memory, one of many reads the folder."""
    if large:
        monkeypatch.setattr("discan.fitting.start_memory.FLAT_TOKENS", 100)
        monkeypatch.setattr("discan.algorithms.collapsed.BLOCKED_FROM", 100)
    whole = table(kind)
    expected = with_parents(kind).fit(whole)
    for n_jobs in (1, 2, 3):
        found = with_parents(kind, n_jobs=n_jobs).fit(folders / kind)
        same_parents(expected, found)
    assert (np.diff(found.parent_sizes_) <= 0).all()
    assert found.parent_sizes_.sum() == pytest.approx(1.0)
    found.save(tmp_path / "m.discan")
    loaded = discan.load(tmp_path / "m.discan")
    for name in ("components_", *PARENTS):
        np.testing.assert_array_equal(getattr(expected, name), getattr(loaded, name))
    for each in (found, loaded):
        assert each.score(folders / kind) == expected.score(whole)
        np.testing.assert_array_equal(each.transform(folders / kind), expected.transform(whole))
        answers = each.transform_parents(folders / kind)
        np.testing.assert_array_equal(answers, expected.transform_parents(whole))
        np.testing.assert_array_equal(each.parent_scores_, answers)


@pytest.mark.usefixtures("short_starts")
def test_parents_of_a_resumed_run(folders, tmp_path):
    expected = with_parents("three groups", max_iter=9).fit(table("three groups"))
    for at in (2, 5):  # before the first draw, and after it
        place = {"checkpoint": tmp_path / str(at), "checkpoint_every": 1}
        stopped = with_parents(
            "three groups", max_iter=9, callback=lambda run, at=at: run.cycle == at, **place
        )
        stopped.fit(folders / "three groups")
        same_parents(expected, discan.resume(tmp_path / str(at), n_jobs=2))


@pytest.mark.usefixtures("short_starts")
def test_chains_with_parents(folders):
    options = {"n_chains": 2, "n_jobs": 2}
    expected = with_parents("one group", **options).fit(table("one group"))
    found = with_parents("one group", **options).fit(folders / "one group")
    same_parents(expected, found)
    assert found.chains_.report == expected.chains_.report


# ---- kept draws ----


@pytest.mark.usefixtures("short_starts")
@pytest.mark.parametrize("parents", [None, 2])
def test_kept_draws(parents, folders, tmp_path):
    """Those of the loadings and hyperparameters; documents have none."""
    sampler = discan.Gibbs(3, 4, keep_draws=True)
    options = {"n_parents": parents, "learn": ("alpha", "gamma")}
    expected = make(sampler, **options).fit(table("one group"))
    stopped = make(
        sampler, **options, checkpoint=tmp_path / "run", callback=lambda run: run.cycle == 5
    )
    stopped.fit(folders / "one group")
    found = discan.resume(tmp_path / "run")
    found.save(tmp_path / "m.discan")
    same_fit(expected, found)
    for each in (found, discan.load(tmp_path / "m.discan")):
        kept = each.draws_
        assert (len(kept.loadings), kept.component_counts) == (4, [])
        np.testing.assert_array_equal(kept.loadings, expected.draws_.loadings)
        for one, other in zip(kept.hyperparameters, expected.draws_.hyperparameters, strict=True):
            assert one.keys() == other.keys()
            for name, value in one.items():
                np.testing.assert_array_equal(value, other[name])
        each.intervals(n_samples=0)


# ---- the result ----


@pytest.mark.parametrize("name", ["cvb0", "exact"])
def test_the_result_keeps_no_tables(name, folders, tmp_path):
    fitted = make(ALGORITHMS[name]).fit(folders / "one group")
    fitted.save(tmp_path / "m.discan")
    loaded = discan.load(tmp_path / "m.discan")
    same_fit(fitted, loaded)
    whole = table("one group")
    for each in (fitted, loaded):
        assert each.fit_.n_documents == 260
        np.testing.assert_array_equal(each.scores_, each.transform(whole))
        assert all(len(words) == 2 for words in each.top_words(2).values())
    in_memory = make(ALGORITHMS[name]).fit(whole)
    in_memory.save(tmp_path / "n.discan")
    assert (tmp_path / "m.discan").stat().st_size < (tmp_path / "n.discan").stat().st_size


def test_tables_that_do_not_fit(folders, monkeypatch):
    fitted = make("cvb0").fit(folders / "one group")
    monkeypatch.setattr("discan.fitting.memory.available", lambda: (1000, "this test has 1000 B"))
    with pytest.raises(LimitError, match="use transform"):
        fitted.fit_.scores  # noqa: B018


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": discan.MaximumLikelihood(tau="auto")}, "give a number"),
    ],
)
def test_what_needs_documents_in_memory_is_refused(options, message, folders):
    with pytest.raises(InputError, match=message):
        make(**{"algorithm": "map", **options}).fit(folders / "one group")


def test_weights_are_refused_with_the_remedy(folders):
    with pytest.raises(InputError, match="convert the weighted counts"):
        make("map").fit(folders / "one group", sample_weight=np.ones(260))


def test_too_many_exposures_are_refused(folders, monkeypatch):
    monkeypatch.setattr("discan.fitting.task.MOST_LEVELS", 3)
    with pytest.raises(LimitError, match="round them"):
        make("vb", "gp").fit(folders / "exposures")
    make("vb", "gp").fit(folders / "one group")


def test_raw_data_are_refused_with_the_remedy(tmp_path):
    (tmp_path / "a.txt").write_text("a b c")
    for path in (tmp_path, tmp_path / "a.txt", tmp_path / "none"):
        with pytest.raises(InputError, match="discan convert"):
            make("map").fit(path)


# ---- resuming ----


@pytest.mark.parametrize("name", ALGORITHMS)
def test_resumed_runs(name, folders, tmp_path):
    """A run that is stopped and resumed, twice, ends with the bits of memory."""
    expected = make(ALGORITHMS[name]).fit(table("three groups"))
    place = {"checkpoint": tmp_path / "run", "checkpoint_every": 2}
    stopped = make(ALGORITHMS[name], callback=lambda run: run.cycle == 3, **place)
    stopped.fit(folders / "three groups")
    discan.resume(tmp_path / "run", callback=lambda run: run.cycle == 5)
    same_fit(expected, discan.resume(tmp_path / "run", n_jobs=2))


KILLED = """
import sys, discan, discan.data.corpus as a, discan.data.folders.corpus as b
import discan.algorithms.expectation as c, discan.algorithms.collapsed as d
for module in (a, b, c, d):
    module.BLOCK_ENTRIES = {few}
discan.DCA(3, algorithm={algorithm}, max_iter=400, tol=0.0, random_state=5, checkpoint={run!r},
    checkpoint_every=3).fit({data!r})
"""


CHAINS = {"'cvb0'": "cvb0", "discan.Collapsed(3, 397)": discan.Collapsed(3, 397)}


@pytest.mark.parametrize("algorithm", CHAINS)
def test_killed_runs(algorithm, folders, tmp_path):
    data, run = str(folders / "one group"), str(tmp_path / "run")
    script = KILLED.format(few=FEW, algorithm=algorithm, run=run, data=data)
    rng = np.random.default_rng(0)
    for n in range(2):
        code = script if n == 0 else f"import discan; discan.resume({run!r})"
        if n:
            code = script.rsplit("discan.DCA", 1)[0] + code
        child = subprocess.Popen(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(SOURCE)}
        )
        state = tmp_path / "run" / "state.discan"
        before = state.stat().st_mtime_ns if n else None
        while child.poll() is None and (not state.exists() or state.stat().st_mtime_ns == before):
            time.sleep(0.01)
        time.sleep(rng.random() * 0.3)
        child.send_signal(signal.SIGKILL)
        child.wait()
    expected = make(CHAINS[algorithm], max_iter=400).fit(table("one group"))
    same_fit(expected, discan.resume(run))


def test_a_run_that_was_killed_in_its_start(folders, tmp_path):
    """What the start left behind is removed."""
    left = tmp_path / "run" / f"{states_module.TEMPORARY}x"
    left.mkdir(parents=True)
    (left / "0").write_bytes(b"x")
    same_fit(
        make("cvb0").fit(table("one group")),
        make("cvb0", checkpoint=tmp_path / "run").fit(folders / "one group"),
    )
    assert not left.exists()
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert names == {"lock", "settings.discan", "state.discan", "states"}


# ---- damage ----


def stopped_run(folders, place, algorithm="cvb0"):
    shutil.copytree(folders / "one group", place / "data")
    make(
        algorithm, checkpoint=place / "run", checkpoint_every=1,
        callback=lambda run: run.cycle == 3,
    ).fit(place / "data")  # fmt: skip
    return place / "run"


@pytest.mark.parametrize("at", [0, 9, 40, 200, -1])
def test_a_damaged_state_is_told(at, folders, tmp_path):
    run = stopped_run(folders, tmp_path)
    for path in (run / "states" / "0").glob("2.*"):
        content = bytearray(path.read_bytes())
        content[at] ^= 0x20
        path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"states/0/2\.") as caught:
        discan.resume(run)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("size", [0, 7, 100, None])
def test_a_state_that_is_cut_short_or_missing(size, folders, tmp_path):
    run = stopped_run(folders, tmp_path, discan.Gibbs(3, 4))
    for path in (run / "states" / "0").glob("1.*"):
        if size is None:
            path.unlink()
        else:
            os.truncate(path, size)
    with pytest.raises((ModelFileError, StorageError), match=r"states/0/1\."):
        discan.resume(run)


HEADINGS = {
    "deep": b"[" * 60_000,
    "a type that is no type": b'[["assignments", "(2,", [3]]]',
    "another type that is none": b'[["assignments", {"offsets": [1e30]}, [3]]]',
    "a large offset": b'[["x", {"names":["a"],"formats":["f8"],"offsets":[%d]}, [3]]]' % 10**30,
    "too many dimensions": b'[["x", "<i4", [%s]]]' % b",".join([b"1"] * 100),
}


@pytest.mark.parametrize("heading", HEADINGS)
def test_a_state_whose_heading_is_hostile(heading, folders, tmp_path):
    run = stopped_run(folders, tmp_path)
    text = HEADINGS[heading]
    for path in (run / "states" / "0").glob("1.*"):
        path.write_bytes((8 + len(text)).to_bytes(8, "little") + text + b"    ")
    with pytest.raises(ModelFileError, match="not a state, or cut short") as caught:
        discan.resume(run)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_state_that_is_a_pipe_or_a_link(folders, tmp_path):
    run = stopped_run(folders, tmp_path)
    for make_one, match in ((os.mkfifo, "a pipe or a device"), (os.symlink, r"states/0/1\.")):
        for path in (run / "states" / "0").glob("1.*"):
            kept = path.rename(tmp_path / path.name)
            path.unlink(missing_ok=True)
            make_one(*((kept, path) if make_one is os.symlink else (path,)))
        with pytest.raises(StorageError, match=match):
            discan.resume(run)
        for path in (run / "states" / "0").glob("1.*"):
            path.unlink()
            (tmp_path / path.name).rename(path)
    assert discan.resume(run).n_iter_ == 7


@pytest.mark.parametrize("part", ["states", "states/0", "chain-2", "chain-2/states"])
def test_a_folder_inside_that_is_a_link(part, folders, tmp_path):
    """A run folder from elsewhere must not make us write to other folders."""
    run, mine = stopped_run(folders, tmp_path), tmp_path / "mine"
    mine.mkdir()
    if (run / part).exists():
        shutil.rmtree(run / part)
    (run / part).parent.mkdir(exist_ok=True)
    (run / part).symlink_to(mine)
    with pytest.raises(StorageError, match="a link, not followed"):
        discan.resume(run)
    for name in ("state.discan", "settings.discan"):
        (run / name).unlink()
    with pytest.raises(StorageError, match="a link, not followed"):
        make("cvb0", checkpoint=run).fit(tmp_path / "data")
    assert not list(mine.iterdir())


def test_a_shard_that_is_cut_short_while_a_fit_reads(folders, tmp_path):
    shutil.copytree(folders / "one group", tmp_path / "data")
    shard = sorted((tmp_path / "data" / "shards").iterdir())[1]

    def cut(run):
        if run.cycle == 2:
            os.truncate(shard, 2000)

    with pytest.raises(ModelFileError, match="shards/00001") as caught:
        make("cvb0", callback=cut, n_jobs=2).fit(tmp_path / "data")
    assert "\n" not in str(caught.value)


def test_other_data_in_the_folder(folders, tmp_path):
    run = stopped_run(folders, tmp_path)
    write_corpus(Corpus(np.eye(42, dtype=int)), tmp_path / "data")
    with pytest.raises(ModelFileError, match="holds other data"):
        discan.resume(run)
    shutil.rmtree(tmp_path / "data")
    with pytest.raises(DiscanError, match="no corpus folder"):
        discan.resume(run)


def test_a_full_disk(folders, tmp_path, monkeypatch):
    """The error is one line, and the run continues from its last checkpoint."""
    run = tmp_path / "run"
    real, calls = os.write, []

    def write(descriptor, view):
        calls.append(0)
        if len(calls) > 150:
            raise OSError(28, "No space left on device")
        return real(descriptor, view)

    with monkeypatch.context() as patch:
        patch.setattr(states_module.os, "write", write)
        with pytest.raises(StorageError, match="no space left on the disk"):
            make("cvb0", checkpoint=run, checkpoint_every=1).fit(folders / "one group")
    assert (run / "state.discan").exists()
    same_fit(make("cvb0").fit(table("one group")), discan.resume(run))


def test_too_little_disk_is_told_before_anything_is_made(folders, tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda path: shutil._ntuple_diskusage(9, 9, 9))
    with pytest.raises(LimitError, match="free some"):
        make("cvb0", checkpoint=tmp_path / "run").fit(folders / "one group")
    assert not (tmp_path / "run" / "states").exists()


# ---- estimates ----


def test_the_estimate(folders):
    found = make("cvb0", max_iter=None).estimate(folders / "one group")
    assert found.algorithm == "collapsed-variational"
    assert found.cycles == 200
    states = 260 * 3 * 8
    assert found.disk == 2 * states
    assert make("cvb0").estimate(table("one group")).disk == 0
    assert make("cvb0").estimate(table("one group").to_csr()).cycles == 7
    assert len(found.lines) == 4


# ---- memory ----

MEASURED = """
import sys, threading, time, discan

def held():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))

highest = [0]
def watch():
    while True:
        highest[0] = max(highest[0], held())
        time.sleep(0.01)

threading.Thread(target=watch, daemon=True).start()
algorithm = {algorithm}
discan.DCA(20, algorithm=algorithm, max_iter=3, random_state=0, n_jobs=2).fit({small!r})
highest[0] = 0  # what compilers and libraries hold is there now
discan.DCA(20, algorithm=algorithm, max_iter=3, random_state=0, n_jobs=2).fit({data!r})
print(highest[0])
"""


@pytest.fixture(scope="module")
def sized(tmp_path_factory):
    """Folders of 2 and 20 million non-zeros, and a small one."""
    from discan.data.folders.pieces import Piece
    from discan.data.folders.writer import FolderWriter
    from discan.data.layout import Layout

    place, rng = tmp_path_factory.mktemp("sized"), np.random.default_rng(0)
    n, each, n_words = 10_000, 50, 2000
    columns = np.arange(n_words)
    for name, n_pieces in (("small", 1), ("one", 4), ("ten", 40)):
        writer = FolderWriter(place / name, 2**22)
        for _ in range(n_pieces):
            first = rng.integers(0, n_words - 700, (n, 1))
            words = np.sort(first + columns[:each] * 13 + rng.integers(0, 13, (n, each)), axis=1)
            indptr = np.arange(0, n * each + 1, each)
            counts = rng.integers(1, 3, n * each, dtype=np.int32)
            writer.add(Piece(indptr, words.astype(np.int32).ravel(), counts))
        writer.finish(Layout(n_words, np.zeros(n_words, dtype=np.int32), 1))
    return place


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("algorithm", ["'cvb0'", "discan.Collapsed(1, 2, start='documents')"])
def test_memory_does_not_grow_with_the_documents(algorithm, sized):
    found = {}
    for name in ("one", "ten"):
        small, data = str(sized / "small"), str(sized / name)
        done = subprocess.run(
            [sys.executable, "-c", MEASURED.format(algorithm=algorithm, small=small, data=data)],
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        found[name] = int(done.stdout.split()[-1])
    print(algorithm, found)
    assert found["ten"] <= 1.10 * found["one"], found


def test_too_little_memory_is_told_before_anything_is_made(folders, tmp_path, monkeypatch):
    monkeypatch.setattr("discan.fitting.memory.available", lambda: (1000, "this test has 1000 B"))
    with pytest.raises(LimitError, match="max_words"):
        make("cvb0", checkpoint=tmp_path / "run").fit(folders / "one group")
    assert not (tmp_path / "run" / "states").exists()
