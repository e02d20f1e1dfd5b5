# SPDX-License-Identifier: BSD-3-Clause
"""Unbiased estimates of the probability of single documents, by particles and by annealing.

As for Chib's method, random streams are keyed by the document's content.
"""

import math

import numpy as np

from .compile import kernel, part
from .evidence import choose, content, list_all_tokens, longest_document, weigh
from .gibbs import log_factor
from .random import ANNEAL, PARTICLES, open_stream, uniform
from .simd.memory import fill

__all__ = ["anneal_documents", "left_to_right"]


@kernel()
def left_to_right(
    indptr, words, counts, levels, shape, rate, present, loadings,
    out_log_probability, n_particles, n_moves, seed, run,
):  # fmt: skip
    """Estimate the log sequence probability of each document, scores integrated out.

    Same as twins.particles.left_to_right (theory 6.1): sequential Monte Carlo over the tokens in a
    random order. At each token the particles redraw up to ``n_moves`` earlier tokens, in turn; the
    mean over particles of the token's probability is a factor of the estimate; then the particles
    are resampled by it and draw the token's component. Unbiased for p. The result is up to the
    model's constant, and -inf for a document with a word that no component has.
    """
    n_components = loadings.shape[1]
    longest = longest_document(indptr, counts)
    token_words = np.empty(longest, dtype=np.int64)
    states = np.empty((n_particles, longest), dtype=np.int32)
    c = np.empty((n_particles, n_components), dtype=np.int64)
    other_states, other_c = np.empty_like(states), np.empty_like(c)
    weights, chances = np.empty(n_components), np.empty(n_particles)
    stream = np.empty(2, dtype=np.uint64)
    for i in range(indptr.shape[0] - 1):
        level = levels[i]
        a, b, p = shape[level], rate[level], present[level]
        n_tokens = list_all_tokens(indptr, words, counts, i, loadings, token_words)
        if n_tokens < 0:
            out_log_probability[i] = -np.inf
            continue
        open_stream(stream, seed, PARTICLES, run, content(indptr, words, counts, i))
        _shuffle(stream, n_tokens, token_words)
        for r in range(n_particles):
            fill(c[r], np.int64(0))
        result = log_factor(c[0], a, b, p)
        turn = 0
        for n in range(n_tokens):
            row = loadings[token_words[n]]
            n_steps = min(n, n_moves)
            total = 0.0
            for r in range(n_particles):
                for step in range(n_steps):
                    t = (turn + step) % n
                    c[r, states[r, t]] -= 1
                    norm = weigh(c[r], a, b, p, loadings[token_words[t]], weights)
                    k = choose(stream, weights, norm)
                    states[r, t] = k
                    c[r, k] += 1
                chances[r] = weigh(c[r], a, b, p, row, weights)
                total += chances[r]
            if n > 0:
                turn = (turn + n_steps) % n
            result += math.log(total / n_particles)
            # systematic resampling: one uniform number for all particles
            place = uniform(stream)
            parent = 0
            below = chances[0]
            for r in range(n_particles):
                while below < (place + r) / n_particles * total and parent < n_particles - 1:
                    parent += 1
                    below += chances[parent]
                for t in range(n):
                    other_states[r, t] = states[parent, t]
                for k in range(n_components):
                    other_c[r, k] = c[parent, k]
            states, other_states = other_states, states
            c, other_c = other_c, c
            for r in range(n_particles):
                norm = weigh(c[r], a, b, p, row, weights)
                k = choose(stream, weights, norm)
                states[r, n] = k
                c[r, k] += 1
        out_log_probability[i] = result


@kernel()
def anneal_documents(
    indptr, words, counts, levels, shape, rate, present, loadings,
    out_log_probability, ladder, seed, run,
):  # fmt: skip
    """Estimate the log sequence probability of each document, scores integrated out.

    Same as twins.particles.anneal_documents (theory 6.1): annealed importance sampling from the
    Dirichlet-multinomial prior of the components, with the same shapes, to their posterior, over
    the temperatures ``ladder`` (T,) from 0 to 1, with a sweep at each. Unbiased for p. The result
    is up to the model's constant, and -inf for a document with a word that no component has.
    """
    n_components = loadings.shape[1]
    longest = longest_document(indptr, counts)
    token_words = np.empty(longest, dtype=np.int64)
    state = np.empty(longest, dtype=np.int64)
    powers = np.empty((longest, n_components))
    c = np.empty(n_components, dtype=np.int64)
    ones, weights = np.empty(n_components), np.empty(n_components)
    warm_rate, warm_present = np.empty(n_components), np.empty(n_components)
    stream = np.empty(2, dtype=np.uint64)
    fill(ones, 1.0)
    for i in range(indptr.shape[0] - 1):
        level = levels[i]
        a, b, p = shape[level], rate[level], present[level]
        n_tokens = list_all_tokens(indptr, words, counts, i, loadings, token_words)
        if n_tokens < 0:
            out_log_probability[i] = -np.inf
            continue
        open_stream(stream, seed, ANNEAL, run, content(indptr, words, counts, i))
        fill(c, np.int64(0))
        # components without the token's word are not drawn; the weight corrects for this
        result = 0.0
        for t in range(n_tokens):
            row = loadings[token_words[t]]
            for k in range(n_components):
                powers[t, k] = 1.0 if row[k] > 0.0 else 0.0
            norm = weigh(c, a, ones, ones, powers[t], weights)
            result += math.log(norm)
            state[t] = choose(stream, weights, norm)
            c[state[t]] += 1
        for step in range(1, ladder.shape[0]):
            if step > 1:
                _warm(ladder[step - 1], b, p, warm_rate, warm_present)
                for t in range(n_tokens):
                    j = token_words[t]
                    if t > 0 and j == token_words[t - 1]:
                        for k in range(n_components):
                            powers[t, k] = powers[t - 1, k]
                    else:
                        for k in range(n_components):
                            powers[t, k] = loadings[j, k] ** ladder[step - 1]
                for t in range(n_tokens):
                    c[state[t]] -= 1
                    norm = weigh(c, a, warm_rate, warm_present, powers[t], weights)
                    state[t] = choose(stream, weights, norm)
                    c[state[t]] += 1
            energy = 0.0
            for k in range(n_components):
                energy += math.lgamma(a[k]) - (c[k] + a[k]) * math.log(b[k])
                if c[k] == 0:
                    energy -= math.log(p[k])
            for t in range(n_tokens):
                energy += math.log(loadings[token_words[t], state[t]])
            result += (ladder[step] - ladder[step - 1]) * energy
        out_log_probability[i] = result


@part()
def _shuffle(stream, n, values):
    """Put the first n values in a random order."""
    for last in range(n - 1, 0, -1):
        other = int(uniform(stream) * (last + 1))
        values[last], values[other] = values[other], values[last]


@part()
def _warm(temperature, rate, present, out_rate, out_present):
    """Raise rates and presence to the power of a temperature."""
    for k in range(rate.shape[0]):
        out_rate[k] = rate[k] ** temperature
        out_present[k] = present[k] ** temperature
