# SPDX-License-Identifier: BSD-3-Clause
"""The memory that a fit is checked for is near its peak: on disk, and for every kind of prior."""

import gc

import numpy as np
import pytest
from conftest import cells
from footprints import KINDS, SHAPES, corpus, peak, shaped
from numba.core.event import install_recorder

import discan.data.folders.shards as shards
import discan.fitting.starting as starting
from discan import DCA, Collapsed, Corpus, Gibbs
from discan.algorithms import ALGORITHMS
from discan.data.folders.corpus import FolderCorpus
from discan.data.folders.writer import write_corpus
from discan.errors import LimitError
from discan.estimators.tasks import task_of
from discan.fitting.run import Run
from discan.fitting.start_memory import BYTES, with_tables
from discan.models import MODELS

CHAIN = {"burn_in": 2, "n_draws": 30}
SAMPLERS = {
    "gibbs": Gibbs(**CHAIN),
    "exact": Collapsed(**CHAIN, schedule="exact"),
    "blocked": Collapsed(**CHAIN, schedule="blocked"),
}


def cut(values, few):
    """Settings that name one value per document, for the first documents alone."""
    return {k: v[:few] if k == "class_of_document" else v for k, v in values.items()}


def ratio(monkeypatch, table, n_components, algorithm, few=20, small=None, **settings):
    """What a fit is checked for before it begins, in terms of its peak.

    A fit to the first ``few`` documents, or to ``small`` data, comes before.
    """
    checked = []
    monkeypatch.setattr(starting, "check_memory", lambda n, **_: checked.append(n))
    # what a start by other chains allocates, it allocates in their first sweeps
    monkeypatch.setattr(starting, "MERGE_SWEEPS", (2, 2))
    monkeypatch.setattr(starting, "MERGE_ROUNDS", 2)
    settings = {"learn": (), "max_iter": None if algorithm.whole_counts else 2, **settings}
    settings |= {"algorithm": algorithm, "random_state": 0}
    # kernels are loaded
    DCA(n_components, **cut(settings, few)).fit(small or table.select(slice(0, few)))
    data = table.path if isinstance(table, FolderCorpus) else table
    compiled = True
    while compiled:  # which takes memory of its own, once on a machine
        shards._verified.clear()  # as in a process that opens a folder for the first time
        checked.clear()
        gc.collect()
        with install_recorder("numba:compile") as recorder, peak() as whole:
            DCA(n_components, **settings).fit(data)
        compiled = bool(recorder.buffer)
    print(f"{whole[0] / 1e6:.1f} MB, estimate {checked[0] / whole[0]:.2f} times that")
    return checked[0] / whole[0]  # the first check is that of the whole fit, its start included


# ---- documents on disk ----

# Documents, words, tokens, components: where loadings dominate, scores of a block, or entries.
LARGE = [(2_000, 6_000, 400_000, 40), (30_000, 300, 300_000, 20), (9_000, 4_000, 900_000, 16)]
SHORT = [("cvb0", LARGE[1]), ("map", LARGE[1]), ("exact", LARGE[2]), ("gibbs", LARGE[1])]
ON_DISK = [kind for kind in KINDS if kind != "ml tempered"]  # which holds out documents
LONG = [(kind, shape) for kind in ON_DISK for shape in LARGE if (kind, shape) not in SHORT]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Corpus folders by shape, each written once."""
    place, made = tmp_path_factory.mktemp("folders"), {}

    def folder(shape):
        if shape not in made:
            made[shape] = place / str(len(made))
            write_corpus(corpus(*shape[:3]), made[shape])
        return FolderCorpus(made[shape])

    return folder


@pytest.mark.parametrize(
    ("kind", "shape"), SHORT + [pytest.param(*case, marks=pytest.mark.slow) for case in LONG],
    ids=str,
)  # fmt: skip
def test_documents_on_disk(kind, shape, folders, monkeypatch):
    table, small = folders(shape), folders((200, 300, 4_000, 20))
    found = ratio(monkeypatch, table, shape[3], KINDS[kind], small=small)
    assert 0.8 <= found <= 1.2


@pytest.mark.parametrize(
    "shape",
    [LARGE[1], *(pytest.param(shape, marks=pytest.mark.slow) for shape in (LARGE[0], LARGE[2]))],
    ids=str,
)
@pytest.mark.parametrize("model", ["dm", "gp"])
def test_parents_of_documents_on_disk(model, shape, folders, monkeypatch):
    """Their start, a flat chain, loads few documents, and reads many."""
    small = folders((200, 300, 4_000, 20))
    DCA(20, algorithm=SAMPLERS["blocked"], random_state=0).fit(small)  # as that of many tokens is
    settings = {"model": model, "n_parents": 4, "learn": "auto", "small": small}
    assert 0.8 <= ratio(monkeypatch, folders(shape), shape[3], Gibbs(**CHAIN), **settings) <= 1.2


@pytest.mark.parametrize(
    ("shape", "disk"),
    [
        pytest.param(shape, disk, marks=[] if shape == SHAPES[1] else pytest.mark.slow)
        for shape, disk in [*((shape, False) for shape in SHAPES), (LARGE[1], True)]
    ],
    ids=str,
)  # fmt: skip
def test_a_start_that_merges_components(shape, disk, folders, monkeypatch):
    small = folders((200, 300, 4_000, 20)) if disk else None
    table = folders(shape) if disk else shaped(shape)
    settings = {"init": "merged", "learn": "auto", "small": small}
    found = ratio(monkeypatch, table, shape[3], SAMPLERS["exact"], **settings)
    assert 0.8 <= found <= 1.2


@pytest.mark.parametrize(
    ("settings", "classes"),
    [({"n_parents": 4}, False), ({"init": "merged"}, False), ({"init": "merged"}, True)],
    ids=str,
)
def test_an_estimate_loads_no_documents(settings, classes, folders, monkeypatch):
    """Sizes alone tell what a start needs that will load a folder."""
    folder, whole = folders(LARGE[1]), corpus(*LARGE[1][:3])
    if classes:
        labels = np.arange(folder.n_documents) % 2 + 1
        folder, whole = folder.with_classes(labels), whole.with_classes(labels)
    estimator = DCA(20, algorithm=Gibbs(**CHAIN), random_state=0, **settings)
    init = settings.get("init", "auto")

    def start_bytes(table):
        task = task_of(estimator, table, (), 0)
        schedule = task.plan()
        name = schedule.start if init == "auto" else init
        return BYTES[name](task, schedule, 1)

    expected = start_bytes(whole)
    monkeypatch.setattr(FolderCorpus, "loaded", None)  # it would be called
    monkeypatch.setattr(FolderCorpus, "parts", None)
    data = 8 * (folder.n_entries + folder.n_documents)
    assert start_bytes(folder) == pytest.approx(expected + data)


@pytest.mark.parametrize("n_tables", [0, 399_999, 400_001, 10**6, 10**12])
def test_tables_for_parents_are_few(n_tables):
    n_documents = 10**6
    n = with_tables(n_documents, n_tables)
    assert 1 <= n <= n_documents
    assert n_tables <= 400_000 or n * n_tables / n_documents <= 400_000 or n == 1
    assert n == n_documents or n_tables > 400_000


def test_a_folder_is_opened_in_little_memory(folders):
    """It is verified and cut into blocks, a part after another."""
    folder = folders(LARGE[2])
    folder.blocks_of(1000)
    with peak() as opening:
        other = FolderCorpus(folder.path)
        other._reader.verify()
        assert other.blocks
    assert opening[0] < 2_500_000 < 5 * folder.n_entries  # what its files hold


def test_a_fit_from_disk_beyond_a_limit_is_refused_before_it_begins(folders, monkeypatch):
    monkeypatch.setattr("discan.fitting.memory.available", lambda: (5_000_000, "this test has 5"))
    monkeypatch.setattr(Run, "begin", None)  # it would be called
    with pytest.raises(LimitError, match=r"this fit needs about .* GiB of memory; this test"):
        DCA(20, algorithm="cvb0", random_state=0).fit(folders(LARGE[1]))


# ---- every model, and what is learnt ----

NEW = [model for model in MODELS if model.short not in ("dm", "gp", "cgp")]
MODEL_CASES = [
    pytest.param(
        model.short, kind, shape, learn,
        marks=[] if (kind, shape, learn) == ("gibbs", SHAPES[1], "auto") else pytest.mark.slow,
    )
    for model in NEW
    for kind, algorithm in SAMPLERS.items()
    for shape in SHAPES
    for learn in ((), "auto")
    if not algorithm.refusal(model(), frozenset())
]  # fmt: skip


def test_every_new_model_is_measured():
    assert {case.values[0] for case in MODEL_CASES} == {model.short for model in NEW}
    pairs = {(case.values[0], case.values[1]) for case in cells(lambda cls: cls.short)}
    known = {(model.short, cls.short) for model in NEW for cls in ALGORITHMS if cls.whole_counts}
    assert {pair for pair in pairs if pair[0] in {model.short for model in NEW}} <= known


@pytest.mark.parametrize(("model", "kind", "shape", "learn"), MODEL_CASES, ids=str)
def test_processes_and_levels(model, kind, shape, learn, monkeypatch):
    options = {"model": model, "learn": learn, "few": 20}
    found = ratio(monkeypatch, shaped(shape), shape[3], SAMPLERS[kind], **options)
    assert 0.8 <= found <= 1.2


LEARNT = [(kind, shape) for kind in ("cvb0", "vb", *SAMPLERS) for shape in SHAPES]
SOON = {("exact", SHAPES[1]), ("cvb0", SHAPES[2])}


@pytest.mark.parametrize(
    ("kind", "shape"),
    [pytest.param(*c, marks=[] if c in SOON else pytest.mark.slow) for c in LEARNT],
    ids=str,
)
def test_what_is_learnt(kind, shape, monkeypatch):
    algorithm = KINDS[kind]
    found = ratio(monkeypatch, shaped(shape), shape[3], algorithm, few=20, learn="auto")
    assert 0.8 <= found <= 1.2


# ---- seeds, fixed components and classes ----


def named(shape):
    """The table of a shape, with names of words."""
    table = shaped(shape)
    found = Corpus(table.to_csr(), word_names=[f"w{j}" for j in range(table.n_words)])
    for cached in ("levels", "lengths", "blocks", "integral", "n_tokens", "word_totals"):
        getattr(found, cached)
    return found


def prior(what, shape):
    """Settings of an estimator: seeds of half of the components, fixed ones, or classes."""
    n_documents, n_words, _, n_components = shape
    if what == "seeds":
        words = {k: range(k, n_words, 2 * n_components) for k in range(0, n_components, 2)}
        return {"seed_words": {f"s{k}": {f"w{j}": 5 for j in at} for k, at in words.items()}}
    if what == "fixed":
        rng = np.random.default_rng(0)
        return {"fixed_components": rng.dirichlet(np.full(n_words, 0.5), 3)}
    return {"class_of_document": [f"c{n % 4}" for n in range(n_documents)], "learn": "auto"}


PRIORS = [
    pytest.param(
        what, kind, shape,
        marks=[] if kind in ("vb", "blocked") and shape == SHAPES[0] else pytest.mark.slow,
    )
    for what in ("seeds", "fixed", "classes")
    for kind in ("map", "cvb0", "vb", *SAMPLERS)
    for shape in SHAPES
    if what != "classes" or kind not in ("map", "cvb0")
]  # fmt: skip


@pytest.mark.parametrize(("what", "kind", "shape"), PRIORS, ids=str)
def test_seeds_and_classes(what, kind, shape, monkeypatch):
    settings = prior(what, shape)
    found = ratio(monkeypatch, named(shape), shape[3], KINDS[kind], few=20, **settings)
    assert 0.8 <= found <= 1.2
