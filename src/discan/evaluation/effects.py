# SPDX-License-Identifier: BSD-3-Clause
"""Effects of labels: mean shares of components by label or over time, and how sure they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from discan.data.metadata import read_metadata
from discan.data.periods import periods
from discan.errors import InputError, shown
from discan.evaluation.intervals import drawn_shares
from discan.fitting.result import Fit
from discan.typing import Array
from discan.validation import number, one_of

__all__ = ["OF", "Contrast", "Effects", "Means", "effects"]

MOST_LABELS = 400
OF = {
    "population": "all documents of the kind, of which these are a sample",
    "documents": "these documents and no others; needs draws that were kept",
}


@dataclass(frozen=True, eq=False)
class Means:
    """Mean shares of groups of documents, and what their uncertainty is made of.

    Attributes
    ----------
    n_documents : (G,) array
    means : (D, G, K) array
        One per draw; a single one if the shares are taken as known.
    sampling : (G, K) array
        Variance of a mean because other documents could have been drawn: the variance between
        documents divided by their number, averaged over draws. NaN for a single document.
    """

    n_documents: Array
    means: Array
    sampling: Array

    @classmethod
    def of(cls, draws: Iterable[Array], group: Array, n_groups: int) -> Means:
        """Take means of shares, (I, K) per draw; group -1 is left out."""
        known = group >= 0
        sizes = np.bincount(group[known], minlength=n_groups).astype(np.float64)
        means, variances = [], []
        for shares in draws:
            sums = np.zeros((n_groups, shares.shape[1]))
            np.add.at(sums, group[known], shares[known])
            with np.errstate(divide="ignore", invalid="ignore"):
                mean = sums / sizes[:, None]
                squares = np.zeros_like(sums)
                np.add.at(squares, group[known], (shares[known] - mean[group[known]]) ** 2)
                # one document tells nothing of the variance
                variances.append(
                    np.where(sizes[:, None] > 1, squares / (sizes[:, None] - 1), np.nan)
                    / sizes[:, None]
                )
            means.append(mean)
        return cls(sizes.astype(np.int64), np.array(means), np.mean(variances, axis=0))

    def estimate(self, weights: Array, level: float, of: str) -> tuple[Array, Array, Array]:
        """Estimates, lower and upper limits of weighted sums of groups (R, G), each (R, K).

        The variance is that of Rubin's rules: sampling of documents, averaged over draws, plus
        (1 + 1/D) times the variance between draws. The limits are those of Student's t, degrees of
        freedom by Satterthwaite.
        """
        used = weights != 0
        clean = np.where(np.isfinite(self.means), self.means, 0.0)
        found = np.array([weights @ draw for draw in clean])
        missing = used @ (self.n_documents == 0) > 0
        centre = found.mean(axis=0)
        centre[missing] = np.nan
        n_draws = len(found)
        between = np.zeros_like(centre)
        if n_draws > 1:
            between = (1.0 + 1.0 / n_draws) * found.var(axis=0, ddof=1)
        within, squares = np.zeros_like(centre), np.zeros_like(centre)
        if of == "population":
            for row, (weight, here) in enumerate(zip(weights, used, strict=True)):
                parts = weight[here, None] ** 2 * self.sampling[here]
                within[row] = parts.sum(axis=0)
                freedom = np.maximum(self.n_documents[here, None] - 1.0, 1.0)
                squares[row] = (parts**2 / freedom).sum(axis=0)
        squares = squares + between**2 / max(n_draws - 1, 1)
        total = within + between
        with np.errstate(divide="ignore", invalid="ignore"):
            freedom = np.where(squares > 0, total**2 / squares, 1e6)
        reach = stdtrit(np.clip(freedom, 1.0, 1e6), (1.0 + level) / 2.0) * np.sqrt(total)
        return centre, centre - reach, centre + reach


@dataclass(frozen=True, eq=False)
class Contrast:
    """Mean share in documents of one label minus that of another, (K,) each."""

    first: str
    second: str
    difference: Array
    low: Array
    high: Array

    @property
    def apart(self) -> Array:
        """Whether the interval does not hold 0, (K,)."""
        return np.asarray((self.low > 0) | (self.high < 0))


@dataclass(frozen=True, eq=False)
class Effects:
    """Mean shares by label, or over time.

    Attributes
    ----------
    by : str
        What the labels are: the name of a column, or "label".
    period : str or None
        "year", "month", ..., or "" for numbers; None for labels that are not times.
    labels : (G,) list of str
    n_documents : (G,) array
    n_missing : int
        Documents without a label, which are left out.
    mean, low, high : (G, K) arrays
        NaN where there are no documents; limits are NaN for one document of a population.
    level : float
    covers : str
        What the intervals cover, in words.
    fit : Fit
    means : Means
    of : str
        "population" or "documents".
    """

    by: str
    period: str | None
    labels: list[str]
    n_documents: Array
    n_missing: int
    mean: Array
    low: Array
    high: Array
    level: float
    covers: str
    fit: Fit
    means: Means
    of: str

    def contrast(self, first: Any, second: Any) -> Contrast:
        """Differences of the mean shares of two labels, with intervals.

        Draws are shared by both labels, so what is uncertain in both alike cancels.
        """
        weights = np.zeros((1, len(self.labels)))
        weights[0, self._place(first)] += 1.0
        weights[0, self._place(second)] -= 1.0
        if not weights.any():
            raise InputError(f"a contrast needs two labels, and {shown(first)} is given twice")
        found, low, high = self.means.estimate(weights, self.level, self.of)
        return Contrast(str(first), str(second), found[0], low[0], high[0])

    def _place(self, label: Any) -> int:
        if str(label) not in self.labels:
            raise InputError(
                "{} is not among the labels", argument="contrast", value=label,
                use={"contrast": tuple(self.labels[:20])},
            )  # fmt: skip
        return self.labels.index(str(label))


def effects(
    fit: Fit, labels: Any = None, *, time: Any = None, level: float = 0.9, of: str = "population"
) -> Effects:
    """Mean share of each component in documents of each label, or period, with intervals.

    Parameters
    ----------
    fit : Fit
    labels : name of a column of the metadata, or (I,) labels
    time : name of a column of the metadata, or (I,) dates or numbers
        Instead of labels; it is cut into at most about sixty periods.
    level : float
        Probability of an interval.
    of : {"population", "documents"}
        What a mean is the mean of. "population": all documents of the kind, of which these are a
        sample; the interval covers the sampling of documents, and if draws were kept also the
        posterior. "documents": these documents; the interval covers the posterior, by draws.
    """
    level = number("level", level, "a number between 0 and 1", 1e-6, 1 - 1e-6)
    one_of("of", of, OF)
    if fit.documents is None:
        raise InputError("the components were given, so there are no training documents")
    if (labels is None) == (time is None):
        raise InputError("give either labels or time")
    given = labels if time is None else time
    by, column = _column(fit, given, "labels" if time is None else "time")
    period, titles, group = _groups(by, column) if time is None else _periods(by, column)
    draws, covers = _draws(fit, of)
    if fit.class_names:
        covers += "; the fit knew classes, and drew shares towards those of a document's class"
    means = Means.of(draws, group, len(titles))
    mean, low, high = means.estimate(np.eye(len(titles)), level, of)
    return Effects(
        by, period, titles, means.n_documents, int((group < 0).sum()), mean,
        np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0), level, covers, fit, means, of,
    )  # fmt: skip


def _draws(fit: Fit, of: str) -> tuple[Iterable[Array], str]:
    """Return the shares of the documents, by draw if possible, and what intervals cover then."""
    documents = fit.nouns.documents
    n_draws = 0 if fit.draws is None else len(fit.draws.component_counts)
    rates = np.asarray(fit.hyperparameter("beta") if not fit.params.model.normalised else 1.0)
    reason = "" if n_draws > 1 else "no draws were kept"
    if not reason and (np.ptp(rates) > 0 or fit.hyperparameter("rho") is not None):
        reason = "draws of amounts are not draws of shares if components differ in beta or rho"
    if not reason and fit.params.model.levels > 1:
        reason = "draws of the counts tell no shares if components have parents"
    if not reason:
        posterior = f"the posterior by {n_draws} draws"
        if of == "documents":
            return drawn_shares(fit), f"{posterior}, for these {documents} only"
        return drawn_shares(fit), f"the sampling of {documents}, and {posterior}"
    if of == "documents":
        raise InputError(
            f"the uncertainty of these documents' shares is not known: {reason}",
            remedy="fit with a sampler that keeps its draws",
            use={"of": ("population",)},
        )
    return [fit.proportions], (
        f"the sampling of {documents} only; their shares are taken as known ({reason})"
    )


def _column(fit: Fit, given: Any, argument: str) -> tuple[str, Array]:
    """Return the name of a column and its values, numbers or texts (I,)."""
    if isinstance(given, str):
        if given in fit.metadata:
            return given, fit.metadata[given]
        if not fit.metadata:
            raise InputError(
                f"there is no column {given!r}: the documents have no metadata",
                remedy=f"give {argument}, one per document",
            )
        raise InputError(
            "{} is not a column", argument=argument, value=given,
            use={argument: tuple(fit.metadata)},
        )  # fmt: skip
    name = argument.removesuffix("s")
    return name, read_metadata({name: given}, len(fit.scores))[name]


def _groups(by: str, column: Array) -> tuple[None, list[str], Array]:
    """Return the labels, sorted, and the number of each document's; -1 if it has none."""
    numbers = column.dtype != object
    missing = [np.isnan(v) if numbers else v is None for v in column]
    present = {v for v, gone in zip(column.tolist(), missing, strict=True) if not gone}
    if len(present) > MOST_LABELS:
        raise InputError(
            f"{by} has {len(present):,} different values, too many to be labels",
            remedy="give a column with fewer, or time",
        )
    if not present:
        raise InputError(f"{by} has no values")
    values = sorted(present)
    place = {value: g for g, value in enumerate(values)}
    group = np.array([-1 if gone else place[v] for v, gone in zip(column, missing, strict=True)])
    return None, [f"{v:.6g}" if numbers else str(v) for v in values], group


def _periods(by: str, column: Array) -> tuple[str, list[str], Array]:
    """Return the periods and that of each document; -1 if its time is missing."""
    found = periods(column)
    if found is None:
        example: Sequence[Any] = [value for value in column.tolist() if value is not None][:1]
        told = f", e.g. {shown(example[0])}" if example else ""
        raise InputError(
            f"{by} has no dates that can be read{told}",
            remedy="give dates such as 2005-01-31, or numbers",
        )
    return found.kind, found.names, found.number
