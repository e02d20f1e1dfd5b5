# SPDX-License-Identifier: BSD-3-Clause
"""Corpora with a known number of components, and small searches that tests share."""

import numpy as np
import pytest

import discan


def text_like(rng, n_components=4, n_documents=150, n_words=120, length=80):
    """Documents of several topics over a common vocabulary."""
    components = rng.dirichlet(np.full(n_words, 0.05), n_components)
    shares = rng.dirichlet(np.full(n_components, 0.2), n_documents)
    counts = [rng.multinomial(length, row) for row in shares @ components]
    return discan.Corpus(np.array(counts))


def votes_like(rng, n_components=3, n_documents=80, n_groups=60, missing=0.05):
    """Members of blocs who vote yes or no, some votes missing."""
    chances = rng.beta(0.3, 0.3, (n_components, n_groups))
    shares = rng.dirichlet(np.full(n_components, 0.1), n_documents)
    yes = rng.random((n_documents, n_groups)) < shares @ chances
    seen = rng.random((n_documents, n_groups)) >= missing
    counts = np.zeros((n_documents, 2 * n_groups), dtype=int)
    counts[:, ::2], counts[:, 1::2] = yes & seen, ~yes & seen
    return discan.Corpus(counts, groups=np.repeat(np.arange(n_groups), 2))


def genotypes_like(rng, n_components=3, n_documents=90, n_groups=150):
    """Mixed individuals of a few populations: two alleles at each locus."""
    chances = rng.beta(0.8, 0.8, (n_components, n_groups))
    shares = rng.dirichlet(np.full(n_components, 0.3), n_documents)
    first = rng.binomial(2, shares @ chances)
    counts = np.zeros((n_documents, 2 * n_groups), dtype=int)
    counts[:, ::2], counts[:, 1::2] = first, 2 - first
    return discan.Corpus(counts, groups=np.repeat(np.arange(n_groups), 2))


@pytest.fixture(scope="session")
def makers():
    return {"text": text_like, "votes": votes_like, "genotypes": genotypes_like}


@pytest.fixture(scope="session")
def votes():
    return votes_like(np.random.default_rng(1), 3, 40, 30)


@pytest.fixture(scope="session")
def text():
    return text_like(np.random.default_rng(2), 3, 40, 60, 40)


@pytest.fixture(scope="session")
def searched(votes):
    """A small search over K that several tests look at."""
    return discan.select_components(votes, (1, 2, 3, 5), folds=3, max_iter=60, n_jobs=2)
