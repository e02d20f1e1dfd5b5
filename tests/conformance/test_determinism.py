# SPDX-License-Identifier: BSD-3-Clause
"""Same seed, same bits: whatever the threads, interruptions or hash seeds."""

import hashlib
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import planted

import discan.algorithms.collapsed
import discan.algorithms.variational
import discan.data.corpus
from discan import (
    DCA,
    MAP,
    Collapsed,
    CollapsedVariational,
    Corpus,
    Gibbs,
    MaximumLikelihood,
    Variational,
)
from discan.algorithms import ALGORITHMS
from discan.algorithms.expectation import Expectation
from discan.fitting.run import Run
from discan.models import MODELS

SOURCE = Path(__file__).parents[2] / "src"
SMALL_BLOCK = 60  # non-zeros

OPTIONS = {
    "maximum-likelihood": MaximumLikelihood(),
    "maximum-a-posteriori": MAP(),
    "variational": Variational(),
    "gibbs": Gibbs(burn_in=4, n_draws=4, thin=2),
    "collapsed-variational": CollapsedVariational(),
    "collapsed": Collapsed(burn_in=4, n_draws=4, thin=2, schedule="exact"),
}
BLOCKED = replace(OPTIONS["collapsed"], schedule="blocked", n_rounds=3)
ONLINE = Variational(online=True, batch_entries=100)


def cells():
    """Every model with every algorithm that takes it, and the special ways to go about it."""
    for model in MODELS:
        for algorithm in ALGORITHMS:
            options = OPTIONS[algorithm.name]
            if options.refusal(model(), frozenset()):
                continue
            name = f"{model.short}-{algorithm.short}"
            yield pytest.param(model.short, options, {}, id=name)
            learn = (*model.hyperparameters, "gamma")
            if not options.refusal(model(), frozenset(learn)):
                yield pytest.param(model.short, options, {"learn": learn}, id=f"{name}-learn")
            yield pytest.param(model.short, options, {"init": "map"}, id=f"{name}-map")
        learn = (*model.hyperparameters, "gamma")
        for options, what in ((BLOCKED, "blocked"), (ONLINE, "online")):
            if options.refusal(model(), frozenset(learn)):
                continue
            yield pytest.param(model.short, options, {"learn": learn}, id=f"{model.short}-{what}")
    tempered = MaximumLikelihood(tau="auto", eta=0.8)
    yield pytest.param("dm", tempered, {"max_iter": 40}, id="dm-tempered")
    yield pytest.param("dm", Variational(loadings="point"), {}, id="dm-point")


CELLS = list(cells())


def counts(n_documents=80, n_words=40, seed=0):
    rng = np.random.default_rng(seed)
    components, proportions = planted(rng, (n_documents, n_words), 4, 0.1, 0.3)
    table = rng.poisson(30 * proportions @ components)
    table[5] = 0
    return table


X = counts()


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    """Cut small tables into many blocks, so that threads have something to do."""
    monkeypatch.setattr(discan.data.corpus, "BLOCK_ENTRIES", SMALL_BLOCK)
    monkeypatch.setattr(discan.algorithms.collapsed, "BLOCK_ENTRIES", SMALL_BLOCK)
    monkeypatch.setattr(discan.algorithms.expectation, "BLOCK_ENTRIES", SMALL_BLOCK)
    for algorithm in (Expectation, CollapsedVariational):
        monkeypatch.setattr(algorithm, "entries_per_lane", 1)


def make(model, algorithm, params, **more):
    whole = getattr(algorithm, "whole_counts", False)
    settings = {"max_iter": None if whole else 6, "tol": 0.0, "random_state": 7, "learn": ()}
    settings |= {**params, **more}
    return DCA(4, model=model, algorithm=algorithm, **settings)


def digest(estimator):
    hyperparameters = [estimator.alpha_, estimator.beta_, estimator.rho_, estimator.gamma_]
    arrays = [
        estimator.components_,
        estimator.component_counts_,
        estimator.scores_,
        estimator.trace_["objective"],
        *(np.zeros(0) if array is None else array for array in hyperparameters),
        *(
            np.zeros(0) if array is None else array
            # point estimates have none
            for array in (
                getattr(estimator, name, None) for name in ("components_sd_", "scores_sd_")
            )
        ),
    ]
    assert all(np.isfinite(array).all() for array in arrays)
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()


_whole = {}


def unbroken(request, model, algorithm, params):
    """Digest of the run in one go on one thread, worked out once a cell."""
    cell = request.node.callspec.id.split("|")[0]
    if cell not in _whole:
        _whole[cell] = digest(make(model, algorithm, params).fit(X))
    return _whole[cell]


def test_there_are_many_blocks():
    corpus = Corpus(X)
    assert len(corpus.blocks) > 8
    seed = np.uint64(0)
    assert Variational().plan(corpus, 4, seed).lanes > 3
    assert len(BLOCKED.plan(corpus, 4, seed).blocks) > 8
    assert len(ONLINE.plan(corpus, 4, seed).rounds) > 8


# ---- threads ----


@pytest.mark.parametrize(("model", "algorithm", "params"), CELLS)
def test_threads(model, algorithm, params):
    digests = {n: digest(make(model, algorithm, params, n_jobs=n).fit(X)) for n in (1, 2, 3, 8, -1)}
    assert len(set(digests.values())) == 1, digests


@pytest.mark.parametrize(("model", "algorithm", "params"), CELLS)
def test_seeds(model, algorithm, params):
    first = make(model, algorithm, params).fit(X)
    other = make(model, algorithm, params, random_state=8).fit(X)
    assert digest(first) != digest(other)
    assert first.settings_["seed"] == 7
    assert digest(first) == digest(first.fit(X))


@pytest.mark.parametrize("algorithm", OPTIONS.values(), ids=lambda a: a.short)
def test_transform_by_threads(algorithm):
    model = "cgp" if algorithm.short in ("vb", "direct") else "dm"
    estimator = make(model, algorithm, {}).fit(X)
    new = counts(n_documents=15, seed=1)
    answers = {
        (estimator.transform(new).tobytes(), estimator.component_counts(new).tobytes(),
         estimator.score(new))
        for n in (1, 2, 3)
        if estimator.set_params(n_jobs=n)
    }  # fmt: skip
    assert len(answers) == 1


def test_log_likelihood_by_threads():
    estimator = make("dm", Variational(), {}).fit(X)
    new = counts(n_documents=10, seed=1)[:8]
    for method in ("chib", "bound"):
        answers = {
            estimator.set_params(n_jobs=n).log_likelihood(new, method=method).tobytes()
            for n in (1, 2, 3)
        }
        assert len(answers) == 1


def test_seed_by_none_is_recorded_and_can_be_used_again():
    first = make("dm", Gibbs(burn_in=2, n_draws=2), {}, random_state=None).fit(X)
    again = make("dm", Gibbs(burn_in=2, n_draws=2), {}, random_state=first.settings_["seed"])
    assert digest(again.fit(X)) == digest(first)


@pytest.mark.parametrize("seed", [0, 2**63, 2**64 - 1])
def test_extreme_seeds(seed):
    for algorithm in OPTIONS.values():
        estimator = make("dm", algorithm, {}, random_state=seed).fit(X)
        assert estimator.settings_["seed"] == seed
        assert digest(estimator) == digest(make("dm", algorithm, {}, random_state=seed).fit(X))


@pytest.mark.parametrize("kind", [np.random.RandomState, np.random.default_rng])
def test_generators_as_seed(kind):
    first = make("dm", Variational(), {}, random_state=kind(3)).fit(X)
    assert digest(first) == digest(make("dm", Variational(), {}, random_state=kind(3)).fit(X))


@pytest.mark.parametrize("algorithm", OPTIONS.values(), ids=lambda a: a.short)
def test_global_random_state_is_left_alone(algorithm):
    np.random.seed(5)  # noqa: NPY002
    before = np.random.get_state()  # noqa: NPY002
    estimator = make("dm", algorithm, {"init": "map"}).fit(X)
    estimator.transform(X[:3])
    estimator.score(X[:3])
    after = np.random.get_state()  # noqa: NPY002
    assert before[0] == after[0]
    assert before[1].tobytes() == after[1].tobytes()
    assert before[2:] == after[2:]
    first = digest(estimator)
    np.random.seed(6)  # noqa: NPY002
    assert digest(estimator.fit(X)) == first


def test_hash_seed():
    code = (
        "import hashlib, numpy as np, discan\n"
        "X = np.random.default_rng(0).poisson(1.0, (40, 12))\n"
        "groups = [f'g{j % 3}' for j in range(12)]\n"
        "e = discan.DCA(3, model='cgp', algorithm=discan.Gibbs(burn_in=3, n_draws=3), \n"
        "    learn=('alpha', 'beta', 'rho', 'gamma'), groups=groups, random_state=1).fit(X)\n"
        "arrays = (e.components_, e.scores_, e.alpha_, e.beta_, e.rho_, e.trace_['objective'])\n"
        "print(hashlib.sha256(b''.join(a.tobytes() for a in arrays)).hexdigest())"
    )
    answers = set()
    for seed in ("0", "1"):
        environment = {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONHASHSEED": seed}
        answers.add(
            subprocess.run(
                [sys.executable, "-c", code], env=environment, capture_output=True, text=True,
                check=True,
            ).stdout
        )  # fmt: skip
    assert len(answers) == 1
    assert len(answers.pop().strip()) == 64


# ---- stops ----


@pytest.mark.parametrize("at", [1, 3, 5], ids="|{}".format)
@pytest.mark.parametrize(("model", "algorithm", "params"), CELLS)
def test_stop_and_continue(request, model, algorithm, params, at):
    """Cycle 3 of a sampler is in its burn-in, cycle 5 between two draws of the first pair."""
    expected = unbroken(request, model, algorithm, params)
    estimator = make(model, algorithm, params, warm_start=True)
    estimator.set_params(callback=lambda run: run.cycle == at).fit(X)
    assert estimator.n_iter_ == at
    assert estimator.stop_reason_ == "stopped by the callback"
    digest(estimator)  # what there is is finite
    estimator.set_params(callback=None, n_jobs=2).fit(X)
    assert digest(estimator) == expected


@pytest.mark.parametrize("algorithm", [OPTIONS["gibbs"], BLOCKED, OPTIONS["collapsed"]])
def test_stop_after_each_cycle(algorithm):
    expected = digest(make("dm", algorithm, {}).fit(X))
    estimator = make("dm", algorithm, {}, warm_start=True, callback=lambda run: True)
    for _ in range(12):
        estimator.fit(X)
    assert estimator.n_iter_ == 12
    assert digest(estimator) == expected


def test_stopped_draws_are_averaged():
    algorithm = replace(OPTIONS["gibbs"], keep_draws=True)
    estimator = make("dm", algorithm, {}, warm_start=True)
    estimator.set_params(callback=lambda run: run.cycle == 8).fit(X)
    assert len(estimator.draws_.component_counts) == 2
    mean = np.mean(estimator.draws_.component_counts, axis=0)
    np.testing.assert_allclose(estimator.component_counts_, mean)


@pytest.mark.parametrize("at", [2, 7], ids="|{}".format)
@pytest.mark.parametrize(
    ("model", "algorithm"),
    [
        pytest.param("dm", OPTIONS["gibbs"], id="gibbs"),
        pytest.param("cgp", BLOCKED, id="blocked"),
        pytest.param("gp", OPTIONS["variational"], id="vb"),
        pytest.param("dm", OPTIONS["maximum-likelihood"], id="ml"),
    ],
)
def test_ctrl_c(model, algorithm, at):
    params = {} if algorithm.whole_counts else {"max_iter": 12}
    expected = digest(make(model, algorithm, params).fit(X))

    def interrupt(run):
        if run.cycle == at:
            os.kill(os.getpid(), signal.SIGINT)

    def own_handler(signum, frame):
        raise AssertionError("the handler must not be called during the fit")

    before = signal.signal(signal.SIGINT, own_handler)
    try:
        estimator = make(model, algorithm, params, callback=interrupt, n_jobs=2).fit(X)
        assert signal.getsignal(signal.SIGINT) is own_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert estimator.stop_reason_ == "interrupted"
    assert estimator.n_iter_ == at
    assert not estimator.converged_
    digest(estimator)
    assert estimator.transform(X[:2]).shape == (2, 4)
    estimator.set_params(callback=None, warm_start=True).fit(X)
    assert digest(estimator) == expected


def test_second_ctrl_c_stops_at_once():
    before = signal.getsignal(signal.SIGINT)

    def interrupt(run):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        make("dm", Variational(), {}, callback=interrupt).fit(X)
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_while_the_start_is_sought(monkeypatch):
    """A Ctrl-C in the cycles of MAP that ``init="map"`` takes is not forgotten."""
    cycle = Run.advance_one
    seen = []

    def interrupt(run, *given):
        cycle(run, *given)
        seen.append(run.algorithm.short)
        if len(seen) == 3:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Run, "advance_one", interrupt)
    try:
        estimator = make("dm", Variational(), {"init": "map", "max_iter": 50}).fit(X)
    except KeyboardInterrupt:
        return
    assert seen[2] == "map"
    assert estimator.stop_reason_ == "interrupted"


def test_warm_start_begins_anew_with_other_data():
    estimator = make("dm", Variational(), {}, warm_start=True).fit(X)
    other = counts(seed=3)[:50]
    assert digest(estimator.fit(other)) == digest(make("dm", Variational(), {}).fit(other))


def test_warm_start_does_not_mistake_other_data_of_the_same_shape():
    """Same shape and number of non-zeros, other counts: the answer must be about the new data."""
    estimator = make("dm", Variational(), {}, warm_start=True).fit(X)
    other = X[::-1].copy()
    estimator.set_params(max_iter=40).fit(other)
    np.testing.assert_allclose(estimator.component_counts_.sum(axis=1), other.sum(axis=1))


def test_warm_start_heeds_other_settings():
    estimator = make("dm", Variational(), {}, warm_start=True).fit(X)
    estimator.n_components = 2
    assert estimator.fit(X).components_.shape[0] == 2


def test_exceptions_of_callbacks_pass_through():
    before = signal.getsignal(signal.SIGINT)

    def fail(run):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        make("dm", Variational(), {}, callback=fail).fit(X)
    assert signal.getsignal(signal.SIGINT) is before


def test_fit_in_another_thread():
    """Signals can only be handled in the main thread; fits work elsewhere all the same."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(make("dm", Variational(), {}).fit, X) for _ in range(2)]
        digests = {digest(job.result()) for job in jobs}
    assert digests == {digest(make("dm", Variational(), {}).fit(X))}
