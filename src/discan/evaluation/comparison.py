# SPDX-License-Identifier: BSD-3-Clause
"""Compare two fits: which components are the same, which split, merged, appeared or vanished."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from discan.data.layout import Layout
from discan.evaluation.columns import Shared, shared_columns
from discan.evaluation.matching import Matching, match_components
from discan.fitting.result import Fit, needed_fit
from discan.typing import Array

__all__ = ["ALIKE", "SAME", "Comparison", "Relation", "compare", "listed", "mixing"]

# Matched components are the same up to this distance, and alike up to that.
SAME, ALIKE = 0.25, 0.5
# Parts of a split: each is this share of the whole, and comes from it by this share.
PART, ORIGIN = 0.2, 0.5
# Number of words, the most frequent ones, and of cycles that the mixing uses.
MOST_WORDS, CYCLES = 5000, 200


@dataclass(frozen=True)
class Relation:
    """One row of a comparison: a component of the first fit and its partner in the second.

    Attributes
    ----------
    first, second : int or None
        Numbers from 0; None if there is no partner.
    distance : float or None
    relation : str
        "same", "alike", "different"; "only in the first", "only in the second".
    """

    first: int | None
    second: int | None
    distance: float | None
    relation: str


@dataclass(frozen=True, eq=False)
class Comparison:
    """The result of ``compare``.

    Attributes
    ----------
    first, second : Fit
    shared : Shared
        Columns that both fits have.
    matching : Matching
        One to one, by optimal assignment.
    flow : (K, L) array
        Share of all tokens that a component of the first fit and one of the second both explain,
        estimated from the loadings; sums to 1.
    """

    first: Fit
    second: Fit
    shared: Shared
    matching: Matching
    flow: Array

    @property
    def similarity(self) -> float:
        """Mean of 1 - distance over the pairs; a component without partner counts as 0."""
        return self.matching.similarity

    @property
    def splits(self) -> list[tuple[int, list[int]]]:
        """Components of the first fit that are several of the second."""
        return _parts(self.flow)

    @property
    def merges(self) -> list[tuple[int, list[int]]]:
        """Components of the second fit that are several of the first."""
        return _parts(self.flow.T)

    @property
    def relations(self) -> list[Relation]:
        """A row per component of the first fit, then those that only the second has."""
        found = []
        partner = dict(self.matching.pairs.tolist())
        for k in range(self.first.n_components):
            if k not in partner:
                found.append(Relation(k, None, None, "only in the first"))
                continue
            apart = float(self.matching.distances[k, partner[k]])
            word = "same" if apart <= SAME else "alike" if apart <= ALIKE else "different"
            found.append(Relation(k, partner[k], apart, word))
        return found + [
            Relation(None, k, None, "only in the second") for k in self.matching.only_second
        ]

    @cached_property
    def sentences(self) -> list[str]:
        """The comparison in words."""
        first, second = self.first.component_names, self.second.component_names
        matched = self.matching.matched
        n, nouns = len(matched), self.first.nouns
        same = int((matched <= SAME).sum())
        text = [
            f"{same} of {n} matched {nouns.components} are the same (Hellinger distance at most "
            f"{SAME:g}); their mean distance is {matched.mean():.2f}"
        ]
        told_first, told_second = set(), set()
        for k, parts in self.splits:
            text.append(
                f"{first[k]} of the first splits into {listed([second[p] for p in parts])} of the "
                "second"
            )
            told_first.add(k)
            told_second.update(parts)
        for k, parts in self.merges:
            text.append(
                f"{listed([first[p] for p in parts])} of the first merge into {second[k]} of the "
                "second"
            )
            told_second.add(k)
            told_first.update(parts)
        partner = dict(self.matching.pairs.tolist())
        far = {k for k, p in partner.items() if self.matching.distances[k, p] > ALIKE}
        gone = sorted((set(self.matching.only_first) | far) - told_first)
        new = sorted((set(self.matching.only_second) | {partner[k] for k in far}) - told_second)
        text += [
            f"the second has nothing like {first[k]} of the first ({_percent(size)})"
            + _mainly(second, row, "goes mainly to")
            for k, size, row in zip(gone, _sizes(self.first)[gone], self.flow[gone], strict=True)
        ]
        text += [
            f"the first has nothing like {second[k]} of the second ({_percent(size)})"
            + _mainly(first, row, "comes mainly from")
            for k, size, row in zip(new, _sizes(self.second)[new], self.flow.T[new], strict=True)
        ]
        if self.shared.left_out > 0.005:
            text.append(
                f"words that only one of the two knows, {100 * self.shared.left_out:.0f} % of all "
                "counts, are left out"
            )
        return text

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison in plain types, for JSON."""
        first, second = self.first.component_names, self.second.component_names

        def named(names: Sequence[str], k: int | None) -> str | None:
            return None if k is None else names[k]

        return {
            "measure": self.matching.measure,
            "similarity": self.similarity,
            "verdict": self.sentences,
            "components": [
                {
                    "first": named(first, row.first), "second": named(second, row.second),
                    "distance": row.distance, "relation": row.relation,
                }
                for row in self.relations
            ],
            "splits": [
                {"first": first[k], "second": [second[p] for p in parts]}
                for k, parts in self.splits
            ],
            "merges": [
                {"first": [first[p] for p in parts], "second": second[k]}
                for k, parts in self.merges
            ],
            "first": list(first),
            "second": list(second),
            "distances": self.matching.distances.tolist(),
            "flow": self.flow.tolist(),
        }  # fmt: skip


def compare(first: Fit, second: Fit, measure: str = "hellinger") -> Comparison:
    """Compare two fits; the numbers of components may differ.

    Words are matched by name, or by place if they have no names. Words that only one of the fits
    knows are left out.

    Parameters
    ----------
    first, second : Fit, or fitted estimator
        The fits to compare.
    measure : {"hellinger", "jensen-shannon"}
        Distance of two components.

    Returns
    -------
    Comparison
        ``relations``, a row per component; ``splits`` and ``merges``; ``sentences``, all in words.

    Examples
    --------
    >>> import numpy as np, discan
    >>> X = np.kron(np.eye(2, dtype=int), np.full((5, 4), 3))
    >>> one, two = (discan.LDA(2, random_state=seed).fit(X) for seed in (0, 1))
    >>> [row.relation for row in discan.compare(one, two).relations]
    ['same', 'same']
    """
    first, second = (needed_fit(each, "each side of compare must be") for each in (first, second))
    shared = shared_columns(first, second)
    matching = match_components(shared.first, shared.second, shared.layout, shared.weights, measure)
    flow = flow_between(shared, _sizes(first), _sizes(second))
    return Comparison(first, second, shared, matching, flow)


def flow_between(shared: Shared, sizes: Array, others: Array) -> Array:
    """Share of all tokens in component k of one fit and in component l of the other, (K, L).

    The components of each fit are written as mixtures of those of the other (``mixing``). The mean
    of both answers is scaled so that its sums are the sizes of the components.
    """
    forth = mixing(shared.first, shared.second, shared.layout, shared.weights)
    back = mixing(shared.second, shared.first, shared.layout, shared.weights)
    flow = sizes[:, None] * forth + (others[:, None] * back).T
    flow = np.maximum(flow, 1e-9 * flow.max())
    for _ in range(100):
        flow *= (sizes / flow.sum(axis=1))[:, None]
        flow *= others / np.maximum(flow.sum(axis=0), 1e-300)
    return np.asarray(flow / flow.sum())


def mixing(
    components: Array, others: Array, layout: Layout | None = None, weights: Array | None = None
) -> Array:
    """Write each component (K, J) as a mixture of others (L, J): shares (K, L), rows sum to 1.

    The shares minimise the Kullback-Leibler divergence; this is the fold-in of maximum likelihood,
    of the components as documents. Groups of words weigh by ``weights`` (G,).
    """
    share = np.ones(components.shape[1])
    if layout is not None and layout.n_groups > 1:
        given = np.ones(layout.n_groups) if weights is None else weights
        share = (given / given.sum())[layout.group_of_word]
    if len(share) > MOST_WORDS:
        total = (components.mean(axis=0) + others.mean(axis=0)) * share
        kept = np.sort(np.argsort(-total, kind="stable")[:MOST_WORDS])
        components, others, share = components[:, kept], others[:, kept], share[kept]
    counts = components * share
    counts = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
    known = np.maximum(others, 1e-12)
    result = np.full((len(components), len(others)), 1.0 / len(others))
    # Products of matrices must not depend on the threads. On a busy machine, several threads may
    # wait for each other a hundred times longer than these products take.
    with threadpool_limits(1, "blas"):
        for _ in range(CYCLES):
            result = result * ((counts / (result @ known)) @ known.T)
            result /= np.maximum(result.sum(axis=1, keepdims=True), 1e-300)
    return result


def _parts(flow: Array) -> list[tuple[int, list[int]]]:
    """Rows of a flow that consist of several columns, which come from them mainly."""
    sizes, others = flow.sum(axis=1), flow.sum(axis=0)
    result = []
    for k, row in enumerate(flow):
        parts = np.flatnonzero((row >= PART * sizes[k]) & (row >= ORIGIN * others))
        if len(parts) > 1:
            result.append((k, [int(p) for p in parts[np.argsort(-row[parts], kind="stable")]]))
    return result


def _sizes(fit: Fit) -> Array:
    """Sizes of the components, none of them 0; given components are equally large."""
    if fit.documents is None:
        return np.full(fit.n_components, 1.0 / fit.n_components)
    sizes = np.maximum(fit.sizes, 1e-9)
    return np.asarray(sizes / sizes.sum())


def _percent(size: float) -> str:
    return f"{100 * size:.1f} % of all counts"


def _mainly(names: Sequence[str], row: Array, verb: str) -> str:
    """Say which component has more than half of a row of the flow."""
    k = int(row.argmax())
    return f", which {verb} {names[k]}" if row[k] > ORIGIN * row.sum() else ""


def listed(names: Sequence[str]) -> str:
    """Join names as a sentence does: "a, b and c"."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
