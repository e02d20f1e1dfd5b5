# SPDX-License-Identifier: BSD-3-Clause
"""Components with parents, as a user fits them: recovery, answers, files, refusals."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import discan
from discan import DCA, LDA, Corpus, Gibbs, InputError, ModelFileError
from discan.data.storage import HEAD, read_file, write_file
from discan.models.levels import TwoLevelDirichletMultinomial

K, R = 9, 3
SHORT = Gibbs(burn_in=10, n_draws=10)


def planted(model, n_documents=400, n_words=150, length=100, seed=3):
    """Counts with known components (K, J) and parents (R, K), and the parents' scores."""
    rng = np.random.default_rng(seed)
    components = rng.dirichlet(np.full(n_words, 0.05), K)
    parents = np.kron(np.eye(R), np.ones(K // R)) * rng.gamma(5.0, size=K)
    parents /= parents.sum(axis=1, keepdims=True)
    scores = rng.gamma(0.4, 1 / 0.12, (n_documents, R)) + 1e-9
    amounts = rng.gamma(scores @ parents) + 1e-12
    if model == "dm":
        shares = amounts / amounts.sum(axis=1, keepdims=True)
        chances = shares @ components
        counts = [rng.multinomial(length, row / row.sum()) for row in chances]
    else:
        counts = rng.poisson(amounts * length / scores.sum(axis=1).mean() @ components)
    return np.array(counts), components, parents, scores


def matched(truth, found):
    """Cosines of matched rows, and which row matches each."""
    a, b = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (truth, found))
    rows, columns = linear_sum_assignment(-a @ b.T)
    return (a @ b.T)[rows, columns], columns


@pytest.fixture(scope="module", params=["dm", "gp"])
def fitted(request):
    counts, *truth = planted(request.param)
    estimator = DCA(K, model=request.param, n_parents=R, random_state=1).fit(counts)
    return estimator, counts, truth


def test_both_levels_are_recovered(fitted):
    estimator, _, (components, parents, scores) = fitted
    cosines, order = matched(components, estimator.components_)
    assert cosines.min() > 0.9
    cosines, parent_order = matched(parents, estimator.parents_[:, order])
    assert cosines.min() > 0.9
    shares = scores / scores.sum(axis=1, keepdims=True)
    found = estimator.parent_proportions_[:, parent_order]
    assert np.corrcoef(found.ravel(), shares.ravel())[0, 1] > 0.85


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "seed"), [("dm", 6), ("dm", 8), ("dm", 9), ("gp", 1), ("gp", 3), ("gp", 5)]
)  # fmt: skip
def test_the_start_separates_components_that_a_chain_leaves_in_one(model, seed):
    """Data on which a flat chain with no more components than wanted gets stuck."""
    counts, components, parents, _ = planted(model, seed=seed)
    two = DCA(K, model=model, n_parents=R, random_state=1).fit(counts)
    cosines, order = matched(components, two.components_)
    assert cosines.min() > 0.9
    assert matched(parents, two.parents_[:, order])[0].min() > 0.9


@pytest.mark.slow
@pytest.mark.parametrize(("model", "seed"), [("dm", 5), ("gp", 6)])
def test_the_components_of_a_flat_fit_are_a_good_start(model, seed):
    """Data on which a chain from a start by MAP merges two components."""
    counts, components, parents, _ = planted(model, seed=seed)
    flat = DCA(K, model=model, random_state=0).fit(counts)
    two = DCA(K, model=model, n_parents=R, init=flat.components_, random_state=1).fit(counts)
    cosines, order = matched(components, two.components_)
    assert cosines.min() > 0.9
    assert matched(parents, two.parents_[:, order])[0].min() > 0.9


def test_a_flat_start_is_for_parents():
    with pytest.raises(InputError, match="is for components with parents"):
        DCA(2, init="flat").fit(np.eye(4, dtype=int))


@pytest.mark.parametrize(("n_parents", "told"), [(3, False), (4, True)])
def test_more_parents_than_components_get_a_remark(caplog, n_parents, told):
    counts = planted("dm", n_documents=40)[0]
    two = DCA(3, n_parents=n_parents, algorithm=SHORT, init="random", random_state=0)
    two.fit(counts)
    remark = "4 parents are more than the 3 components, and can hardly be told apart; use n_parents"
    assert (remark in caplog.text) == told


def test_seeds_and_parents_start_together():
    """Components with seeds keep their places, so none are joined for the start."""
    counts, components, *_ = planted("dm", n_documents=150)
    seeds = {"known": np.argsort(-components[4])[:4].tolist()}
    two = DCA(K, n_parents=R, seed_words=seeds, algorithm=SHORT, random_state=0).fit(counts)
    assert "known" in two.component_names_
    assert two.parents_.shape == (R, K)


def test_answers(fitted):
    estimator, counts, _ = fitted
    assert estimator.parents_.shape == (R, K)
    np.testing.assert_allclose(estimator.parents_.sum(axis=1), 1.0, rtol=1e-9)
    assert estimator.parent_scores_.shape == (len(counts), R)
    np.testing.assert_allclose(estimator.parent_proportions_.sum(axis=1), 1.0)
    assert (np.diff(estimator.parent_sizes_) <= 0).all()
    few = counts[:20]
    assert estimator.transform(few).shape == (20, K)
    new = estimator.transform_parents(few)
    assert new.shape == (20, R)
    shares = new / new.sum(axis=1, keepdims=True)
    known = estimator.parent_proportions_[:20]
    assert np.corrcoef(shares.ravel(), known.ravel())[0, 1] > 0.95
    one = estimator.transform_parents(counts[7:8])
    np.testing.assert_array_equal(one[0], new[7], "alone as in a batch")
    assert np.isfinite(estimator.score(few))
    assert estimator.settings_["algorithm"] == "gibbs"
    assert estimator.fit_.describe()["parents"] == R
    # alpha is the mean of the shapes under the prior
    model = estimator.fit_.params.model
    mean = estimator.parents_.T @ (model.parent_alpha / model.parent_beta)
    np.testing.assert_allclose(estimator.alpha_, mean)


def test_a_longer_fold_in_agrees(fitted):
    estimator, counts, _ = fitted
    fast, long = (estimator.transform(counts[:30], fold_in=how) for how in ("fast", "gibbs"))
    assert not np.array_equal(fast, long)
    scale = long.sum(axis=1, keepdims=True)
    assert np.abs(fast - long).max() < 0.2 * scale.max()
    assert np.abs(fast / scale - long / scale).mean() < 0.01


def test_files(fitted, tmp_path):
    estimator, counts, _ = fitted
    estimator.save(tmp_path / "m.discan")
    loaded = discan.load(tmp_path / "m.discan")
    for name in ("parents_", "parent_scores_", "scores_", "scores_sd_", "components_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(estimator, name))
    np.testing.assert_array_equal(loaded.transform(counts[:5]), estimator.transform(counts[:5]))
    assert loaded.n_parents == R


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("model.parents", lambda a: a * 2, "sum to 1"),
        ("model.parents", lambda a: a[:, :0].copy(), "shape"),
        ("model.parents", lambda a: -a, "outside"),
        ("model.parent_alpha", lambda a: a[:1].copy(), "parent_alpha"),
        ("model.parent_beta", lambda a: 0.0 * a, "parent_beta"),
        ("parent_scores_", lambda a: a[:, :1].copy(), "parent_scores_ has shape"),
        ("parent_scores_", lambda a: None, "do not go with the model"),
        ("model.parents", lambda a: None, "missing"),
    ],
)
def test_unsound_files(fitted, tmp_path, name, change, message):
    estimator, *_ = fitted
    estimator.save(tmp_path / "m.discan")
    header, arrays = read_file(tmp_path / "m.discan", "model")
    new = change(arrays[name])
    arrays = (
        {**arrays, name: new} if new is not None else {n: arrays[n] for n in arrays if n != name}
    )
    kept = {key: value for key, value in header.items() if key not in HEAD}
    write_file(tmp_path / "m.discan", "model", kept, arrays)
    with pytest.raises(ModelFileError, match=message):
        discan.load(tmp_path / "m.discan")


@pytest.mark.parametrize("model", ["dm", "gp"])
def test_resume(model, tmp_path):
    counts = planted(model, n_documents=60)[0]
    options = {"model": model, "n_parents": R, "algorithm": SHORT, "random_state": 1}
    whole = DCA(K, **options).fit(counts)
    DCA(
        K, **options, checkpoint=tmp_path / "run", checkpoint_every=1,
        callback=lambda run: run.cycle == 14,
    ).fit(counts)  # fmt: skip
    resumed = discan.resume(tmp_path / "run")
    for name in ("parents_", "parent_scores_", "scores_", "scores_sd_", "component_counts_"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(whole, name))


@pytest.mark.parametrize("model", ["dm", "gp"])
def test_groups_exposures_and_chains(model):
    counts = planted(model, n_documents=40)[0]
    groups = np.arange(counts.shape[1]) % 2
    exposures = np.where(np.arange(40)[:, None] % 2, 1.0, [0.5, 2.0])
    corpus = Corpus(counts, groups=groups, exposures=exposures)
    estimator = DCA(4, model=model, n_parents=2, algorithm=SHORT, random_state=0).fit(corpus)
    assert estimator.predict_group_proba(corpus, 1).shape == (40, counts.shape[1] // 2)
    assert np.isfinite(estimator.impute(corpus).data).all()
    several = DCA(
        4, model=model, n_parents=2, algorithm=Gibbs(burn_in=5, n_draws=5, keep_draws=True),
        n_chains=2, random_state=0,
    ).fit(corpus)  # fmt: skip
    assert several.chains_.n_chains == 2
    assert several.draws_.hyperparameters[0]["parents"].shape == (4, 2)
    mean = np.mean([draw["parents"] for draw in several.draws_.hyperparameters], axis=0)
    np.testing.assert_allclose(several.parents_, mean.T)
    assert np.isfinite(several.score(corpus))


def test_names_of_the_model():
    counts = planted("dm", n_documents=30)[0]
    one = DCA(4, model="dm2", algorithm=SHORT, random_state=0).fit(counts)
    assert one.parents_.shape == (2, 4), "by default the square root of the components"
    two = LDA(4, n_parents=2, algorithm=SHORT, random_state=0).fit(counts)
    np.testing.assert_array_equal(one.parents_, two.parents_)
    given = TwoLevelDirichletMultinomial(parent_alpha=0.3, parent_beta=[0.1, 0.2])
    three = DCA(4, model=given, n_parents=2, algorithm=SHORT, learn=(), random_state=0).fit(counts)
    found = three.fit_.params.model.parent_beta  # the largest parent is the first
    np.testing.assert_allclose(np.sort(found), [0.1, 0.2])


def test_alpha_is_the_mean_of_the_shapes():
    counts = planted("gp", n_documents=30)[0]
    made = DCA(5, model="gp", n_parents=2, alpha=0.3, learn=(), algorithm=SHORT).fit(counts)
    assert made.alpha_.sum() == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "cgp"}, "conditional-gamma-poisson model has no form with parents"),
        ({"algorithm": "map"}, "fits components without parents"),
        ({"algorithm": "ml"}, "fits components without parents"),
        ({"algorithm": "cvb0"}, "fits components without parents"),
        ({"algorithm": "variational"}, "fits components without parents"),
        ({"algorithm": "collapsed"}, "fits components without parents"),
        ({"alpha": np.ones(4)}, "alpha follows from them"),
        ({"model": "gp", "beta": [1.0, 2.0, 1.0, 1.0]}, "one number"),
        ({"n_parents": 0}, "n_parents=0"),
        ({"n_parents": 1.5}, "n_parents=1.5"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(InputError, match=message):
        DCA(4, **{"n_parents": 2, **options}).fit(np.ones((6, 5), dtype=int))


def test_what_is_not_known():
    counts = planted("dm", n_documents=30)[0]
    estimator = DCA(4, n_parents=2, algorithm=SHORT, random_state=0).fit(counts)
    for ask in (estimator.log_likelihood, estimator.anomalies, lambda X: estimator.merged(2)):
        with pytest.raises(InputError, match="components with parents"):
            ask(counts)
    flat = DCA(4, algorithm=SHORT, random_state=0).fit(counts)
    with pytest.raises(AttributeError, match="no parents"):
        _ = flat.parents_
    with pytest.raises(AttributeError, match="no parents"):
        _ = flat.parent_scores_
    with pytest.raises(InputError, match="no parents"):
        flat.transform_parents(counts)
    with pytest.raises(InputError, match="evidence of components with parents"):
        discan.log_evidence(counts, 2, model="dm2")
