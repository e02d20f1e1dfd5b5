# SPDX-License-Identifier: BSD-3-Clause
"""What every kernel computes, in plain NumPy: slow, short, and the specification of the loops.

A twin takes the kernel's arguments without the ``out_*`` ones, and returns new arrays instead of
writing to any. Where a kernel draws, its twin draws the same numbers in the same order.
"""

from numpy import exp, log
from scipy.special import digamma
from scipy.special import gammaln as log_gamma

from .averages import add_counts, average_loadings, average_used, union_sizes
from .collapsed import assign, collapsed_sweep, count_tokens, document_counts
from .common import FLOOR, exp_digamma, log_factor, log_rising
from .conditional import expect_conditional
from .direct import (
    FEW_LEVELS,
    augment_loadings,
    augment_scores,
    draw_loadings,
    draw_log_loadings,
    gibbs_split,
    gibbs_sweep,
    log_loadings,
)
from .evidence import chib, enumerate_counts, fold_in
from .expected import (
    KEPT,
    add_neighbours,
    count_tables,
    expect,
    expect_others,
    loading_geometry,
    loading_penalty,
    log_peaks,
    renew_counts,
    renew_loadings,
    settle,
)
from .frozen import (
    GLANCE,
    LANES,
    draw_component,
    draw_listed,
    frozen_sweep,
    glance,
    index_words,
    listed_sweep,
    lowest,
    move_counts,
    move_totals,
)
from .streams import AUGMENT, EVIDENCE, FOLD_IN, LOADINGS, POOL, START, SWEEP, Stream

__all__ = [
    "AUGMENT",
    "EVIDENCE",
    "FEW_LEVELS",
    "FLOOR",
    "FOLD_IN",
    "GLANCE",
    "KEPT",
    "LANES",
    "LOADINGS",
    "POOL",
    "START",
    "SWEEP",
    "Stream",
    "add_counts",
    "add_neighbours",
    "assign",
    "augment_loadings",
    "augment_scores",
    "average_loadings",
    "average_used",
    "chib",
    "collapsed_sweep",
    "count_tables",
    "count_tokens",
    "digamma",
    "document_counts",
    "draw_component",
    "draw_listed",
    "draw_loadings",
    "draw_log_loadings",
    "enumerate_counts",
    "exp",
    "exp_digamma",
    "expect",
    "expect_conditional",
    "expect_others",
    "fold_in",
    "frozen_sweep",
    "gibbs_split",
    "gibbs_sweep",
    "glance",
    "index_words",
    "listed_sweep",
    "loading_geometry",
    "loading_penalty",
    "log",
    "log_factor",
    "log_gamma",
    "log_loadings",
    "log_peaks",
    "log_rising",
    "lowest",
    "move_counts",
    "move_totals",
    "renew_counts",
    "renew_loadings",
    "settle",
    "union_sizes",
]
