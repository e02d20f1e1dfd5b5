# SPDX-License-Identifier: BSD-3-Clause
"""Fewer or more components than were fitted: a tree of them, merged ones, and splits."""

from __future__ import annotations

import logging
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from discan.algorithms import ALGORITHMS
from discan.estimators.fitted import Fitted
from discan.estimators.frames import frame
from discan.hierarchy.costs import Cost, merging_costs
from discan.hierarchy.splitting import component_number, inside
from discan.hierarchy.tree import Tree, grow
from discan.validation import whole

__all__ = ["Trees"]

log = logging.getLogger("discan")


class Trees(Fitted):
    """The tree of a fitted estimator's components, and fits made from it."""

    def tree(self, distance: str = "hellinger", linkage: str = "ward") -> Tree:
        """Arrange the components in a tree: the two nearest merge, again and again.

        Parameters
        ----------
        distance : {"hellinger", "jensen-shannon"}, default="hellinger"
            Distance between the loadings of two components, from 0 (equal) to 1 (no word in
            common).
        linkage : {"ward", "average", "complete", "single"}, default="ward"
            Distance between two branches: by the increase of the variance inside them ("ward",
            whose heights may be above 1), or the mean, largest or smallest distance of their
            components.

        Returns
        -------
        Tree
            ``print`` draws it. ``cut``, ``groups``, ``merged``, ``newick`` and ``as_dict`` take
            it further; ``discan.plot.tree`` draws a figure.

        Examples
        --------
        >>> import numpy as np, discan
        >>> X = np.kron(np.eye(3, dtype=int), np.full((5, 4), 3))
        >>> estimator = discan.LDA(3, random_state=0).fit(X)
        >>> len(estimator.tree().cut(2))
        2
        """
        check_is_fitted(self, "fit_")
        return grow(self.fit_, distance, linkage)

    def merged(self, n: int | None = None, height: float | None = None, **how: Any) -> Self:
        """Return an estimator whose components are branches of the tree, each merged into one.

        Loadings are averaged by the numbers of tokens, scores and alpha are summed. Nothing is
        fitted again.

        Parameters
        ----------
        n : int, optional
            Number of components.
        height : float, optional
            Instead of n: branches that merge at this distance or below are one.
        **how
            Arguments of ``tree``.

        Returns
        -------
        estimator
            Fitted, of the same class, with fewer components.
        """
        fit = self.tree(**how).merged(n, height)
        result = self._like_this(fit.n_components)
        result.fit_ = fit
        result._take_columns(self)
        return result

    def merging_costs(
        self, X: Any, numbers: Any = None, library: str | None = None, **how: Any
    ) -> Any:  # fmt: skip
        """Measure what merging costs on held-out documents; a data frame.

        Parameters
        ----------
        X : (I, J) counts
            Documents that are new to the fit. A half of each predicts the other half.
        numbers : list of int, optional
            Numbers of components; by default K, and then about half as many each time.
        library : {"pandas", "polars"}, optional
            As for ``components_frame``.
        **how
            Arguments of ``tree``.

        Returns
        -------
        data frame
            A row per number of components. Columns "nats_per_token" and "error" (its standard error
            over documents), "cost" (how much better the whole fit predicts, in nats per token) and
            "cost_error", "perplexity".
        """
        corpus = self._corpus(X)
        tree = self.tree(**how)
        with self._threads() as engine:
            found = merging_costs(tree, corpus, numbers, engine)
        columns = {
            name: np.array([getattr(row, name) for row in found])
            for name in (*Cost._fields[1:], "perplexity")
        }
        return frame(library, "components", [str(row.components) for row in found], columns)

    def split(self, component: Any, X: Any, n: int = 2) -> Self:
        """Fit n components inside one component, and return the fitted estimator.

        The data are the expected counts of the component in X: each token counts with the
        probability that it belongs to the component. This is a heuristic. It divides the tokens
        step by step, and there is no joint likelihood of both levels, so it does not tell whether
        the data support the split. To find out, compare the held-out score of a fit with more
        components.

        Expected counts are not whole. A sampler cannot draw them, so a default algorithm takes its
        place, and a remark says so.

        Parameters
        ----------
        component : int or str
            Number from 1, or name.
        X : (I, J) counts
            Documents, usually those of the fit.
        n : int, default=2
            Number of components to fit inside it.

        Returns
        -------
        estimator
            Fitted, of the same class, with n components.
        """
        corpus = self._corpus(X)
        k = component_number(self.fit_, component)
        with self._threads() as engine:
            part = inside(self.fit_, k, corpus, engine)
        result: Any = self._like_this(whole("n", n, 1))
        if self.fit_.algorithm.whole_counts:
            result.set_params(algorithm="auto")
        result.fit(part)
        name = self.fit_.component_names[k]
        result.fit_ = result.fit_.named([f"{name}.{m + 1}" for m in range(n)])
        log.info(
            "%s is split by fitting %d components to its expected counts (%s): a heuristic, which "
            "does not tell whether the data support the split", name, n,
            ALGORITHMS.entry(type(result.fit_.algorithm)).shown,
        )  # fmt: skip
        fitted: Self = result
        return fitted

    def _like_this(self, n: int) -> Self:
        """Return an estimator with these settings and n components, not fitted."""
        result: Any = clone(self)
        settings = result.get_params(deep=False)
        changes: dict[str, Any] = {"n_components": n}
        if "init" in settings and not isinstance(settings["init"], str):
            changes["init"] = "auto"
        for name in ("alpha", "beta", "rho"):
            if np.ndim(settings.get(name)) > 0:
                changes[name] = None  # one number per component: these are others
        others = ("checkpoint", "callback", "n_parents")
        changes |= {name: None for name in others if name in settings}
        changed: Self = result.set_params(**changes)
        return changed

    def _take_columns(self, other: Any) -> None:
        """Know the columns of another estimator's table."""
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(other, name):
                setattr(self, name, getattr(other, name))
