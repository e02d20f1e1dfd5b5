# SPDX-License-Identifier: BSD-3-Clause
"""Fits of several kinds, with names that attack a page."""

import numpy as np
import pytest

import discan
from discan.data.nouns import ALLELES, ANSWERS, CELLS, TEXT, VOTES

NASTY = [
    "<script>window.__pwned=1</script>", '"><img src=x onerror=alert(1)>', "</svg></title><b>",
    "<!--", "' onload='x", "`${7*7}`", "a\u2028b", "javascript:alert(1)", "{{7*7}}{0}",
    "\u202eevil", "\x1b]0;x\x07", "&amp;lt;",
]  # fmt: skip


def nasty(kind, n):
    return [f"{kind} {i} {NASTY[i % len(NASTY)]}" for i in range(n)]


@pytest.fixture(scope="session")
def words():
    """Topics of texts with labels and dates."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(np.kron(np.eye(3), np.full((20, 10), 2.0)) + 0.05)
    corpus = discan.Corpus(
        counts, word_names=nasty("w", 30), document_names=nasty("d", 60), nouns=TEXT,
        metadata={"section": np.repeat(nasty("s", 3), 20), "id": nasty("i", 60),
                  "date": [f"{1990 + n % 12}-01-31" for n in range(60)]},
    )  # fmt: skip
    return discan.LDA(
        3, algorithm="map", alpha=0.1, max_iter=30, random_state=0, progress=False
    ).fit(corpus)


def answers(nouns, n_answers, **settings):
    rng = np.random.default_rng(1)
    camp, groups = rng.integers(0, 2, 50), 8
    chosen = (rng.random((50, groups)) < 0.15 + 0.7 * camp[:, None]).astype(int)
    chosen += (n_answers - 2) * rng.integers(0, 2, (50, groups))
    counts = np.zeros((50, groups, n_answers), dtype=int)
    counts[np.arange(50)[:, None], np.arange(groups), chosen] = 1
    names = nasty("q", groups)
    corpus = discan.Corpus(
        counts.reshape(50, -1), groups=np.repeat(range(groups), n_answers), nouns=nouns,
        group_names=names, document_names=nasty("r", 50), metadata={"party": list("DR") * 25},
        word_names=[f"{name}={a}" for name in names for a in ["yea", "nay", "x"][:n_answers]],
    )  # fmt: skip
    return discan.MPCA(2, random_state=0, progress=False, **settings).fit(corpus)


@pytest.fixture(scope="session")
def fits(words):
    """One fit of each kind of data, by several algorithms and models."""
    rng = np.random.default_rng(2)
    cells = discan.Corpus(rng.poisson(2.0, (30, 12)), nouns=CELLS)  # no names at all
    chain = discan.Collapsed(burn_in=10, n_draws=8)
    return {
        "text": words,
        "votes": answers(VOTES, 2, algorithm=chain, alpha=0.2),
        "survey": answers(ANSWERS, 3, algorithm="variational", max_iter=20),
        "genotypes": answers(ALLELES, 2, algorithm="ml", max_iter=20),
        "cells": discan.GaP(2, max_iter=10, random_state=0, progress=False).fit(cells),
        "absent": discan.ConditionalGaP(2, max_iter=5, random_state=0, progress=False).fit(cells),
        "single": discan.LDA(1, max_iter=3, random_state=0, progress=False).fit(cells),
    }
