# SPDX-License-Identifier: BSD-3-Clause
"""Random streams equal their twin, are independent, and have the right distributions."""

import numpy as np
import pytest
from kernels.streams import P_VALUE, kernels, open_stream, sample, within
from scipy import stats
from scipy.special import digamma

from discan.kernels.twins.random import Stream

WORD = 2**64 - 1


def chi_square(draws, probabilities):
    """Compare counts of 0..n with their probabilities; rare values are pooled."""
    observed = np.bincount(draws, minlength=len(probabilities)).astype(float)
    expected = len(draws) * probabilities
    rare = expected < 10
    if rare.any():
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    observed, expected = observed[expected > 0], expected[expected > 0]
    assert stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue > P_VALUE


# ---------------------------------------------------------------------------------------- twin


@pytest.mark.parametrize(
    "name", [(1, 1, 0, 0), (2**63 + 5, 6, 3, 2**31), (0, 3, 17, -1), (7, 2, 0, -12345)]
)
def test_streams_equal_their_twin(name):
    stream, twin = open_stream(*name), Stream(*name)
    assert [int(x) for x in stream] == [twin.position, twin.increment]
    assert [kernels.uniform(stream) for _ in range(100)] == [twin.uniform() for _ in range(100)]
    for n in (0, 1, 37):
        row = np.empty(n)
        kernels.uniforms(stream, n, row)
        assert list(row) == twin.uniforms(n)
    assert int(stream[0]) == twin.position


def test_too_regular_increments_are_broken_up():
    flips = []
    for unit in range(20_000):
        increment = int(open_stream(unit=unit)[1])
        assert increment % 2 == 1
        flips.append((increment ^ (increment >> 1)).bit_count())
        if flips[-1] < 26:
            assert Stream(1, kernels.SWEEP, 0, unit).increment == increment
    assert min(flips) >= 24


def test_normals_equal_their_twin():
    stream, twin = open_stream(3), Stream(3, kernels.SWEEP, 0, 0)
    n = 20_000  # some of them in the tail
    assert [kernels.normal(stream) for _ in range(n)] == [twin.normal() for _ in range(n)]
    assert int(stream[0]) == twin.position


@pytest.mark.parametrize("p", [0.0, 1e-9, 0.01, 0.3, 0.5, 0.8, 0.999, 1.0])
def test_binomials_equal_their_twin(p):
    stream, twin = open_stream(4), Stream(4, kernels.SWEEP, 0, 0)
    for n in (0, 1, 7, 60, 5000, 2_000_000_000):
        draws = [kernels.binomial(stream, n, p) for _ in range(40)]
        assert draws == [twin.binomial(n, p) for _ in range(40)]
    assert int(stream[0]) == twin.position


@pytest.mark.parametrize(
    "weights", [[1.0], [0.2, 0.5, 0.3], [0.0, 0.7, 0.0, 0.1, 0.0], [0.1, 0.2, 0.3, 1e-18, 0.0]]
)
def test_multinomials_equal_their_twin(weights):
    weights = np.array(weights)
    stream, twin = open_stream(5), Stream(5, kernels.SWEEP, 0, 0)
    draws, total = np.empty(len(weights), dtype=np.int64), np.cumsum(weights)[-1]
    for n in (0, 1, 20, 3000, 2_000_000_000):
        for _ in range(20):
            kernels.multinomial(stream, n, weights, total, draws)
            np.testing.assert_array_equal(draws, twin.multinomial(n, weights, total))
            assert draws.sum() == n
            assert not draws[weights == 0].any()
    assert int(stream[0]) == twin.position


def test_tables_equal_their_twin():
    stream, twin = open_stream(6), Stream(6, kernels.SWEEP, 0, 0)
    for n in (0, 1, 2, 50):
        for a in (1e-3, 0.7, 30.0):
            draws = [kernels.tables(stream, n, a) for _ in range(20)]
            assert draws == [twin.tables(n, a) for _ in range(20)]
    assert int(stream[0]) == twin.position


# ------------------------------------------------------------------------------- distributions


def undo_mix(value):
    """Inverse of the mixing function, which is one to one."""
    for shift, factor in ((31, 0x94D049BB133111EB), (27, 0xBF58476D1CE4E5B9), (30, 1)):
        x = value
        for _ in range(3):
            x = value ^ (x >> shift)
        value = x * pow(factor, -1, 2**64) & WORD
    return value


@pytest.mark.parametrize("bits", [0, 1, WORD // 2, WORD - 1, WORD])
def test_uniforms_are_strictly_inside_the_unit_interval(bits):
    stream = np.array([(undo_mix(bits) - 1) & WORD, 1], dtype=np.uint64)
    u = kernels.uniform(stream)
    assert 0.0 < u < 1.0
    assert abs(u - bits / 2.0**64) < 2e-16 + 2.0**-52


def test_uniform():
    u = sample(kernels.uniform, 100_000, open_stream())
    assert stats.kstest(u, "uniform").pvalue > P_VALUE
    for lag in (1, 2, 3):
        assert abs(np.corrcoef(u[lag:], u[:-lag])[0, 1]) < 5 / np.sqrt(len(u))
    pairs = np.histogram2d(u[::2], u[1::2], bins=16, range=[[0, 1], [0, 1]])[0]
    assert stats.chisquare(pairs.ravel()).pvalue > P_VALUE
    low_bits = ((u * 2**52).astype(np.int64) & 255).astype(int)
    assert stats.chisquare(np.bincount(low_bits, minlength=256)).pvalue > P_VALUE


@pytest.mark.parametrize("key", ["seed", "purpose", "cycle", "unit"])
def test_neighbouring_streams_are_unrelated(key):
    """The n-th numbers of streams 0, 1, 2, ... are independent and uniform, too."""
    heads = np.array([sample(kernels.uniform, 3, open_stream(**{key: x})) for x in range(20_000)])
    for n in range(3):
        column = heads[:, n]
        assert stats.kstest(column, "uniform").pvalue > P_VALUE
        for lag in (1, 2, 7):
            assert abs(np.corrcoef(column[lag:], column[:-lag])[0, 1]) < 5 / np.sqrt(len(column))
    across = np.corrcoef(heads.T) - np.eye(3)
    assert np.abs(across).max() < 5 / np.sqrt(len(heads))
    first, second = (sample(kernels.uniform, 20_000, open_stream(**{key: x})) for x in (0, 1))
    for lag in range(4):
        assert abs(np.corrcoef(first[lag:], second[: len(second) - lag])[0, 1]) < 5 / np.sqrt(2e4)


def test_purposes_cycles_and_units_do_not_meet():
    names = [
        (s, p, c, u) for s in range(3) for p in range(1, 7) for c in range(9) for u in range(-9, 9)
    ]
    assert len({tuple(open_stream(*name).tolist()) for name in names}) == len(names)


def test_normal():
    x = sample(kernels.normal, 400_000, open_stream())
    assert stats.kstest(x, "norm").pvalue > P_VALUE
    within(x, 0.0, 1.0)
    within(x**3, 0.0, 15.0)
    within(x**4, 3.0, 96.0)
    edge = 3.6541528853610088  # of the tail, which has a method of its own
    tail = np.abs(x[np.abs(x) > edge])
    expected = 2 * stats.norm.sf(edge) * len(x)
    assert abs(len(tail) - expected) < 5 * np.sqrt(expected)
    assert stats.kstest(tail, stats.truncnorm(edge, np.inf).cdf).pvalue > P_VALUE


@pytest.mark.parametrize(
    ("n", "p"),
    [(1, 0.5), (5, 0.3), (20, 0.2), (20, 0.9), (40, 0.25), (41, 0.25), (100, 0.5), (200, 0.93)],
)
def test_small_binomials(n, p):
    draws = sample(kernels.binomial, 40_000, open_stream(7), n, p)
    chi_square(draws, stats.binom.pmf(np.arange(n + 1), n, p))


@pytest.mark.parametrize("n", [1_000_000, 2_000_000_000])
@pytest.mark.parametrize("mean", [0.5, 9.9, 10.1, 1000.0])
@pytest.mark.parametrize("successes", [True, False])
def test_rare_binomials(n, mean, successes):
    p = mean / n
    draws = sample(kernels.binomial, 20_000, open_stream(8), n, p if successes else 1.0 - p)
    draws = draws if successes else n - draws
    within(draws, mean, mean * (1 - p))
    if mean < 20:
        chi_square(draws, stats.binom.pmf(np.arange(draws.max() + 20), n, p))


@pytest.mark.parametrize("p", [0.001, 0.3, 0.5, 0.77])
@pytest.mark.parametrize("n", [10_000_000, 2_000_000_000])
def test_large_binomials(n, p):
    draws = sample(kernels.binomial, 20_000, open_stream(9), n, p)
    within(draws, n * p, n * p * (1 - p))
    assert stats.kstest(draws, lambda k: stats.binom.cdf(k, n, p)).pvalue > P_VALUE


def multinomials(seed, size, n, weights):
    stream, out = open_stream(seed), np.empty((size, len(weights)), dtype=np.int64)
    for row in out:
        kernels.multinomial(stream, n, weights, weights.sum(), row)
    return out


def test_small_multinomials():
    weights, n = np.array([0.4, 1.0, 0.0, 0.6]), 4
    draws = multinomials(10, 20_000, n, weights)
    code = draws @ np.array([25, 5, 0, 1])
    assert not draws[:, 2].any()
    probabilities = np.zeros(125)
    for a in range(n + 1):
        for b in range(n + 1 - a):
            counts = [a, b, 0, n - a - b]
            probabilities[25 * a + 5 * b + counts[3]] = stats.multinomial.pmf(
                counts, n, weights / weights.sum()
            )
    chi_square(code, probabilities)


@pytest.mark.parametrize("n", [30, 1000, 2_000_000_000])
def test_large_multinomials(n):
    p = np.array([0.1, 0.35, 0.05, 0.5])
    draws = multinomials(11, 20_000, n, p)
    assert (draws.sum(axis=1) == n).all()
    for k in range(4):
        within(draws[:, k], n * p[k], n * p[k] * (1 - p[k]))
    product = ((draws[:, 0] - n * p[0]) * (draws[:, 3] - n * p[3])) / n
    assert abs(product.mean() + p[0] * p[3]) < 5 * product.std() / np.sqrt(len(product))


@pytest.mark.parametrize(("n", "a"), [(1, 0.5), (5, 0.1), (5, 3.0), (40, 0.7), (300, 20.0)])
def test_tables(n, a):
    draws = sample(kernels.tables, 20_000, open_stream(12), n, a)
    chances = a / (a + np.arange(n))
    assert np.isclose(chances.sum(), a * (digamma(n + a) - digamma(a)))
    assert draws.min() >= 1
    assert draws.max() <= n
    if n == 1:
        return
    within(draws, chances.sum(), (chances * (1 - chances)).sum())
    probabilities = np.ones(1)
    for p in chances:
        probabilities = np.convolve(probabilities, [1 - p, p])
    chi_square(draws, probabilities)
