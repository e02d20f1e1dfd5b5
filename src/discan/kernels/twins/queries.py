# SPDX-License-Identifier: BSD-3-Clause
"""Twin of the probability of a query."""

import numpy as np

__all__ = ["tokens_in_turn"]


def tokens_in_turn(values, components, rest, background, inverse_weight, loadings, own):
    """Log probability of the tokens of a query in each document, (I,)."""
    if components.size:
        mean = np.multiply.outer(rest, background).astype(np.float64)
        mean[np.arange(len(rest))[:, None], components] += values
    else:
        mean = values.astype(np.float64)
    weight = 1.0 / np.maximum(inverse_weight, 1e-300)
    logs = np.zeros(len(mean))
    with np.errstate(divide="ignore", invalid="ignore"):
        for x, y in zip(own.T, loadings.astype(np.float64), strict=True):
            by_components = mean @ y
            chance = x + by_components
            logs += np.log(chance)
            r = np.where(chance > 0, by_components / chance, 0.0)
            s = r / (1.0 + weight)
            ratio = np.where(by_components > 0, s / by_components, 0.0)
            mean *= (1.0 - s)[:, None] + np.multiply.outer(ratio, y)
            weight = weight + r
    return logs
