# SPDX-License-Identifier: BSD-3-Clause
"""A start from corners finds the extreme documents, and what the others mix of them."""

import numpy as np
import pytest
from conftest import planted

import discan
from discan import Corpus
from discan.algorithms.corners import farthest, from_corners

N_PEOPLE, N_SITES = 240, 1200


def people(n_populations, missing=0.0, seed=3):
    """Genotypes; the first people are of one population each."""
    rng = np.random.default_rng(seed)
    frequencies = rng.uniform(0.05, 0.95, (n_populations, N_SITES))
    shares = rng.dirichlet(np.full(n_populations, 1.0), N_PEOPLE)
    shares[: 3 * n_populations] = np.repeat(np.eye(n_populations), 3, axis=0)
    second = rng.binomial(2, np.clip(shares @ frequencies, 0, 1))
    known = rng.random(second.shape) >= missing
    counts = np.stack([2 - second, second], axis=2) * known[:, :, None]
    corpus = Corpus(counts.reshape(N_PEOPLE, -1), groups=np.repeat(np.arange(N_SITES), 2))
    return corpus, shares, frequencies


@pytest.mark.parametrize("n_populations", [2, 3, 5])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_it_finds_planted_populations(n_populations, missing):
    corpus, shares, frequencies = people(n_populations, missing)
    found = from_corners(corpus, n_populations, 0)
    similar = np.corrcoef(found.scores.T, shares.T)[:n_populations, n_populations:]
    order = similar.argmax(axis=0)
    assert sorted(order) == list(range(n_populations))
    assert similar.max(axis=0).min() > 0.95
    assert np.abs(found.scores[:, order] - shares).mean() < 0.08
    loadings = found.loading_counts[1::2] / (found.loading_counts[::2] + found.loading_counts[1::2])
    for k, n in enumerate(order):
        assert np.corrcoef(loadings[:, n], frequencies[k])[0, 1] > 0.9


def test_counts_and_scores_are_in_range():
    corpus, *_ = people(3, 0.05)
    counts = corpus.to_csr().toarray()
    counts[7] = 0  # nothing known
    counts[:, 10] = 0  # an allele that nobody has
    counts[:, 20:22] = 0  # a site that is unknown in all
    corpus = Corpus(counts, groups=np.repeat(np.arange(N_SITES), 2))
    found = from_corners(corpus, 4, 0)
    assert np.isfinite(found.loading_counts).all()
    assert np.isfinite(found.scores).all()
    assert (found.loading_counts[corpus.word_totals > 0] > 0).all()
    assert (found.loading_counts[[10, 20, 21]] == 0).all()
    np.testing.assert_allclose(found.scores.sum(axis=1), 1.0)
    groups = found.loading_counts.reshape(N_SITES, 2, 4).sum(axis=1)
    totals = corpus.word_totals.reshape(N_SITES, 2).sum(axis=1)
    np.testing.assert_allclose(groups, np.repeat(totals[:, None] / 4, 4, axis=1))


def test_principal_components_are_exact_enough():
    """The cloud is never made in full; its places are those of the full one."""
    corpus, *_ = people(4)
    table = corpus.to_csr().toarray() / 2.0
    centred = table - table.mean(axis=0)
    left, lengths, _ = np.linalg.svd(centred, full_matrices=False)
    chosen = farthest(left[:, :3] * lengths[:3], 4)
    found = from_corners(corpus, 4, 0)
    assert sorted(found.scores[chosen].argmax(axis=1)) == [0, 1, 2, 3]
    assert (found.scores[chosen].max(axis=1) > 0.99).all()


def test_each_row_is_the_farthest_from_those_before():
    corners = np.array([[10.0, 0.0, 0.0], [0.0, 8.0, 0.0], [0.0, 0.0, 6.0], [-5.0, -5.0, -5.0]])
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.dirichlet(np.ones(4), 50) @ corners, corners])
    assert sorted(farthest(rows, 4)) == [50, 51, 52, 53]


@pytest.mark.parametrize("n_components", [1, 2, 7])
@pytest.mark.parametrize("groups", [None, [0] * 10 + [1] * 20])
def test_any_fit_can_start_there(n_components, groups):
    rng = np.random.default_rng(1)
    components, proportions = planted(rng, (5, 30), 3, 0.2, 0.4)
    X = rng.poisson(40 * proportions @ components)
    fits = [
        discan.DCA(n_components, algorithm="map", init="corners", groups=groups, n_jobs=n,
                   max_iter=5, random_state=0).fit(X)
        for n in (1, 2)
    ]  # fmt: skip
    np.testing.assert_array_equal(fits[0].components_, fits[1].components_)
    assert np.isfinite(fits[0].components_).all()
