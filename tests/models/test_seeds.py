# SPDX-License-Identifier: BSD-3-Clause
"""Seeds in the prior of the loadings: exact posteriors, objectives, bounds, and gamma."""

from dataclasses import replace

import numpy as np
import oracle
import pytest
from conftest import fit_run, make_run
from scipy.optimize import minimize
from scipy.special import gammaln

from discan import DCA, MAP, Collapsed, CollapsedVariational, Corpus, Gibbs, Variational
from discan.algorithms.sampling import even_loadings
from discan.algorithms.statistics import Stats
from discan.data.layout import Layout
from discan.errors import InputError
from discan.models import MODELS, LoadingsPrior
from discan.models.seeds import Seeds

W = np.array([[2, 1, 0, 0], [0, 0, 2, 1], [1, 0, 0, 1]])
SEEDS = np.array([[3, 0], [0, 0], [0, 2], [0, 1]])
GAMMA = np.array([0.4, 0.8, 1.3, 0.6])
GROUPS = np.array([0, 1, 0, 1])
VALUES = {
    "dm": {"alpha": np.array([0.5, 1.2])},
    "gp": {"alpha": np.array([0.5, 1.2]), "beta": np.array([0.4, 0.9])},
    "cgp": {
        "alpha": np.array([0.5, 1.2]), "beta": np.array([0.4, 0.9]), "rho": np.array([0.35, 0.15]),
    },
}  # fmt: skip
MODEL = pytest.mark.parametrize("model", list(VALUES))
GROUPED = pytest.mark.parametrize("groups", [None, GROUPS], ids=["plain", "groups"])


def seeded(layout, gamma=GAMMA, seeds=SEEDS):
    return replace(LoadingsPrior.of(gamma, layout), seeds=Seeds.of(seeds))


def problem(model, groups):
    """A corpus, the model, the prior with seeds, and the exact answer."""
    corpus = Corpus(W, groups)
    prepared = replace(MODELS.find(model), **VALUES[model]).prepare(2)
    exact = oracle.corpus(
        oracle.Prior(model, **VALUES[model]), W, GAMMA[:, None] + SEEDS, 2, groups,
        None if model == "dm" else np.ones((3, corpus.n_groups)),
    )  # fmt: skip
    return corpus, prepared, seeded(corpus.layout), exact


def growing(n_words=40, n_components=4, seed=0):
    """Counts of planted components, and a table of seeds (J, K): the likeliest words of two."""
    rng = np.random.default_rng(seed)
    theta = rng.dirichlet(np.full(n_words, 0.1), n_components)
    X = rng.multinomial(60, rng.dirichlet(np.full(n_components, 0.3), 50) @ theta)
    seeds = np.zeros((n_words, n_components), dtype=int)
    for k in (0, 2):
        seeds[np.argsort(-theta[k])[:3], k] = [30, 20, 10]
    return X, seeds, theta


# ------------------------------------------------------------------------------ exact answers


@MODEL
@GROUPED
@pytest.mark.parametrize("sampler", [Gibbs, Collapsed])
def test_chains_agree_with_enumeration(model, groups, sampler):
    corpus, prepared, prior, exact = problem(model, groups)
    n = 4000
    fit = fit_run(corpus, prepared, sampler(100, n), prior, seed=3)
    # the draws of a chain on ten tokens are nearly independent
    for found, wanted, error in (
        (fit.component_counts, exact["E_c"], fit.component_counts_sd),
        (fit.components.T, exact["E_theta"], fit.components_sd.T),
    ):
        assert np.abs(found - wanted).max() < 5 * error.max() * np.sqrt(4 / n)
    # without seeds the answer is another one, farther away than the test allows
    prior = oracle.Prior(model, **VALUES[model])
    exposures = None if model == "dm" else np.ones((3, corpus.n_groups))
    plain = oracle.corpus(prior, W, GAMMA, 2, groups, exposures)
    assert np.abs(plain["E_c"] - exact["E_c"]).max() > 5 * fit.component_counts_sd.max() / 30


@GROUPED
@pytest.mark.parametrize("sampler", [Gibbs, Collapsed])
def test_objective_of_a_chain_is_that_of_the_data_given_the_seeds(groups, sampler):
    corpus, prepared, prior, _ = problem("dm", groups)
    run = make_run(corpus, prepared, sampler(), prior, seed=1)
    for _ in range(5):
        run.advance_one()
    counts = np.asarray(run.params.loading_counts) - SEEDS
    states = [run.states.get(block).counts(block, 2) for block in run.schedule.blocks]
    c = np.concatenate(states)
    wanted = sum(oracle.log_document_factor(oracle.Prior("dm", **VALUES["dm"]), row) for row in c)
    wanted += oracle.log_loadings_factor(counts, GAMMA[:, None] + SEEDS, groups)
    assert (counts >= 0).all()
    assert counts.sum() == W.sum()
    assert run.trace.last("objective") == pytest.approx(float(wanted), rel=1e-12)


@MODEL
@GROUPED
def test_bound_rises_and_is_below_the_evidence(model, groups):
    corpus, prepared, prior, exact = problem(model, groups)
    run = make_run(corpus, prepared, Variational(), prior, seed=1)
    run.advance(200, 0.0, progress=False)
    bound = run.trace["objective"]
    assert np.diff(bound).min() > -1e-9 * abs(bound[-1])
    assert exact["logp"] - 2.5 < bound[-1] < exact["logp"]
    # the part of the loadings, from its definition
    constants = prepared.log_constant(corpus.lengths) + prepared.log_bag(corpus)
    term = Variational().objective(run.params, Stats(), corpus) - constants.sum()
    lam = np.asarray(run.params.loading_shape)
    wanted = oracle.negative_kl_loadings(GAMMA[:, None] + SEEDS, lam, groups)
    assert term == pytest.approx(wanted, rel=1e-9)


def test_bound_of_one_component_is_the_evidence():
    """With one component nothing is unknown but its loadings."""
    corpus = Corpus(W)
    model = MODELS.find("dm").prepare(1)
    seeds = SEEDS.sum(axis=1, keepdims=True)
    prior = seeded(corpus.layout, seeds=seeds)
    exact = oracle.corpus(oracle.Prior("dm", [0.5]), W, GAMMA[:, None] + seeds, 1)
    fit = fit_run(corpus, model, Variational(), prior, max_iter=5, tol=0.0)
    assert fit.trace.last("objective") == pytest.approx(exact["logp"], rel=1e-10)


@GROUPED
@pytest.mark.parametrize("accelerate", [False, "quasi-newton"])
def test_map_rises_to_a_fixed_point_that_holds_the_seeds(groups, accelerate):
    corpus, prepared, prior, _ = problem("gp", groups)
    run = make_run(corpus, prepared, MAP(accelerate=accelerate), prior, seed=1)
    run.advance(400, 0.0, progress=False)
    objective = run.trace["objective"]
    assert np.diff(objective).min() > -1e-9 * abs(objective[-1])
    counts = np.asarray(run.params.loading_counts)
    assert counts.sum() == pytest.approx(W.sum() + SEEDS.sum())
    assert (counts - SEEDS > -1e-9).all()
    theta = np.asarray(run.params.loadings)
    # the objective, from its definition
    scores = run.result().scores
    wanted = oracle.poisson_loglik(W, theta, scores, groups, np.ones((3, corpus.n_groups)))
    alpha, beta = VALUES["gp"]["alpha"], VALUES["gp"]["beta"]
    wanted += (alpha * np.log(scores) - beta * scores).sum()
    wanted += ((GAMMA[:, None] + SEEDS) * np.log(theta)).sum()
    assert objective[-1] == pytest.approx(wanted, abs=1e-5)


# -------------------------------------------------------------------------------------- gamma


@pytest.mark.parametrize("symmetric", [True, False])
@GROUPED
def test_gamma_of_the_variational_algorithm(symmetric, groups):
    """The M-step finds the largest E[log p(Theta | gamma + seeds)]."""
    rng = np.random.default_rng(4)
    layout = Corpus(np.ones((1, 4)), groups).layout
    logs = np.log(rng.dirichlet(np.ones(4), 2).T)
    prior = seeded(layout, 0.7 if symmetric else GAMMA)

    def expected(x):
        gamma = np.exp(np.broadcast_to(x, 4))[:, None] + SEEDS
        sums = layout.group_sums(gamma)
        return gammaln(sums).sum() - gammaln(gamma).sum() + (gamma * logs).sum()

    found = prior
    for _ in range(20):  # without symmetry, each call makes some steps only
        found = found.maximise(logs)
    best = minimize(lambda x: -expected(x), np.zeros(1 if symmetric else 4), tol=1e-12)
    assert expected(np.log(found.gamma)) == pytest.approx(-best.fun, abs=1e-7)
    assert found.seeds is prior.seeds
    plain = replace(prior, seeds=None).maximise(logs)
    assert expected(np.log(plain.gamma)) < -best.fun - 1e-3


def test_algorithms_learn_the_same_gamma_beside_seeds():
    """The seeds are as strong as the data, so that errors about them would show."""
    X, seeds, _ = growing()
    corpus = Corpus(X)
    model = MODELS.find("dm").prepare(4)
    prior = seeded(corpus.layout, 0.3, 10 * seeds)
    found = {}
    for algorithm in (Variational(), CollapsedVariational(), Gibbs(100, 200), Collapsed(100, 200)):
        options = {"seed": 2, "learn": ("gamma",), "max_iter": 300, "tol": 1e-7}
        fit = fit_run(corpus, model, algorithm, prior, **options)
        found[algorithm.short] = fit.params.prior.gamma[0]
        assert fit.component_counts.sum() == pytest.approx(X.sum())
    print(found)
    assert found["cgs"] == pytest.approx(found["direct"], rel=0.15)
    assert found["cvb0"] == pytest.approx(found["cgs"], rel=0.3)
    assert found["vb"] == pytest.approx(found["cgs"], rel=0.5)


def test_expected_tables_are_the_mean_of_drawn_ones():
    seeds, rng = Seeds.of(SEEDS), np.random.default_rng(0)
    counts = SEEDS + np.array([[40, 2], [3, 5], [7, 1], [0, 900]])
    drawn = np.mean([seeds.drawn_tables(counts, GAMMA, rng) for _ in range(4000)], axis=0)
    wanted = seeds.expected_tables(counts, GAMMA)
    assert drawn == pytest.approx(wanted, abs=5 * np.sqrt(wanted.max() / 4000))


def test_long_lists_of_seeds_are_drawn_in_parts(monkeypatch):
    counts, wanted = SEEDS + 6, Seeds.of(SEEDS).expected_tables(SEEDS + 6, GAMMA)
    monkeypatch.setattr("discan.models.seeds.TOKENS_AT_ONCE", 10)
    rng = np.random.default_rng(0)
    drawn = np.mean([Seeds.of(SEEDS).drawn_tables(counts, GAMMA, rng) for _ in range(4000)], axis=0)
    assert drawn == pytest.approx(wanted, abs=0.06)


# ------------------------------------------------------------------------------ bookkeeping


def test_seeds_added_and_taken_away():
    prior = seeded(Layout(4, GROUPS.astype(np.int32), 2))
    for dtype in (np.int32, np.uint16, np.float32, np.float64):
        counts = np.arange(8).reshape(4, 2).astype(dtype)
        added = prior.add_seeds(counts.copy())
        assert np.array_equal(added, counts + SEEDS)
        assert added.dtype == dtype
        assert np.array_equal(prior.without_seeds(added), counts)
    assert np.array_equal(prior.seed_totals(2), [[3, 2], [0, 1]])
    swapped = prior.permuted(np.array([1, 0]))
    assert np.array_equal(swapped.seeds.table(4, 2), SEEDS[:, ::-1])
    assert np.array_equal(np.lexsort((swapped.seeds.components, swapped.seeds.words)), range(4)[:3])


def test_a_start_by_chance_favours_the_seeds():
    corpus = Corpus(W)
    loadings = even_loadings(seeded(corpus.layout), corpus, 2)
    assert loadings[0, 0] == 3.0  # seen as often as in the data: half of its tokens and more
    assert loadings[1].tolist() == [1.0, 1.0]


def test_maximum_likelihood_refuses_seeds():
    with pytest.raises(InputError, match=r"no priors.*seeds"):
        DCA(2, algorithm="ml", seed_words={"a": [0]}).fit(W)
