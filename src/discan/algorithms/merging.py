# SPDX-License-Identifier: BSD-3-Clause
"""Join components of a chain that are better explained as one, and dissolve superfluous ones.

A chain that starts with too many components splits the true ones, and takes very long to join them
again token by token. Here components are compared with what would be without them: the tokens that
this concerns may be in some components, or in these without one. The evidence of either, summed
over all components of these tokens while all others stay where they are, lies between two bounds
from draws with independent tokens, one from each side; their mean is taken. A single draw and the
entropy of each of its tokens would not do: that favours fewer components. Components with seeds
take tokens of others, and stay. These are rules for a start, not exact moves of a chain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import gammaln

from discan.models import LoadingsPrior
from discan.typing import Array

__all__ = ["Tokens"]

NEIGHBOURS = 4  # components that one is compared with, by words and by documents each
CANDIDATES = 4  # pairs for each one to be joined whose loss of prediction is computed
PASSES = 2  # over the tokens, from one draw to another that depends on it little
SMALL = 0.5  # a component below this part of the mean size may be dissolved
CHUNK = 2**15  # numbers of a temporary table, about


@dataclass
class Tokens:
    """The tokens of a chain; the methods change their components.

    Attributes
    ----------
    documents, words, components : (N,) arrays
        Those of every token, in the order of the documents.
    loading_counts : (J, K) array of float
        With the tokens of seeds.
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
        """Sum the counts of each group; tables have columns of components one after the other."""
        self.loading_counts = np.asfortranarray(self.loading_counts)
        self.component_counts = np.asfortranarray(self.component_counts)
        self._totals = np.asfortranarray(self.prior.layout.group_sums(self.loading_counts))
        self._stays = np.zeros(len(self.alpha), dtype=bool)
        if self.prior.seeds is not None:
            self._stays[self.prior.seeds.components] = True

    @property
    def sizes(self) -> Array:
        """Tokens of each component, (K,), without those of seeds."""
        return np.asarray(self.component_counts.sum(axis=0))

    # ---- two components as one ----

    def merge(self, rng: np.random.Generator) -> int:
        """Join the pairs of components that gain by it; return how many."""
        parts, alone = self._parts(), self._words_terms(self.loading_counts)
        gains = []
        for a, b in self._pairs():
            both = self.loading_counts[:, [a]] + self.loading_counts[:, [b]]
            gain = self._words_terms(both)[0] - alone[a] - alone[b] + self._documents_gain(a, b)
            if gain > 0.0:
                places, kinds = np.concatenate([parts[a], parts[b]]), np.array([a, b])
                there = np.flatnonzero(self.component_counts[:, kinds].any(axis=1))
                gain += self._log_joint(there, kinds) - self._log_evidence(places, kinds, rng)
            if gain > 0.0:
                gains.append((gain, a, b))
        free = np.ones(len(self.alpha), dtype=bool)
        done = 0
        for _, a, b in sorted(gains, reverse=True):
            if free[a] and free[b]:
                free[[a, b]] = False
                self._join(a, b)
                done += 1
        return done

    def _pairs(self) -> list[tuple[int, int]]:
        """Pairs of components that are alike; the second one can be taken away."""
        stays, used = self._stays, np.flatnonzero(self.sizes)
        return sorted(
            {
                (k, other) if (stays[k], other) > (stays[other], k) else (other, k)
                for k, near in zip(used.tolist(), self._nearest(used), strict=True)
                for other in near.tolist()
                if not (stays[k] and stays[other])
            }
        )

    def _join(self, a: int, b: int) -> None:
        """Give all tokens of component b to component a."""
        places = np.flatnonzero(self.components == b)
        self._move(places, np.full(len(places), a))
        self.alpha[a] += self.alpha[b]

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
        done = 0
        for k, near in self._small(SMALL):
            others, places = self._around(k, near)
            if not len(others):
                continue
            had, kinds = self.components[places], np.append(others, k)
            before = self._log_evidence(places, kinds, rng)
            self._give(k, places, others, rng)
            if self._log_evidence(places, others, rng) > before:
                done += 1
            else:
                self._move(places, had)
        return done

    def _small(self, part: float) -> list[tuple[int, Array]]:
        """Components below this part of the mean size that can be taken away, smallest first.

        Each comes with those that are most like it.
        """
        sizes = self.sizes
        most = part * sizes.sum() / max(int((sizes > 0).sum()), 1)
        small = (sizes > 0) & (sizes < most) & ~self._stays
        kinds = np.argsort(sizes, kind="stable")
        kinds = kinds[small[kinds]]
        return list(zip(kinds.tolist(), self._nearest(kinds), strict=True))

    def _around(self, k: int, near: Array) -> tuple[Array, Array]:
        """Components like one that are still there (m,), and where its documents have any of them.

        These are places of tokens (n,).
        """
        others = near[self._totals[:, near].any(axis=0)]
        chosen = np.zeros(len(self.alpha), dtype=bool)
        chosen[np.append(others, k)] = True
        there = self.component_counts[:, k] > 0
        return others, np.flatnonzero(there[self.documents] & chosen[self.components])

    def _give(self, k: int, places: Array, others: Array, rng: np.random.Generator) -> None:
        """Draw the components of some tokens (n,) among others (m,), k not among them."""
        self._redraw(places[self.components[places] == k], others, rng)
        for _ in range(1 + PASSES):
            self._redraw(places, others, rng)

    # ---- so many components less ----

    def reduce(self, rng: np.random.Generator, n: int) -> None:
        """Take n components away, those that lose the least, each but once.

        A component is joined with another, or given to several others. What is lost is how well
        tokens are predicted, each from all others. The evidence would not do: components that occur
        in the same documents, as those of one parent do, are joined too easily if the prior knows
        no parents.
        """
        small = dict(self._small(1.0))
        losses = self._joined_losses() + self._given_losses(small, rng)
        free = np.ones(len(self.alpha), dtype=bool)
        for _, a, b in sorted(losses):
            if n > 0 and free[a] and free[b]:
                free[[a, b]] = False
                n -= 1
                if a != b:
                    self._join(a, b)
                    continue
                others, places = self._around(a, small[a])
                if len(others):
                    self._give(a, places, others, rng)

    def _joined_losses(self) -> list[tuple[float, int, int]]:
        """What is lost if two components that are alike are joined, and which ones."""
        parts, losses = self._parts(), []
        for a, b in self._pairs():
            places, kinds = np.concatenate([parts[a], parts[b]]), np.array([a, b])
            before = self._loss(places, kinds)
            self._move(parts[b], np.full(len(parts[b]), a))
            losses.append((self._loss(places, kinds) - before, a, b))
            self._move(parts[b], np.full(len(parts[b]), b))
        return losses

    def _given_losses(
        self, small: dict[int, Array], rng: np.random.Generator
    ) -> list[tuple[float, int, int]]:
        """What is lost if a component is given to those that are most like it, and twice which."""
        losses = []
        for k, near in small.items():
            others, places = self._around(k, near)
            if len(others):
                had, kinds = self.components[places], np.append(others, k)
                before = self._loss(places, kinds)
                self._give(k, places, others, rng)
                losses.append((self._loss(places, kinds) - before, k, k))
                self._move(places, had)
        return losses

    def join(self, n: int) -> None:
        """Join n pairs of components, those by which prediction loses the least, as in ``reduce``.

        It is for many at a time: prediction is computed only for the pairs whose log p(W, z) gains
        the most, and no component is given to several others. A component of a pair is in no
        other pair until all losses are computed again.
        """
        while n > 0 and (pairs := self._pairs()):
            parts, alone = self._parts(), self._words_terms(self.loading_counts)
            gains = []
            for a, b in pairs:
                both = self.loading_counts[:, [a]] + self.loading_counts[:, [b]]
                gain = self._words_terms(both)[0] - alone[a] - alone[b]
                gains.append((gain + self._documents_gain(a, b), a, b))
            losses = []
            for _, a, b in sorted(gains, reverse=True)[: CANDIDATES * n]:
                places, kinds = np.concatenate([parts[a], parts[b]]), np.array([a, b])
                losses.append((self._loss_as_one(places, kinds) - self._loss(places, kinds), a, b))
            free = np.ones(len(self.alpha), dtype=bool)
            for _, a, b in sorted(losses):
                if n > 0 and free[a] and free[b]:
                    free[[a, b]] = False
                    self._join(a, b)
                    n -= 1

    def _loss_as_one(self, places: Array, kinds: Array) -> float:
        """Return what ``_loss`` would be if the components (m,) of these tokens (n,) were one."""
        j = self.words[places]
        g = self.prior.layout.group_of_word[j]
        word = self.prior.gamma[j] + self.loading_counts[:, kinds].sum(axis=1)[j] - 1.0
        word /= (self.prior.totals + self._totals[:, kinds].sum(axis=1))[g] - 1.0
        return -float(np.log(np.maximum(word, 1e-300)).sum())

    def _loss(self, places: Array, kinds: Array) -> float:
        """Return minus the log probability of tokens (n,) in some components (m,)."""
        sums = self.component_counts[:, kinds].sum(axis=1) + self.alpha[kinds].sum() - 1.0
        loss = 0.0
        for part in _chunks(len(places), len(kinds)):
            chances = self._weights(places[part], kinds).sum(axis=1)
            chances /= sums[self.documents[places[part]]]
            loss -= float(np.log(np.maximum(chances, 1e-300)).sum())
        return loss

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
        drawn, log_q = np.empty_like(had), 0.0
        for part in _chunks(len(places), len(kinds)):
            q = _shares(self._weights(places[part], kinds))
            above -= _log_chosen(q, had[part, None] == kinds)
            drawn[part] = kinds[_drawn(q, rng)]
            log_q += _log_chosen(q, drawn[part, None] == kinds)
        self._move(places, drawn)
        below = self._log_joint(rows, kinds) - log_q
        self._move(places, had)
        return 0.5 * (above + below)

    def _redraw(self, places: Array, kinds: Array, rng: np.random.Generator) -> None:
        """Draw the kinds of some tokens, each given the present ones of all others."""
        drawn = np.empty(len(places), dtype=self.components.dtype)
        for part in _chunks(len(places), len(kinds)):
            drawn[part] = kinds[_drawn(_shares(self._weights(places[part], kinds)), rng)]
        self._move(places, drawn)

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

    def _nearest(self, kinds: Array) -> list[Array]:
        """Used components that are most like each of some (m,), in words and in documents."""
        found: list[set[int]] = [set() for _ in kinds]
        for table in (self.loading_counts, self.component_counts):
            alike, sums = np.zeros((len(kinds), table.shape[1])), np.sqrt(table.sum(axis=0))
            for part in _chunks(*table.shape):
                roots = sparse.csr_array(np.sqrt(table[part]))
                alike += (roots[:, kinds].T @ roots).toarray()
            alike = np.divide(alike, sums, out=np.zeros_like(alike), where=sums > 0)
            alike[np.arange(len(kinds)), kinds] = 0.0
            best = np.argsort(-alike, axis=1, kind="stable")[:, :NEIGHBOURS]
            for near, row, chosen in zip(found, alike, best, strict=True):
                near.update(chosen[row[chosen] > 0.0].tolist())
        return [np.array(sorted(near), dtype=np.intp) for near in found]

    def _weights(self, places: Array, kinds: Array) -> Array:
        """Weights of some components (m,) for some tokens (n,), themselves left out: (n, m)."""
        i, j = self.documents[places], self.words[places]
        g = self.prior.layout.group_of_word[j]
        own = (self.components[places][:, None] == kinds).astype(np.float64)
        word = self.prior.gamma[j, None] + self.loading_counts[np.ix_(j, kinds)] - own
        word /= self.prior.totals[g, None] + self._totals[np.ix_(g, kinds)] - own
        document = self.component_counts[np.ix_(i, kinds)] + self.alpha[kinds] - own
        return np.asarray(document * word)

    def _move(self, places: Array, chosen: Array) -> None:
        """Change the components of some tokens, and all counts."""
        changed = np.flatnonzero(self.components[places] != chosen)
        for part in _chunks(len(changed), 1):
            at = places[changed[part]]
            i, j, old, new = (
                self.documents[at], self.words[at], self.components[at], chosen[changed[part]],
            )  # fmt: skip
            for table, row in (
                (self.component_counts, i), (self.loading_counts, j),
                (self._totals, self.prior.layout.group_of_word[j]),
            ):  # fmt: skip
                flat = table.reshape(-1, order="F")  # a view; two indices take much longer
                np.add.at(flat, new * np.intp(len(table)) + row, 1.0)
                np.add.at(flat, old * np.intp(len(table)) + row, -1.0)
            self.components[at] = new


def _chunks(n: int, width: int) -> Iterator[slice]:
    """Cut n rows of this width into parts, each no shorter than wide."""
    each = max(CHUNK // width, width)
    return (slice(start, min(start + each, n)) for start in range(0, n, each))


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
