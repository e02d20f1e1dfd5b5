# SPDX-License-Identifier: BSD-3-Clause
"""Why some models cannot be fitted by some algorithms, and what to use instead."""

from __future__ import annotations

from discan.errors import DiscanError, InputError
from discan.models import Model

__all__ = ["atom_refusal", "process_refusal"]


def process_refusal(name: str, model: Model) -> DiscanError | None:
    """Refuse a model whose number of components is learnt by algorithms that draw no tokens."""
    if not model.drawn_alone:
        return None
    return InputError(
        f"{name} gives every component a part of each token, so that none is unused, and the "
        f"{model.name} model learns how many are used",
        use={"algorithm": ("collapsed", "gibbs"), "model": model.fixed().short},
    )


def atom_refusal(name: str, model: Model, why: str) -> DiscanError | None:
    """Refuse a point estimate of a model whose scores can be exactly zero."""
    if model.flat() is not None:
        return None
    return InputError(
        f"{name} makes no sense for the {model.name} model: its scores have an atom at zero{why}",
        use={"algorithm": ("variational", "gibbs", "collapsed"), "model": "gamma-poisson"},
    )
