# SPDX-License-Identifier: BSD-3-Clause
"""Twins of the unbiased estimates by particles and by annealing."""

import math
from itertools import pairwise

import numpy as np
from scipy.special import gammaln

from .collapsed import document_weight
from .documents import each_document
from .evidence import content
from .gibbs import log_factor
from .random import ANNEAL, PARTICLES, Stream

__all__ = ["anneal_documents", "left_to_right"]


def left_to_right(
    indptr, words, counts, levels, shape, rate, present, loadings, n_particles, n_moves, seed, run
):
    """Estimate log p of each document (I,), up to the model's constant (theory 6.1)."""
    result = np.full(len(indptr) - 1, -np.inf)
    for i, w, n in each_document(indptr, words, counts):
        if not (loadings[w] > 0).any(axis=1).all():
            continue
        stream, table = (
            Stream(seed, PARTICLES, run, content(w, n)),
            _rows(levels[i], shape, rate, present),
        )
        tokens = np.repeat(w, n)
        for last in range(len(tokens) - 1, 0, -1):
            other = int(stream.uniform() * (last + 1))
            tokens[[last, other]] = tokens[[other, last]]
        particles = [_Particle(table) for _ in range(n_particles)]
        result[i] = log_factor(particles[0].c, *table)
        turn = 0
        for n_before, j in enumerate(tokens):
            n_steps = min(n_before, n_moves)
            chances = np.zeros(n_particles)
            for r, particle in enumerate(particles):
                for t in [(turn + step) % n_before for step in range(n_steps)]:
                    particle.redraw(stream, t, loadings[tokens[t]])
                chances[r] = particle.weights(loadings[j]).sum()
            turn = (turn + n_steps) % max(n_before, 1)
            result[i] += math.log(chances.mean())
            places = (stream.uniform() + np.arange(n_particles)) / n_particles * chances.sum()
            parents = np.minimum(np.searchsorted(np.cumsum(chances), places), n_particles - 1)
            particles = [particles[parent].copy() for parent in parents]
            for particle in particles:
                particle.draw(stream, loadings[j])
    return result


def anneal_documents(
    indptr, words, counts, levels, shape, rate, present, loadings, ladder, seed, run
):
    """Estimate log p of each document (I,), up to the model's constant (theory 6.1).

    The weight of a state is that of its first draw among the possible components, times the sum of
    its log ratios of posterior to prior.
    """
    result = np.full(len(indptr) - 1, -np.inf)
    for i, w, n in each_document(indptr, words, counts):
        if not (loadings[w] > 0).any(axis=1).all():
            continue
        stream, (a, b, p) = (
            Stream(seed, ANNEAL, run, content(w, n)),
            _rows(levels[i], shape, rate, present),
        )
        rows = loadings[np.repeat(w, n)]
        particle = _Particle((a, np.ones_like(b), np.ones_like(p)))
        log_weight = 0.0
        for row in rows:
            log_weight += math.log(particle.weights(row > 0).sum())
            particle.draw(stream, row > 0)
        for before, after in pairwise(ladder):
            if before > 0:
                particle.table = (a, b**before, p**before)
                for t, row in enumerate(rows):
                    particle.redraw(stream, t, row**before)
            c, z = particle.c, np.array(particle.z, dtype=int)
            ratio = log_factor(c, a, b, p) - (gammaln(c + a) - gammaln(a)).sum()
            ratio += np.log(rows[np.arange(len(rows)), z]).sum()
            log_weight += (after - before) * ratio
        result[i] = log_weight
    return result


def _rows(level, *table):
    return tuple(part[level] for part in table)


class _Particle:
    """Components of the tokens so far, and their counts."""

    def __init__(self, table):
        self.table, self.z, self.c = table, [], np.zeros(len(table[0]), dtype=np.int64)

    def copy(self):
        """Return a particle that changes on its own."""
        other = _Particle(self.table)
        other.z, other.c = list(self.z), self.c.copy()
        return other

    def weights(self, row):
        """Weights of the components of one more token."""
        return document_weight(self.c, *self.table) * row

    def draw(self, stream, row):
        """Draw the component of one more token."""
        weights = self.weights(row)
        self.z.append(stream.choose(weights, weights.sum()))
        self.c[self.z[-1]] += 1

    def redraw(self, stream, t, row):
        """Redraw the component of token t."""
        self.c[self.z[t]] -= 1
        weights = self.weights(row)
        self.z[t] = stream.choose(weights, weights.sum())
        self.c[self.z[t]] += 1
