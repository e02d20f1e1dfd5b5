# SPDX-License-Identifier: BSD-3-Clause
"""Simulation-based calibration (Talts et al., 2018): the truth is like any draw of the posterior.

Parameters are drawn from the prior, counts from the parameters, and a chain from the counts. If
the chain draws from the posterior, the rank of a true value among its draws is uniform. The joint
test of geweke.py asks whether a cycle leaves the posterior invariant, this one whether chains come
to it from elsewhere. What is ranked does not depend on the labels of the components, which switch.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from geweke import Cell, Chain, RunawayError, simulate_prior

__all__ = ["LargerCell", "deviations", "ranks", "worst"]


@dataclass(frozen=True)
class LargerCell(Cell):
    """A cell of six documents, which tell more than two; one group of one document is missing."""

    @cached_property
    def exposures(self):
        """Exposures (I, G)."""
        if not self.grouped:
            return np.linspace(0.5, 2.0, 6)[:, None]
        return np.array([[0.7, 0.0], [0.6, 2.4], [1.0, 1.0], [2.0, 0.5], [1.5, 1.5], [0.4, 3.0]])

    @cached_property
    def lengths(self):
        """Totals (I, G)."""
        if not self.grouped:
            return np.array([[7], [4], [12], [1], [9], [6]])
        return np.array([[5, 0], [3, 4], [6, 6], [0, 7], [2, 9], [8, 1]])


def label_free(cell, record):
    """Statistics that do not depend on the labels of the components: name -> (n,) array.

    record : arrays with a row per draw, theta (n, J, K), scores (n, I, K), c (n, I, K), n (n, J, K)
    """
    theta, s, c, n = (np.asarray(record[name]) for name in ("theta", "scores", "c", "n"))
    total = s.sum(axis=-1, keepdims=True)
    m = s / np.where(total > 0, total, 1.0)
    p = np.einsum("njk,nik->nij", theta, s)
    found = {
        "sum theta^2": (theta**2).sum((1, 2)),
        "sum log theta": np.log(theta + 1e-12).sum((1, 2)),
        "sum m^2": (m**2).sum((1, 2)),
        "largest m": m.max(axis=2).sum(axis=1),
        "(Theta s)_00": p[:, 0, 0],
        "<Theta s_0, Theta s_last>": (p[:, 0] * p[:, -1]).sum(1),
        "sum c^2": (c**2).sum((1, 2)),
        "sum n^2": (n**2).sum((1, 2)),
        "sum n theta": (n * theta).sum((1, 2)),
        "sum c s": (c * s).sum((1, 2)),
        "component totals^2": (c.sum(axis=1) ** 2).sum(axis=1),
        "zero scores": (s == 0).sum((1, 2)),
    }
    for name in cell.learn:
        values = np.asarray(record[name])
        found[f"sum log {name}"] = np.log(values).sum(axis=1)
        found[f"largest {name}"] = values.max(axis=1)
    return found


def ranks(cell, n_data, n_draws, thin, burn_in, seed):
    """Fractional ranks of the truth among the draws, in (0, 1): name -> (n_data,) array."""
    rng = np.random.default_rng([seed, *str(cell).encode()])
    truth, V = simulate_prior(cell, n_data, rng)
    true = label_free(cell, truth)
    chain = Chain(cell, seed)
    places = {name: np.empty(n_data) for name in true}
    for at in range(n_data):
        chain.start_from(V[at].sum(axis=-1))
        chain.draw(burn_in)
        rows = [chain.draw(thin) for _ in range(n_draws)]
        drawn = label_free(cell, {name: [row[name] for row in rows] for name in rows[0]})
        for name, values in drawn.items():
            below = (values < true[name][at]).sum()
            ties = (values == true[name][at]).sum()
            # a place among equals is drawn, and so is one between two draws
            places[name][at] = (below + rng.uniform(0, ties + 1)) / (n_draws + 1)
    return places


def deviations(places):
    """How far ranks are from uniform, in standard errors: name -> z.

    Of their mean, which a wrong location shifts, and of their spread about 1/2, which a wrong width
    changes.
    """
    z = {}
    for name, u in places.items():
        for what, values, mean in (("", u, 0.5), (" spread", (u - 0.5) ** 2, 1.0 / 12.0)):
            z[name + what] = (values.mean() - mean) / (values.std() / np.sqrt(len(u)) + 1e-12)
    return z


def worst(cell, *sizes, seed):
    """Name and value of the largest deviation; a chain that runs away is infinitely far."""
    try:
        z = deviations(ranks(cell, *sizes, seed=seed))
    except RunawayError:
        return "runaway", np.inf
    name = max(z, key=lambda key: abs(z[key]) if np.isfinite(z[key]) else np.inf)
    return name, abs(z[name])
