# SPDX-License-Identifier: BSD-3-Clause
"""A tree of the components of a fit, by agglomeration of the nearest ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from discan.data.nouns import counted
from discan.errors import InputError
from discan.evaluation.distances import distances
from discan.fitting.result import Fit
from discan.fitting.summary import Component, summarise
from discan.hierarchy.merging import merged, merged_loadings, merged_name
from discan.hierarchy.writing import N_WORDS, as_dict, as_newick, as_text
from discan.typing import Array
from discan.validation import number, one_of, whole

__all__ = ["LINKAGES", "Tree", "grow"]

LINKAGES = ("ward", "average", "complete", "single")
MOST_WORDS = 50  # of a node
MOST_ORDERED = 400  # components; the best order of more takes too long


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """A tree whose leaves are the components of a fit.

    Nodes 0 to K - 1 are the components, node K + m is the m-th merge.

    Attributes
    ----------
    fit : Fit
    merges : (K - 1, 4) array
        As ``scipy.cluster.hierarchy.linkage`` returns them: two nodes, the height at which they
        merge, and the number of components.
    order : (K,) int array
        Components in the order in which they are shown. Neighbours are as alike as the tree allows
        (optimal leaf order).
    distance, linkage : str
        Distance between loadings, and between branches.
    """

    fit: Fit
    merges: Array
    order: Array
    distance: str
    linkage: str

    # ---- nodes ----

    @property
    def n_components(self) -> int:
        """Number of leaves, K."""
        return len(self.order)

    @property
    def root(self) -> int:
        """The node that holds all components."""
        return 2 * self.n_components - 2

    def children(self, node: int) -> tuple[int, ...]:
        """The two nodes that merge in a node, in the order shown; none of a leaf."""
        m = node - self.n_components
        if m < 0:
            return ()
        first, second = int(self.merges[m, 0]), int(self.merges[m, 1])
        swapped = self._place[self.members[first][0]] > self._place[self.members[second][0]]
        return (second, first) if swapped else (first, second)

    def height(self, node: int) -> float:
        """Distance at which the members of a node have merged; 0 for a leaf."""
        return 0.0 if node < self.n_components else float(self.merges[node - self.n_components, 2])

    @cached_property
    def members(self) -> list[list[int]]:
        """Components of each node, in the order shown."""
        result = [[k] for k in range(self.n_components)]
        for first, second in self.merges[:, :2].astype(int):
            both = result[first] + result[second]
            result.append(sorted(both, key=lambda k: int(self._place[k])))
        return result

    @cached_property
    def _place(self) -> Array:
        place = np.empty(self.n_components, dtype=int)
        place[self.order] = np.arange(self.n_components)
        return place

    def size(self, node: int) -> float:
        """Share of all tokens."""
        return float(self.fit.sizes[self.members[node]].sum())

    def name(self, node: int) -> str:
        """Name of a component; of several, their names together."""
        members = self.members[node]
        return self.fit.component_names[node] if len(members) == 1 else merged_name(
            self.fit, sorted(members)
        )  # fmt: skip

    def words(self, node: int, n: int = N_WORDS) -> list[str]:
        """Words that set a node apart from all other components, by lift; none for the root."""
        if node == self.root and self.n_components > 1:
            return []
        if node not in self._described:
            self._described[node] = self._describe(self.members[node])
        return [word.name for word in self._described[node].distinctive[:n]]

    @cached_property
    def _described(self) -> dict[int, Component]:
        """Nodes whose words were asked for."""
        return {}

    @cached_property
    def _overall(self) -> Array:
        return np.asarray(self.fit.mean_loadings @ self.fit.sizes)

    def _describe(self, members: list[int]) -> Component:
        """Describe some components together, beside all others together."""
        fit = self.fit
        own = merged_loadings(fit.mean_loadings, fit.sizes, [members])[:, 0]
        size = float(fit.sizes[members].sum())
        left = max(1.0 - size, 0.0)
        others = np.maximum(self._overall - size * own, 0.0) / left if left else self._overall
        counts = float(fit.component_counts.sum()) * np.array([[size, left]])
        found = summarise(
            np.array([own, others]), counts, counts, fit.layout, fit.group_totals, ("", ""), None,
            fit.nouns, MOST_WORDS, 0,
        )  # fmt: skip
        return next(component for component in found if component.number == 1)

    # ---- cuts ----

    def cut(self, n: Any = None, height: Any = None) -> list[int]:
        """Nodes of a cut, in the order shown.

        Parameters
        ----------
        n : int, optional
            Number of nodes.
        height : float, optional
            Branches that merge at this height or below stay together.
        """
        if (n is None) == (height is None):
            raise InputError("a cut needs either a number of components or a height")
        if n is None:
            at = number("height", height, "a number, at least 0", 0.0, np.inf)
            n_merges = int(np.searchsorted(self.merges[:, 2], at, side="right"))
        else:
            wanted = whole("n", n, 1)
            if wanted > self.n_components:
                raise InputError(
                    f"the fit has {self.n_components} components; a cut cannot have {wanted}"
                )
            n_merges = self.n_components - wanted
        inner = set(self.merges[:n_merges, :2].astype(int).ravel().tolist())
        nodes = [node for node in range(self.n_components + n_merges) if node not in inner]
        return sorted(nodes, key=lambda node: int(self._place[self.members[node][0]]))

    def groups(self, n: Any = None, height: Any = None) -> list[list[int]]:
        """Components, from 0, of each node of a cut; the arguments are those of ``cut``."""
        return [sorted(self.members[node]) for node in self.cut(n, height)]

    def merged(self, n: Any = None, height: Any = None) -> Fit:
        """Return the fit with the components of each branch of a cut as one; see ``merged``."""
        return merged(self.fit, self.groups(n, height))

    # ---- description ----

    @property
    def description(self) -> str:
        """What the tree is made by, in one sentence."""
        return (
            f"tree of {counted(self.n_components, self.fit.nouns.component)}: "
            f"{self.distance.title()} distance of the loadings, {self.linkage} linkage"
        )

    def text(self, n: Any = None, height: Any = None, n_words: int = N_WORDS) -> str:
        """Draw the tree with lines of text, down to a cut if one is given."""
        nodes = None if n is None and height is None else self.cut(n, height)
        return as_text(self, nodes, n_words)

    def newick(self) -> str:
        """Return the tree in Newick format; branch lengths are differences of height."""
        return as_newick(self)

    def as_dict(self, n_words: int = N_WORDS) -> dict[str, Any]:
        """Return the tree in plain types, for JSON: nodes with the numbers of their children."""
        return as_dict(self, n_words)

    def __str__(self) -> str:
        """Draw the tree with lines of text."""
        return self.text()

    def __repr__(self) -> str:
        """Describe the tree in one line."""
        return f"<Tree: {self.n_components} components, {self.distance}, {self.linkage} linkage>"


def grow(fit: Fit, distance: str = "hellinger", linkage: str = "ward") -> Tree:
    """Make a tree of the components of a fit: the two nearest merge, again and again.

    Parameters
    ----------
    fit : Fit
    distance : {"hellinger", "jensen-shannon"}
        Distance between the loadings of two components, from 0 (equal) to 1 (no word in common).
    linkage : {"ward", "average", "complete", "single"}
        Distance between two branches. "ward" merges the two whose merge adds least to the variance
        inside branches (both distances are those of points in a Euclidean space); its heights may
        be above 1. The others are the mean, largest and smallest distance of two components. Sizes
        of the components play no part.
    """
    one_of("linkage", linkage, LINKAGES)
    if fit.documents is None:
        raise InputError("the components were given, so their sizes are not known; fit to data")
    apart = distances(fit.components, fit.components, fit.layout, fit.group_totals, distance)
    n_components = fit.n_components
    if n_components == 1:
        return Tree(fit, np.empty((0, 4)), np.zeros(1, dtype=int), distance, linkage)
    # rounding may leave the two halves unequal in the last digit
    apart = (apart + apart.T) / 2.0
    np.fill_diagonal(apart, 0.0)
    condensed = squareform(apart, checks=False)
    merges = hierarchy.linkage(condensed, method=linkage)
    if n_components <= MOST_ORDERED:
        merges = hierarchy.optimal_leaf_ordering(merges, condensed)
    order = np.asarray(hierarchy.leaves_list(merges), dtype=int)
    return Tree(fit, merges, order, distance, linkage)
