# SPDX-License-Identifier: BSD-3-Clause
"""Quasi-Newton steps of EM lead where EM does, in a fifth of the passes, and never down."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from conftest import make_run, planted

import discan
from discan import MAP, Corpus, DirichletMultinomial, GammaPoisson, InputError, MaximumLikelihood
from discan.algorithms import quasi_newton
from discan.algorithms.auto import choose
from discan.algorithms.quasi_newton import QuasiNewton, pays
from discan.engines import Threads
from discan.fitting.starting import begin
from discan.fitting.task import Task
from discan.models import LoadingsPrior

QUASI_NEWTON = MaximumLikelihood(accelerate="quasi-newton")
MODELS = pytest.mark.parametrize("model", [GammaPoisson, DirichletMultinomial])


def text(seed=0, groups=None):
    rng = np.random.default_rng(seed)
    components, proportions = planted(rng, (80, 30), 3, 0.2, 0.4)
    return Corpus(rng.poisson(40 * proportions @ components), groups=groups)


@cache
def genotypes(n_people=90, n_sites=400, n_populations=3):
    """People of mixed ancestry, from populations whose allele frequencies differ little."""
    rng = np.random.default_rng(5)
    ancestral = rng.uniform(0.1, 0.9, n_sites)
    spread = 0.1  # the fixation index
    size = (1 - spread) / spread
    frequencies = rng.beta(ancestral * size, (1 - ancestral) * size, (n_populations, n_sites))
    shares = rng.dirichlet(np.full(n_populations, 0.5), n_people)
    second = rng.binomial(2, np.clip(shares @ frequencies, 0.0, 1.0))
    second[rng.random(second.shape) < 0.02] = -1  # missing
    counts = np.stack([2 - second, second], axis=2) * (second >= 0)[:, :, None]
    return Corpus(counts.reshape(n_people, -1), groups=np.repeat(np.arange(n_sites), 2))


def start(table, model, algorithm, n_components=3, seed=0, **options):
    prior, prepared = LoadingsPrior.of(0.1, table.layout), model().prepare(n_components, table)
    return make_run(table, prepared, algorithm, prior, seed=seed, **options)


@pytest.fixture
def passes(monkeypatch):
    """Every pass over the data, as how it began and whether it must be made again."""
    made, update = [], QuasiNewton.update

    def watched(self, params, *rest):
        after = update(self, params, *rest)
        made.append((params.memory.move, after.repeat))
        return after

    monkeypatch.setattr(QuasiNewton, "update", watched)
    return made


def rises(run):
    objective = run.trace["objective"]
    assert np.all(np.diff(objective) >= -1e-10 * np.abs(objective[1:]))


@MODELS
@pytest.mark.parametrize("algorithm", [MAP(), MaximumLikelihood()], ids=["map", "ml"])
@pytest.mark.parametrize("init", ["documents", "corners"])
@pytest.mark.parametrize("n_components", [3, 6])
def test_a_fifth_of_the_passes_of_genotypes(model, algorithm, init, n_components, passes):
    """All passes count, those that are made again too; so does every nat of the objective."""
    table = genotypes(n_populations=n_components)

    def run(accelerate):
        prior, prepared = LoadingsPrior.of(0.5, table.layout), model().prepare(n_components, table)
        return begin(Task(table, prepared, replace(algorithm, accelerate=accelerate), prior), init)

    plain = run(False)
    plain.advance(450)
    assert not passes
    goal = plain.trace["objective"][-1]
    fast = run("quasi-newton")
    fast.advance(90, callback=lambda run: run.trace["objective"][-1] >= goal)
    assert fast.reason == "stopped by the callback"
    assert fast.params.memory.passes == len(passes) <= 90
    rises(fast)


@MODELS
def test_it_ends_at_a_maximum(model):
    """With a prior there is a maximum inside, where the plain step of EM moves nothing."""
    table = genotypes()
    algorithm = MAP(accelerate="quasi-newton")
    run = start(table, model, algorithm)
    run.advance(300, tol=1e-13)
    assert run.converged
    rises(run)
    here = {"loadings": run.params.loadings.copy(), "objective": run.trace["objective"][-1]}
    plain = start(table, model, MAP(accelerate=False))
    plain.params = replace(plain.params, loadings=run.params.loadings)
    for block in plain.schedule.blocks:
        plain.states.get(block).score_shape[...] = run.states.get(block).score_shape
    plain.advance(2)
    np.testing.assert_allclose(plain.params.loadings, here["loadings"], atol=1e-5)
    np.testing.assert_allclose(plain.trace["objective"], here["objective"], atol=1e-4, rtol=0)


@MODELS
@pytest.mark.parametrize("groups", [None, [0] * 10 + [1] * 20])
def test_same_optimum_of_text(model, groups, passes):
    table = text(groups=groups)
    plain = start(table, model, MaximumLikelihood(accelerate=False))
    plain.advance(4000, tol=1e-10)
    fast = start(table, model, QUASI_NEWTON)
    fast.advance(4000, tol=1e-10)
    assert plain.converged
    assert fast.converged
    rises(fast)
    ends = [run.trace["objective"][-1] for run in (plain, fast)]
    assert ends[1] >= ends[0] - 1e-4 * abs(ends[0])
    assert len(passes) < plain.cycle / 2


@MODELS
@pytest.mark.parametrize("tau", [1.0, 0.8])
def test_overshooting_is_made_good(monkeypatch, passes, model, tau):
    if tau < 1.0 and not model.normalised:
        pytest.skip("tempering is for proportions")
    ahead, known = quasi_newton._ahead, []

    def too_far(memory, products):
        if memory.move == "back":
            known.append(memory.n_pairs)
        memory = ahead(memory, products)
        memory.scales[:] = 60.0
        return memory

    monkeypatch.setattr(quasi_newton, "_ahead", too_far)
    run = start(text(), model, replace(QUASI_NEWTON, tau=tau))
    run.advance(40)
    rises(run)
    assert ("ahead", True) in passes
    assert ("between", True) in passes
    assert ("between", False) in passes
    assert ("back", False) in passes
    assert ("back", True) not in passes
    assert max(known) <= 1  # pairs that led down twice are forgotten


@MODELS
def test_roots_cross_zero(model):
    """A step of EM keeps their signs, and counts that go to zero are no limit to a step."""
    run = start(genotypes(), model, QUASI_NEWTON)
    run.advance(25)
    (block,) = run.schedule.blocks
    state, memory = run.states.get(block), run.params.memory
    for part in (state, memory):
        negative = part.begun < 0.0
        assert 0.01 < negative.mean() < 0.99
        reached = part.base + part.residual
        assert not (np.sign(part.base) * np.sign(reached) < 0.0).any()
    rises(run)


@MODELS
def test_totals_are_kept(model):
    table = text()
    run = start(table, model, QUASI_NEWTON)
    for cycle in range(2, 12):
        run.advance(cycle)
        begun = np.concatenate([run.states.get(block).begun for block in run.schedule.blocks])
        np.testing.assert_allclose((begun**2).sum(axis=1), table.lengths)
        memory = run.params.memory
        loadings = (memory.begun / memory.sizes) ** 2
        np.testing.assert_allclose(loadings.sum(axis=0), 1.0)


def test_products_are_those_of_the_pairs():
    """Blocks and pieces of the loadings add up; only pairs no younger than another are needed."""
    table = genotypes(n_people=220, n_sites=400)
    run = start(table, DirichletMultinomial, QUASI_NEWTON)
    run.advance(30)
    memory, blocks = run.params.memory, run.schedule.blocks
    assert len(blocks) > 1
    used = memory.slots[: memory.n_pairs]
    assert memory.n_pairs == len(memory.slots) - 1
    parts = [memory, *(run.states.get(block) for block in blocks)]
    steps, bends = (
        np.concatenate([getattr(part, name)[used].reshape(len(used), -1) for part in parts], axis=1)
        for name in ("steps", "bends")
    )
    products = memory.products.sum(axis=0)[:, used][:, :, used]
    upper = np.triu(np.ones((len(used), len(used)), bool))
    scale = np.sqrt((steps**2).sum(axis=1)[:, None] * (bends**2).sum(axis=1))
    assert np.all(np.abs(products[0] - steps @ bends.T)[upper] <= 1e-9 * scale[upper])
    np.testing.assert_allclose(products[1], bends @ bends.T, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("algorithm", ["ml", "map"])
@pytest.mark.parametrize("at", [1, 2, 9])
def test_a_resumed_fit_equals_a_whole_one(tmp_path, algorithm, at):
    corpus = genotypes()
    options = {"algorithm": algorithm, "max_iter": 14, "tol": 0.0, "random_state": 1}
    whole = discan.DCA(3, **options, n_jobs=2).fit(corpus)
    assert whole.fit_.algorithm.accelerate == "quasi-newton"
    stopped = {"checkpoint": tmp_path, "callback": lambda run: run.cycle == at}
    discan.DCA(3, **options, **stopped).fit(corpus)
    resumed = discan.resume(tmp_path)
    assert resumed.n_iter_ == whole.n_iter_ == 14
    np.testing.assert_array_equal(resumed.components_, whole.components_)
    np.testing.assert_array_equal(resumed.scores_, whole.scores_)


@pytest.mark.parametrize("begun", [False, "squarem"])
def test_a_run_goes_on_as_it_was_begun(tmp_path, monkeypatch, begun):
    """Runs of version 0.1 had no quasi-Newton steps, and their settings do not say so."""
    corpus = genotypes()
    options = {"max_iter": 12, "tol": 0.0, "random_state": 1, "init": "documents"}
    whole = discan.DCA(3, algorithm=MaximumLikelihood(accelerate=begun), **options).fit(corpus)
    stopped = {"checkpoint": tmp_path, "callback": lambda run: run.cycle == 5}
    algorithm = MaximumLikelihood(accelerate=begun)
    discan.DCA(3, algorithm=algorithm, **options, **stopped).fit(corpus)
    monkeypatch.setattr(
        "discan.estimators.dca.choose", lambda *_: replace(algorithm, accelerate="quasi-newton")
    )
    resumed = discan.resume(tmp_path)
    assert resumed.fit_.algorithm.accelerate == begun
    np.testing.assert_array_equal(resumed.components_, whole.components_)


def test_any_number_of_threads_gives_the_same_bits():
    table = genotypes(n_people=220, n_sites=400)
    runs = [start(table, DirichletMultinomial, QUASI_NEWTON) for _ in range(2)]
    runs[1].engine = Threads(3)
    for run in runs:
        run.advance(12)
    np.testing.assert_array_equal(runs[0].params.loadings, runs[1].params.loadings)
    np.testing.assert_array_equal(runs[0].trace["objective"], runs[1].trace["objective"])


def test_the_default_follows_the_data():
    model = DirichletMultinomial()

    def chosen(algorithm, corpus):
        return choose(algorithm, model, frozenset(), corpus, 3)

    assert pays(genotypes(), 3)
    assert not pays(text(), 3)  # one group
    short = genotypes(n_sites=10)
    assert not pays(short, 3)  # few entries for each row and column
    for name in ("ml", "map"):
        assert chosen(name, genotypes()).accelerate == "quasi-newton"
        assert chosen(name, text()).accelerate is True
        assert chosen(name, short).accelerate is True
    for wish in (MAP(online=True), MAP(accelerate=False), MaximumLikelihood(tau="auto")):
        assert chosen(wish, genotypes()) is wish
    few = chosen("ml", genotypes())
    assert few.plan(genotypes(), 3, np.uint64(0)).start == "corners"


def test_memory_is_bounded():
    """The pairs take at most 256 MiB, or as much as the table of counts."""
    table = genotypes()
    rows = table.n_documents + table.n_words
    for n_components in (3, 3000, 10_000):
        n_pairs = quasi_newton._most_pairs(table, n_components)
        assert 4 <= n_pairs <= 15
        if pays(table, n_components):
            assert 2 * n_pairs * rows * n_components * 8 <= 2**28
    assert pays(table, 1000)
    assert not pays(table, 10_000)
    plain, fast = (
        MaximumLikelihood(accelerate=accelerate).plan(table, 3, np.uint64(0)).bytes
        for accelerate in (False, "quasi-newton")
    )
    run = start(table, DirichletMultinomial, QUASI_NEWTON)
    memory = run.params.memory
    states = [run.states.get(block) for block in run.schedule.blocks]
    held = sum(getattr(part, name).nbytes for part in (memory, *states)
               for name in ("begun", "base", "residual", "steps", "bends"))  # fmt: skip
    assert held <= fast - plain


def test_accelerate_is_yes_or_no_or_a_name():
    kinds = {True: "Squarem", "squarem": "Squarem", "quasi-newton": "QuasiNewton", False: "EM"}
    for accelerate, kind in kinds.items():
        assert type(MaximumLikelihood(accelerate=accelerate).wrapped).__name__ == kind
    for accelerate, kind in {True: "EM", False: "EM", "quasi-newton": "QuasiNewton"}.items():
        assert type(MAP(accelerate=accelerate).wrapped).__name__ == kind
    for wrong in (2, "newton", None):
        with pytest.raises(InputError, match="accelerate"):
            MaximumLikelihood(accelerate=wrong)
    with pytest.raises(InputError, match="accelerate"):
        MAP(accelerate="squarem")
