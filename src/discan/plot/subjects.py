# SPDX-License-Identifier: BSD-3-Clause
"""What figures show: documents with their shares, and components with their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from discan.data.layout import Layout
from discan.data.nouns import Nouns
from discan.errors import InputError
from discan.plot.lettering import label, percent
from discan.plot.palette import OTHERS, colours
from discan.typing import Array

__all__ = ["FEW_WORDS", "Components", "Documents"]

MOST = 1000  # documents that can have a mark each
FEW_WORDS = 3  # of a component in a legend
BY_PROBABILITY = 0.25  # weight of the logarithm of the probability; the rest is that of the lift
LEAST = 1e-4  # probability of an answer that no other component gives
# What groups of words are called, by what the words are called.
GROUPS = {"vote": "votes", "answer": "questions", "allele": "loci", "genotype": "loci"}


@dataclass(frozen=True, eq=False)
class Documents:
    """Shares of components in documents, (I, K), rows sum to 1, and what both are called.

    ``keys`` name the components in a legend; ``parts`` are their numbers in the model, and decide
    their colours. Components that were not asked for are one last column, which has no part.
    """

    shares: Array
    names: list[str]
    components: list[str]
    keys: list[str]
    parts: list[int | None]
    nouns: Nouns = field(default_factory=Nouns)
    metadata: Mapping[str, Array] = field(default_factory=dict)
    n_others: int = 0

    @property
    def own(self) -> Array:
        """Shares of the components that were asked for, (I, K)."""
        return self.shares[:, : self.shares.shape[1] - (self.n_others > 0)]

    @property
    def counted(self) -> str:
        """How many components are shown, in words."""
        n = self.own.shape[1]
        of = f" of {n + self.n_others}" if self.n_others else ""
        return f"{n}{of} {self.nouns.components if n + self.n_others > 1 else self.nouns.component}"

    @property
    def colours(self) -> list[str]:
        """The colour of each component."""
        return _colours(self.parts)

    def at_most(self, marks: str) -> Documents:
        """Return these documents; refuse more than can have a mark each."""
        if len(self.names) > MOST:
            raise InputError(
                f"{len(self.names):,} {self.nouns.documents} are too many for {marks} (at most "
                f"{MOST:,})",
                remedy="draw the figure structure instead, or some of the rows",
            )
        return self

    def described(self, i: int, row: Array, n: int = 6) -> str:
        """Describe a document: its name and its largest shares."""
        largest = [k for k in np.argsort(-row, kind="stable")[:n] if row[k] >= 0.005]
        lines = [f"{label(self.components[k], 40)}: {percent(row[k])}" for k in largest]
        return "<br>".join([label(self.names[i]), *lines])


@dataclass(frozen=True, eq=False)
class Components:
    """Distributions over words, (K, J), names, and shares of all tokens (K,).

    ``overall`` (J,) is the distribution of the words in all the data, also in that of components
    which are not shown; ``parts`` are the numbers of the components in the model; ``text`` (J,) are
    the words of texts, where the others are answers of questions.
    """

    loadings: Array
    names: list[str]
    sizes: Array
    layout: Layout
    overall: Array
    parts: list[int]
    text: Array
    nouns: Nouns = field(default_factory=Nouns)

    @property
    def colours(self) -> list[str]:
        """The colour of each component."""
        return _colours(self.parts)

    @property
    def grouped(self) -> bool:
        """Whether all words are in groups: answers of questions, alleles of loci."""
        return not self.text.any()

    @property
    def named(self) -> bool:
        """Whether the words have names."""
        return self.layout.word_names is not None

    @property
    def counts(self) -> str:
        """What is counted, in the plural: counts of words, answers, alleles."""
        if not self.grouped:
            return f"counts of {self.nouns.words}"
        return "answers" if self.nouns.words == self.groups else self.nouns.words

    @property
    def groups(self) -> str:
        """What the groups of words are called, in the plural."""
        return GROUPS.get(self.nouns.word, "groups")

    def word(self, j: int) -> str:
        """Name of a word."""
        names = self.layout.word_names
        return names[j] if names is not None else f"{self.nouns.word} {j}"

    def group(self, g: int) -> str:
        """Name of a group."""
        names = self.layout.group_names
        return names[g] if names is not None else f"group {g}"

    def answer(self, j: int) -> str:
        """Name of a word without that of its group."""
        word, group = self.word(j), self.group(int(self.layout.group_of_word[j]))
        for mark in ("=", ": ", ":"):
            if word.startswith(group + mark):
                return word[len(group + mark) :]
        for mark in (": ", "=", ":"):  # a question may be longer in the names of groups
            title, found, answer = word.rpartition(mark)
            if found and group.startswith(f"{title} "):
                return answer
        return word

    def lift(self, k: int) -> Array:
        """Probabilities in a component divided by those in all the data, (J,)."""
        zero = np.zeros(len(self.overall))
        lift = np.divide(self.loadings[k], self.overall, out=zero, where=self.overall > 0)
        return np.asarray(lift)

    def telling(self, k: int, n: int) -> list[int]:
        """Return the n words that set a component apart, most telling first.

        Words of a text are sorted by lift, those that are rare in the component behind: the
        measure is log(lift) + log(probability) / 3 (the relevance of Sievert and Shirley at a
        weight of 1/4). Answers are sorted by p log(p / q), where q is the probability in the other
        components, and a question has at most one answer.
        """
        row, lift = self.loadings[k], self.lift(k)
        if not self.grouped:
            known = self.text & (lift > 1) & (row > 0)
            with np.errstate(divide="ignore"):
                key = BY_PROBABILITY * np.log(row) + (1 - BY_PROBABILITY) * np.log(lift)
        else:
            others = self.others(k)
            known = row > others
            key = row * np.log(np.maximum(row, 1e-300) / np.maximum(others, LEAST))
            best = np.full(self.layout.n_groups, -np.inf)
            np.maximum.at(best, self.layout.group_of_word, np.where(known, key, -np.inf))
            known &= key == best[self.layout.group_of_word]
        if not known.any():  # a component that is like all the data
            known, key = row > 0, row
        key = np.where(known, key, -np.inf)
        return [int(j) for j in np.argsort(-key, kind="stable")[:n] if known[j]]

    def others(self, k: int) -> Array:
        """Probabilities in the other components together, (J,)."""
        left = 1.0 - self.sizes[k]
        if left <= 1e-9:
            return self.overall
        rest = self.overall - self.sizes[k] * self.loadings[k]
        return np.asarray(np.maximum(rest, 0.0) / left)

    def key(self, k: int, n: int = FEW_WORDS) -> str:
        """Name a component in a legend: with its telling words, unless they are answers."""
        if n == 0 or self.grouped or not self.named:
            return self.names[k]
        return f"{self.names[k]}: {', '.join(self.word(j) for j in self.telling(k, n))}"


def _colours(parts: Sequence[int | None]) -> list[str]:
    palette = colours(1 + max((part for part in parts if part is not None), default=0))
    return [OTHERS if part is None else palette[part] for part in parts]
