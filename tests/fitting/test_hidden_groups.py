# SPDX-License-Identifier: BSD-3-Clause
"""Hidden groups: predictions equal exact enumeration, and imputation beats the marginal."""

import logging
from itertools import product

import numpy as np
import oracle
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

import discan
from discan import DCA, MPCA, Collapsed, Corpus, InputError
from discan.data.splits import split_entries
from discan.fitting.hidden_groups import usual_totals
from discan.readers.datasets import load_senate2005

GROUPS = [0, 0, 0, 1, 1, 2, 2, 2]
PRIORS = {
    "dm": {"alpha": [0.4, 0.9]},
    "gp": {"alpha": [0.4, 0.9], "beta": [0.5, 1.5]},
    "cgp": {"alpha": [0.4, 0.9], "beta": [0.5, 1.5], "rho": [0.3, 0.6]},
}
W = np.array(
    [[3, 1, 0, 1, 0, 0, 0, 0], [0, 0, 2, 0, 2, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 0], [0] * 8]
)


def loadings(seed=0, n_components=2):
    rng = np.random.default_rng(seed)
    return np.hstack([rng.dirichlet(np.ones(size), n_components) for size in (3, 2, 3)])


def ready(model, algorithm="collapsed", **params):
    params = {"groups": GROUPS, "random_state": 0, **PRIORS[model], **params}
    return DCA.from_components(loadings(), model=model, algorithm=algorithm, **params)


def exact(model, w, exposures=None, label_exposure=1.0):
    theta = loadings().T
    return oracle.label_probabilities(
        oracle.Prior(model, **PRIORS[model]), w[:5], theta[:5], theta[5:], GROUPS[:5],
        exposures, label_exposure,
    )  # fmt: skip


# ---- against enumeration ----


@pytest.mark.parametrize(
    ("model", "algorithm"), list(product(PRIORS, ["gibbs", "collapsed", "variational"]))
)
def test_one_hidden_token(model, algorithm):
    found = ready(model, algorithm).predict_group_proba(W, 2)
    expected = [exact(model, w) for w in W]
    tolerance = 0.05 if algorithm == "variational" else 1e-12
    np.testing.assert_allclose(found, expected, atol=tolerance, rtol=0)


@pytest.mark.parametrize("model", ["gp", "cgp"])
def test_exposures(model):
    exposures = np.tile([0.5, 2.0, 0.0], (len(W), 1))
    exposures[3, 2] = 0.3  # seen at another exposure than 1
    found = ready(model).predict_group_proba(Corpus(W, GROUPS, exposures), 2)
    expected = [exact(model, w, [0.5, 2.0]) for w in W[:3]] + [exact(model, W[3], [0.5, 2.0], 0.3)]
    np.testing.assert_allclose(found, expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("model", PRIORS)
def test_what_is_hidden_is_not_looked_at(model):
    filled = W.copy()
    filled[:, 5:] = [[7, 0, 0], [0, 1, 0], [2, 2, 2], [0, 0, 9]]
    estimator = ready(model)
    for form in (filled, sparse.csc_array(filled), Corpus(filled, GROUPS)):
        found = estimator.predict_group_proba(form, 2)
        np.testing.assert_array_equal(found, estimator.predict_group_proba(W, 2))


@pytest.mark.parametrize("model", ["dm", "gp"])
def test_maximum_likelihood_and_map(model):
    rng = np.random.default_rng(0)
    table = rng.poisson(2.0, (30, 8))
    for algorithm in ("ml", "map"):
        estimator = DCA(2, model=model, algorithm=algorithm, groups=GROUPS, random_state=0)
        found = estimator.fit(table).predict_group_proba(np.vstack([table, np.zeros((1, 8))]), 0)
        assert found.shape == (31, 3)
        np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_golden_case():
    """Published values for a label group: theory 7, K = 2."""
    theta = np.array([[4, 6, 4], [4, 2, 7]]) / [[14], [13]]
    labels = np.array([[0.2, 0.2, 0.6], [0.4375, 0.0625, 0.5]])
    prior = {"alpha": [0.51, 0.23], "algorithm": "collapsed"}
    made = {
        "dm": DCA.from_components(np.hstack([theta, labels]), groups=[0] * 3 + [1] * 3, **prior),
        "gp": DCA.from_components(
            np.hstack([theta, labels]), groups=[0] * 3 + [1] * 3, model="gp", beta=[1.52, 1.4],
            **prior,
        ),
    }  # fmt: skip
    expected = {
        "dm": [0.23836305350393003, 0.17778981112930356, 0.583847135366766],
        "gp": [0.24197717584826936, 0.1756974245088966, 0.5823253996428348],
    }
    for model, values in expected.items():
        found = made[model].predict_group_proba([[3, 2, 0, 0, 0, 0]], 1)
        np.testing.assert_allclose(found[0], values, rtol=1e-9)


def test_imputed_means_are_exact():
    exposures = np.ones((len(W), 3))
    exposures[:, 2] = 0.0
    for model in PRIORS:
        prior = oracle.Prior(model, **PRIORS[model])
        corpus = Corpus(W, GROUPS, exposures)
        found = ready(model).impute(corpus).toarray()
        for w, row in zip(W[:2], found, strict=False):
            inside = None if model == "dm" else [1.0, 1.0, 0.0]
            scores = oracle.document(prior, w, loadings().T, GROUPS, inside)["E_scores"]
            np.testing.assert_allclose(row[5:], loadings()[:, 5:].T @ scores, atol=1e-12)
            np.testing.assert_array_equal(row[:5], w[:5])


# ---- names, forms, refusals ----


def test_names():
    plain = ready("dm")
    np.testing.assert_array_equal(plain.group_words(2), [5, 6, 7])
    assert set(plain.predict_group(W, 2)) <= {5, 6, 7}
    named = DCA(2, groups=list("aaabbccc"), random_state=0, max_iter=5)
    named.fit(pd.DataFrame(W, columns=[f"w{j}" for j in range(8)]))
    table = pd.DataFrame(W, columns=[f"w{j}" for j in range(8)])
    assert list(named.group_words("c")) == ["w5", "w6", "w7"]
    likeliest = named.predict_group_proba(table, "c").argmax(axis=1)
    np.testing.assert_array_equal(named.predict_group(table, "c"), named.group_words(2)[likeliest])
    np.testing.assert_array_equal(
        named.predict_group_proba(table, "c"), named.predict_group_proba(table, np.int64(2))
    )


@pytest.mark.parametrize("group", [3, -1, "vote", True, None, 1.0, [0]])
def test_unknown_groups(group):
    for groups, hint in ((GROUPS, "0 to 2$"), (list("aaabbccc"), "'a', 'b', 'c'$")):
        estimator = ready("dm", groups=groups)
        with pytest.raises(InputError, match=hint) as caught:
            estimator.predict_group(W, group)
        assert "\n" not in str(caught.value)


def test_many_names_are_cut_and_double_ones_refused():
    names = [f"vote{g}" for g in range(40)]
    corpus = Corpus(np.ones((3, 40)), groups=np.arange(40), group_names=names)
    estimator = MPCA(2, max_iter=2, random_state=0).fit(corpus)
    with pytest.raises(InputError, match=r"no group 'x'; .*'vote5', \.\.\.$"):
        estimator.predict_group(corpus, "x")
    assert estimator.predict_group(corpus, "vote7").tolist() == [7, 7, 7]
    double = Corpus(W, groups=GROUPS, group_names=["a", "a", "b"])
    with pytest.raises(InputError, match="several groups"):
        MPCA(2, max_iter=2).fit(double).predict_group(double, "a")


def test_not_fitted():
    for call in ("predict_group", "predict_group_proba"):
        with pytest.raises(NotFittedError):
            getattr(DCA(), call)(W, 0)
    with pytest.raises(NotFittedError):
        DCA().impute(W)
    with pytest.raises(NotFittedError):
        DCA().group_words(0)


def test_impute_answers_in_the_form_it_was_asked():
    estimator = ready("dm", "variational")
    dense = estimator.impute(W)
    assert isinstance(dense, np.ndarray)
    assert dense.dtype == np.float64
    for form in (sparse.csr_array(W), sparse.coo_matrix(W), Corpus(W, GROUPS)):
        found = estimator.impute(form)
        assert isinstance(found, sparse.csr_array)
        np.testing.assert_array_equal(found.toarray(), dense)
    names = [f"w{j}" for j in range(8)]
    table = pd.DataFrame(W, columns=names, index=list("abcd"))
    named = DCA(2, groups=GROUPS, random_state=0, max_iter=5).fit(table)
    frame = named.impute(table)
    assert list(frame.columns) == names
    assert list(frame.index) == list("abcd")
    np.testing.assert_array_equal(frame.to_numpy(), named.impute(Corpus(W, GROUPS)).toarray())
    other = named.impute(pl.DataFrame(W, schema=names))
    assert isinstance(other, pl.DataFrame)
    np.testing.assert_array_equal(other.to_numpy(), frame.to_numpy())


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"model": "gp", "groups": GROUPS}, "exposure of 0"),
        ({"model": "dm"}, "all words are in one group"),
    ],
)
def test_impute_says_why_it_fills_nothing(options, reason, caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("discan"), "propagate", True)  # the command line's is off
    caplog.set_level(logging.WARNING, "discan")
    estimator = DCA(2, random_state=0, progress=False, **options).fit(W[:3])
    np.testing.assert_array_equal(estimator.impute(W[:3]), W[:3])
    assert "nothing is filled in" in caplog.text
    assert reason in caplog.text


def test_impute_of_complete_data_says_nothing(caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("discan"), "propagate", True)
    caplog.set_level(logging.WARNING, "discan")
    full = np.ones((3, 8), dtype=int)
    estimator = DCA(2, groups=GROUPS, random_state=0, progress=False).fit(full)
    np.testing.assert_array_equal(estimator.impute(full), full)
    assert "nothing is filled in" not in caplog.text


def test_a_group_that_was_never_seen_is_even():
    unseen = W[:3] * (np.array(GROUPS) != 2)
    estimator = DCA(2, groups=GROUPS, random_state=0, progress=False).fit(unseen)
    np.testing.assert_allclose(estimator.impute(unseen)[:, 5:], 1 / 3)


def test_groups_need_not_stand_together():
    order = np.array([5, 0, 3, 6, 1, 4, 7, 2])
    one = ready("dm")
    other = DCA.from_components(
        loadings()[:, order], groups=np.array(GROUPS)[order], algorithm="collapsed",
        random_state=0, **PRIORS["dm"],
    )  # fmt: skip
    np.testing.assert_allclose(other.impute(W[:, order]), one.impute(W)[:, order], atol=1e-12)
    np.testing.assert_allclose(  # columns of a group ascend: 5, 6, 7 stay in order here
        other.predict_group_proba(W[:, order], 2), one.predict_group_proba(W, 2), atol=1e-12
    )


def test_what_is_observed_stays():
    full = np.ones((3, 8), dtype=int)
    for model in PRIORS:
        np.testing.assert_array_equal(ready(model).impute(full), full)
    # without exposures a Gamma-Poisson zero is an observation
    np.testing.assert_array_equal(ready("gp").impute(W), W)


def test_totals():
    estimator = ready("dm")
    filled = estimator.impute(W)[:, 5:]
    np.testing.assert_allclose(filled.sum(axis=1), 1.0)
    np.testing.assert_allclose(estimator.impute(W, totals=2.0)[:, 5:], 2.0 * filled)
    np.testing.assert_allclose(estimator.impute(W, totals=[1, 1, 3])[:, 5:], 3.0 * filled)
    for totals in (-1.0, "x", [1, 2], np.nan):
        with pytest.raises(InputError, match="totals"):
            estimator.impute(W, totals=totals)
    with pytest.raises(InputError, match="totals"):
        ready("gp").impute(W, totals=2.0)


def test_usual_totals():
    corpus = Corpus([[2, 0, 1, 0, 0], [0, 0, 1, 2, 0], [1, 1, 0, 0, 0]], groups=[0, 0, 1, 1, 2])
    np.testing.assert_array_equal(usual_totals(corpus), [2.0, 2.0, 1.0])
    np.testing.assert_array_equal(usual_totals(Corpus([[2, 0], [0, 0], [1, 1]])), [2.0])
    np.testing.assert_array_equal(usual_totals(Corpus([[0, 0]])), [1.0])


def test_totals_are_saved(tmp_path):
    genotypes = np.tile([2, 0, 1, 1, 0, 2], (6, 1))
    genotypes[0, 4:] = 0
    estimator = MPCA(2, groups=np.repeat([0, 1, 2], 2), max_iter=5, random_state=0).fit(genotypes)
    assert estimator.impute(genotypes)[0, 4:].sum() == pytest.approx(2.0)
    estimator.save(tmp_path / "m.discan")
    loaded = discan.load(tmp_path / "m.discan")
    np.testing.assert_array_equal(loaded.impute(genotypes), estimator.impute(genotypes))
    fresh = ready("dm")
    fresh.save(tmp_path / "n.discan")
    np.testing.assert_array_equal(discan.load(tmp_path / "n.discan").impute(W), fresh.impute(W))


@pytest.mark.parametrize("algorithm", ["variational", "collapsed"])
def test_threads_do_not_matter(algorithm):
    table = np.random.default_rng(0).poisson(1.0, (200, 8))
    table[::3, 5:] = 0
    answers = []
    for n_jobs in (1, 2):
        chosen = Collapsed(burn_in=3, n_draws=3) if algorithm == "collapsed" else algorithm
        estimator = DCA(
            2, algorithm=chosen, groups=GROUPS, max_iter=6, n_jobs=n_jobs, random_state=0
        ).fit(table)
        answers.append(estimator.predict_group_proba(table, 1).tobytes())
        answers.append(estimator.impute(table).tobytes())
    assert answers[:2] == answers[2:]


# ---- better than nothing ----


def held_out_error(corpus, n_components, **params):
    """Mean negative log-probability of held-out tokens: imputed, and by their group's shares."""
    train, held_out = split_entries(corpus, 0.1, rng=0)
    estimator = MPCA(n_components, random_state=0, **params).fit(train)
    filled = estimator.impute(train)
    sums = np.asarray(train.to_csr().sum(axis=0)).ravel() + 0.5
    shares = sums / np.bincount(corpus.layout.group_of_word, sums)[corpus.layout.group_of_word]
    rows = np.repeat(np.arange(held_out.n_documents), np.diff(held_out.indptr))
    ours = filled[rows, held_out.words]
    totals = estimator.group_totals_[corpus.layout.group_of_word[held_out.words]]
    return -np.log(ours / totals).mean(), -np.log(shares[held_out.words]).mean()


def test_missing_votes_of_the_senate():
    ours, marginal = held_out_error(load_senate2005().corpus, 4, alpha=0.1)
    assert ours < 0.45 * marginal


def test_missing_alleles():
    rng = np.random.default_rng(0)
    chance = rng.dirichlet([0.3, 0.3], 80) @ rng.beta(0.2, 0.2, (2, 60))
    alternate = rng.binomial(2, chance)
    genotypes = np.stack([2 - alternate, alternate], axis=2).reshape(80, 120)
    ours, marginal = held_out_error(Corpus(genotypes, groups=np.repeat(np.arange(60), 2)), 2)
    assert ours < 0.9 * marginal


def test_senators_votes_are_predicted():
    corpus = load_senate2005().corpus
    estimator = MPCA(4, alpha=0.1, random_state=0, max_iter=60).fit(corpus)
    right = total = 0
    counts = corpus.to_csr().toarray()
    for group in range(0, corpus.n_groups, 25):
        voted = counts[:, 2 * group : 2 * group + 2].sum(axis=1) > 0
        said = estimator.predict_group_proba(corpus, group).argmax(axis=1)
        right += (said == counts[:, 2 * group : 2 * group + 2].argmax(axis=1))[voted].sum()
        total += voted.sum()
    assert right > 0.9 * total


def test_many_groups_cost_what_they_hold():
    """14,000 groups of two alleles: only missing pairs are filled."""
    rng = np.random.default_rng(0)
    n_documents, n_groups = 20, 14_000
    alternate = rng.binomial(2, 0.3, (n_documents, n_groups))
    seen = rng.random(alternate.shape) < 0.99
    table = np.stack([(2 - alternate) * seen, alternate * seen], axis=2).reshape(n_documents, -1)
    estimator = DCA.from_components(
        np.ones((2, 2 * n_groups)), groups=np.repeat(np.arange(n_groups), 2), algorithm="map"
    )
    filled = estimator.impute(sparse.csr_array(table), totals=2.0)
    assert filled.nnz == np.count_nonzero(table) + 2 * (~seen).sum()
    np.testing.assert_allclose(filled.sum(axis=1), 2.0 * n_groups)
    assert estimator.predict_group_proba(table, 13_999).shape == (n_documents, 2)
