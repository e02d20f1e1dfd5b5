# SPDX-License-Identifier: BSD-3-Clause
"""Twins for one document at a time under fixed loadings."""

import math

import numpy as np

from .collapsed import document_weight
from .documents import each_document
from .gibbs import log_factor
from .random import EVIDENCE, FOLD_IN, WORD, Stream

__all__ = ["Document", "chib", "content", "fold_in"]


def fold_in(indptr, words, counts, levels, shape, rate, present, loadings, burn_in, work, seed):
    """Posterior means of c and of 1(c = 0) given the loadings, by Gibbs, (I, K) each."""
    means = np.zeros((len(indptr) - 1, loadings.shape[1]))
    empty = np.zeros_like(means)
    for i, w, n in each_document(indptr, words, counts):
        stream = Stream(seed, FOLD_IN, 0, content(w, n))
        document = Document(
            stream, w, n, shape[levels[i]], rate[levels[i]], present[levels[i]], loadings
        )
        n_draws = min(max(work // max(document.n_tokens, 1), 100), 10_000)
        for _ in range(burn_in):
            document.sweep()
        for _ in range(n_draws):
            means[i] += document.sweep().sum(axis=0) / n_draws
            empty[i] += (document.c == 0) / n_draws
    return means, empty


def chib(indptr, words, counts, levels, shape, rate, present, loadings, n_sweeps, seed, run):
    """Estimate log p of each document (I,), up to the model's constant (theory 6.1).

    p(x, z*) is divided by the mean probability that a sweep from z draws z*, over a chain of states
    z that extends in both directions from a backward sweep of z*.
    """
    result = np.full(len(indptr) - 1, -np.inf)
    for i, w, n in each_document(indptr, words, counts):
        stream = Stream(seed, EVIDENCE, run, content(w, n))
        document = Document(
            stream, w, n, shape[levels[i]], rate[levels[i]], present[levels[i]], loadings
        )
        if document.impossible:
            continue
        for _ in range(20):
            document.sweep()
        document.centre(w, n)
        goal, log_joint = document.z.copy(), document.log_joint()
        place = int(stream.uniform() * n_sweeps[i])
        document.sweep(-1)
        first = document.z.copy()
        transitions = [document.log_transition(goal)]
        for order, n_steps in ((1, n_sweeps[i] - 1 - place), (-1, place)):
            document.set(first)
            for _ in range(n_steps):
                document.sweep(order)
                transitions.append(document.log_transition(goal))
        result[i] = log_joint - (np.logaddexp.reduce(transitions) - math.log(n_sweeps[i]))
    return result


class Document:
    """The tokens of one document, their components and the conditionals of a Gibbs sampler."""

    def __init__(self, stream, words, counts, shape, rate, present, loadings):
        """Draw a component for each token given those before it."""
        possible = (loadings[words] > 0).any(axis=1)
        self.impossible = not possible.all()
        self.stream, self.table = stream, (shape, rate, present)
        self.rows = loadings[np.repeat(words[possible], counts[possible])]
        self.n_tokens, self.n_components = self.rows.shape
        self.c = np.zeros(self.n_components, dtype=np.int64)
        self.z = np.zeros(self.n_tokens, dtype=np.int64)
        for t in range(self.n_tokens):
            self.put(t, stream.choose(*self.weights(t)))

    def weights(self, t):
        """Weights of the components for token t, and their sum."""
        weights = document_weight(self.c, *self.table) * self.rows[t]
        return weights, weights.sum()

    def put(self, t, k):
        """Give token t, which has none, a component."""
        self.z[t] = k
        self.c[k] += 1

    def set(self, z):
        """Replace the state."""
        self.z = z.copy()
        self.c = np.bincount(z, minlength=self.n_components)

    def sweep(self, order=1):
        """Redraw every token in turn, forwards (1) or backwards (-1); return its conditionals."""
        conditionals = np.zeros(self.rows.shape)
        for t in range(self.n_tokens)[::order]:
            self.c[self.z[t]] -= 1
            weights, total = self.weights(t)
            conditionals[t] = weights / total
            self.put(t, self.stream.choose(weights, total))
        return conditionals

    def centre(self, words, counts, n_sweeps=40):
        """Give the tokens of each word to components by the word's expected counts."""
        expected = sum(self.sweep() / n_sweeps for _ in range(n_sweeps))
        state = []
        for shares in np.split(expected, np.cumsum(counts)[:-1]) if len(words) else ():
            left = shares.sum(axis=0)
            for _ in shares:
                state.append(int(np.argmax(left)))
                left[state[-1]] -= 1
        self.set(np.array(state, dtype=np.int64))

    def log_transition(self, goal):
        """Log probability that a forward sweep draws ``goal``; the state does not change."""
        z, result = self.z, 0.0
        self.set(z)
        for t in range(self.n_tokens):
            self.c[self.z[t]] -= 1
            weights, total = self.weights(t)
            result += math.log(weights[goal[t]] / total)
            self.put(t, goal[t])
        self.set(z)
        return result

    def log_joint(self):
        """Log p(tokens, components), scores integrated out, up to the model's constant."""
        chosen = self.rows[np.arange(self.n_tokens), self.z]
        return log_factor(self.c, *self.table) + np.log(chosen).sum()


def content(words, counts):
    """Hash a document's words and counts."""
    result = 0xCBF29CE484222325
    for pair in zip(words, counts, strict=True):
        for value in pair:
            result = ((result ^ int(value)) * 0x100000001B3) & WORD
        result ^= result >> 29
    return result
