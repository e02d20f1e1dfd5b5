# SPDX-License-Identifier: BSD-3-Clause
"""Join components of a chain that are better explained as one, and dissolve superfluous ones.

A chain that starts with too many components splits the true ones, and takes very long to join them
again token by token. Here components are compared with what would be without them: the tokens that
this concerns may be in some components, or in these without one. The evidence of either, summed
over all components of these tokens while all others stay where they are, lies between two bounds
from draws with independent tokens, one from each side; their mean is taken. A single draw and the
entropy of each of its tokens would not do: that favours fewer components. These are rules for a
start, not exact moves of a chain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from discan.models import LoadingsPrior
from discan.typing import Array

__all__ = ["Tokens"]

NEIGHBOURS = 4  # components that one is compared with, by words and by documents each
PASSES = 2  # over the tokens, from one draw to another that depends on it little
SMALL = 0.5  # a component below this part of the mean size may be dissolved


@dataclass
class Tokens:
    """The tokens of a chain; the methods change their components.

    Attributes
    ----------
    documents, words, components : (N,) arrays
        Those of every token, in the order of the documents.
    loading_counts : (J, K) array of float
    component_counts : (I, K) array of float
    alpha : (K,) array
    prior : LoadingsPrior
    """

    documents: Array
    words: Array
    components: Array
    loading_counts: Array
    component_counts: Array
    alpha: Array
    prior: LoadingsPrior

    def __post_init__(self) -> None:
        """Sum the counts of each group."""
        self._totals = self.prior.layout.group_sums(self.loading_counts)
        self._groups = self.prior.layout.group_of_word[self.words]

    @property
    def sizes(self) -> Array:
        """Tokens of each component, (K,)."""
        return np.asarray(self.loading_counts.sum(axis=0))

    # ---- two components as one ----

    def merge(self, rng: np.random.Generator, n_pairs: int | None = None) -> int:
        """Join the pairs of components that gain by it, or so many of the best; return how many."""
        parts = self._parts()
        pairs = {
            (min(k, other), max(k, other))
            for k in np.flatnonzero(self.sizes).tolist()
            for other in self._neighbours(k).tolist()
        }
        alone = self._words_terms(self.loading_counts)
        gains = []
        for a, b in sorted(pairs):
            both = self.loading_counts[:, [a]] + self.loading_counts[:, [b]]
            gain = self._words_terms(both)[0] - alone[a] - alone[b] + self._documents_gain(a, b)
            if gain > 0.0 or n_pairs is not None:
                places, kinds = np.concatenate([parts[a], parts[b]]), np.array([a, b])
                there = np.flatnonzero(self.component_counts[:, kinds].any(axis=1))
                gain += self._log_joint(there, kinds) - self._log_evidence(places, kinds, rng)
            if gain > 0.0 or n_pairs is not None:
                gains.append((gain, a, b))
        free = np.ones(len(self.alpha), dtype=bool)
        done = 0
        for _, a, b in sorted(gains, reverse=True):
            if free[a] and free[b] and done != n_pairs:
                free[[a, b]] = False
                self._move(parts[b], np.full(len(parts[b]), a))
                self.alpha[a] += self.alpha[b]
                done += 1
        return done

    def _words_terms(self, n: Array) -> Array:
        """Log probability of the words of each component (J, m), loadings integrated out, (m,)."""
        totals, words = self.prior.totals[:, None], np.zeros(n.shape[1])
        for k in range(n.shape[1]):  # few of many words have tokens
            rows = np.flatnonzero(n[:, k])
            gamma = self.prior.gamma[rows]
            words[k] = (gammaln(gamma + n[rows, k]) - gammaln(gamma)).sum()
        sums = self.prior.layout.group_sums(n)
        return np.asarray(words + (gammaln(totals) - gammaln(totals + sums)).sum(axis=0))

    def _documents_gain(self, k: int, other: int) -> float:
        """Gain of the log probability of the documents' counts if two components are joined."""
        x, y = self.component_counts[:, k], self.component_counts[:, other]
        there = (x > 0) | (y > 0)
        x, y, a, b = x[there], y[there], self.alpha[k], self.alpha[other]
        gain = gammaln(x + y + a + b) - gammaln(x + a) - gammaln(y + b)
        return float(gain.sum() - len(x) * (gammaln(a + b) - gammaln(a) - gammaln(b)))

    # ---- a component given to several others ----

    def dissolve(self, rng: np.random.Generator) -> int:
        """Give the tokens of small components to others, where that gains; return how many."""
        sizes = self.sizes
        used = int((sizes > 0).sum())
        done = 0
        for k in np.argsort(sizes, kind="stable").tolist():
            if 0 < sizes[k] < SMALL * sizes.sum() / used:
                others = self._neighbours(k)
                done += bool(len(others)) and self._dissolved(k, others, rng)
        return done

    def _dissolved(self, k: int, others: Array, rng: np.random.Generator) -> bool:
        """Dissolve a component into others (m,), if that gains."""
        rows = np.flatnonzero(self.component_counts[:, k])
        first, last = np.searchsorted(self.documents, [rows, rows + 1])
        places = np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)])
        kinds = np.append(others, k)
        places = places[np.isin(self.components[places], kinds)]
        had = self.components[places]
        before = self._log_evidence(places, kinds, rng)
        self._redraw(places[had == k], others, rng)
        for _ in range(1 + PASSES):
            self._redraw(places, others, rng)
        if self._log_evidence(places, others, rng) > before:
            return True
        self._move(places, had)
        return False

    # ---- evidence ----

    def _log_evidence(self, places: Array, kinds: Array, rng: np.random.Generator) -> float:
        """Log p(W, z), summed over the kinds (m,) that these tokens (n,) may be of; about.

        ``q`` are their shares at another draw, tokens independent. Log p(W, z) - log q(z) is above
        it on average if z is the present draw, and below it if z is drawn from q.
        """
        had = self.components[places]
        rows = np.unique(self.documents[places])
        above = self._log_joint(rows, kinds)
        for _ in range(PASSES):
            self._redraw(places, kinds, rng)
        q = _shares(self._weights(places, kinds))
        above -= _log_chosen(q, had[:, None] == kinds)
        chosen = _drawn(q, rng)
        self._move(places, kinds[chosen])
        below = self._log_joint(rows, kinds)
        below -= _log_chosen(q, chosen[:, None] == np.arange(len(kinds)))
        self._move(places, had)
        return 0.5 * (above + below)

    def _redraw(self, places: Array, kinds: Array, rng: np.random.Generator) -> None:
        """Draw the kinds of some tokens, each given the present ones of all others."""
        self._move(places, kinds[_drawn(_shares(self._weights(places, kinds)), rng)])

    def _log_joint(self, rows: Array, kinds: Array) -> float:
        """Log p(W, z), as far as it depends on these documents and components."""
        alpha = self.alpha[kinds]
        c = self.component_counts[np.ix_(rows, kinds)]
        documents = (gammaln(c + alpha) - gammaln(alpha)).sum()
        return float(documents + self._words_terms(self.loading_counts[:, kinds]).sum())

    # ---- both ----

    def _parts(self) -> list[Array]:
        """Places of the tokens of each component."""
        order = np.argsort(self.components, kind="stable")
        ends = np.cumsum(np.bincount(self.components, minlength=len(self.alpha)))
        return np.split(order, ends[:-1])

    def _neighbours(self, k: int) -> Array:
        """Used components that are most like one in their words, and in their documents."""
        found: set[int] = set()
        for table in (self.loading_counts, self.component_counts):
            sums = np.sqrt(table.sum(axis=0))
            rows = np.flatnonzero(table[:, k])
            alike = np.sqrt(table[rows, k]) @ np.sqrt(table[rows])
            alike = np.divide(alike, sums, out=np.zeros(len(sums)), where=sums > 0)
            alike[k] = 0.0
            best = np.argsort(-alike, kind="stable")[:NEIGHBOURS]
            found.update(best[alike[best] > 0.0].tolist())
        return np.array(sorted(found), dtype=np.intp)

    def _weights(self, places: Array, kinds: Array) -> Array:
        """Weights of some components (m,) for some tokens (n,), themselves left out: (n, m)."""
        i, j, g = self.documents[places], self.words[places], self._groups[places]
        own = (self.components[places][:, None] == kinds).astype(np.float64)
        word = self.prior.gamma[j, None] + self.loading_counts[np.ix_(j, kinds)] - own
        word /= self.prior.totals[g, None] + self._totals[np.ix_(g, kinds)] - own
        document = self.component_counts[np.ix_(i, kinds)] + self.alpha[kinds] - own
        return np.asarray(document * word)

    def _move(self, places: Array, chosen: Array) -> None:
        """Change the components of some tokens, and all counts."""
        i, j, g, old = (
            self.documents[places], self.words[places], self._groups[places],
            self.components[places],
        )  # fmt: skip
        for table, row in (
            (self.component_counts, i), (self.loading_counts, j), (self._totals, g),
        ):  # fmt: skip
            np.add.at(table, (row, chosen), 1)
            np.add.at(table, (row, old), -1)
        self.components[places] = chosen


def _shares(weights: Array) -> Array:
    """Divide rows (n, m) by their sums."""
    return np.asarray(weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300))


def _drawn(shares: Array, rng: np.random.Generator) -> Array:
    """Draw a column for each row (n, m) of shares."""
    ends = np.cumsum(shares, axis=1)
    at = (rng.random(len(shares))[:, None] * ends[:, -1:] >= ends).sum(axis=1)
    return np.asarray(np.minimum(at, shares.shape[1] - 1))


def _log_chosen(shares: Array, chosen: Array) -> float:
    """Sum of the logarithms of the chosen shares, one of each row (n, m)."""
    return float(np.log(np.maximum(shares[chosen], 1e-300)).sum())
