# SPDX-License-Identifier: BSD-3-Clause
"""Merged fits: what is summed, what is averaged, and that they are fits like others."""

import numpy as np
import pytest

import discan
from discan import InputError
from discan.hierarchy import merged

GROUPS = [[0, 1], [2, 3], [4, 5]]


def test_sums_and_means(flat):
    fit = merged(flat.fit_, GROUPS)
    order = np.argsort([-flat.sizes_[g].sum() for g in GROUPS], kind="stable")
    groups = [GROUPS[n] for n in order]
    assert fit.component_names == tuple(f"component {a + 1}+{b + 1}" for a, b in groups)
    np.testing.assert_allclose(fit.sizes, [flat.sizes_[g].sum() for g in groups])
    np.testing.assert_allclose(
        fit.scores, np.column_stack([flat.scores_[:, g].sum(1) for g in groups])
    )
    np.testing.assert_allclose(fit.hyperparameter("alpha"), [flat.alpha_[g].sum() for g in groups])
    np.testing.assert_allclose(fit.components.sum(axis=1), 1)
    # all tokens are explained as before: the mean of the components stays
    np.testing.assert_allclose(fit.sizes @ fit.components, flat.sizes_ @ flat.components_)


def test_all_in_one_and_none(flat, counts):
    one = merged(flat.fit_, [list(range(6))])
    np.testing.assert_allclose(one.components[0], flat.sizes_ @ flat.components_)
    same = merged(flat.fit_, [[k] for k in range(6)])
    order = np.argsort(-flat.sizes_, kind="stable")
    np.testing.assert_allclose(same.components, flat.components_[order])
    assert same.component_names == tuple(f"component {k + 1}" for k in order)
    corpus = discan.Corpus(counts[80:])
    assert same.score(corpus) == pytest.approx(flat.fit_.score(corpus), rel=1e-6)


def test_draws_are_merged_one_by_one(sampled):
    fit = merged(sampled.fit_, GROUPS)
    first = sampled.draws_
    order = [int(name.split("+")[1]) - 2 for name in fit.component_names]
    for n in range(6):
        counts, loadings = first.component_counts[n], first.loadings[n]
        for place, k in enumerate(order):
            both = slice(k, k + 2)
            np.testing.assert_allclose(
                fit.draws.component_counts[n][:, place], counts[:, both].sum(axis=1)
            )
            weights = counts[:, both].sum(axis=0)
            expected = loadings[:, both] @ (weights / weights.sum())
            np.testing.assert_allclose(fit.draws.loadings[n][:, place], expected, rtol=1e-5)


def test_prior_means_of_amounts_stay(fitted):
    beta, rho = np.linspace(0.5, 1.5, 6), np.linspace(0.1, 0.6, 6)
    sampler = discan.Collapsed(burn_in=2, n_draws=2)
    model = fitted("cgp", sampler, alpha=0.3, beta=beta, rho=rho, learn=())
    fit = merged(model.fit_, GROUPS)
    alpha_, beta_, rho_ = (fit.hyperparameter(name) for name in ("alpha", "beta", "rho"))
    means = (1 - rho) * 0.3 / beta
    order = [int(name.split("+")[1]) - 2 for name in fit.component_names]
    np.testing.assert_allclose(
        (1 - rho_) * alpha_ / beta_, [means[k] + means[k + 1] for k in order]
    )
    np.testing.assert_allclose(rho_, [rho[k] * rho[k + 1] for k in order])
    assert fit.absent.shape == (80, 3)


@pytest.mark.parametrize(
    ("model", "algorithm"),
    [("dm", "map"), ("dm", "ml"), ("dm", "cvb0"), ("gp", "variational"),
     ("cgp", discan.Collapsed(burn_in=3, n_draws=3, keep_draws=True))],
    ids=str,
)  # fmt: skip
def test_merged_estimators_work_and_are_saved(fitted, counts, tmp_path, model, algorithm):
    limit = {"max_iter": 5} if isinstance(algorithm, str) else {}
    few = fitted(model, algorithm, **limit).merged(3)
    assert few.n_components == len(few.component_names_) == 3
    assert few.transform(counts[80:]).shape == (40, 3)
    few.save(tmp_path / "few.discan")
    again = discan.load(tmp_path / "few.discan")
    assert again.component_names_ == few.component_names_
    assert again.score(counts[80:]) == few.score(counts[80:])
    assert again.tree().n_components == 3


def test_deviations_are_not_known(sampled):
    assert sampled.scores_sd_.shape == (80, 6)
    with pytest.raises(AttributeError, match="merged components have no standard deviations"):
        _ = sampled.merged(2).scores_sd_


def test_names_are_joined(flat):
    named = flat.fit_.named({1: "law", 2: "sport"})
    names = merged(named, [[0, 1], [2, 3, 4, 5]]).component_names
    assert set(names) == {"law + sport", "component 3+4+5+6"}
    long = merged(named.named({1: None, 2: None}), [list(range(6))])
    assert long.component_names == ("component 1+2+3+4+5+6",)


def test_groups_must_be_a_partition(flat):
    for groups in ([[0, 1]], [[0, 1, 2], [2, 3, 4, 5]], [[0, 1, 2, 3, 4, 5], []]):
        with pytest.raises(InputError, match="each of the 6 components"):
            merged(flat.fit_, groups)
