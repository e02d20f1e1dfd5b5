# SPDX-License-Identifier: BSD-3-Clause
"""The result of a search: numbers, a table, a figure and a verdict in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discan.estimators.frames import frame
from discan.typing import Array

__all__ = ["COLUMNS", "ModelComparison", "Selection"]

COLUMNS = (
    "seed", "fold", "bits_per_token", "bound", "evidence", "stability", "coherence", "seconds",
    "cycles", "converged",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Search:
    """What a choice of K and a comparison of models share.

    Attributes
    ----------
    verdict : str
        What the measurements say, in words.
    table : list of dict
        One row per setting: ``bits`` per held-out token with ``error``, its standard error;
        ``gap``, the difference from the best, with ``gap_error``, its standard error by paired
        differences; ``starts``, the standard deviation over starts; means of ``stability``,
        ``coherence`` and ``seconds``.
    rows : list of dict
        One row per fit; see ``frame``.
    baseline : float
        Bits per token of one distribution for all documents, the word shares of the training data.
    protocol, reason : str
        How data were held out, and why so.
    unit : str
        What is measured, e.g. "bits per held-out vote".
    """

    verdict: str
    table: list[dict[str, Any]]
    rows: list[dict[str, Any]]
    baseline: float
    protocol: str
    reason: str
    unit: str

    key = "setting"

    def frame(self, library: str | None = None) -> Any:
        """All fits as a data frame, one row per setting, seed and fold.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            By default the one that is installed; pandas, if both are.

        Returns
        -------
        frame
            Columns: K (or model), seed, fold, bits_per_token, bound (variational bound on the log
            evidence, nats; NaN for other algorithms), evidence (log p(W | totals) of the
            setting, nats; NaN if it was not computed),
            stability, coherence, seconds, cycles, converged.
        """
        columns = {
            name: np.array([row[name] for row in self.rows]) for name in (self.key, *COLUMNS)
        }
        return frame(library, "fit", [str(n) for n in range(len(self.rows))], columns)

    def __str__(self) -> str:
        """Return the verdict."""
        return self.verdict


@dataclass(frozen=True, eq=False, repr=False)
class Selection(Search):
    """How many components: the result of ``select_components``.

    Attributes
    ----------
    best : int
        K that predicts best.
    smallest : int
        Smallest K within one standard error of the best.
    flat : (int, int) or None
        Range of K around the best that the data do not distinguish.
    verdict, table, rows, baseline, protocol, reason, unit
        See ``Search``.
    """

    best: int = 0
    smallest: int = 0
    flat: tuple[int, int] | None = None

    key = "K"

    def plot(self, **options: Any) -> Any:
        """Draw the bits per token against K; options are those of ``discan.plot.selection``."""
        import discan

        return discan.plot.selection(self, **options)

    def to_dict(self) -> dict[str, Any]:
        """Return best, smallest, flat, verdict and table, ready for JSON."""
        return {
            "best": self.best,
            "smallest": self.smallest,
            "flat": None if self.flat is None else list(self.flat),
            "verdict": self.verdict,
            "table": self.table,
        }

    def __repr__(self) -> str:
        """Describe the result in one line."""
        return f"<Selection: best K={self.best}, smallest={self.smallest}, flat={self.flat}>"


@dataclass(frozen=True, eq=False, repr=False)
class ModelComparison(Search):
    """Which model: the result of ``compare_models``.

    Attributes
    ----------
    best : str
        Model that predicts best.
    close : list of str
        Models that the data do not distinguish from it, itself included.
    verdict, table, rows, baseline, protocol, reason, unit
        See ``Search``.
    """

    best: str = ""
    close: list[str] = field(default_factory=list)

    key = "model"

    def to_dict(self) -> dict[str, Any]:
        """Return best, close, verdict and table, ready for JSON."""
        return {
            "best": self.best, "close": self.close, "verdict": self.verdict, "table": self.table,
        }  # fmt: skip

    def __repr__(self) -> str:
        """Describe the result in one line."""
        return f"<ModelComparison: best {self.best}, close {', '.join(self.close)}>"


def mean(values: Sequence[float] | Array) -> float:
    """Return the mean of the values that are known; NaN if none is."""
    known = [value for value in values if value == value]
    return sum(known) / len(known) if known else float("nan")
