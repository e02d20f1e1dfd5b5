# SPDX-License-Identifier: BSD-3-Clause
"""The result of a fit: a value that answers questions about documents and components."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from discan.errors import InputError
from discan.fitting.description import Description
from discan.fitting.naming import default_names, read_names, words_by_lift
from discan.fitting.parents import reordered
from discan.fitting.posterior import size_order
from discan.fitting.summary import Component

__all__ = ["Fit", "fit_of", "needed_fit"]


class Fit(Description):
    """A fitted model.

    Attributes
    ----------
    algorithm : Algorithm
    params : Params
        For inference on new documents: hyperparameters, and loadings unless they are those below.
    layout : Layout
        The columns of the table that was fitted.
    loadings : Loadings
        Means and variances of the loadings.
    documents : Documents or None
        Tables of the training documents; None if components were given.
    trace, reason, converged, n_cycles, settings
        The record of the fit: why it stopped, and what was decided before it began.
    draws : Draws or None
        Draws that were kept.
    record : Record or None
        A few numbers of every draw that was averaged; None without draws.
    chains : Chains or None
        What several chains, or starts, have in common; None if there was one.
    document_names : tuple of str or None
    metadata : dict of str to (I,) array
        Columns that describe the training documents, e.g. party or date.
    nouns : Nouns
        What documents, words and components are called.
    reading : dict
        How the training documents were read.
    left_out : (n,) uint32 array
        Checksums of words that were left out then, as too rare or too frequent.
    group_totals : (G,) array
        Mean count of each group in the documents that have it.
    given_names : (K,) tuple of str and None
        Names of the components that were given; () if none was.
    unused : dict of str to (n,) array
        Hyperparameters of components that hold nothing and are in no table; empty if all are.
    """

    def by_size(self) -> Self:
        """Return the same fit with its components in order of size, the largest first."""
        if self.documents is None:
            return self
        found = self.permuted(size_order(self.documents.totals))
        return found._with_parents_by_size() if found.params.model.levels > 1 else found

    def _with_parents_by_size(self) -> Self:
        order = size_order(self.parent_sizes)
        documents: Any = self.documents
        return replace(
            self,
            params=reordered(self.params, order),
            documents=documents.with_parents_in(order),
            draws=None if self.draws is None else self.draws.with_parents_in(order),
        )

    def named(self, names: Any = words_by_lift) -> Self:
        """Return the same fit with other names of its components.

        Parameters
        ----------
        names : mapping, sequence or callable
            Names by number from 1 or by present name, where the other components keep theirs; K
            names in order; or a function of a ``Component`` (its words, their lift, its typical
            documents) that returns a name. None and "" take a name away. By default, the words
            that set the component apart.
        """
        defaults = default_names(self.nouns.component, self.n_components)
        given = self.given_names or (None,) * self.n_components
        return replace(self, given_names=read_names(names, given, defaults, self._in_order))

    def _in_order(self) -> list[Component]:
        """Describe every component, in the order of the components."""
        return sorted(self.summary(), key=lambda component: component.number)


def fit_of(source: Any) -> Fit | None:
    """Return a fit as it is, or the fit of a fitted estimator of discan; None otherwise."""
    fit = getattr(source, "fit_", source)
    return fit if isinstance(fit, Fit) else None


def needed_fit(source: Any, purpose: str) -> Fit:
    """Return the fit of a fit or fitted estimator; the error says what needs it."""
    fit = fit_of(source)
    if fit is None:
        raise InputError(f"{purpose} a fit or a fitted estimator of discan")
    return fit
