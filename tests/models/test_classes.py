# SPDX-License-Identifier: BSD-3-Clause
"""A prior of the scores for each class of documents: exact posteriors, bounds, learning."""

from dataclasses import replace

import numpy as np
import oracle
import pytest
from conftest import fit_run, make_run

from discan import Collapsed, Corpus, Gibbs, Variational
from discan.models import MODELS, LoadingsPrior
from discan.models.classes import Classed
from discan.models.hyperparameters import ExpectedScores

W = np.array([[2, 1, 0, 0], [0, 0, 2, 1], [1, 0, 0, 1]])
CLASSES = np.array([1, 2, 0])
GAMMA = np.array([0.4, 0.8, 1.3, 0.6])
GROUPS = np.array([0, 1, 0, 1])
EXPOSURES = np.array([[1.0, 1.0], [1.0, 1.0], [0.5, 2.0]])
ROWS = {
    "alpha": np.array([[0.7, 0.7], [0.2, 1.5], [2.0, 0.3]]),
    "beta": np.array([[0.5, 0.5], [0.4, 0.9], [1.1, 0.3]]),
    "rho": np.array([[0.2, 0.3], [0.35, 0.15], [0.1, 0.5]]),
}
NAMES = {"dm": ("alpha",), "gp": ("alpha", "beta"), "cgp": ("alpha", "rho", "beta")}
MODEL = pytest.mark.parametrize("model", list(NAMES))
GROUPED = pytest.mark.parametrize("grouped", [False, True], ids=["plain", "groups"])


def rows_of(model, c):
    return {name: ROWS[name][c] for name in NAMES[model]}


def classed(model, n_components=2):
    models = (replace(MODELS.find(model), **rows_of(model, c)) for c in range(3))
    return Classed(tuple(m.prepare(n_components) for m in models), ("a", "b"))


def problem(model, grouped):
    """A corpus with classes, the model, the prior, and the exact answer."""
    amounts = grouped and model != "dm"
    groups, exposures = GROUPS if grouped else None, EXPOSURES if amounts else None
    corpus = Corpus(W, groups, exposures).with_classes(CLASSES)
    priors = [oracle.Prior(model, **rows_of(model, c)) for c in CLASSES]
    if exposures is None and model != "dm":
        exposures = np.ones((3, corpus.n_groups))
    exact = oracle.corpus(priors, W, GAMMA, 2, groups, exposures)
    return corpus, classed(model), LoadingsPrior.of(GAMMA, corpus.layout), exact


@MODEL
@GROUPED
@pytest.mark.parametrize("sampler", [Gibbs, Collapsed])
def test_chains_agree_with_enumeration(model, grouped, sampler):
    corpus, prepared, prior, exact = problem(model, grouped)
    n = 4000
    fit = fit_run(corpus, prepared, sampler(100, n), prior, seed=3)
    for found, wanted, error in (
        (fit.component_counts, exact["E_c"], fit.component_counts_sd),
        (fit.scores, exact["E_scores"], fit.scores_sd),
        (fit.components.T, exact["E_theta"], fit.components_sd.T),
    ):
        assert np.abs(found - wanted).max() < 5 * error.max() * np.sqrt(6 / n)
    if model == "cgp":
        assert fit.absent == pytest.approx(exact["P_zero"], abs=5 * 0.5 * np.sqrt(6 / n))


@MODEL
@GROUPED
def test_bound_rises_and_is_below_the_evidence(model, grouped):
    corpus, prepared, prior, exact = problem(model, grouped)
    run = make_run(corpus, prepared, Variational(), prior, seed=1, init="random")
    run.advance(200, 0.0, progress=False)
    bound = run.trace["objective"]
    assert np.diff(bound).min() > -1e-8 * abs(bound[-1])
    assert exact["logp"] - 2.0 < bound[-1] < exact["logp"]


@MODEL
def test_objective_of_a_chain(model):
    corpus, prepared, prior, _ = problem(model, False)
    run = make_run(corpus, prepared, Collapsed(), prior, seed=1)
    run.advance_one()
    counts = [run.states.get(block).counts(block, 2) for block in run.schedule.blocks]
    priors = [oracle.Prior(model, **rows_of(model, c)) for c in CLASSES]
    wanted = sum(
        oracle.log_document_factor(own, c, 1.0)
        for own, c in zip(priors, np.concatenate(counts), strict=True)
    )
    wanted += oracle.log_loadings_factor(np.asarray(run.params.loading_counts), GAMMA)
    assert run.trace.last("objective") == pytest.approx(float(wanted), rel=1e-12)


@MODEL
def test_one_class_is_no_class(model):
    """The same bits, if all documents are of one class and nothing is learnt."""
    corpus = Corpus(W)
    plain = replace(MODELS.find(model), **rows_of(model, 1)).prepare(2)
    prior = LoadingsPrior.of(GAMMA, corpus.layout)
    one = Classed.of(plain, ("all",))
    classes = corpus.with_classes(np.ones(3))
    for algorithm in (Gibbs(5, 20), Collapsed(5, 20), Variational()):
        a = fit_run(corpus, plain, algorithm, prior, seed=2, init="random")
        b = fit_run(classes, one, algorithm, prior, seed=2, init="random")
        assert np.array_equal(a.components, b.components)
        assert b.trace["objective"] == pytest.approx(a.trace["objective"], rel=1e-12)
        assert b.scores == pytest.approx(a.scores, rel=1e-13)


def test_levels_are_pairs_of_exposure_and_class():
    corpus = Corpus(W, GROUPS, EXPOSURES).with_classes(CLASSES)
    assert corpus.exposure_levels.tolist() == [[2.0, 1.0], [2.0, 2.0], [2.5, 0.0]]
    assert corpus.levels.tolist() == [0, 1, 2]
    table = classed("gp").score_table(corpus.exposure_levels)
    assert np.array_equal(table.shape, ROWS["alpha"][CLASSES])
    assert np.array_equal(table.rate, ROWS["beta"][CLASSES] + [[2.0], [2.0], [2.5]])
    unknown = classed("gp").score_table(np.array([1.0, 2.0]))  # documents without classes
    assert np.array_equal(unknown.shape, ROWS["alpha"][[0, 0]])


def test_documents_keep_their_classes():
    corpus = Corpus(W).with_classes(CLASSES)
    assert corpus.select([2, 0]).classes.tolist() == [0, 1]
    assert corpus.with_counts(corpus.counts).classes.tolist() == CLASSES.tolist()
    assert corpus.described(metadata={"x": [1, 2, 3]}).classes.tolist() == CLASSES.tolist()
    assert np.concatenate([part.classes for part in corpus.parts()]).tolist() == CLASSES.tolist()
    assert corpus.with_classes(None).classes is None
    assert Corpus(W).classes is None


@MODEL
def test_permuted_and_stored_by_name(model):
    mine = classed(model)
    assert list(mine.values())[: len(NAMES[model])] == list(NAMES[model])
    assert np.array_equal(mine.by_class("alpha"), ROWS["alpha"][1:])
    assert mine.by_class("nothing") is None
    swapped = mine.permuted(np.array([1, 0]))
    assert np.array_equal(swapped.by_class("alpha"), ROWS["alpha"][1:, ::-1])
    again = Classed.of(MODELS.find(model), ("a", "b")).with_values(mine.values(), 2, flat=False)
    for name, value in mine.values().items():
        assert np.array_equal(again.values()[name], value)
    assert np.array_equal(mine.replaced(swapped.values()).alpha, swapped.alpha)


def test_unknown_classes_have_the_mean_of_the_known_ones():
    """Each class is learnt from its own documents; without documents, a class has the mean."""
    mine, rng = classed("dm"), np.random.default_rng(0)
    parts = []
    for n, alpha in ((0, [1.0, 1.0]), (30_000, [0.4, 3.0]), (10_000, [2.0, 0.2])):
        logs = np.log(rng.dirichlet(alpha, n)).reshape(n, 2)
        parts.append(ExpectedScores(logs.sum(axis=0), np.zeros(2), np.zeros(2), n))
    learnt = mine.maximise(frozenset({"alpha"}), mine.sums_of(parts))
    assert learnt.by_class("alpha") == pytest.approx(np.array([[0.4, 3.0], [2.0, 0.2]]), rel=0.1)
    assert learnt.alpha == pytest.approx(np.array([0.75, 0.25]) @ learnt.by_class("alpha"))
