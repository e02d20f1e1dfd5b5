# SPDX-License-Identifier: BSD-3-Clause
"""The one loop: trace, callbacks, progress, draws, starts, and what is put on record."""

import io
import itertools
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import cells, fit_run, make_run, planted
from scipy.optimize import linear_sum_assignment
from scipy.special import softmax

from discan import (
    DCA,
    PLSI,
    Collapsed,
    CollapsedVariational,
    Corpus,
    Gibbs,
    Hyperprior,
    InputError,
    MaximumLikelihood,
    Variational,
)
from discan.algorithms.collapsed import BLOCKED_FROM
from discan.kernels.twins.gibbs import draw_log_loadings
from discan.models import MODELS, LoadingsPrior

SOURCE = Path(__file__).parents[2] / "src"
SHORT = {
    "direct": Gibbs(burn_in=6, n_draws=5, thin=2),
    "cgs": Collapsed(burn_in=6, n_draws=5, thin=2),
}
CELLS = cells(lambda algorithm: SHORT.get(algorithm.short, algorithm()))
SAMPLED = [cell for cell in CELLS if cell.values[1].whole_counts]


def planted_table(n_documents=150, n_words=30, n_components=3, length=60, seed=0):
    """Counts, and the components they were drawn from."""
    rng = np.random.default_rng(seed)
    components, proportions = planted(rng, (n_documents, n_words), n_components, 0.1, 0.3)
    return rng.poisson(length * proportions @ components), components


X, COMPONENTS = planted_table()


def make(model, algorithm, **params):
    settings = {"n_components": 3, "random_state": 0, "learn": (), **params}
    if not getattr(algorithm, "whole_counts", True):
        settings.setdefault("max_iter", 8)
    return DCA(model=model, algorithm=algorithm, **settings)


def distance(components, target):
    """Total variation between matched components, the worst of them."""
    gaps = 0.5 * np.abs(components[:, None] - target[None]).sum(axis=2)
    rows, columns = linear_sum_assignment(gaps)
    return gaps[rows, columns].max()


# ---- trace and callbacks ----


@pytest.mark.parametrize(("model", "algorithm"), CELLS)
def test_trace(model, algorithm):
    estimator = make(model, algorithm, tol=0.0).fit(X)
    trace = estimator.trace_
    n_cycles = 16 if algorithm.whole_counts else 8
    assert estimator.n_iter_ == len(trace) == n_cycles
    for column in trace.columns:
        assert trace[column].shape == (n_cycles,)
        assert np.isfinite(trace[column]).all()
    assert list(trace["cycle"]) == list(range(1, n_cycles + 1))
    assert (np.diff(trace["seconds"]) >= 0).all()
    assert (trace["seconds"] > 0).all()
    assert (trace["tokens_per_second"] > 0).all()
    rows = list(trace)
    assert rows[-1]["objective"] == trace.last("objective") == trace["objective"][-1]
    assert f"{n_cycles} cycles" in repr(trace)
    if not algorithm.whole_counts:  # batch: the objective never falls
        objective = trace["objective"]
        assert (np.diff(objective) >= -1e-9 * np.abs(objective[1:])).all()


@pytest.mark.parametrize(("model", "algorithm"), CELLS)
def test_callback_sees_every_cycle(model, algorithm):
    seen = []

    def watch(run):
        seen.append((run.cycle, len(run.trace), run.params.n_components))

    estimator = make(model, algorithm, tol=0.0, callback=watch).fit(X)
    assert seen == [(n, n, 3) for n in range(1, estimator.n_iter_ + 1)]


@pytest.mark.parametrize(("model", "algorithm"), CELLS)
def test_callback_can_stop(model, algorithm):
    estimator = make(model, algorithm, tol=0.0, callback=lambda run: run.cycle == 3).fit(X)
    assert estimator.n_iter_ == 3
    assert estimator.stop_reason_ == "stopped by the callback"
    assert not estimator.converged_


@pytest.mark.parametrize("online", [False, True])
def test_callback_may_keep_loadings(online):
    kept = []

    def keep(run):
        kept.append((run.params.loadings, run.params.loadings.copy()))

    algorithm = CollapsedVariational(online=online)
    make("dm", algorithm, tol=0.0, max_iter=4, callback=keep).fit(np.tile(X, (20, 1)))
    assert len(kept) == 4
    for mine, then in kept:
        assert np.array_equal(mine, then)
    assert not np.array_equal(kept[0][1], kept[-1][1])


def test_callback_answers_nothing():
    assert make("dm", Variational(), tol=0.0, callback=lambda run: None).fit(X).n_iter_ == 8


# ---- progress ----

FIT = (
    "import numpy as np, discan\n"
    "discan.LDA(2, max_iter=3, random_state=0, progress={}).fit(30 * np.eye(4, dtype=int))"
)


@pytest.mark.parametrize("progress", [None, False, True])
def test_progress_in_a_pipe(progress):
    DCA(2, max_iter=3, random_state=0).fit(30 * np.eye(4, dtype=int))  # its kernels are compiled
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, "-c", FIT.format(progress)],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == ""
    if progress:
        assert "3/3" in done.stderr
        assert "nats/token" in done.stderr
    else:
        assert done.stderr == ""


def test_progress_in_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for progress, shown in ((None, True), (False, False)):
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        make("dm", Variational(), max_iter=3, progress=progress).fit(X)
        assert bool(terminal.getvalue()) == shown


# ---- why it stopped ----


@pytest.mark.parametrize("algorithm", ["ml", "map", "variational"])
def test_convergence(algorithm):
    settled = DCA(3, algorithm=algorithm, tol=1e-4, max_iter=500, random_state=0).fit(X)
    assert settled.converged_
    assert "tol=0.0001" in settled.stop_reason_
    objective = settled.trace_["objective"]
    changes = np.abs(np.diff(objective)) / X.sum()
    assert changes[-1] <= 1e-4
    assert (changes[:-1] > 1e-4).all()
    short = DCA(3, algorithm=algorithm, tol=0.0, max_iter=4, random_state=0).fit(X)
    assert not short.converged_
    assert short.stop_reason_ == "all 4 cycles done"
    assert short.n_iter_ == 4


@pytest.mark.parametrize("algorithm", SHORT.values(), ids=SHORT)
def test_samplers_run_to_the_end(algorithm):
    estimator = make("dm", algorithm, tol=1e9).fit(X)  # tol is not for them
    assert estimator.n_iter_ == 16
    assert estimator.stop_reason_ == "all 16 cycles done"
    assert not estimator.converged_
    assert "too short to tell" in str(estimator.fit_.verdict())


# ---- draws ----


@pytest.mark.parametrize(("model", "algorithm"), SAMPLED)
def test_kept_draws(model, algorithm):
    learn = next(cls for cls in MODELS if cls.short == model).hyperparameters
    algorithm = replace(algorithm, keep_draws=True)
    estimator = make(model, algorithm, learn=(*learn, "gamma")).fit(X)
    draws = estimator.draws_
    assert len(draws.component_counts) == len(draws.loadings) == len(draws.hyperparameters) == 5
    for counts, loadings, values in zip(
        draws.component_counts, draws.loadings, draws.hyperparameters, strict=True
    ):
        assert counts.shape == (len(X), 3)
        np.testing.assert_array_equal(counts.sum(axis=1), X.sum(axis=1))
        assert loadings.shape == (X.shape[1], 3)
        np.testing.assert_allclose(loadings.sum(axis=0), 1.0)
        assert set(values) == {*estimator.fit_.params.model.axes, "gamma"}
    assert not np.array_equal(draws.component_counts[0], draws.component_counts[1])
    mean = np.mean(draws.component_counts, axis=0)
    np.testing.assert_allclose(estimator.component_counts_, mean, atol=1e-9)
    np.testing.assert_allclose(estimator.components_, np.mean(draws.loadings, axis=0).T, atol=1e-12)
    np.testing.assert_allclose(
        estimator.component_counts_sd_, np.std(draws.component_counts, axis=0), atol=1e-5
    )
    model = estimator.fit_.params.model
    if model.levels > 1:  # alpha follows from the means
        kept = np.mean([values["parents"] for values in draws.hyperparameters], axis=0)
        np.testing.assert_allclose(estimator.parents_.T, kept)
        learn = learn[1:]
    for name in (*learn, "gamma"):
        kept = np.mean([values[name] for values in draws.hyperparameters], axis=0)
        np.testing.assert_allclose(getattr(estimator, f"{name}_"), kept)


@pytest.mark.parametrize(
    ("max_iter", "n_draws"), [(None, 5), (16, 5), (10, 2), (1, 0), (2, 0), (26, 10)]
)
def test_number_of_draws(max_iter, n_draws):
    """A shorter ``max_iter`` spends at most half on burn-in."""
    algorithm = replace(SHORT["direct"], keep_draws=True)
    estimator = make("dm", algorithm, max_iter=max_iter).fit(X)
    kept = [] if estimator.draws_ is None else estimator.draws_.component_counts
    assert len(kept) == n_draws
    assert np.isfinite(estimator.components_).all()


def test_draws_are_not_kept_unasked():
    assert make("dm", SHORT["direct"]).fit(X).draws_ is None
    assert make("dm", Variational()).fit(X).draws_ is None


@pytest.mark.parametrize("algorithm", [Gibbs, Collapsed])
@pytest.mark.parametrize("model", ["dm", "gp", "cgp"])
def test_standard_deviations_are_those_of_the_posterior(model, algorithm):
    """Draws of scores and loadings given each kept draw of the counts spread as much as said."""
    table = X[:12, :8]
    options = algorithm(burn_in=50, n_draws=400, keep_draws=True)
    init = np.kron(np.eye(2), np.ones(4)) + 0.1
    estimator = make(
        model, options, n_components=2, alpha=0.7, init=init,
        **({} if model == "dm" else {"beta": 0.1}),
    ).fit(table)  # fmt: skip
    rng = np.random.default_rng(0)
    scores, loadings = [], []
    words = table.sum(axis=0)
    for counts in estimator.draws_.component_counts:
        draw = rng.gamma(counts + 0.7, size=(20, *counts.shape))
        if model == "dm":
            draw /= draw.sum(axis=2, keepdims=True)
        else:
            draw /= 1.1
        if model == "cgp":
            slab = 0.5 * (0.1 / 1.1) ** 0.7
            gone = (counts == 0) & (rng.random(draw.shape) < 0.5 / (0.5 + slab))
            draw = np.where(gone, 0.0, draw)
        scores.append(draw)
    scores = np.concatenate(scores)
    np.testing.assert_allclose(estimator.scores_, scores.mean(axis=0), rtol=0.1, atol=0.05)
    np.testing.assert_allclose(estimator.scores_sd_, scores.std(axis=0), rtol=0.1, atol=0.05)
    # the loadings of a draw are Dirichlet means; with 8 words of shape 0.5 prior
    means = np.array(estimator.draws_.loadings)
    totals = [counts.sum(axis=0) + 0.5 * len(words) for counts in estimator.draws_.component_counts]
    for mean, total in zip(means, totals, strict=True):
        drawn = rng.gamma(np.maximum(mean * total, 1e-9), size=(20, *mean.shape))
        loadings.append(drawn / drawn.sum(axis=1, keepdims=True))
    loadings = np.concatenate(loadings)
    np.testing.assert_allclose(estimator.components_sd_.T, loadings.std(axis=0), atol=0.02)
    assert (estimator.components_sd_.T >= means.std(axis=0) - 1e-9).all()


@pytest.mark.parametrize(("model", "algorithm"), CELLS)
def test_who_has_standard_deviations(model, algorithm):
    estimator = make(model, algorithm).fit(X)
    point = algorithm.short in ("ml", "map", "cvb0")
    for name in ("components_sd_", "scores_sd_"):
        if point:
            with pytest.raises(AttributeError, match=r"use algorithm='variational', 'collapsed' o"):
                getattr(estimator, name)
            continue
        value = getattr(estimator, name)
        assert value.shape == getattr(estimator, name.replace("_sd", "")).shape
        assert np.isfinite(value).all()
        assert (value >= 0).all()
        assert value.max() > 0
    assert hasattr(estimator, "component_counts_sd_") == algorithm.whole_counts


# ---- on record ----


def test_settings():
    estimator = make("dm", SHORT["cgs"]).fit(X)
    assert estimator.settings_ == {
        "model": "dirichlet-multinomial",
        "algorithm": "collapsed",
        "seed": 0,
        "learnt": [],
        "tokens": X.sum(),
        "schedule": "exact",
        "burn_in": 6,
        "thin": 2,
        "draws": 5,
    }
    estimator = make("gp", Collapsed(burn_in=1, n_draws=1, schedule="blocked")).fit(X)
    assert estimator.settings_["schedule"] == "blocked"
    assert make("gp", Variational(), random_state=5).fit(X).settings_["seed"] == 5
    seeds = {
        make("dm", Variational(), random_state=None, max_iter=1).fit(X).settings_["seed"]
        for _ in range(3)
    }
    assert len(seeds) == 3


def test_default_schedule_depends_on_the_size_of_the_data_only():
    algorithm = Collapsed(burn_in=0, n_draws=1)
    for tokens, expected in ((BLOCKED_FROM - 1, "exact"), (BLOCKED_FROM, "blocked")):
        table = np.zeros((4, 5), dtype=int)
        table[0, 0] = tokens - 4
        table[1:, 1] = 1
        table[2, 2] = 1
        for n_jobs in (1, 3):
            estimator = make("dm", algorithm, n_components=2, n_jobs=n_jobs).fit(table)
            assert estimator.settings_["schedule"] == expected


# ---- starts ----

STARTS = [cell for cell in CELLS if cell.values[1].short in ("vb", "direct", "cgs")]


@pytest.mark.parametrize("init", ["random", "components", "map"])
@pytest.mark.parametrize(("model", "algorithm"), STARTS)
def test_starts(model, algorithm, init):
    start = COMPONENTS if init == "components" else init
    estimator = make(model, algorithm, init=start).fit(X)
    assert np.isfinite(estimator.components_).all()
    if init == "components":  # in the order given, and close to it
        gaps = 0.5 * np.abs(estimator.components_ - COMPONENTS).sum(axis=1)
        assert (gaps < 0.15).all()
    if init == "map":  # a start by MAP has found the components already
        assert distance(estimator.components_, COMPONENTS) < 0.3


@pytest.mark.parametrize(("model", "algorithm"), STARTS)
def test_a_start_by_map_is_better_than_chance(model, algorithm):
    if algorithm.whole_counts:
        algorithm = replace(algorithm, burn_in=0, n_draws=1, thin=1)
    random = make(model, algorithm, max_iter=1, init="random").fit(X).trace_["objective"][0]
    by_map = make(model, algorithm, max_iter=1, init="map").fit(X).trace_["objective"][0]
    assert by_map > random


def test_init_is_left_alone():
    init = COMPONENTS.copy()
    make("dm", Gibbs(burn_in=2, n_draws=2), init=init).fit(X)
    np.testing.assert_array_equal(init, COMPONENTS)


# ---- learning hyperparameters ----


@pytest.mark.parametrize(("model", "algorithm"), CELLS)
def test_learning_moves(model, algorithm):
    names = (*next(cls for cls in MODELS if cls.short == model).hyperparameters, "gamma")
    if algorithm.short == "ml":
        with pytest.raises(InputError, match="no hyperparameters"):
            make(model, algorithm, learn=names).fit(X)
        return
    if algorithm.cannot_learn:
        with pytest.raises(InputError, match="cannot learn"):
            make(model, algorithm, learn=names).fit(X)
        names = tuple(name for name in names if name not in algorithm.cannot_learn)
    fixed = make(model, algorithm).fit(X)
    learnt = make(model, algorithm, learn=names).fit(X)
    for name in names:
        before, after = getattr(fixed, f"{name}_"), getattr(learnt, f"{name}_")
        assert np.shape(before) == np.shape(after)
        assert not np.allclose(before, after), name
        assert np.isfinite(after).all()
        assert np.all(np.asarray(after) > 0)
    for name in names:  # one alone leaves the others alone
        if learnt.fit_.params.model.learning_refusal(frozenset({name})) is not None:
            with pytest.raises(InputError, match="must be learnt too"):
                make(model, algorithm, learn=(name,)).fit(X)
            continue
        alone = make(model, algorithm, learn=(name,), max_iter=4).fit(X)
        still = make(model, algorithm, max_iter=4).fit(X)
        for other in names:
            if other == "alpha" and learnt.fit_.params.model.levels > 1:
                continue  # it follows from the parents, which are drawn
            same = np.array_equal(getattr(alone, f"{other}_"), getattr(still, f"{other}_"))
            assert same == (other != name), (name, other)


def test_learnt_alpha_is_near_the_truth():
    for algorithm in (Variational(), Gibbs(burn_in=60, n_draws=40)):
        table, components = planted_table(n_documents=400, seed=1)
        estimator = make("dm", algorithm, learn=("alpha",), init=components, alpha=2.0)
        estimator.set_params(max_iter=None if algorithm.whole_counts else 60).fit(table)
        np.testing.assert_allclose(estimator.alpha_, 0.3, atol=0.12)


def test_hyperprior_matters():
    strong = Hyperprior(alpha=(1e6, 1e6 / 3.0))
    estimator = make("dm", SHORT["direct"], learn=("alpha",), hyperprior=strong).fit(X)
    np.testing.assert_allclose(estimator.alpha_, 3.0, rtol=0.05)


# ---- variants ----


@pytest.mark.parametrize("model", ["dm", "gp"])
def test_online_is_near_batch(model):
    table, components = planted_table(n_documents=300, seed=2)
    settings = {"tol": 0.0, "init": components + 0.01}
    batch = make(model, Variational(), max_iter=60, **settings).fit(table)
    online = make(
        model, Variational(online=True, batch_entries=400), max_iter=25, **settings
    ).fit(table)  # fmt: skip
    assert distance(online.components_, batch.components_) < 0.05
    last = batch.trace_["objective"][-1]
    assert abs(online.trace_["objective"][-1] - last) < 0.03 * abs(last)


def test_online_from_a_random_start_finds_the_components():
    table, components = planted_table(n_documents=300, seed=2)
    online = make("dm", Variational(online=True, batch_entries=400), max_iter=30).fit(table)
    assert distance(online.components_, components) < 0.15


def test_point_loadings():
    estimator = make("dm", Variational(loadings="point"), max_iter=60).fit(X)
    assert distance(estimator.components_, COMPONENTS) < 0.15
    with pytest.raises(AttributeError, match=r"; use algorithm='collapsed' or 'gibbs'"):
        estimator.components_sd_  # noqa: B018


def test_loadings_of_words_that_were_never_seen():
    """Draws of a group that are all too small for floats are normalised in logs, not lost."""
    groups = [0, 0, 0, 1, 1, 1]
    corpus = Corpus(np.array([[4, 2, 0, 0, 0, 0]]), groups=groups)
    prior = LoadingsPrior.of(1e-4, corpus.layout)
    model = MODELS.find("dm").prepare(3, corpus)
    run = make_run(corpus, model, Gibbs(), prior, seed=5)
    n_lost = 0
    for cycle in range(20):
        counts = run.params.loading_counts.copy()  # the sweep begins with a draw given these
        run.advance(cycle + 1, progress=False)
        logs = draw_log_loadings(counts, prior.gamma, np.uint64(5), cycle)
        expected = softmax(logs.reshape(2, 3, 3), axis=1).reshape(6, 3)
        n_lost += logs[3:].max(axis=0).min() < -708
        np.testing.assert_allclose(run.params.loadings, expected, rtol=1e-9, atol=1e-300)
    assert n_lost > 5


def test_tempered_plsi():
    plain = PLSI(3, max_iter=40, tol=0.0, random_state=0).fit(X)
    tempered = PLSI(
        3, algorithm=MaximumLikelihood(tau=0.8), max_iter=40, tol=0.0, random_state=0
    ).fit(X)
    assert np.isfinite(tempered.components_).all()
    np.testing.assert_allclose(tempered.components_.sum(axis=1), 1.0)
    np.testing.assert_allclose(tempered.proportions_.sum(axis=1), 1.0)
    assert not np.allclose(plain.components_, tempered.components_)
    assert np.isfinite(tempered.score(X))


def test_tempered_plsi_finds_its_temperature():
    algorithm = MaximumLikelihood(tau="auto", eta=0.8)
    estimator = PLSI(6, algorithm=algorithm, max_iter=2000, random_state=0).fit(X[:60])
    assert estimator.n_iter_ < 2000
    assert estimator.converged_
    assert "perplexity" in estimator.stop_reason_
    assert estimator.component_counts_.shape == (60, 6)  # those held out as well
    np.testing.assert_allclose(estimator.component_counts_.sum(axis=1), X[:60].sum(axis=1))
    np.testing.assert_allclose(estimator.proportions_.sum(axis=1), 1.0)
    assert np.isfinite(estimator.score(X[60:]))


@pytest.mark.parametrize(("model", "algorithm"), CELLS)
def test_planted_components_are_found(model, algorithm):
    if algorithm.whole_counts:
        algorithm = replace(algorithm, burn_in=100, n_draws=20, thin=1)
    best = min(
        distance(make(model, algorithm, max_iter=None, random_state=seed).fit(X).components_,
                 COMPONENTS)
        for seed in range(2)
    )  # fmt: skip
    assert best < 0.15


def test_fit_in_one_call():
    corpus = Corpus(X)
    model = MODELS.find("dm").prepare(3, corpus)
    result = fit_run(
        corpus, model, Variational(), LoadingsPrior.of(0.5, corpus.layout), max_iter=8, seed=0
    )
    estimator = make("dm", Variational()).fit(X)
    assert result.loadings.mean.T.tobytes() == estimator.components_.tobytes()
    assert result.scores.tobytes() == estimator.scores_.tobytes()
    assert result.n_cycles == estimator.n_iter_


def test_a_chain_that_forgets_answers_with_its_latter_part():
    """Draws of the first half are dropped at doublings of the burn-in, those of the second stay."""
    algorithm = Collapsed(burn_in=2, n_draws=30, thin=1, forget=True)
    counted = []

    def after_cycle(run):
        counted.append(0 if run.draws is None else run.draws.n_draws)

    DCA(2, algorithm=algorithm, random_state=0, progress=False, callback=after_cycle).fit(X)
    # 32 cycles; the draws before cycle 4 are dropped at cycle 8, those before cycle 8 at cycle 16
    expected = [0, 0, *range(1, 6), *range(5, 13), *range(9, 26)]
    assert counted == expected


def test_the_draws_that_stay_are_all_since_the_last_doubling():
    """The average after early draws were dropped is that of a chain that began to draw later."""
    forgetful = Collapsed(burn_in=2, n_draws=12, thin=1, forget=True)
    answers = make("dm", forgetful, max_iter=12).fit(X)
    plain = make("dm", Collapsed(burn_in=3, n_draws=9, thin=1), max_iter=12).fit(X)
    assert answers.settings_["draws"] == 9  # cycles 4 to 12
    np.testing.assert_array_equal(answers.components_, plain.components_)
    np.testing.assert_array_equal(answers.scores_, plain.scores_)


def settling(**options):
    return Collapsed(burn_in=2, n_draws=400, thin=1, forget=True, schedule="exact", **options)


def test_a_chain_ends_when_it_has_settled(monkeypatch):
    monkeypatch.setattr("discan.algorithms.sampling.MOST_LEAST_SWEEPS", 0)
    settled = make("dm", settling(settle=0.05)).fit(X)
    assert settled.converged_
    assert "last rise" in settled.stop_reason_
    assert 100 <= settled.n_iter_ < 402
    objective = settled.trace_["objective"] / X.sum()
    window = settled.n_iter_ // 8
    rise = objective[-window:].mean() - objective[-2 * window : -window].mean()
    assert rise <= max(0.05, objective[-window:].std())
    whole = make("dm", settling()).fit(X)
    assert whole.n_iter_ == 402
    # the two are one chain
    np.testing.assert_array_equal(
        whole.trace_["objective"][: settled.n_iter_], settled.trace_["objective"]
    )


def test_a_chain_that_rises_to_its_end_has_not_converged():
    risen = make("dm", settling(settle=1e-12), max_iter=30).fit(X)
    assert not risen.converged_
    assert risen.stop_reason_ == "all 30 cycles done"


def test_small_corpora_get_more_sweeps():
    fitted = make("dm", settling(settle=100.0)).fit(X)
    assert fitted.n_iter_ == 402  # a thousand would cost nothing


def test_a_chain_that_was_stopped_settles_where_it_would_have(monkeypatch):
    monkeypatch.setattr("discan.algorithms.sampling.MOST_LEAST_SWEEPS", 0)
    whole = make("dm", settling(settle=0.05)).fit(X)
    stopped = make(
        "dm", settling(settle=0.05), warm_start=True, callback=lambda run: run.cycle == 50
    )
    assert not stopped.fit(X).converged_
    stopped.set_params(callback=None).fit(X)
    assert stopped.stop_reason_ == whole.stop_reason_
    np.testing.assert_array_equal(stopped.components_, whole.components_)


@pytest.mark.parametrize("learn_every", [1, 4])
def test_moves_of_hyperparameters(learn_every):
    seen = []
    algorithm = Collapsed(burn_in=5, n_draws=15, learn_every=learn_every)
    options = {"learn": ("alpha",), "callback": lambda run: seen.append(run.params.model.alpha)}
    make("dm", algorithm, **options).fit(X)
    moved = [bool((a != b).any()) for a, b in itertools.pairwise(seen)]  # in cycles 1, 2, ...
    assert moved == [n < 5 or n % learn_every == 0 for n in range(1, 20)]


@pytest.mark.parametrize("algorithm", [Collapsed(), Gibbs()])
def test_a_smooth_chain_keeps_gamma_above_a_quarter_of_its_first_value(algorithm):
    rng = np.random.default_rng(0)
    words = np.kron(np.eye(8), np.ones(20))  # no two components share a word
    table = rng.poisson(np.repeat(words, 20, axis=0))

    def gammas(smooth):
        seen = []
        chain = replace(algorithm, burn_in=5, n_draws=35, smooth=smooth)
        options = {"learn": ("gamma",), "callback": lambda run: seen.append(run.params.prior.gamma)}
        make("dm", chain, n_components=8, init="documents", **options).fit(table)
        return [float(gamma.min()) for gamma in seen]

    free, smooth = gammas(0), gammas(30)
    limit = 0.25 * LoadingsPrior.of(None, Corpus(table).layout).gamma[0]
    assert max(free[20:]) < limit
    assert min(smooth[:30]) == limit
    assert max(smooth[38:]) < limit
