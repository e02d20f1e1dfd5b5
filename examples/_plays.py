# SPDX-License-Identifier: BSD-3-Clause
"""Read the plays of Last.fm users, sample them, and predict totals without components."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.stats import nbinom, poisson

import discan

__all__ = ["read", "totals_without_components", "two_samples"]


def read(folder: Path) -> discan.Corpus:
    """Read plays, users by artists."""
    lines = (folder / "artists.dat").read_text("utf-8").split("\n")
    name_of = dict(line.split("\t")[:2] for line in lines if line)
    lines = (folder / "user_artists.dat").read_text("utf-8").split("\n")
    rows = [line.split() for line in lines if line[:1].isdigit()]  # some copies have a header
    users, artists, counts = np.array(rows).T
    row = np.unique(users, return_inverse=True)[1]
    ids, column = np.unique(artists, return_inverse=True)
    table = sparse.csr_array((counts.astype(np.int64), (row, column)))
    return discan.Corpus(table, word_names=[name_of[i] for i in ids])


def two_samples(plays: Any, share: float, seed: int) -> tuple[Any, Any]:
    """Draw two independent Poisson samples of the plays, each with this share as its exposure."""
    rng = np.random.default_rng(seed)
    return discan.thin(discan.thin(plays, 2 * share, rng)[1], 0.5, rng)


def totals_without_components(train: Any, test: Any) -> dict[str, float]:
    """Mean log-probability of held-out totals: Poisson around the first total, or gamma rates."""

    def loss(logs: Any) -> float:
        shape, rate = np.exp(logs)
        return -float(nbinom.logpmf(train, shape, rate / (rate + 1.0)).sum())

    start = np.log([1.0, 1.0 / train.mean()])
    shape, rate = np.exp(minimize(loss, start, method="Nelder-Mead").x)
    gamma = nbinom.logpmf(test, shape + train, (rate + 1.0) / (rate + 2.0))
    return {
        "the same number again, Poisson": float(poisson.logpmf(test, train + 0.5).mean()),
        "a gamma law of its own (negative binomial)": float(gamma.mean()),
    }
