# SPDX-License-Identifier: BSD-3-Clause
"""Hide some votes, and compute their probabilities given the other votes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from _roll_calls import turned

import discan
from discan.typing import Array

__all__ = [
    "KINDS_OF_SPLITS",
    "METHODS",
    "ORIENTATIONS",
    "PRIOR",
    "Length",
    "Score",
    "bits",
    "held_out",
]

PRIOR = {"alpha": 0.1, "gamma": 0.5, "progress": False}  # gamma = 1/2 is Jeffreys' prior
ORIENTATIONS = ("senators", "roll calls")  # what a document is
METHODS = ("variational", "sampler")
SHARE = 0.1  # of the votes that is hidden


class Length(NamedTuple):
    """The sizes of all runs."""

    sizes: tuple[int, ...] = tuple(range(2, 11))
    chosen: int = 5
    starts_per_size: int = 5
    starts: int = 10
    chains: int = 4
    splits: int = 10
    burn_in: int = 150
    n_draws: int = 60

    def n_starts(self, method: str) -> int:
        """Return the number of starts of a method."""
        return self.starts if method == "variational" else self.chains

    def fit(self, corpus: discan.Corpus, n_components: int, method: str, seed: int) -> discan.MPCA:
        """Fit by one of the methods, from a start by MAP."""
        settings: dict[str, Any] = {"algorithm": "variational", "max_iter": 500, "tol": 1e-6}
        if method == "sampler":
            sampler = discan.Collapsed(self.burn_in, self.n_draws, keep_draws=True)
            settings = {"algorithm": sampler}
        return discan.MPCA(n_components, init="map", random_state=seed, **settings, **PRIOR).fit(
            corpus
        )


class Hidden(NamedTuple):
    """Votes to learn from, senators as documents; and hidden votes: senator, roll call, answer."""

    rest: discan.Corpus
    senators: Array
    calls: Array
    answers: Array

    def seen_as(self, orientation: str) -> tuple[discan.Corpus, Array, Array]:
        """Return the table to fit, and document and word of each hidden vote in it."""
        if orientation == ORIENTATIONS[0]:
            return self.rest, self.senators, 2 * self.calls + self.answers
        return turned(self.rest), self.calls, 2 * self.senators + self.answers


class Score(NamedTuple):
    """Bits per hidden vote: mean over single starts, and of the average of their probabilities."""

    single: float
    averaged: float


def held_out(
    corpus: discan.Corpus, kind: str, number: int, orientation: str, n_components: int,
    method: str, n_starts: int, run: Length,
) -> Array:  # fmt: skip
    """Return the posterior probability of each hidden vote by each start, (starts, votes).

    Parameters
    ----------
    corpus : Corpus
        All votes, senators as documents.
    kind : str
        One of ``KINDS_OF_SPLITS``.
    number : int
        Number of the split.
    orientation : {"senators", "roll calls"}
        The documents.
    n_components : int
    method : {"variational", "sampler"}
        "variational" assumes that memberships and blocs are independent a posteriori: the
        probability is the product of their means. "sampler" averages it over the draws.
    n_starts : int
    run : Length
    """
    hidden = KINDS_OF_SPLITS[kind](corpus, number)
    table, documents, words = hidden.seen_as(orientation)
    result = []
    for start in range(n_starts if n_components > 1 else 1):
        model = run.fit(table, n_components, method, 100 * number + start)
        pairs = [(model.proportions_, model.components_.T)]
        if model.draws_ is not None:
            counts = np.array(model.draws_.component_counts) + PRIOR["alpha"]
            shares = counts / counts.sum(axis=2, keepdims=True)
            pairs = list(zip(shares, model.draws_.loadings, strict=True))
        mixed = [np.einsum("nk,nk->n", m[documents], theta[words]) for m, theta in pairs]
        result.append(np.mean(mixed, axis=0))
    return np.array(result)


def bits(chance: Array) -> Score:
    """Score the probabilities (starts, votes), each start by itself and all averaged."""
    single, averaged = (-np.log2(part).mean() for part in (chance, chance.mean(axis=0)))
    return Score(float(single), float(averaged))


def split(corpus: discan.Corpus, number: int) -> Hidden:
    """Hide a random tenth of the votes; each number gives another split."""
    return _hidden(*discan.split_entries(corpus, SHARE, number))


def fold(corpus: discan.Corpus, number: int) -> Hidden:
    """Hide one of ten disjoint tenths."""
    place = np.random.default_rng(0).permutation(corpus.n_entries) % round(1 / SHARE)
    parts = [np.where((place == number) == hidden, corpus.counts, 0) for hidden in (False, True)]
    return _hidden(*(corpus.with_counts(part, None) for part in parts))


def _hidden(rest: discan.Corpus, hidden: discan.Corpus) -> Hidden:
    senators = np.repeat(np.arange(hidden.n_documents), np.diff(hidden.indptr))
    calls, answers = np.divmod(hidden.words, 2)
    return Hidden(rest, senators, calls, answers)


KINDS_OF_SPLITS = {"random splits": split, "disjoint tenths": fold}
