# SPDX-License-Identifier: BSD-3-Clause
"""What the measurements say about K, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from discan.data.nouns import Nouns, counted
from discan.evaluation.comparison import ALIKE, SAME
from discan.selection.measures import Measured, paired_gap
from discan.typing import Array

__all__ = ["Verdict", "on_auto", "unit", "verdict_on"]

CLOSE = 2.0  # standard errors: differences below are not decided by the data
NEGLIGIBLE = 0.01  # part of what components gain over none: differences below do not matter


class Verdict(NamedTuple):
    """The best K, the smallest within one standard error, the flat range or None, and the words."""

    best: int
    smallest: int
    flat: tuple[int, int] | None
    text: str


def verdict_on(measured: Measured, stable: Array, nouns: Nouns, shares: float) -> Verdict:
    """Judge settings that are in order of K.

    Parameters
    ----------
    stable : (S,) array
        Mean similarity of matched components over starts, NaN with one start.
    shares : float
        Part of the fits that had converged.
    """
    sizes = np.array([setting.n_components for setting in measured.settings])
    at = measured.best
    best, what = int(sizes[at]), unit(nouns)
    gain = measured.baseline - measured.bits[at]
    within = measured.gap <= measured.gap_error
    smallest = int(sizes[np.argmax(within)])
    close = measured.gap <= np.maximum(CLOSE * measured.gap_error, NEGLIGIBLE * max(gain, 0.0))
    low = high = at
    while low > 0 and close[low - 1]:
        low -= 1
    while high < len(sizes) - 1 and close[high + 1]:
        high += 1
    flat = (int(sizes[low]), int(sizes[high])) if high > low else None
    says = [_best(measured, best, what), _smallest(best, smallest, len(sizes))]
    if flat is not None:
        says.append(_flat(measured, sizes, low, high, what))
    says.append(_others(sizes, np.delete(close, range(low, high + 1)), low, high))
    says.append(_edges(sizes, at, flat))
    says.append(_gain(measured, gain, what))
    says.append(_starts(measured, at, low, high, float(stable[at]), what))
    if shares < 0.5:
        says.append(
            f"The fits are short, and {100 * shares:.0f} % of them had converged: give them more "
            "cycles if K are close, and fit the K that you choose for longer."
        )
    return Verdict(best, smallest, flat, " ".join(text for text in says if text))


def on_auto(measured: Measured, rows: Sequence[Mapping[str, Any]], nouns: Nouns) -> str:
    """Say how the last setting, which learns K, predicts against the best of the others.

    ``rows`` are all fits.
    """
    last = len(measured.settings) - 1
    best = measured.first(last).best
    gap, error = paired_gap(measured, last, best)
    name, what = measured.settings[last].n_components, unit(nouns)
    own = [row for row in rows if row["K"] == name]
    found = sorted({int(row["n_components"]) for row in own})
    numbers = counted(found[0], "component") if len(found) == 1 else (
        f"{found[0]} to {found[-1]} components"
    )  # fmt: skip
    if abs(gap) <= CLOSE * error:
        verdict = f"predicts about as well as K = {{}} (difference {abs(gap):.2g} ± {error:.1g})"
    else:
        worse = "worse" if gap > 0 else "better"
        verdict = f"predicts {worse} than K = {{}}, by {abs(gap):.2g} ± {error:.1g} {what}"
    took = sum(row["seconds"] for row in own)
    others = sum(row["seconds"] for row in rows) - took
    return (
        f'"{name}" uses {numbers} and {verdict.format(measured.settings[best].n_components)}; its '
        f"fits took {took:.3g} s, those of all K {others:.3g} s."
    )


def unit(nouns: Nouns) -> str:
    """Word the unit of measurement: "bits per held-out vote"."""
    return f"bits per held-out {nouns.word}"


def _best(measured: Measured, best: int, what: str) -> str:
    at = measured.best
    return f"K = {best} predicts best: {measured.bits[at]:.4f} {what}."


def _smallest(best: int, smallest: int, n: int) -> str:
    if n == 1:
        return ""
    if smallest == best:
        return "No smaller K is within one standard error of it."
    return f"The smallest K within one standard error of it is {smallest}."


def _flat(measured: Measured, sizes: Array, low: int, high: int, what: str) -> str:
    most = float(measured.gap[low : high + 1].max())
    return (
        f"The curve is flat from K = {sizes[low]} to {sizes[high]}: these differ by at most "
        f"{most:.2g} {what}, too little to choose between them. Choose among them by what "
        f"the components tell you, or take the simplest, {sizes[low]}."
    )


def _others(sizes: Array, close: Array, low: int, high: int) -> str:
    """Say whether the K outside of the flat part, or other than the best, are clearly worse."""
    outside = np.delete(sizes, range(low, high + 1))
    if not len(outside):
        return ""
    if not close.any():
        return "" if high > low else "All other K that were tried predict clearly worse."
    listed = " and ".join(f"K = {size}" for size in outside[close])
    verb = "is" if close.sum() == 1 else "are"
    return f"{listed} {verb} not clearly worse either, though a K between is."


def _edges(sizes: Array, at: int, flat: tuple[int, int] | None) -> str:
    """Say so if the answer may lie outside the K that were tried."""
    if len(sizes) == 1:
        return ""
    if at == len(sizes) - 1 and flat is None:
        return f"{sizes[-1]} is the largest K that was tried: try larger ones."
    if flat is not None and flat[1] == sizes[-1] and flat[0] != sizes[0]:
        return f"The flat part may go on beyond {sizes[-1]}, the largest K that was tried."
    if at == 0 and sizes[0] > 1:
        return f"{sizes[0]} is the smallest K that was tried: try smaller ones."
    return ""


def _gain(measured: Measured, gain: float, what: str) -> str:
    error = measured.error[measured.best]
    if gain <= CLOSE * error:
        return (
            f"But no K predicts clearly better than one distribution for all rows "
            f"({measured.baseline:.4f} {what}): there may be no components in these data."
        )
    return ""


def _starts(measured: Measured, at: int, low: int, high: int, stable: float, what: str) -> str:
    deviation = float(measured.starts[at])
    if np.isnan(deviation):
        return "One start per K: how far starts disagree is not known."
    best = measured.settings[at].n_components
    text = f"Fits of the same K from other starts differ by {deviation:.2g} {what}"
    most = float(measured.gap[low : high + 1].max())
    if high > low and deviation > most:
        text += ", more than the K of the flat part do"
    apart = 1.0 - stable
    kind = "the same" if apart <= SAME else "alike" if apart <= ALIKE else "different"
    return f"{text}; their components are {kind} (similarity {stable:.2f} of 1 at K = {best})."
