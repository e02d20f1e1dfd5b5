# SPDX-License-Identifier: BSD-3-Clause
"""Credible intervals: quantiles against known laws, coverage of planted truth, point algorithms."""

import numpy as np
import pytest
from scipy import stats

import discan
from discan.evaluation.intervals import amount_quantile, share_quantile

EDGES = np.array([0.05, 0.95])


def data(seed=0, n=80, length=60):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(20, 0.3), 3)
    shares = rng.dirichlet(np.full(3, 0.5), n)
    counts = np.array([rng.multinomial(length, p) for p in shares @ topics])
    return topics, shares, counts


TOPICS, _, COUNTS = data()
CHAIN = discan.Collapsed(burn_in=60, n_draws=60)


def lda(algorithm, **options):
    options = {"init": TOPICS, "random_state": 0, "progress": False} | options
    return discan.LDA(3, algorithm=algorithm, **options)


@pytest.fixture(scope="module")
def sampled():
    return lda(CHAIN).fit(COUNTS)


def test_quantiles_of_a_beta():
    law = stats.beta(2.5, 7.0)
    found = share_quantile(np.array([law.mean()]), np.array([law.std()]), EDGES)
    np.testing.assert_allclose(found[:, 0], law.ppf(EDGES), rtol=1e-6)


def test_quantiles_of_a_gamma_and_of_one_that_may_be_absent():
    law = stats.gamma(3.0, scale=2.0)
    mean, sd = np.array([law.mean()]), np.array([law.std()])
    found = amount_quantile(mean, sd, np.zeros(1), EDGES)
    np.testing.assert_allclose(found[:, 0], law.ppf(EDGES), rtol=1e-6)
    absent = 0.3  # a mixture: its mean and variance, then its quantiles
    m = 0.7 * law.mean()
    s = np.sqrt(0.7 * (law.var() + law.mean() ** 2) - m**2)
    found = amount_quantile(np.array([m]), np.array([s]), np.array([absent]), EDGES)
    np.testing.assert_allclose(found[:, 0], [0.0, law.ppf((0.95 - 0.3) / 0.7)], rtol=1e-6)


def test_what_is_known_has_no_width():
    assert share_quantile(np.array([0.4]), np.zeros(1), EDGES).tolist() == [[0.4], [0.4]]


@pytest.mark.parametrize("algorithm", [CHAIN, "variational"], ids=["collapsed", "variational"])
def test_means_lie_inside_and_wider_levels_contain_narrower(algorithm):
    fitted = lda(algorithm).fit(COUNTS)
    narrow, wide = fitted.intervals(0.5), fitted.intervals(0.95)
    for name, means in (("scores", fitted.scores_), ("components", fitted.components_)):
        low, high = getattr(wide, name)
        assert ((low <= means) & (means <= high)).mean() > 0.99
        inner = getattr(narrow, name)
        assert (low <= inner[0] + 1e-12).all()
        assert (inner[1] <= high + 1e-12).all()
    np.testing.assert_array_equal(wide.scores, wide.proportions)


@pytest.mark.parametrize("keep_draws", [False, True])
def test_chains_cover_the_truth(keep_draws):
    """Errors of one data set go together, as the documents share the components."""
    covered = []
    for seed in range(4):
        topics, shares, counts = data(seed)
        chain = discan.Collapsed(burn_in=100, n_draws=300, keep_draws=keep_draws)
        fitted = lda(chain, init=topics).fit(counts)
        assert ((fitted.components_ @ topics.T).argmax(axis=1) == np.arange(3)).all()
        low, high = fitted.intervals(0.9).proportions
        covered.append(((low <= shares) & (high >= shares)).mean())
    assert 0.85 < np.mean(covered) < 0.95


def test_hyperparameters_have_intervals_of_their_draws(sampled):
    found = sampled.intervals(0.9).hyperparameters
    assert set(found) == {"alpha", "gamma"}
    low, high = found["alpha"]
    assert (low < sampled.alpha_).all()
    assert (sampled.alpha_ < high).all()
    assert "90 % interval" in sampled.fit_.learnt
    fixed = lda(CHAIN, learn=()).fit(COUNTS).intervals()
    assert fixed.hyperparameters == {}
    assert any("none was learnt" in note for note in fixed.notes)


def test_point_algorithms_have_none_without_the_documents():
    fitted = lda("map", alpha=0.5).fit(COUNTS)
    found = fitted.intervals()
    assert found.scores is None
    assert found.components is None
    assert any("estimates points" in note for note in found.notes)


@pytest.mark.parametrize("algorithm", ["map", "ml"])
def test_the_bootstrap_of_point_algorithms(algorithm):
    fitted = lda(algorithm, **({"alpha": 0.5} if algorithm == "map" else {})).fit(COUNTS)
    found = fitted.intervals(0.9, COUNTS, n_samples=20)
    low, high = found.components
    inside = (low <= fitted.components_ + 1e-3) & (fitted.components_ <= high + 1e-3)
    assert inside.mean() > 0.8
    wide = high - low
    few = lda(algorithm, **({"alpha": 0.5} if algorithm == "map" else {})).fit(COUNTS[:20])
    assert np.median(few.intervals(0.9, COUNTS[:20], n_samples=20).components[1]
                     - few.intervals(0.9, COUNTS[:20], n_samples=20).components[0]
                     ) > np.median(wide)  # fmt: skip
    assert (found.scores is None) == (algorithm == "ml")
    again = fitted.intervals(0.9, COUNTS, n_samples=20)
    np.testing.assert_array_equal(again.components, found.components)


def test_amounts():
    fitted = discan.ConditionalGaP(3, algorithm=CHAIN, init=TOPICS, random_state=0, progress=False)
    found = fitted.fit(COUNTS).intervals(0.8)
    low, high = found.scores
    assert (low <= high).all()
    assert ((low <= fitted.scores_ + 1e-9) & (fitted.scores_ <= high + 1e-9)).mean() > 0.95
    assert (low[fitted.absent_ > 0.2] == 0).all()
    assert (found.proportions <= 1).all()
    assert set(found.hyperparameters) >= {"alpha", "beta", "rho"}


def test_new_documents(sampled):
    low, high = sampled.transform_interval(COUNTS, 0.9)
    means = sampled.transform(COUNTS)
    assert ((low <= means) & (means <= high)).mean() > 0.99
    with pytest.raises(discan.InputError, match="level"):
        sampled.transform_interval(COUNTS, 1.5)


def test_given_components_have_none():
    with pytest.raises(discan.InputError, match="given"):
        discan.LDA.from_components(TOPICS).intervals()
