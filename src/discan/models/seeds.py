# SPDX-License-Identifier: BSD-3-Clause
"""Seeds of components: tokens that were seen beforehand, in the prior of the loadings (theory 5.6).

A component that was seen to have s_jk tokens of word j has loadings Dirichlet(gamma_j + s_jk). The
counts of words and components that the algorithms keep hold these tokens too, so every kernel that
reads gamma and counts follows the seeds. What remains is here: the part of an objective that the
tokens of the seeds added by themselves, and gamma, which is learnt from the data alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import digamma

from discan.data.rules import Rule, taken
from discan.errors import ModelFileError
from discan.typing import Array

__all__ = ["MOST_SEEDS", "Seeds"]

MOST_SEEDS = 2**30
"""Tokens of a component's seeds, at most: with those of the data they fit into 32 bits."""
TOKENS_AT_ONCE = 2**20


@dataclass(frozen=True, eq=False)
class Seeds:
    """Tokens of some words in some components, seen beforehand.

    Attributes
    ----------
    words, components, tokens : (n,) int64 arrays
        Each pair of a word and a component once, in order, with its number of tokens, at least 1.
    """

    words: Array
    components: Array
    tokens: Array

    @classmethod
    def of(cls, table: Any) -> Seeds | None:
        """Return the seeds of a table of tokens (J, K); None if it is empty."""
        words, components = np.nonzero(table)
        tokens = np.asarray(table)[words, components].astype(np.int64)
        return cls(words, components, tokens) if len(words) else None

    def table(self, n_words: int, n_components: int) -> Array:
        """Return all tokens, (J, K) int64."""
        result = np.zeros((n_words, n_components), dtype=np.int64)
        result[self.words, self.components] = self.tokens
        return result

    def add_to(self, counts: Array, weight: float = 1.0) -> None:
        """Add the tokens to counts (J, K), in place, each with this weight."""
        tokens = self.tokens if weight == 1.0 else weight * self.tokens
        counts[self.words, self.components] += tokens.astype(counts.dtype)

    def removed_from(self, counts: Array) -> Array:
        """Return a copy of counts (J, K) without the tokens of the seeds; none is below 0."""
        result = counts.copy()
        cells = self.words, self.components
        # in double precision: counts may be unsigned, or too coarse for the difference
        rest = counts[cells].astype(np.float64) - self.tokens
        result[cells] = np.maximum(rest, 0.0).astype(counts.dtype)
        return result

    def permuted(self, order: Array) -> Seeds:
        """Return the seeds of the components in another order, all that have seeds among them."""
        place = np.empty(max(order) + 1, dtype=np.int64)
        place[order] = np.arange(len(order))
        moved = place[self.components]
        by_word = np.lexsort((moved, self.words))
        return Seeds(self.words[by_word], moved[by_word], self.tokens[by_word])

    def weighted(self, logs: Array) -> float:
        """Sum of s_jk times the element (j, k) of a table (J, K)."""
        return float(self.tokens @ logs[self.words, self.components].astype(np.float64))

    # ---- to learn gamma ----

    def left_out(self, counts: Array) -> Array:
        """Return a copy of counts (J, K) with 0 in the place of each seed."""
        result = counts.copy()
        result[self.words, self.components] = 0
        return result

    def expected_tables(self, counts: Array, gamma: Array) -> Array:
        """Expected tables of gamma, of each seed (n,): gamma (psi(gamma + s + n) - psi(gamma + s)).

        ``counts`` (J, K) hold the tokens of the seeds.
        """
        own = gamma[self.words]
        all_tokens = np.maximum(counts[self.words, self.components], self.tokens)
        return np.asarray(own * (digamma(own + all_tokens) - digamma(own + self.tokens)))

    def drawn_tables(self, counts: Array, gamma: Array, rng: Generator) -> Array:
        """Draw the tables of each seed (n,) for a move of gamma (theory 5.6).

        A word of which s tokens were seen beforehand adds (gamma + s) (gamma + s + 1) ... to the
        probability of its n tokens in the data. Of the factor gamma + s + i, gamma is drawn with
        probability gamma / (gamma + s + i).
        """
        own = gamma[self.words]
        drawn = counts[self.words, self.components].astype(np.int64) - self.tokens
        result = np.zeros(len(drawn), dtype=np.int64)
        for part in _parts(drawn):
            n = drawn[part]
            seed = np.repeat(np.arange(part.start, part.stop), n)
            place = np.arange(len(seed)) - np.repeat(np.cumsum(n) - n, n)
            chance = own[seed] / (own[seed] + self.tokens[seed] + place)
            result += np.bincount(seed[rng.random(len(seed)) < chance], minlength=len(drawn))
        return result

    # ---- on disk ----

    def arrays(self) -> dict[str, Array]:
        """Return the arrays of a file, by name."""
        return {f"seeds.{name}": getattr(self, name) for name in _RULES}

    @classmethod
    def from_arrays(cls, arrays: Any, n_words: int, n_components: int) -> Seeds | None:
        """Return the seeds of a file, checked; None if it has none."""
        if not any(f"seeds.{name}" in arrays for name in _RULES):
            return None
        sizes = {"J": n_words, "K": n_components, "n": len(np.atleast_1d(arrays["seeds.words"]))}
        seeds = cls(**taken(_RULES, arrays, sizes, "seeds."))
        place = seeds.words * n_components + seeds.components
        if not len(place) or (np.diff(place) <= 0).any():
            raise ModelFileError("the seeds are not in order")
        return seeds


_RULES = {
    "words": Rule(("n",), "i8", low=0, below="J"),
    "components": Rule(("n",), "i8", low=0, below="K"),
    "tokens": Rule(("n",), "i8", low=1, high=MOST_SEEDS),
}


def _parts(sizes: Array) -> Iterator[slice]:
    """Cut a list into runs whose sizes sum to no more than a limit, or are one element."""
    start, total = 0, 0
    for n, size in enumerate(sizes.tolist()):
        if n > start and total + size > TOKENS_AT_ONCE:
            yield slice(start, n)
            start, total = n, 0
        total += size
    if start < len(sizes):
        yield slice(start, len(sizes))
