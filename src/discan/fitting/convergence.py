# SPDX-License-Identifier: BSD-3-Clause
"""Whether a fit has converged, in words, and what to do if it has not."""

from __future__ import annotations

import numpy as np

from discan.errors import InputError
from discan.typing import Array

__all__ = ["chain_rise", "verdict"]

# A chain is taken to rise if its objective does by this much, in nats per token, and beyond noise.
RISE, STANDARD_ERRORS = 1e-3, 3.0
BATCHES, FEWEST_CYCLES = 5, 20


def chain_rise(objective: Array, burn_in: int, n_tokens: float) -> float | None:
    """Rise of a chain's objective in nats per token, from the first to the second half of draws.

    A rise that is small, or that could be noise by the means of five batches of each half, is 0.
    None means that the chain is too short to tell.

    Parameters
    ----------
    objective : (cycles,) array
    burn_in : int
        Cycles before the first draw. The first half of all cycles is left out in any case.
    n_tokens : float
    """
    drawn = objective[max(burn_in, len(objective) // 2) :]
    if len(drawn) < FEWEST_CYCLES:
        return None
    half = len(drawn) // 2
    means = [
        np.array([batch.mean() for batch in np.array_split(part, BATCHES)])
        for part in (drawn[:half], drawn[-half:])
    ]
    rise = float(means[1].mean() - means[0].mean())
    error = float(np.sqrt(sum(m.var(ddof=1) / BATCHES for m in means)))
    per_token = rise / max(n_tokens, 1.0)
    return per_token if per_token > RISE and rise > STANDARD_ERRORS * error else 0.0


def verdict(
    converged: bool, reason: str, objective: Array, n_tokens: float, burn_in: int | None
) -> InputError:
    """Say whether a fit has converged, and what to do if it has not.

    The answer is a message with the advice as data, so that a shell can word it in its own way.

    Parameters
    ----------
    converged : bool
    reason : str
        Why the fit stopped.
    objective : (cycles,) array
    n_tokens : float
    burn_in : int or None
        Cycles of a chain before its first draw; None for algorithms that do not sample.
    """
    if converged and burn_in is not None and reason.startswith("all "):
        return InputError("converged: the objective of the chain no longer rises")
    if converged:
        return InputError(f"converged: {reason}")
    if reason in ("interrupted", "stopped by the callback"):
        return InputError(f"not converged: {reason} after cycle {len(objective)}")
    if burn_in is None:
        return _still_changes(objective, n_tokens)
    rise = chain_rise(objective, burn_in, n_tokens)
    longer = {"max_iter": 2 * len(objective)}
    if rise is None:
        return InputError("the chain is too short to tell whether it has converged", use=longer)
    by = f", by {rise:.2g} nats per token during the draws" if rise else " a little"
    if 4 * burn_in > len(objective):
        longer = {"burn_in": 2 * burn_in}
    return InputError(f"not converged: the objective of the chain still rises{by}", use=longer)


def _still_changes(objective: Array, n_tokens: float) -> InputError:
    change = float(np.diff(objective[-2:]).sum()) / max(n_tokens, 1.0)
    still = "rises" if change > 0 else "changes"
    others = {"algorithm": "collapsed"} if float(n_tokens).is_integer() else {}
    return InputError(
        f"not converged: the objective still {still}, by {abs(change):.2g} nats per token in the "
        "last cycle",
        use={"max_iter": 2 * len(objective), **others},
    )
