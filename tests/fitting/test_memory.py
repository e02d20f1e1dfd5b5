# SPDX-License-Identifier: BSD-3-Clause
"""Fits and answers stay within a stated amount of memory, as NumPy's allocations tell."""

import gc
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from conftest import cells
from footprints import KINDS, SHAPES, corpus, peak, shaped

import discan.fitting.memory as MEMORY
from discan import (
    DCA,
    MAP,
    Collapsed,
    Corpus,
    Gibbs,
    LimitError,
)
from discan.estimators.tasks import task_of
from discan.evaluation.chains import chains_bytes
from discan.fitting.run import Run
from discan.fitting.starting import needed_bytes

SOURCE = Path(__file__).parents[2] / "src"

K = 100


def limit(table, n_components=K):
    """What collapsed Gibbs may need: a component a token and its word, counts, documents."""
    loadings = table.n_words * n_components
    return 1.3 * (6 * table.n_tokens + 8 * loadings + 16 * table.n_documents)


@pytest.fixture(scope="module")
def text():
    table = corpus(2_000, 2_000, 200_000)
    for cached in ("levels", "lengths", "blocks", "integral", "n_tokens"):
        getattr(table, cached)
    return table


def chain(model, schedule, **options):
    """An estimator whose kernels are loaded."""
    algorithm = Collapsed(schedule=schedule, **options)
    fixed = {"model": model, "random_state": 0, "learn": ()}
    estimator = DCA(K, algorithm=algorithm, **fixed)
    short = Collapsed(schedule=schedule, burn_in=1, n_draws=1)
    DCA(K, algorithm=short, **fixed).fit(corpus(20, 30, 500))
    return estimator


@pytest.mark.parametrize("schedule", ["exact", "blocked"])
@pytest.mark.parametrize("model", ["dm", "gp"])
def test_collapsed_gibbs_keeps_to_its_limit(text, model, schedule):
    peaks = []

    def watch(run):
        peaks.append(tracemalloc.get_traced_memory()[1])
        return run.cycle == 3

    estimator = chain(model, schedule, burn_in=3, n_draws=1).set_params(callback=watch)
    with peak():
        estimator.fit(text)
    assert max(peaks) <= limit(text)
    # it is the start that takes the most: the sweeps leave room
    assert len(peaks) == 3


@pytest.mark.parametrize("schedule", ["exact", "blocked"])
@pytest.mark.parametrize("model", ["dm", "gp", "cgp"])
def test_draws_take_what_is_said(text, model, schedule):
    """8 bytes a loading; for each component that a document ever used, 10 or 14; a block."""
    during, entries, block = [], [], []

    def watch(run):
        block.append(max(block.stop - block.start for block in run.schedule.blocks))
        during.append(tracemalloc.get_traced_memory()[1])
        if run.draws is not None:
            entries.append(sum(len(part.components) for part in run.draws.documents.parts))

    estimator = chain(model, schedule, burn_in=1, n_draws=4).set_params(callback=watch)
    with peak() as whole:
        estimator.fit(text)
    assert len(entries) == 4
    assert entries == sorted(entries)
    assert entries[-1] <= 4 * text.n_tokens
    averages = 8 * text.n_words * K + (14 if model == "cgp" else 10) * entries[-1]
    averages += 2 * 8 * block[0] * K  # its counts, and its sums as they were and as they will be
    assert max(during) <= limit(text) + averages
    # the result reads the averages where they are
    assert whole[0] <= limit(text) + averages
    with peak() as reading:
        assert estimator.components_.shape == (K, text.n_words)
    assert reading[0] <= 8.1 * text.n_words * K
    dense = 8 * text.n_documents * K
    with peak() as reading:
        assert estimator.scores_.shape == (text.n_documents, K)
    assert reading[0] <= 1.1 * dense + 12 * 8 * block[0] * K  # worked out block by block
    assert estimator.scores_ is estimator.scores_


@pytest.mark.parametrize("schedule", ["exact", "blocked"])
@pytest.mark.parametrize(
    ("n_tokens", "n_components"), [(300_000, 30), (60_000, 100), (60_000, 400)]
)
def test_a_fit_with_its_draws_keeps_to_the_limit_where_loadings_dominate(
    n_tokens, n_components, schedule
):
    table = corpus(100, 8_000, n_tokens)
    assert 8 * table.n_words * n_components > table.n_tokens * 6
    algorithm = Collapsed(schedule=schedule, burn_in=2, n_draws=8)
    estimator = DCA(n_components, algorithm=algorithm, learn=(), random_state=0)
    for cached in ("levels", "lengths", "blocks", "integral", "n_tokens"):
        getattr(table, cached)
    estimator.fit(table.select(slice(0, 5)))  # kernels are loaded
    with peak() as whole:
        estimator.fit(table)
    assert whole[0] <= limit(table, n_components)
    needed = estimate(estimator, table)
    assert 0.8 * whole[0] <= needed <= 2 * limit(table, n_components)


# ---- the estimate before a fit ----

# Each algorithm and variant at three sizes; with the other models, where the scores dominate.
OTHERS = {"gp": ("map", "vb", "gibbs", "blocked"), "cgp": ("vb", "gibbs", "exact")}
ESTIMATED = [("dm", kind, shape) for kind in KINDS for shape in SHAPES]
ESTIMATED += [(model, kind, SHAPES[1]) for model, kinds in OTHERS.items() for kind in kinds]


def estimate(estimator, table, n_workers=1):
    """What a fit is expected to need, its start included."""
    task = task_of(estimator, table, (), 0)
    return needed_bytes(task, task.plan(), estimator.init, n_workers)


@pytest.mark.parametrize(("model", "kind", "shape"), ESTIMATED, ids=str)
def test_the_estimate_is_within_a_fifth_of_the_peak(model, kind, shape):
    table, algorithm = shaped(shape), KINDS[kind]
    if model == "cgp" and kind == "vb":  # slow: fewer documents of the same kind
        table = table.select(slice(0, max(400, table.n_documents // 8)))
    cycles = None if algorithm.whole_counts else 6 if kind == "ml tempered" else 2
    estimator = DCA(
        shape[3], model=model, algorithm=algorithm, learn=(), random_state=0, max_iter=cycles
    )
    estimator.fit(table.select(slice(0, 20)))  # kernels are loaded
    with peak() as whole:
        estimator.fit(table)
    ratio = estimate(estimator, table) / whole[0]
    print(f"{model} {kind} {shape}: {whole[0] / 1e6:.1f} MB, estimate {ratio:.2f} times that")
    assert 0.8 <= ratio <= 1.2


@pytest.mark.parametrize("options", [{"keep_draws": True}, {}], ids=str)
@pytest.mark.parametrize("learn", [(), ("alpha",)])
def test_the_estimate_knows_of_draws_that_are_kept_and_of_learning(options, learn):
    table = shaped(SHAPES[1])
    algorithm = Collapsed(burn_in=2, n_draws=30, schedule="blocked", **options)
    estimator = DCA(20, algorithm=algorithm, learn=learn, random_state=0)
    estimator.fit(table.select(slice(0, 20)))
    with peak() as whole:
        estimator.fit(table)
    assert 0.8 <= estimate(estimator, table) / whole[0] <= 1.2


STARTS = ["auto", "random", "documents", "words", "corners", "map"]


@pytest.mark.parametrize("init", STARTS)
def test_quasi_newton_from_every_start(genotypes, init):
    """Their own start, from corners, takes more than they do; so do corners of texts."""
    tables = [(genotypes, 5)] + [(shaped(SHAPES[2]), 16)] * (init == "corners")
    for table, n_components in tables:
        estimator = DCA(n_components, algorithm=MAP(accelerate="quasi-newton"), init=init,
                        learn=(), random_state=0, max_iter=2)  # fmt: skip
        estimator.fit(table.select(slice(0, 20)))
        with peak() as whole:
            estimator.fit(table)
        assert 0.8 <= estimate(estimator, table) / whole[0] <= 1.2


@pytest.fixture(scope="module")
def genotypes():
    """100 individuals at 2,000 loci, where quasi-Newton steps pay."""
    rng = np.random.default_rng(0)
    second = rng.binomial(2, rng.uniform(0.1, 0.9, 2_000), (100, 2_000))
    table = Corpus(
        np.stack([2 - second, second], axis=2).reshape(100, 4_000),
        groups=np.repeat(np.arange(2_000), 2),
    )
    cached = ("levels", "lengths", "blocks", "integral", "n_tokens", "word_totals", "group_lengths")
    for name in cached:
        getattr(table, name)
    return table


# Several chains: their results are compared at the end, which takes most if words are many.
SEVERAL = [(kind, shape) for kind in ("map", "exact") for shape in SHAPES]
SEVERAL += [("vb", SHAPES[2]), ("gibbs", SHAPES[1])]


def chains_estimate(kind, shape, n_chains, n_jobs):
    """An estimator of several chains that has run before, and what it is expected to need."""
    table, algorithm = shaped(shape), KINDS[kind]
    cycles = None if algorithm.whole_counts else 2
    settings = {"algorithm": algorithm, "learn": (), "random_state": 0, "max_iter": cycles}
    estimator = DCA(shape[3], **settings, n_chains=n_chains, n_jobs=n_jobs)
    estimator.fit(table.select(slice(0, 20)))
    gc.collect()
    task = task_of(estimator, table, (), 0)
    assert chains_bytes(task, "auto", n_chains, n_jobs) > estimate(estimator, table)
    return estimator, chains_bytes(task, "auto", n_chains, n_jobs)


@pytest.mark.parametrize(("kind", "shape"), SEVERAL, ids=str)
def test_chains_are_counted_together(kind, shape):
    estimator, needed = chains_estimate(kind, shape, 3, 1)
    with peak() as whole:
        estimator.fit(shaped(shape))
    print(f"{kind} {shape}: {whole[0] / 1e6:.1f} MB, estimate {needed / whole[0]:.2f} times that")
    assert 0.8 <= needed / whole[0] <= 1.2


def test_chains_at_once_are_counted_together():
    """Where the chains themselves take the most; their peaks may or may not coincide."""
    estimator, needed = chains_estimate("map", SHAPES[1], 2, 2)
    with peak() as whole:
        estimator.fit(shaped(SHAPES[1]))
    alone = estimate(DCA(SHAPES[1][3], algorithm=KINDS["map"], learn=()), shaped(SHAPES[1]))
    assert needed == 2 * alone
    assert 0.8 * alone <= whole[0] <= 1.2 * needed


def test_chains_beyond_a_limit_are_refused_before_they_begin(system, monkeypatch):
    table = shaped(SHAPES[0])
    estimator = DCA(40, algorithm="map", random_state=0, max_iter=2)
    one = estimate(estimator, table)
    system(RLIMIT_AS=2**22 + int(1.5 * one))
    estimator.fit(table)
    monkeypatch.setattr(Run, "begin", None)  # it would be called
    with pytest.raises(LimitError, match=r"several chains needs about .* fewer chains"):
        estimator.set_params(n_chains=2, n_jobs=2).fit(table)


def test_threads_take_more():
    table = shaped(SHAPES[1])
    estimator = DCA(20, algorithm="map")
    assert estimate(estimator, table, 2) > estimate(estimator, table, 1)


SCRIPT = """
import resource, sys, threading, time
import numpy as np
from scipy import sparse
from discan import DCA, Corpus, Collapsed, Gibbs
from discan.estimators.tasks import task_of
from discan.fitting.starting import needed_bytes
kind, I, J, N, K = sys.argv[1], *map(int, sys.argv[2:])
rng = np.random.default_rng(0)
rates = 1.0 / np.arange(1, J + 1)
words = rng.choice(J, N, p=rates / rates.sum())
documents = np.sort(rng.integers(0, I, N))
table = Corpus(sparse.csr_array((np.ones(N, dtype=np.int64), (documents, words)), shape=(I, J)))
algorithm = {"gibbs": Gibbs(burn_in=2, n_draws=6), "collapsed": Collapsed(burn_in=2, n_draws=6)}
algorithm = algorithm.get(kind, kind)
estimator = DCA(K, algorithm=algorithm, learn=(), random_state=0, max_iter=None if kind in
                ("gibbs", "collapsed") else 2)
estimator.fit(table.select(slice(0, 20)))
task = task_of(estimator, table, (), 0)
needed = needed_bytes(task, task.plan(), "auto", 1)
def resident():
    for line in open("/proc/self/status"):
        if line.startswith("RssAnon"):
            return 1024 * int(line.split()[1])
import ctypes
ctypes.CDLL(None).malloc_trim(0)  # what is free goes back to the system
before, most, over = resident(), 0, False
def watch():
    global most
    while not over:
        most = max(most, resident())
        time.sleep(0.002)
thread = threading.Thread(target=watch)
thread.start()
estimator.fit(table)
over = True
thread.join()
print(needed, most - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux alone tells it")
@pytest.mark.parametrize("kind", ["ml", "map", "cvb0", "variational", "gibbs", "collapsed"])
def test_the_system_sees_the_same_peak(kind):
    """Anonymous memory of the process, at a size where little else matters."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    arguments = [kind, "30000", "60000", "1000000", "150"]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], env=environment, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    needed, seen = map(int, done.stdout.split())
    print(f"{kind}: {seen / 1e6:.0f} MB, estimate {needed / seen:.2f} times that")
    assert 0.8 <= needed / seen <= 1.2


# ---- the limits ----


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A system that has what the test says."""

    def has(
        memory=2**40, groups="", files=(), status="VmRSS:\t1024 kB\nVmSize:\t4096 kB", **limits
    ):
        monkeypatch.setattr(MEMORY, "_physical", lambda: memory)
        monkeypatch.setattr(MEMORY, "_of_process", limits.get)
        for name, path in (("own", "_OWN_GROUPS"), ("status", "_STATUS")):
            monkeypatch.setattr(MEMORY, path, tmp_path / name)
        (tmp_path / "own").write_text(groups)
        (tmp_path / "status").write_text(status)
        monkeypatch.setattr(MEMORY, "_GROUPS", tmp_path / "cgroup")
        for name, text in files:
            path = tmp_path / "cgroup" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return has


G = 2**30
V1 = "memory/docker/x/memory.limit_in_bytes"


@pytest.mark.parametrize(
    ("settings", "least", "piece"),
    [
        ({"memory": 8 * G}, 8 * G - 2**20, "this machine has 8 GiB"),
        (
            {"groups": "0::/job", "files": [("job/memory.max", f"{3 * G}\n")]},
            3 * G - 2**20, "control group allows 3 GiB",
        ),
        (
            {"groups": "0::/a/b", "files": [("a/memory.max", f"{G}"), ("a/b/memory.max", "max")]},
            G - 2**20, "control group allows 1 GiB",
        ),
        ({"groups": "0::/../x", "files": [("memory.max", f"{G}")]}, G - 2**20, "1 GiB"),
        (
            {"groups": "4:cpu,memory:/docker/x\n3:pids:/y", "files": [(V1, f"{2 * G}")]},
            2 * G - 2**20, "control group allows 2 GiB",
        ),
        (
            {"groups": "4:memory:/docker/x", "files": [(V1, f"{2**63 - 4096}")]},
            2**40 - 2**20, "this machine",
        ),
        ({"RLIMIT_AS": G}, G - 2**22, "ulimit -v allows 1 GiB"),
        ({"RLIMIT_DATA": G}, G, "ulimit -d allows 1 GiB"),
        ({"RLIMIT_AS": G, "memory": G // 2}, G // 2 - 2**20, "this machine has 0.5 GiB"),
        ({"groups": "nonsense\n\n", "status": ""}, 2**40, "this machine"),
    ],
)  # fmt: skip
def test_the_smallest_limit_in_force(system, settings, least, piece):
    system(**settings)
    found, said = MEMORY.available()
    assert found == least
    assert piece in said
    MEMORY.check_memory(least)
    with pytest.raises(LimitError) as caught:
        MEMORY.check_memory(least + 1)
    assert piece in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_system_that_tells_nothing(system, monkeypatch):
    system(memory=None)
    assert MEMORY.available() is None
    MEMORY.check_memory(2**80)
    with pytest.raises(LimitError, match="this fit needs more memory than there is; use fewer"):
        with MEMORY.enough_memory("this fit"):
            raise MemoryError


def test_systems_without_these_calls(monkeypatch):
    monkeypatch.setattr(MEMORY, "system_module", lambda name: None)
    assert MEMORY._of_process("RLIMIT_AS") is None
    monkeypatch.delattr(os, "sysconf")
    assert MEMORY._physical() is None


def test_a_fit_beyond_a_limit_is_refused_before_it_begins(system, monkeypatch):
    system(RLIMIT_AS=5 * 2**20)
    monkeypatch.setattr(Run, "begin", None)  # it would be called
    estimator = DCA(50, algorithm="map", random_state=0)
    with pytest.raises(LimitError, match=r"this fit needs about .* GiB of memory; ulimit -v"):
        estimator.fit(shaped(SHAPES[0]))


@pytest.mark.parametrize("where", ["init_state", "step", "read"])
def test_a_lack_of_memory_is_said_in_one_line(monkeypatch, where):
    def fail(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr(MAP, where, fail)
    estimator = DCA(2, algorithm="map", init="random", random_state=0, max_iter=2)
    with pytest.raises(LimitError, match="this fit needs about") as caught:
        estimator.fit(np.eye(4, dtype=int))
    assert "\n" not in str(caught.value)


def test_a_lack_of_memory_for_answers_and_files(monkeypatch, tmp_path):
    estimator = DCA(2, algorithm="map", random_state=0, max_iter=2).fit(np.eye(4, dtype=int))

    def fail(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr(MAP, "infer", fail)
    for answer in (estimator.transform, estimator.score, estimator.component_counts):
        with pytest.raises(LimitError, match="this needs more memory than there is"):
            answer(np.eye(4, dtype=int))
    monkeypatch.setattr("discan.fitting.modelfile.write_file", fail)
    with pytest.raises(LimitError, match="tables of the model file"):
        estimator.save(tmp_path / "m.discan")


LIMITED = """
import resource, sys
import numpy as np
import discan
X = np.random.default_rng(0).poisson(0.5, (200, 3000))
discan.DCA(2, algorithm="map", max_iter=2, random_state=0).fit(X).transform(X[:2])
held = 1024 * int(next(line for line in open("/proc/self/status") if "VmSize" in line).split()[1])
room = held + int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (room, room))
if sys.argv[2] == "unaware":
    import discan.fitting.starting
    discan.fitting.starting.check_memory = lambda needed: None
try:
    discan.DCA(1000, algorithm="map", max_iter=2, random_state=0).fit(X)
    print("fitted")
except discan.LimitError as error:
    print(error)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux alone tells it")
@pytest.mark.parametrize("how", ["aware", "unaware"])
def test_a_real_limit_of_the_address_space(how):
    """Refused before it begins, and, if the estimate were wrong, cleanly while it runs."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(2**26), how], env=environment, capture_output=True,
        text=True, check=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.startswith("this fit needs about 0.1"), done
    assert "ulimit -v" in done.stdout
    assert done.stdout.count("\n") == 1


CELLS = cells()


@pytest.fixture(scope="module")
def wide():
    return corpus(4_000, 4_000, 500_000)


@pytest.mark.parametrize(("model", "algorithm"), CELLS)
def test_no_table_of_entries_by_components_or_documents_by_words(wide, model, algorithm):
    n_components = 16
    forbidden = min(
        4 * wide.n_entries * n_components,  # even in single precision
        wide.n_documents * wide.n_words,  # even as booleans
    )
    assert forbidden > 8 * 8 * n_components * (wide.n_documents + wide.n_words)
    if algorithm.whole_counts:
        algorithm = type(algorithm)(burn_in=1, n_draws=2)
    estimator = DCA(
        n_components, model=model, algorithm=algorithm, random_state=0, init="random", max_iter=3
    )
    few = wide.select(slice(0, 10))
    with peak() as fitting:  # after a first time, when the kernels are loaded
        estimator.fit(few)
        tracemalloc.reset_peak()
        estimator.fit(wide)
    assert fitting[0] < forbidden


@pytest.mark.parametrize(("model", "algorithm"), CELLS)
def test_answers_need_no_such_table_either(model, algorithm):
    long = corpus(400, 3_000, 60_000)
    n_components = 64
    forbidden = min(
        4 * long.n_entries * n_components,
        long.n_documents * long.n_words * 8,  # a dense copy of the documents
    )
    assert forbidden > 2 * 8 * n_components * (long.n_documents + long.n_words)
    rng = np.random.default_rng(0)
    components = rng.dirichlet(np.full(3_000, 0.5), n_components)
    options = {} if model.startswith("dm") else {"beta": 0.1}
    estimator = DCA.from_components(
        components, model=model, algorithm=algorithm, random_state=0, **options
    )
    answers = [estimator.transform, estimator.score]
    # documents of components with parents have no probability, so nobody can ask for it
    if algorithm.uses_prior and estimator.fit_.params.model.levels == 1:
        answers += [estimator.log_likelihood, lambda X: estimator.log_likelihood(X, "bound")]
    few = long.select(slice(0, 2))
    for answer in answers:
        answer(few)
        with peak() as answering:
            answer(few if algorithm.whole_counts or model == "cgp" else long)
        assert answering[0] < forbidden


def test_scoring_goes_by_pieces():
    """All entries times all components at once would take 32 MB."""
    table = corpus(200, 500, 40_000)
    n_components = 200
    components = np.random.default_rng(0).dirichlet(np.full(500, 0.1), n_components)
    estimator = DCA.from_components(components, algorithm="map", random_state=0)
    estimator.score(table.select(slice(0, 2)))
    with peak() as scoring:
        estimator.score(table)
    assert scoring[0] < 8 * table.n_entries * n_components / 2


def test_a_gibbs_sampler_keeps_only_counts_and_scores(text):
    """Counts and scores (I, K), loadings and lanes (J, K), and the sums of the draws."""
    algorithm = Gibbs(burn_in=1, n_draws=2)
    estimator = DCA(K, algorithm=algorithm, learn=(), random_state=0)
    estimator.fit(corpus(20, 30, 500))
    with peak() as whole:
        estimator.fit(text)
    lanes = algorithm.plan(text, K, np.uint64(0)).lanes
    tables = 2 * text.n_documents + (lanes + 6) * text.n_words
    assert whole[0] <= 1.3 * 8 * K * tables + 16 * text.n_words * K + 20 * text.n_tokens
