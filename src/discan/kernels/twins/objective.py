# SPDX-License-Identifier: BSD-3-Clause
"""Twin of the samplers' objective."""

from .special import log_rising

__all__ = ["log_loadings"]


def log_loadings(loading_counts, group_totals, gamma, gamma_totals):
    """Sum of log D_gk: the words given their components, loadings integrated out (theory 2.4)."""
    cells = log_rising(gamma[:, None], loading_counts)
    return cells.sum() - log_rising(gamma_totals[:, None], group_totals).sum()
