# SPDX-License-Identifier: BSD-3-Clause
"""What must hold in every cell of the grid, whatever models and algorithms are registered."""

from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import oracle
import pytest
from conformance.bridge import table_of
from conftest import make_run
from scipy.special import digamma, gammaln

import discan.algorithms.expectation
from discan import (
    DCA,
    Collapsed,
    ConditionalGammaPoisson,
    Corpus,
    DirichletMultinomial,
    GammaPoisson,
    InputError,
    LimitError,
    MaximumLikelihood,
    Variational,
)
from discan.algorithms import ALGORITHMS
from discan.models import MODELS, LoadingsPrior

# ------------------------------------------------------------------------------------- the grid


def subsets(names):
    names = sorted(names)
    return [frozenset(c) for n in range(len(names) + 1) for c in combinations(names, n)]


def short(sampler):
    """The same sampler with a short chain; other algorithms as they are."""
    return replace(sampler, burn_in=10, n_draws=10) if sampler.whole_counts else sampler


def prepared(model, n_components=3, corpus=None):
    corpus = table_of(np.ones((2, 3), int)) if corpus is None else corpus
    return model().prepare(n_components, corpus)


def supported(model, algorithm, learn=frozenset()):
    return algorithm.refusal(prepared(model), learn) is None


VARIANTS = {
    Variational(loadings="point"): "vb-point",
    MaximumLikelihood(tau=0.7): "ml-tempered",
    Collapsed(schedule="blocked"): "cgs-blocked",
}
EVERY = [*(cls() for cls in ALGORITHMS), *VARIANTS]


def label(value):
    return VARIANTS.get(value, value.short)


MODEL_CLASSES = list(MODELS)
GRID = [(m, a) for m in MODEL_CLASSES for a in EVERY]
CELLS = [(m, a) for m, a in GRID if supported(m, a)]
ASCENT = [(m, a) for m, a in CELLS if a.monotone]
VARIATIONAL = [(m, a) for m, a in CELLS if isinstance(a, Variational)]


def over(cells):
    ids = [f"{m.short}-{label(a)}" for m, a in cells]
    return pytest.mark.parametrize(("model", "algorithm"), cells, ids=ids)


# ------------------------------------------------------------------------------------- the data


@cache
def data(layout="plain", seed=0, n_documents=30, n_words=18, n_components=4, length=25):
    """Counts drawn from planted components; "groups" or "exposures" (some 0) as well."""
    rng = np.random.default_rng([seed, n_documents, n_words])
    groups = None if layout == "plain" else rng.permutation(np.arange(n_words) % 3)
    theta = oracle.draw_theta(np.zeros((n_words, n_components)), np.full(n_words, 0.3), groups, rng)
    scores = rng.gamma(0.4, length / 0.4 / n_components, (n_documents, n_components))
    exposures = None
    rates = scores @ theta.T
    if layout == "exposures":
        exposures = rng.uniform(0.3, 1.5, (n_documents, 3))
        exposures[rng.random((n_documents, 3)) < 0.2] = 0.0
        rates = rates * exposures[:, groups]
    counts = rng.poisson(rates)
    counts[0] = 0
    return Corpus(counts, groups, exposures)


LAYOUTS = pytest.mark.parametrize("layout", ["plain", "groups", "exposures"])


def start(corpus, model, algorithm, n_components=4, **options):
    loadings = LoadingsPrior.of(options.pop("gamma", 0.5), corpus.layout)
    options.setdefault("seed", 0)
    return make_run(corpus, prepared(model, n_components, corpus), algorithm, loadings, **options)


def rises(objective):
    steps = np.diff(objective)
    worst = np.min(steps / np.maximum(np.abs(objective[1:]), 1.0), initial=0.0)
    assert np.all(np.isfinite(objective))
    assert worst >= -1e-9, f"fell by {worst:.3g} relative in cycle {np.argmin(steps) + 1}"


def random_components(n_components, n_words, seed=0):
    return np.random.default_rng(seed).gamma(1.0, size=(n_components, n_words)) + 0.05


def alphas(n_components):
    return np.linspace(0.2, 1.1, n_components)


def fitted(model, algorithm, X, n_components=3, **options):
    fixed = {"random_state": 3, "max_iter": 20, "tol": 0.0, "groups": None, "learn": ()}
    options = {**fixed, **options}
    return DCA(n_components, model=model, algorithm=short(algorithm), **options).fit(X)


def hyper(model, n_components=3):
    """Unequal hyperparameters, all given; with parents, components have equal ones."""
    if model.levels > 1:
        return {name: value for name, value in (("alpha", 0.6), ("beta", 0.4))
                if name in model.hyperparameters}  # fmt: skip
    given = {
        "alpha": alphas(n_components),
        "beta": np.linspace(0.6, 0.2, n_components),
        "rho": np.linspace(0.3, 0.6, n_components),
    }
    return {name: given[name] for name in model.hyperparameters if name in given}


# -------------------------------------------------------------------------------------- refusals


@over(GRID)
def test_a_cell_works_or_says_why_not(model, algorithm):
    corpus = data("groups")
    for learn in subsets({*model.hyperparameters, "gamma"}):
        estimator = DCA(
            2, model=model, algorithm=short(algorithm), learn=tuple(learn), max_iter=4,
            random_state=0,
        )  # fmt: skip
        if supported(model, algorithm, learn):
            estimator.fit(corpus)
            for name in (*model.hyperparameters, "gamma"):
                assert np.all(np.isfinite(getattr(estimator, f"{name}_")))
            continue
        with pytest.raises(InputError) as caught:
            estimator.fit(corpus)
        reason = str(caught.value)
        assert reason == str(algorithm.refusal(prepared(model, 2, corpus), learn))
        assert 20 < len(reason) < 300
        assert "\n" not in reason
        assert ". " not in reason.rstrip(".")
        if not learn:
            with pytest.raises(InputError):
                DCA.from_components(
                    np.ones((3, 4)), model=model, algorithm=algorithm, **hyper(model)
                )


# --------------------------------------------------------------------------- objectives never fall


@over(ASCENT)
@LAYOUTS
@pytest.mark.parametrize(("seed", "size"), [(0, (30, 18, 4)), (1, (60, 40, 8)), (2, (8, 30, 2))])
def test_objective_never_falls(model, algorithm, layout, seed, size):
    corpus = data(layout, seed, *size)
    run = start(corpus, model, algorithm, size[2], seed=seed)
    run.advance(20)
    rises(run.trace["objective"])


ONLINE = [replace(a, online=True, batch_entries=40) for a in EVERY if hasattr(a, "online")]
TEMPERED = MaximumLikelihood(tau="auto")
CLAIMS = [
    (model, algorithm, learn)
    for model in MODEL_CLASSES
    for algorithm in (*EVERY, *ONLINE, TEMPERED)
    for learn in (frozenset(), frozenset({*model.hyperparameters, "gamma"}))
    if supported(model, algorithm, learn)
]


def test_what_claims_to_rise():
    """A run tells whether its objective never falls: not online, nor at changing temperatures."""
    claims = {
        (model.short, label(algorithm), bool(learn))
        for model, algorithm, learn in CLAIMS
        if start(data(), model, algorithm, learn=learn).monotone
    }
    points = {"ml", "ml-tempered", "map", "vb", "vb-point"}
    fixed = {(model, name, False) for model in ("dm", "gp") for name in points}
    fixed -= {("gp", "ml-tempered", False)}
    fixed |= {("cgp", "vb", False), ("cgp", "vb-point", False)}
    assert claims == fixed | {(model, "vb", True) for model in ("dm", "gp", "cgp")}


@pytest.mark.parametrize(
    ("model", "algorithm", "learn"),
    CLAIMS,
    ids=[f"{m.short}-{label(a)}-{'learn' if k else ''}-{n}" for n, (m, a, k) in enumerate(CLAIMS)],
)
def test_a_run_that_claims_to_rise_never_falls(model, algorithm, learn):
    """From random starts, on data that overfit, at small and large priors."""
    corpus = data("plain", 5, 60, 40, 3, 12)
    for gamma, seed in ((0.5, 0), (0.02, 1), (20.0, 2)):
        run = start(corpus, model, algorithm, 3, learn=learn, gamma=gamma, init="random", seed=seed)
        if not run.monotone:
            return
        run.advance(60)
        rises(run.trace["objective"])


EXTREMES = {
    "exposures of 1e15": (1, 1e15), "exposures of 1e-15": (1, 1e-15),
    "exposures of 1e-100": (1, 1e-100), "counts of 1e-100": (1e-100, 1),
    "counts of 1e-20": (1e-20, 1), "counts of 1e10": (1e10, 1),
}  # fmt: skip


@over(ASCENT)
@pytest.mark.parametrize("extreme", EXTREMES)
def test_the_objective_is_finite_and_rises_at_the_ends_of_the_range(model, algorithm, extreme):
    factor, exposure = EXTREMES[extreme]
    table = data().to_csr().toarray() * factor
    corpus = Corpus(table, exposures=np.full((len(table), 1), exposure))
    run = start(corpus, model, algorithm, 3)
    run.advance(20)
    rises(run.trace["objective"])


@pytest.mark.parametrize(
    ("counts", "exposure", "piece"),
    [
        (5e-324, 1.0, "count below 1e-100"),
        (1e-101, 1.0, "row 1, column"),
        (1.0, 1e300, "1e-100 to 1e"),
    ],
)
def test_beyond_the_range_is_refused(counts, exposure, piece):
    table = data().to_csr().toarray() * counts
    with pytest.raises(LimitError, match=piece):
        Corpus(table, exposures=np.full((len(table), 1), exposure))


# Where the bound of the conditional model stops rising depends on its constants.
UNITS = [(m, a) for m, a in CELLS if m is GammaPoisson or a.whole_counts]


@over([(m, a) for m, a in UNITS if not m.normalised])
@pytest.mark.parametrize("exposure", [2.0**49, 2.0**-49])  # so that nothing is rounded
def test_units_of_exposure_do_not_matter(model, algorithm, exposure, monkeypatch):
    """All counts follow from exposures in any units, also where single precision is used."""
    monkeypatch.setattr(discan.algorithms.expectation, "SINGLE_FROM", 0)
    counts = data().to_csr()
    options = {"alpha": 0.5, "max_iter": 6, "random_state": 3, "algorithm": short(algorithm)}
    fits = [
        DCA(3, model=model, beta=0.3 * unit, **options).fit(
            Corpus(counts, exposures=np.full((counts.shape[0], 1), unit))
        )
        for unit in (1.0, exposure)
    ]
    close = {"rtol": 1e-3, "atol": 1e-4}  # one of them in single precision
    np.testing.assert_allclose(fits[0].components_, fits[1].components_, **close)
    np.testing.assert_allclose(fits[0].component_counts_, fits[1].component_counts_, **close)


@over(VARIATIONAL)
@LAYOUTS
def test_bound_never_falls_while_learning(model, algorithm, layout):
    corpus = data(layout, n_documents=20)
    for learn in subsets({*model.hyperparameters, "gamma"}):
        if not learn or algorithm.refusal(prepared(model), learn):
            continue
        uneven = [np.linspace(0.2, 1.0, corpus.n_words)] if learn == {"gamma"} else []
        for gamma in (0.5, *uneven):
            run = start(corpus, model, algorithm, 3, learn=tuple(learn), gamma=gamma)
            run.advance(10)
            try:
                rises(run.trace["objective"])
            except AssertionError as error:
                raise AssertionError(f"learn={sorted(learn)}: {error}") from None


@pytest.mark.parametrize("tau", [0.3, 0.7, 0.95])
@pytest.mark.parametrize("layout", ["plain", "groups"])
def test_tempered_objective_never_falls(tau, layout):
    for seed in range(3):
        run = start(data(layout), DirichletMultinomial, MaximumLikelihood(tau=tau), seed=seed)
        run.advance(60)
        rises(run.trace["objective"])


# ---------------------------------------------------------------------------------- equal answers


@LAYOUTS
def test_gamma_poisson_is_dirichlet_multinomial_times_total(layout):
    corpus = data(layout)
    alpha, beta = np.array([0.3, 0.9, 1.4]), 0.7
    gp, dm = GammaPoisson(alpha, beta).prepare(3), DirichletMultinomial(alpha).prepare(3)
    rng = np.random.default_rng(0)
    L, E = corpus.lengths, corpus.total_exposures
    seen = E > 0
    c = np.array([rng.multinomial(int(n), rng.dirichlet(np.ones(3))) for n in L])
    A = alpha.sum()
    safe = np.where(seen, E, 1.0)
    total = gammaln(A + L) - gammaln(A) - gammaln(L + 1)
    total += A * np.log(beta / (beta + E)) + L * np.log(safe / (beta + E))
    shares = corpus.log_exposure_powers - L * np.log(safe)
    split = gammaln(L + 1) - corpus.log_group_factorials + shares
    left = gp.log_marginal(c, E) + gp.log_bag(corpus)
    right = dm.log_marginal(c, E) + dm.log_bag(corpus) + total + split
    np.testing.assert_allclose(left[seen], right[seen], rtol=1e-12, atol=1e-11)
    theta = random_components(3, corpus.n_words)
    both = [
        DCA.from_components(
            theta, groups=corpus.layout.group_of_word, model=m, alpha=alpha, algorithm="vb", **more
        )
        for m, more in (("gp", {"beta": beta}), ("dm", {}))
    ]
    bounds = [estimator.log_likelihood(corpus, method="bound") for estimator in both]
    np.testing.assert_allclose(bounds[0][seen], (bounds[1] + total + split)[seen], rtol=1e-10)


@pytest.mark.parametrize(
    "algorithm", [a for m, a in CELLS if m is DirichletMultinomial and supported(GammaPoisson, a)],
    ids=label,
)  # fmt: skip
@pytest.mark.parametrize("layout", ["plain", "groups"])
def test_gamma_poisson_iterates_as_dirichlet_multinomial(algorithm, layout):
    """With equal rates and exposures the responsibilities are the same, cycle by cycle."""
    corpus, alpha = data(layout), alphas(4)
    fits = [
        fitted(model, algorithm, corpus, 4, alpha=alpha, **more)
        for model, more in (("gp", {"beta": 0.7}), ("dm", {}))
    ]
    np.testing.assert_allclose(fits[0].components_, fits[1].components_, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(
        fits[0].component_counts_, fits[1].component_counts_, rtol=1e-7, atol=1e-9
    )


@pytest.mark.parametrize("layout", ["plain", "groups"])
def test_plsi_step_is_nmf_step(layout):
    corpus = data(layout)
    models = (DirichletMultinomial, GammaPoisson)
    runs = [start(corpus, model, MaximumLikelihood()) for model in models]
    for _ in range(5):
        for run in runs:
            run.advance(run.cycle + 1)
        plsi, nmf = (run.result() for run in runs)
        np.testing.assert_allclose(nmf.loadings.mean, plsi.loadings.mean, rtol=1e-9, atol=1e-300)
        per_exposure = corpus.lengths / corpus.total_exposures
        scores = per_exposure[:, None] * plsi.scores
        np.testing.assert_allclose(nmf.scores, scores, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize(
    "algorithm", [a for m, a in CELLS if m is ConditionalGammaPoisson], ids=label
)
@LAYOUTS
def test_conditional_without_absence_is_gamma_poisson(algorithm, layout):
    corpus = data(layout)
    conditional = fitted("cgp", algorithm, corpus, rho=0.0)
    plain = fitted("gp", algorithm, corpus)
    for name in ("components_", "scores_", "component_counts_", "alpha_", "beta_"):
        np.testing.assert_array_equal(getattr(conditional, name), getattr(plain, name))
    objectives = [estimator.trace_["objective"] for estimator in (conditional, plain)]
    np.testing.assert_allclose(*objectives, rtol=1e-13)
    np.testing.assert_array_equal(conditional.transform(corpus), plain.transform(corpus))
    np.testing.assert_array_equal(conditional.prob_absent(corpus), 0.0)


@pytest.mark.parametrize("model", MODEL_CLASSES, ids=label)
@LAYOUTS
def test_one_component_has_a_closed_form(model, layout):
    if model.short not in oracle.MODELS:
        pytest.skip("the oracle does not know this model")
    corpus = data(layout, n_documents=12, length=12)
    prior = oracle.Prior(model.short, **hyper(model, 1))
    gamma = np.linspace(0.3, 1.2, corpus.n_words)
    groups, W = corpus.layout.group_of_word, corpus.to_csr().toarray().astype(int)
    exact = oracle.corpus(prior, W, gamma, 1, groups, corpus.exposures)
    vb = fitted(model, Variational(), corpus, 1, gamma=gamma, **hyper(model, 1))
    np.testing.assert_allclose(vb.trace_["objective"][-1], exact["logp"], rtol=1e-9)
    np.testing.assert_allclose(vb.components_.T, exact["E_theta"], rtol=1e-9)
    np.testing.assert_allclose(vb.scores_, exact["E_scores"], rtol=1e-9)
    for sampler in (Collapsed(), Collapsed(schedule="blocked")):
        chain = fitted(model, sampler, corpus, 1, gamma=gamma, **hyper(model, 1))
        np.testing.assert_allclose(chain.components_.T, exact["E_theta"], rtol=1e-9)
        np.testing.assert_allclose(chain.scores_, exact["E_scores"], rtol=1e-9)
        np.testing.assert_allclose(chain.component_counts_, exact["E_c"])
    theta = exact["E_theta"]
    documents = [
        oracle.document(prior, w, theta, groups, e)["logp"]
        for w, e in zip(
            W, corpus.exposures if corpus.exposures is not None else [None] * len(W), strict=True
        )
    ]
    for method in ("chib", "bound"):
        answer = vb.log_likelihood(corpus, method)
        np.testing.assert_allclose(answer, documents, rtol=1e-9, atol=1e-12)


# ------------------------------------------------------------------------------------- symmetries


@over(CELLS)
def test_labels_do_not_matter(model, algorithm):
    corpus, order = data("groups"), np.array([2, 0, 3, 1])
    components, given = random_components(4, corpus.n_words), hyper(model, 4)
    moved = {name: value[order] if np.ndim(value) else value for name, value in given.items()}
    X = corpus.select(slice(0, 8))
    if algorithm.whole_counts:  # other draws, so the same only within their error
        X = data("groups", length=3).select(slice(0, 8))
        options = {"groups": corpus.layout.group_of_word, "model": model, "algorithm": algorithm}
        # scores of parents, which are drawn too, make answers vary more
        n_seeds, most = (5, 0.2) if model.levels == 1 else (20, 0.4)
        answers = [
            [
                DCA.from_components(c, random_state=seed, **options, **h).component_counts(X)
                for seed in range(n_seeds)
            ]
            for c, h in ((components, given), (components[order], moved))
        ]
        gap = np.mean(answers[1], axis=0) - np.mean(answers[0], axis=0)[:, order]
        spread = np.var(answers[1], axis=0) + np.var(answers[0], axis=0)[:, order]
        assert np.all(np.abs(gap) <= 6 * np.sqrt(spread / (n_seeds - 1)) + 0.005)
        assert np.abs(gap).max() < most
        return
    first = fitted(model, algorithm, corpus, 4, init=components, **given)
    second = fitted(model, algorithm, corpus, 4, init=components[order], **moved)
    assert_same(second.components_, first.components_[order])
    assert_same(second.scores_, first.scores_[:, order])
    assert_same(second.component_counts_, first.component_counts_[:, order])
    assert_same(second.transform(X), first.transform(X)[:, order])
    np.testing.assert_allclose(second.trace_["objective"], first.trace_["objective"], rtol=1e-10)


def assert_same(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-9)


@over(CELLS)
@pytest.mark.parametrize("layout", ["plain", "exposures"])
def test_the_order_of_documents_does_not_matter(model, algorithm, layout):
    corpus = data(layout)
    order = np.random.default_rng(0).permutation(corpus.n_documents)
    turned = corpus.select(order)
    first = fitted(model, algorithm, corpus, init="random")  # other starts draw documents
    if not algorithm.whole_counts:
        second = fitted(model, algorithm, turned, init="random")
        assert_same(second.components_, first.components_)
        assert_same(second.scores_, first.scores_[order])
    np.testing.assert_array_equal(first.transform(turned), first.transform(corpus)[order])


def widened(corpus, exposure):
    """The same corpus with a group of three words that nobody uses."""
    counts = np.hstack([corpus.to_csr().toarray(), np.zeros((corpus.n_documents, 3))])
    old = corpus.layout.group_of_word
    groups = np.append(old, np.full(3, corpus.n_groups))
    exposures = corpus.exposures
    if exposures is None:
        exposures = np.ones((corpus.n_documents, corpus.n_groups))
    exposures = np.hstack([exposures, np.full((corpus.n_documents, 1), exposure)])
    return Corpus(counts, groups, exposures)


@over(CELLS)
@LAYOUTS
def test_an_unobserved_group_changes_nothing(model, algorithm, layout):
    """An empty group for models that condition on totals; a group of exposure 0 for the others."""
    corpus = data(layout)
    wide = widened(corpus, 1.0 if model.normalised else 0.0)
    J, components, given = corpus.n_words, random_components(3, corpus.n_words), hyper(model)
    padded = np.hstack([components, np.ones((3, 3))])
    narrow = fitted(model, algorithm, corpus, init=components, **given)
    broad = fitted(model, algorithm, wide, init=padded, **given)
    assert_same(broad.components_[:, :J], narrow.components_)
    assert_same(broad.scores_, narrow.scores_)
    assert_same(broad.component_counts_, narrow.component_counts_)
    assert_same(broad.transform(wide), narrow.transform(corpus))
    if model.normalised:
        return
    observed = fitted(model, algorithm, widened(corpus, 1.0), init=padded, **given)
    assert np.all(observed.scores_[1:].sum() < 0.95 * narrow.scores_[1:].sum())


def _gap_of_the_empty_document(model, algorithm, corpus, seed, given):
    """Scores of a training document without words, minus the means given the parents."""
    estimator = fitted(model, algorithm, corpus, random_state=seed, **given)
    means, _ = estimator.fit_.params.model.empty_means(corpus.total_exposures)
    return estimator.scores_[0] - means[0]


@over(CELLS)
@LAYOUTS
def test_an_empty_document_gets_the_prior_mean(model, algorithm, layout):
    corpus, given = data(layout), hyper(model)
    estimator = fitted(model, algorithm, corpus, **given)
    exposures = corpus.exposures if layout == "exposures" else None
    empty = Corpus(np.zeros((corpus.n_documents, corpus.n_words)), corpus.layout.group_of_word,
                   exposures)  # fmt: skip
    answer = estimator.transform(empty)
    np.testing.assert_allclose(estimator.component_counts(empty), 0.0, atol=1e-12)
    if isinstance(algorithm, MaximumLikelihood):  # no prior: nothing is known, or nothing is there
        np.testing.assert_allclose(answer, 1 / 3 if model.normalised else 0.0, atol=1e-12)
        return
    if model.short in oracle.MODELS:
        prior = oracle.Prior(model.short, **given)
        expected = oracle.score_mean(prior, np.zeros_like(answer), empty.total_exposures)
    elif model.levels > 1:  # the means follow from the parents, whose scores a chain draws
        expected, _ = estimator.fit_.params.model.empty_means(empty.total_exposures)
        np.testing.assert_allclose(answer, expected, rtol=1e-9)
        gaps = [_gap_of_the_empty_document(model, algorithm, corpus, n, given) for n in range(10)]
        errors = np.std(gaps, axis=0, ddof=1) / np.sqrt(len(gaps))
        assert np.all(np.abs(np.mean(gaps, axis=0)) < 4 * errors)
        return
    else:
        made = replace(prepared(model), **given)
        expected = made.moments(np.zeros_like(answer), made.score_table(empty.total_exposures)).mean
    np.testing.assert_allclose(answer, expected, rtol=1e-9)
    np.testing.assert_allclose(estimator.scores_[0], expected[0], rtol=1e-9)


# --------------------------------------------------------------------------------- recovery, shape


@over(CELLS)
def test_planted_components_are_found(model, algorithm):
    """Three disjoint vocabularies: the best of a few starts finds them all."""
    rng = np.random.default_rng(0)
    blocks = np.kron(np.eye(3), np.ones((15, 8)))
    X = rng.poisson(3.0 * blocks)
    best = None
    for seed in range(4):
        tried = DCA(3, model=model, algorithm=more(algorithm), random_state=seed, max_iter=120)
        tried.fit(X)
        if best is None or tried.trace_["objective"][-1] > best.trace_["objective"][-1]:
            best = tried
    mass = best.components_ @ np.kron(np.eye(3), np.ones((8, 1)))
    order = mass.argmax(0)
    assert sorted(order) == [0, 1, 2]
    assert np.all(mass.max(0) > 0.95)
    owner = best.proportions_.argmax(1)
    np.testing.assert_array_equal(owner, np.repeat(order, 15))
    assert best.proportions_.max(1).min() > 0.85


def more(sampler):
    return replace(sampler, burn_in=80, n_draws=40) if sampler.whole_counts else sampler


@over(CELLS)
@LAYOUTS
def test_answers_have_the_right_shape(model, algorithm, layout):
    corpus = data(layout)
    estimator = fitted(model, algorithm, corpus)
    sums = corpus.layout.group_sums(estimator.components_.T)
    np.testing.assert_allclose(sums, 1.0, rtol=1e-10)
    assert estimator.scores_.shape == estimator.component_counts_.shape == (corpus.n_documents, 3)
    assert estimator.scores_.min() >= 0.0
    np.testing.assert_allclose(
        estimator.component_counts_.sum(1), corpus.lengths, rtol=1e-6, atol=1e-9
    )
    np.testing.assert_allclose(estimator.proportions_.sum(1), 1.0)
    if model.normalised:
        np.testing.assert_allclose(estimator.scores_.sum(1), 1.0)
    counts = estimator.component_counts(corpus)
    np.testing.assert_allclose(counts.sum(1), corpus.lengths, rtol=1e-6, atol=1e-9)


@over(CELLS)
@LAYOUTS
def test_a_document_alone_gets_the_same_bits(model, algorithm, layout):
    corpus = data(layout)
    estimator = fitted(model, algorithm, corpus)
    together = estimator.transform(corpus)
    for i in (0, 1, 7, corpus.n_documents - 1):
        alone = estimator.transform(corpus.select(slice(i, i + 1)))
        np.testing.assert_array_equal(alone[0], together[i])
    known = model.levels == 1 and not isinstance(algorithm, MaximumLikelihood)
    if layout == "exposures" and known:
        for method in ("bound", "chib"):
            few = corpus.select(slice(1, 4))
            one = corpus.select(slice(2, 3))
            batch, single = (estimator.log_likelihood(part, method) for part in (few, one))
            np.testing.assert_array_equal(single[0], batch[1])


@over(CELLS)
def test_fit_transform_is_fit_then_transform(model, algorithm):
    X = data().to_csr()
    options = {"model": model, "algorithm": short(algorithm), "random_state": 5, "max_iter": 15}
    np.testing.assert_array_equal(
        DCA(3, **options).fit_transform(X), DCA(3, **options).fit(X).transform(X)
    )


# --------------------------------------------------------------------------- learnt hyperparameters


@pytest.mark.parametrize("model", [GammaPoisson, ConditionalGammaPoisson], ids=label)
@pytest.mark.parametrize("loadings", ["dirichlet", "point"])
def test_learnt_rate_has_a_closed_form(model, loadings):
    """Canny: beta_k = alpha_k E / mean c_k if all exposures are E (over documents that have k)."""
    corpus = data("groups", n_documents=20)
    alpha = np.array([0.4, 0.8, 1.3])
    prior = LoadingsPrior.of(0.5, corpus.layout)
    chosen = model(alpha=alpha).prepare(3, corpus)
    run = make_run(corpus, chosen, Variational(loadings=loadings), prior, learn=("beta",), seed=3)
    run.advance(400)
    answer = run.result()
    present = (1.0 - answer.documents.absent).sum(0)
    expected = alpha * corpus.n_groups * present / answer.component_counts.sum(0)
    np.testing.assert_allclose(run.params.model.beta, expected, rtol=1e-4)


@pytest.mark.parametrize("loadings", ["dirichlet", "point"])
@pytest.mark.parametrize("layout", ["plain", "exposures"])
def test_learnt_shape_solves_its_equation(loadings, layout):
    corpus = data(layout, n_documents=40)
    algorithm = Variational(loadings=loadings)
    dm = fitted("dm", algorithm, corpus, learn=("alpha",), max_iter=200)
    a = dm.alpha_ + dm.component_counts_
    eta = digamma(a) - digamma(a.sum(1, keepdims=True))
    left = digamma(dm.alpha_) - digamma(dm.alpha_.sum())
    np.testing.assert_allclose(left, eta.mean(0), rtol=1e-3)

    gp = fitted("gp", algorithm, corpus, learn=("alpha", "beta"), max_iter=200)
    a = gp.alpha_ + gp.component_counts_
    rate = gp.beta_ + corpus.total_exposures[:, None]
    mean, eta = (a / rate).mean(0), (digamma(a) - np.log(rate)).mean(0)
    np.testing.assert_allclose(gp.beta_, gp.alpha_ / mean, rtol=1e-3)
    np.testing.assert_allclose(digamma(gp.alpha_) - np.log(gp.beta_), eta, rtol=1e-3, atol=1e-3)
