# SPDX-License-Identifier: BSD-3-Clause
"""Show in a terminal what components are: the parts that handwritten digits are made of."""

from __future__ import annotations

import sys
import time
from typing import TextIO

import numpy as np

from discan.algorithms import Gibbs
from discan.estimators.dca import DCA, ConditionalGaP
from discan.typing import Array

__all__ = ["main"]

N_COMPONENTS = 10
A_ROW = 5
CELL = 16  # columns of a picture: 8 pixels, two characters each
GAP = "   "
BLOCKS, LETTERS = " ░▒▓█", " .+*#"


def main(out: TextIO | None = None, burn_in: int = 80, n_draws: int = 40) -> None:
    """Fit the digits and print the components, one digit explained, and the held-out score."""
    out = out or sys.stdout
    shades = _shades(out)
    counts, digits = _digits()
    held_out = np.arange(len(counts)) % 10 == 9

    print(
        f"{len(counts):,} handwritten digits of 8 x 8 pixels; a count is the ink of a pixel, 0 to "
        f"16.\nWhich strokes are they made of? Fitting {N_COMPONENTS} components ...",
        file=out,
        flush=True,
    )
    began = time.perf_counter()
    estimator = ConditionalGaP(
        N_COMPONENTS,
        algorithm=Gibbs(burn_in=burn_in, n_draws=n_draws),
        random_state=0,
        progress=False,
    ).fit(counts[~held_out])
    seconds = time.perf_counter() - began
    print(
        f"Conditional Gamma-Poisson by Gibbs sampling: {estimator.n_iter_} sweeps over "
        f"{counts[~held_out].sum():,} units of ink, {seconds:.1f} s.\n",
        file=out,
    )

    order = np.argsort(-estimator.component_counts_.sum(axis=0))
    _print_components(estimator, order, digits[~held_out], shades, out)
    at = int(np.flatnonzero(held_out)[digits[held_out] == 3][0])
    _print_digit(estimator, order, counts[at], int(digits[at]), shades, out)
    _print_score(estimator, counts[~held_out], counts[held_out], out)


# ---- parts of the page ----


def _print_components(
    estimator: DCA, order: Array, digits: Array, shades: str, out: TextIO
) -> None:
    """Pictures side by side, each with its share of all ink and the digits it is found in."""
    ink = estimator.component_counts_
    by_digit = np.stack([ink[digits == digit].mean(axis=0) for digit in range(10)])
    pictures = [_picture(estimator.components_[k], shades) for k in order]
    for first in range(0, len(order), A_ROW):
        ranks = range(first, min(first + A_ROW, len(order)))
        print(_row(f"{rank + 1}".center(CELL) for rank in ranks), file=out)
        for line in zip(*(pictures[rank] for rank in ranks), strict=True):
            print(_row(line), file=out)
        sizes = [ink[:, order[rank]].sum() / ink.sum() for rank in ranks]
        print(_row(f"{size:.0%} of the ink".center(CELL) for size in sizes), file=out)
        found = [_found_in(by_digit[:, order[rank]]) for rank in ranks]
        print(_row(f"in {digits_}".center(CELL) for digits_ in found) + "\n", file=out)


def _print_digit(
    estimator: DCA, order: Array, counts: Array, digit: int, shades: str, out: TextIO
) -> None:
    """One digit that was not fitted, its components, and what they make together."""
    row = counts[None, :]
    ink = estimator.component_counts(row)[0]
    absent = estimator.prob_absent(row)[0]
    rebuilt = estimator.inverse_transform(estimator.transform(row))[0]
    rank_of = {int(k): rank + 1 for rank, k in enumerate(order)}
    largest = np.argsort(-ink)[:6]
    lines = ["component    ink   P(absent)"]
    lines += [f"{rank_of[int(k)]:>9}  {ink[k]:>5.0f}   {absent[k]:>9.2f}" for k in largest]
    lines.append(f"{'the rest':>9}  {ink.sum() - ink[largest].sum():>5.0f}")
    print(f"A {digit} that was not fitted, explained; on the right, its components together:\n",
          file=out)  # fmt: skip
    for left, middle, right in zip(
        _picture(counts, shades), lines, _picture(rebuilt, shades), strict=True
    ):
        print(f"{left}{GAP}{middle:<32}{GAP}{right}".rstrip(), file=out)


def _print_score(estimator: DCA, train: Array, test: Array, out: TextIO) -> None:
    """Perplexity of documents that were not fitted, beside the unigram's."""
    unigram = DCA.from_components(train.sum(axis=0, keepdims=True) + 0.5)
    ours, baseline = (np.exp(-model.score(test)) for model in (estimator, unigram))
    print(
        f"\nHeld out, {len(test)} digits: half of the ink shown, the other half predicted.\n"
        f"Pixels still in doubt (perplexity): {ours:.1f} of 64; "
        f"with one average picture (unigram) {baseline:.1f}.",
        file=out,
    )


# ---- details ----


def _digits() -> tuple[Array, Array]:
    from sklearn.datasets import load_digits

    data = load_digits()
    return data.data.astype(np.int64), data.target


def _picture(pixels: Array, shades: str) -> list[str]:
    """Eight lines of shades, two characters a pixel."""
    levels = np.ceil(pixels / max(pixels.max(), 1e-300) * (len(shades) - 1) - 0.35).astype(int)
    return ["".join(shades[level] * 2 for level in row) for row in levels.reshape(8, 8)]


def _found_in(by_digit: Array) -> str:
    """Digits with a good part of the component, the most first, at most five."""
    largest = np.argsort(-by_digit)[:5]
    return " ".join(str(digit) for digit in largest if by_digit[digit] > 0.4 * by_digit.max())


def _row(cells: object) -> str:
    return GAP.join(cells).rstrip()  # type: ignore[arg-type]


def _shades(out: TextIO) -> str:
    """Block characters where the stream can write them, else ASCII."""
    try:
        BLOCKS.encode(getattr(out, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return LETTERS
    return BLOCKS


if __name__ == "__main__":
    main()
