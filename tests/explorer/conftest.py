# SPDX-License-Identifier: BSD-3-Clause
"""Fits of text and of votes, with names that attack a page."""

import numpy as np
import pytest

import discan
from discan.data.nouns import TEXT, VOTES

NASTY = [
    "</script><script>window.__pwned=1</script>", '"><img src=x onerror=window.__pwned=1>',
    "</style></title><b>", "<!--", "' onload='x", "`${7*7}`", "a\u2028b\u2029", "javascript:1",
    "{{7*7}}{0}", "\u202eevil", "\x1b]0;x\x07", "&amp;lt;", "line\none\vtwo\tthree", "__proto__",
]  # fmt: skip


def nasty(kind, n):
    return [f"{kind} {i} {NASTY[i % len(NASTY)]}" for i in range(n)]


@pytest.fixture(scope="session")
def corpus():
    """Texts of three kinds with labels and dates; one is empty."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(np.kron(np.eye(3), np.full((20, 10), 2.0)) + 0.05)
    counts[7] = 0
    return discan.Corpus(
        counts, word_names=nasty("w", 30), document_names=nasty("d", 60), nouns=TEXT,
        metadata={"section": np.repeat(nasty("s", 3), 20), "id": nasty("i", 60),
                  "date": [f"{1990 + n % 12}-01-31" for n in range(60)],
                  "excerpt": [f"{text}\nw 1 and more {text}" for text in nasty("t", 60)]},
    )  # fmt: skip


@pytest.fixture(scope="session")
def words(corpus):
    """Topics of the texts; one topic more than needed."""
    return discan.LDA(
        4, algorithm="map", alpha=0.1, max_iter=30, random_state=0, progress=False
    ).fit(corpus)


@pytest.fixture(scope="session")
def ballots():
    """Votes of two camps, some missing."""
    rng = np.random.default_rng(1)
    camp, groups = rng.integers(0, 2, 50), 8
    chosen = (rng.random((50, groups)) < 0.1 + 0.8 * camp[:, None]).astype(int)
    counts = np.zeros((50, groups, 2), dtype=int)
    counts[np.arange(50)[:, None], np.arange(groups), chosen] = 1
    counts[3, 2:4] = 0
    names = [f"roll call {n} {NASTY[n]}" for n in range(groups)]
    return discan.Corpus(
        counts.reshape(50, -1), groups=np.repeat(range(groups), 2), nouns=VOTES,
        group_names=names, document_names=nasty("r", 50), metadata={"party": list("DR") * 25},
        word_names=[f"{name}={answer}" for name in names for answer in ("yea", "nay")],
    )  # fmt: skip


@pytest.fixture(scope="session")
def votes(ballots):
    """Blocs of the votes, with standard deviations."""
    chain = discan.Collapsed(burn_in=20, n_draws=10)
    return discan.MPCA(2, algorithm=chain, alpha=0.2, random_state=0, progress=False).fit(ballots)
