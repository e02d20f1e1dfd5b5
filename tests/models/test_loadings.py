# SPDX-License-Identifier: BSD-3-Clause
"""The prior of the loadings: defaults, and values that groups share."""

import numpy as np
import pytest

from discan.data.layout import Layout
from discan.models import LoadingsPrior
from discan.models.hyperparameters import Mode


def layout(*sizes):
    groups = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
    return Layout(len(groups), groups, len(sizes))


def test_the_default_is_less_in_groups_of_many_words():
    prior = LoadingsPrior.of(None, layout(3, 10_000, 20_000))
    assert list(prior.gamma[[0, 3, -1]]) == [0.5, 0.5, 0.25]
    assert prior.symmetric


def test_a_prior_to_be_learnt_weighs_at_most_a_quarter_of_the_tokens():
    prior = LoadingsPrior.of(None, layout(4, 10, 3))
    tokens = np.repeat([40.0, 1.0, 0.0], [4, 10, 3])  # 160, 10 and no tokens in the groups
    lighter = prior.lighter(tokens, 5)
    assert list(lighter.gamma[[0, 4, 14]]) == [0.5, 0.05, 0.5]  # 10 words: 0.25 * 10 / 5 / 10
    assert lighter.symmetric


def test_a_gamma_is_raised_to_a_limit_alike_in_groups_that_share_it():
    prior = LoadingsPrior.of(0.3, layout(60, 2, 3))
    limit = np.repeat([0.4, 0.5, 0.6], [60, 2, 3])
    raised = prior.at_least(limit)
    assert list(raised.gamma[[0, 60, 62]]) == [0.4, 0.5, 0.5]
    prior.with_gamma(raised.gamma, flat=False)  # which refuses values that differ in a class
    assert list(prior.at_least(limit / 10).gamma) == list(prior.gamma)
    single = LoadingsPrior.of(np.full(65, 0.3), layout(60, 2, 3))
    assert list(single.at_least(limit).gamma) == list(limit)


@pytest.mark.parametrize(
    ("sizes", "classes"),
    [((4,), [0]), ((60,), [0]), ((2, 2, 2), [0, 0, 0]), ((60, 2, 90, 3), [1, 0, 2, 0])],
)
def test_small_groups_share_a_value(sizes, classes):
    assert list(LoadingsPrior.of(0.3, layout(*sizes)).classes) == classes


def test_each_class_is_learnt_from_its_own_groups():
    """One learnt value per class, each as if the other classes were not there."""
    sizes, rng = (60, 2, 90, 3), np.random.default_rng(0)
    prior = LoadingsPrior.of(0.3, layout(*sizes))
    tables, log_beta = rng.poisson(5, sum(sizes)), -rng.random(4)
    learnt = prior.resample(tables, log_beta, (2.0, 1.0), Mode())
    groups = prior.layout.group_of_word
    for chosen in ([0], [2], [1, 3]):
        words = np.isin(groups, chosen)
        rate = 1.0 - sum(sizes[g] * log_beta[g] for g in chosen)
        np.testing.assert_allclose(learnt.gamma[words], (1.0 + tables[words].sum()) / rate)


def test_the_bound_learns_the_parameter_of_each_class():
    rng = np.random.default_rng(1)
    sizes, truth, K = (80, 70), (0.2, 2.0), 400
    logs = np.concatenate(
        [
            np.log(rng.dirichlet(np.full(n, a), K) + 1e-300).T
            for n, a in zip(sizes, truth, strict=True)
        ]
    )
    learnt = LoadingsPrior.of(0.7, layout(*sizes)).maximise(logs)
    np.testing.assert_allclose(learnt.gamma[[0, -1]], truth, rtol=0.05)
