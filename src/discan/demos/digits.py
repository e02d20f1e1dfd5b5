# SPDX-License-Identifier: BSD-3-Clause
"""Components of handwritten digits: the strokes that the digits consist of."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TextIO

import numpy as np

from discan.algorithms import Gibbs
from discan.demos.terminal import Terminal, shade
from discan.estimators import DCA, ConditionalGaP
from discan.typing import Array

__all__ = ["digits"]

N_COMPONENTS = 10
PER_ROW = 5
CELL = 16  # characters per line of a picture: 8 pixels of two characters
GAP = "   "


def digits(stream: TextIO | None = None, burn_in: int = 80, n_draws: int = 40) -> DCA:
    """Fit the digits; print the components, one digit explained, and the held-out score.

    Parameters
    ----------
    stream : text stream, default stdout
    burn_in, n_draws : int
        Sweeps of the sampler before the draws, and draws.

    Returns
    -------
    DCA
        The fitted estimator.
    """
    from sklearn.datasets import load_digits

    console = Terminal(stream, soft_wrap=True)  # pictures are never wrapped
    data = load_digits()
    counts, labels = data.data.astype(np.int64), data.target
    held_out = np.arange(len(counts)) % 10 == 9
    train, test = counts[~held_out], counts[held_out]
    console.print(
        f"{len(counts):,} handwritten digits of 8 x 8 pixels; a count is the ink of a pixel, 0 to "
        f"16.\nWhich strokes do they consist of? Fitting {N_COMPONENTS} components ..."
    )
    began = time.perf_counter()
    estimator = ConditionalGaP(
        N_COMPONENTS,
        algorithm=Gibbs(burn_in=burn_in, n_draws=n_draws),
        random_state=0,
        progress=False,
    ).fit(train)
    console.print(
        f"Conditional Gamma-Poisson by Gibbs sampling: {estimator.n_iter_} sweeps over "
        f"{train.sum():,} units of ink, {time.perf_counter() - began:.1f} s.\n"
    )
    order = np.argsort(-estimator.component_counts_.sum(axis=0))
    _print_components(console, estimator, order, labels[~held_out])
    at = int(np.flatnonzero(labels[held_out] == 3)[0])
    _print_digit(console, estimator, order, test[at], 3)
    _print_score(console, estimator, train, test)
    return estimator


# ---- parts of the page ----


def _print_components(console: Terminal, estimator: DCA, order: Array, labels: Array) -> None:
    """Print pictures side by side, each with its share of all ink and its main digits."""
    ink = estimator.component_counts_[:, order]
    by_digit = np.stack([ink[labels == digit].mean(axis=0) for digit in range(10)])
    pictures = [_picture(row) for row in estimator.components_[order]]
    sizes = ink.sum(axis=0) / ink.sum()
    for first in range(0, len(order), PER_ROW):
        ranks = range(first, min(first + PER_ROW, len(order)))
        lines = [
            [f"{rank + 1}".center(CELL) for rank in ranks],
            *zip(*(pictures[rank] for rank in ranks), strict=True),
            [f"{sizes[rank]:.0%} of the ink".center(CELL) for rank in ranks],
            [f"in {_main_digits(by_digit[:, rank])}".center(CELL) for rank in ranks],
        ]
        console.print("\n".join(map(_row, lines)) + "\n")


def _print_digit(
    console: Terminal, estimator: DCA, order: Array, counts: Array, digit: int
) -> None:
    """Print one held-out digit, its components, and their sum."""
    row = counts[None, :]
    ink = estimator.component_counts(row)[0]
    absent = estimator.prob_absent(row)[0]
    rebuilt = estimator.inverse_transform(estimator.transform(row))[0]
    rank_of = {int(k): rank + 1 for rank, k in enumerate(order)}
    largest = np.argsort(-ink)[:6]
    lines = ["component    ink   P(absent)"]
    lines += [f"{rank_of[int(k)]:>9}  {ink[k]:>5.0f}   {absent[k]:>9.2f}" for k in largest]
    lines.append(f"{'the rest':>9}  {ink.sum() - ink[largest].sum():>5.0f}")
    console.print(f"A held-out {digit}, explained; on the right, the sum of its components:\n")
    middle = [f"{line:<32}" for line in lines]
    for parts in zip(_picture(counts), middle, _picture(rebuilt), strict=True):
        console.print(_row(parts))


def _print_score(console: Terminal, estimator: DCA, train: Array, test: Array) -> None:
    """Print the perplexity of held-out digits, and that of a single component."""
    unigram = DCA.from_components(train.sum(axis=0, keepdims=True) + 0.5)
    ours, baseline = (np.exp(-model.score(test)) for model in (estimator, unigram))
    console.print(
        f"\nHeld out, {len(test)} digits: half of the ink is given, the other half predicted.\n"
        f"Perplexity: {ours:.1f} of 64 pixels; with one average picture (unigram) {baseline:.1f}."
    )


# ---- details ----


def _picture(pixels: Array) -> list[str]:
    """Return eight lines of shades, two characters per pixel."""
    shares = pixels / max(pixels.max(), 1e-300)
    darker = shares.reshape(8, 8) + 0.0375  # so that faint pixels are seen
    return ["".join(shade(share) * 2 for share in row) for row in darker]


def _main_digits(by_digit: Array) -> str:
    """Return the digits with much of a component, the most first, at most five."""
    largest = np.argsort(-by_digit)[:5]
    return " ".join(str(digit) for digit in largest if by_digit[digit] > 0.4 * by_digit.max())


def _row(cells: Iterable[str]) -> str:
    return GAP.join(cells).rstrip()
