# SPDX-License-Identifier: BSD-3-Clause
"""The kernels against exact answers by enumeration: bounds, posterior means, probabilities."""

import numpy as np
import oracle
import pytest
from scipy import stats
from scipy.special import digamma, gammaln

from discan.algorithms.word_index import WordIndex
from discan.kernels import blocked, collapsed, evidence, gibbs, variational

MODELS = pytest.mark.parametrize("model", ["gp", "cgp", "dm"])
CASES = pytest.mark.parametrize("number", range(6))


class Document:
    """A case of the oracle as the kernels read it: one document, one exposure level."""

    def __init__(self, model, number, kind="doc_fixed_theta_groups"):
        rng = np.random.default_rng([number, *map(ord, model)])
        case = oracle.random_case(kind, rng, model)
        self.prior, self.theta, self.groups = case.prior, case.theta, case.groups
        self.w = case.W[0]
        self.exposures = None if case.exposures is None else case.exposures[0]
        n_groups = 1 if case.groups is None else case.groups.max() + 1
        exposure = n_groups if self.exposures is None else self.exposures.sum()
        self.rng = rng
        (words,) = np.nonzero(self.w)
        self.head = (
            np.array([0, len(words)]),
            words.astype(np.int32),
            self.w[words].astype(np.int32),
            np.zeros(1, dtype=np.int32),
        )
        p = self.prior
        self.present = np.ones((1, p.K))
        if model == "dm":
            A = p.alpha.sum()
            self.rate = np.ones((1, p.K))
            self.constant = gammaln(A) - gammaln(A + self.w.sum()) - gammaln(p.alpha).sum()
        else:
            self.rate = (p.beta + exposure)[None]
            self.constant = (p.alpha * np.log(p.beta) - gammaln(p.alpha)).sum()
        if model == "cgp":
            slab = (1 - p.rho) * (p.beta / self.rate) ** p.alpha
            self.present = slab / (p.rho + slab)
            self.constant += np.log1p(-p.rho).sum()
        self.shape = p.alpha[None].copy()
        self.table = (self.shape, self.rate, self.present)
        self.bag = oracle.log_bag_constant(p, self.w, self.groups, self.exposures)
        self.bag -= gammaln(self.w + 1).sum()
        self.layout = {"groups": self.groups, "exposures": self.exposures}

    def exact(self):
        return oracle.document(self.prior, self.w, self.theta, **self.layout)

    def bound(self, log_theta, N, a, r=None):
        return oracle.variational_bound_document(
            self.prior, self.w, log_theta, N, a, self.rate[0], r, **self.layout
        )

    def expect(self, weights, score_shape, n_inner):
        """Objective of the kernel in bag form, and the score shapes it ends at."""
        objective, score_shape = np.empty(1), score_shape.copy()
        variational.expect(
            *self.head, *self.table[:2], weights, score_shape,
            np.zeros(weights.shape), objective, True, 1.0, n_inner, 0.0, True,
        )  # fmt: skip
        return objective[0] + self.constant + self.bag, score_shape

    def expect_conditional(self, log_theta, score_shape, n_inner, tolerance=1e-13):
        """Bound in bag form and the q it belongs to: N, a, r."""
        objective, a = np.empty(1), score_shape.copy()
        absent, damping, split = np.zeros(a.shape), np.zeros(a.shape), np.zeros(log_theta.shape)
        variational.expect_conditional(
            *self.head, *self.table, log_theta, a, absent, damping,
            np.empty(a.shape), split, objective, n_inner, tolerance, True,
        )  # fmt: skip
        N = np.full(split.shape, 1.0 / split.shape[1])
        N[self.w > 0] = (split / np.maximum(self.w, 1)[:, None])[self.w > 0]
        r = absent[0] / np.exp(self.w @ np.log1p(-np.minimum(N, 1 - 1e-15)))
        return objective[0] + self.constant + self.bag, N, a[0], r


def start(document):
    return document.rng.uniform(0.2, 3.0, document.shape.shape)


# -------------------------------------------------------------------------------------- bounds


@pytest.mark.parametrize("model", ["gp", "dm"])
@CASES
def test_expect_gives_the_bound(model, number):
    document = Document(model, number)
    log_theta = np.log(document.theta) - document.rng.uniform(0, 1, document.theta.shape)
    before = start(document)
    got, after = document.expect(np.exp(log_theta), before, 1)
    N = oracle.variational_responsibilities(document.prior, log_theta, before[0], document.rate[0])
    np.testing.assert_allclose(got, document.bound(log_theta, N, after[0]), rtol=1e-10)


@pytest.mark.parametrize("model", ["gp", "dm"])
@CASES
def test_expect_stays_below_the_exact_value(model, number):
    document = Document(model, number)
    before = start(document)
    bounds = np.array([document.expect(document.theta, before, n)[0] for n in range(1, 80)])
    assert (np.diff(bounds) >= -1e-10).all()
    assert bounds[-1] <= document.exact()["logp"]
    best = oracle.best_bound(
        document.prior, document.w, np.log(document.theta), **document.layout, starts=2
    )
    assert bounds[-1] <= best["bound"] + 1e-6


@CASES
@pytest.mark.parametrize("n_inner", [1, 3, 300])
def test_expect_conditional_gives_the_bound(number, n_inner):
    document = Document("cgp", number)
    log_theta = np.log(document.theta)
    got, N, a, r = document.expect_conditional(log_theta, start(document), n_inner)
    np.testing.assert_allclose(got, document.bound(log_theta, N, a, r), rtol=1e-9)
    assert got <= document.exact()["logp"] + 1e-10
    shifted = log_theta - document.rng.uniform(0, 1, log_theta.shape)
    got, N, a, r = document.expect_conditional(shifted, start(document), n_inner)
    np.testing.assert_allclose(got, document.bound(shifted, N, a, r), rtol=1e-9)


@CASES
def test_expect_conditional_rises(number):
    document = Document("cgp", number, "doc_fixed_theta")
    log_theta, before = np.log(document.theta), start(document)
    bounds = [document.expect_conditional(log_theta, before, n, -1.0)[0] for n in range(1, 30)]
    assert (np.diff(bounds) >= -1e-10).all()


def test_expect_conditional_finds_the_best_bound():
    """From a uniform start, as in a fit; some local optima are allowed."""
    n_found, numbers = 0, range(4, 10)
    for number in numbers:
        document = Document("cgp", number)
        even = document.shape + document.w.sum() / document.prior.K
        log_theta = np.log(document.theta)
        got = document.expect_conditional(log_theta, even, 2000)[0]
        best = oracle.best_bound(
            document.prior, document.w, log_theta, **document.layout, starts=2
        )["bound"]
        assert got <= best + 1e-6
        n_found += got >= best - 1e-6
    assert n_found >= 0.7 * len(numbers)


# --------------------------------------------------------------------- one document, given theta


@MODELS
@CASES
def test_chib_is_unbiased(model, number):
    document = Document(model, number)
    estimates, out, n_sweeps = [], np.empty(1), np.array([100])
    for seed in np.arange(200, dtype=np.uint64):
        evidence.chib(*document.head, *document.table, document.theta, out, n_sweeps, seed, 0)
        estimates.append(out[0] + document.constant)
    ratios = np.exp(np.array(estimates) - document.exact()["logp_sequence"])
    assert abs(ratios.mean() - 1) < 5 * ratios.std() / np.sqrt(len(ratios)) + 1e-9
    assert abs(ratios.mean() - 1) < 0.1


@MODELS
@CASES
def test_fold_in_agrees_with_enumeration(model, number):
    document = Document(model, number)
    exact = document.exact()
    runs = []
    for seed in np.arange(12, dtype=np.uint64):
        means, empty = np.zeros((2, 1, document.prior.K))
        evidence.fold_in(
            *document.head, *document.table, document.theta, means, empty, 50, 200_000, seed
        )
        runs.append((means[0], (1 - document.present[0]) * empty[0]))
    got = np.array(runs)
    error = got.std(axis=0) / np.sqrt(len(got) - 1)
    expected = np.array([exact["E_c"], exact.get("P_zero", np.zeros(document.prior.K))])
    # twelve runs: a t statistic with 11 degrees of freedom
    assert (np.abs(got.mean(axis=0) - expected) < 8 * error + 1e-9).all()
    assert np.abs(got.mean(axis=0) - expected).max() < 0.05


@MODELS
@pytest.mark.parametrize("number", [0, 1])
def test_gibbs_sweeps_visit_the_posterior(model, number):
    document = Document(model, number)
    n_sweeps, n_batches, K = 20_000, 40, document.prior.K
    counts, scores = np.zeros((1, K), dtype=np.int64), np.empty((1, K))
    counts[0, 0] = document.w.sum()
    loading_counts = np.zeros(document.theta.shape, dtype=np.int64)
    log_fit, log_factor, trace = np.empty(1), np.empty(1), np.empty((n_sweeps, K))
    for cycle in range(n_sweeps):
        gibbs.sweep(
            *document.head, *document.table, document.theta, counts, scores,
            loading_counts, log_fit, log_factor, np.uint64(1), cycle, 0,
        )  # fmt: skip
        trace[cycle] = counts[0]
    batches = trace.reshape(n_batches, -1, K).mean(axis=1)
    error = batches.std(axis=0) / np.sqrt(n_batches - 1)
    assert (np.abs(batches.mean(axis=0) - document.exact()["E_c"]) < 5 * error + 1e-9).all()


# ------------------------------------------------------------------------------ token samplers


@MODELS
@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("lonely", [False, True])
@pytest.mark.parametrize("form", ["exact", "rows", "lists"])
def test_collapsed_draws_from_the_conditional(model, number, form, lonely):
    """The first token of a sweep, drawn many times from one state."""
    document = Document(model, number)
    K, J, groups = document.prior.K, len(document.w), document.groups
    gamma = document.rng.uniform(0.3, 1.5, J)
    indicator = np.eye(groups.max() + 1)[groups].T
    words = np.repeat(np.arange(J), document.w)
    assignments = document.rng.integers(0, K, len(words)).astype(np.int32)
    if lonely:  # the first token's component is otherwise empty
        assignments[1:][assignments[1:] == assignments[0]] = (assignments[0] + 1) % K
    counts = np.zeros((J, K), dtype=np.int32)
    collapsed.count_tokens(*document.head[:3], assignments, counts)
    totals = (indicator @ counts).astype(np.int64)
    tokens = np.column_stack([np.zeros_like(words), words, assignments])
    exposures = None if document.exposures is None else document.exposures[None]
    expected = oracle.token_conditional(document.prior, tokens, 0, groups, exposures, gamma)
    head = (*document.head, *document.table, groups.astype(np.int32), gamma, indicator @ gamma)
    index = WordIndex.of(counts, listed=form == "lists")
    if index.listed:
        blocked.index_words(
            counts, 0, J, totals, head[-3], head[-1], index.touched, *index.read[:3], index.counts,
            index.fractions,
        )  # fmt: skip
    first, moves = [], np.empty((3, len(words)), dtype=np.int64)
    for cycle in range(4000):
        z = assignments.copy()
        rest = (z, np.empty(1), np.uint64(3), cycle, 0)
        if form == "exact":
            collapsed.sweep(*head, totals.copy(), counts.copy(), *rest)
        else:
            redraw = blocked.sweep_by_lists if index.listed else blocked.sweep_by_rows
            redraw(*head, totals, counts, *index.read, z, *moves, *rest[1:])
        first.append(z[0])
    observed = np.bincount(first, minlength=K)
    assert stats.chisquare(observed, len(first) * expected).pvalue > 1e-4


@MODELS
def test_augmentation_has_the_right_means(model):
    document = Document(model, 0)
    K, n = document.prior.K, 4000
    c = np.append(np.zeros(1, dtype=np.int64), [3, 12])[:K]
    counts = np.broadcast_to(c, (n, K)).copy()
    sums = np.zeros((1, K)), np.zeros((1, K)), np.zeros((1, K)), np.zeros(1)
    drawn, seed = np.zeros((1, K)), np.uint64(5)
    levels, classes = np.zeros(n, dtype=np.int32), np.zeros(1, dtype=np.int64)
    shape, rate, chance = document.table
    gibbs.augment_scores(counts, levels, classes, shape, chance, *sums, seed, 0, 0)
    gibbs.draw_scores(sums[2], rate, classes, drawn, seed, 0)
    tables, active, _, log_beta = (part[0] / n for part in sums)
    scores = drawn[0] / n
    alpha, rate = document.shape[0], document.rate[0]
    present = np.where(c == 0, document.present[0], 1.0)
    error = 5 / np.sqrt(n)
    assert (np.abs(active - present) <= error * np.sqrt(present * (1 - present))).all()
    chances = [a / (a + np.arange(m)) for a, m in zip(alpha, c, strict=True)]
    deviation = np.sqrt([(p * (1 - p)).sum() for p in chances])
    assert (np.abs(tables - [p.sum() for p in chances]) <= error * deviation + 1e-12).all()
    square = present * (c + alpha) * (c + alpha + 1) / rate**2
    mean = present * (c + alpha) / rate
    assert (np.abs(scores - mean) <= error * np.sqrt(square - mean**2)).all()
    A, L = alpha.sum(), c.sum()
    assert abs(log_beta - digamma(A) + digamma(A + L)) < error / A + error
