# SPDX-License-Identifier: BSD-3-Clause
"""Posterior means and probabilities of single documents under fixed loadings.

Random streams are keyed by the document's content: a document gets the same answer alone and at any
place of any batch.
"""

import math

import numpy as np

from .compile import kernel, part
from .gibbs import log_factor
from .random import EVIDENCE, FOLD_IN, open_stream, uniform
from .simd.memory import copy, fill

__all__ = [
    "chib", "choose", "content", "fold_in", "list_all_tokens", "list_tokens",
    "longest_document", "weigh",
]  # fmt: skip

_CENTRE_SWEEPS = 40  # sweeps that the expected counts of Chib's state come from


@kernel()
def fold_in(
    indptr, words, counts, levels, shape, rate, present, loadings,
    out_component_counts, out_empty, burn_in, work, seed,
):  # fmt: skip
    """Posterior means of c and of 1(c = 0) for each document, by Gibbs over its tokens.

    Same as twins.evidence.fold_in. Every visit to a token adds its conditional probabilities rather
    than the drawn component (Rao-Blackwell). The number of draws is ``work`` / tokens, at least 100
    and at most 10 000, so that short documents get more draws.
    """
    n_components = loadings.shape[1]
    longest = longest_document(indptr, counts)
    token_words = np.empty(longest, dtype=np.int64)
    assignments = np.empty(longest, dtype=np.int64)
    c = np.empty(n_components, dtype=np.int64)
    weights = np.empty(n_components)
    stream = np.empty(2, dtype=np.uint64)
    for i in range(indptr.shape[0] - 1):
        level = levels[i]
        a, b, p = shape[level], rate[level], present[level]
        n_tokens = list_tokens(indptr, words, counts, i, loadings, token_words)
        open_stream(stream, seed, FOLD_IN, np.int64(0), content(indptr, words, counts, i))
        fill(c, np.int64(0))
        _start(stream, n_tokens, token_words, a, b, p, loadings, assignments, c, weights)
        n_draws = min(max(work // max(n_tokens, 1), 100), 10_000)
        for draw in range(burn_in + n_draws):
            for t in range(n_tokens):
                c[assignments[t]] -= 1
                total = weigh(c, a, b, p, loadings[token_words[t]], weights)
                if draw >= burn_in:
                    for k in range(n_components):
                        out_component_counts[i, k] += weights[k] / total
                assignments[t] = choose(stream, weights, total)
                c[assignments[t]] += 1
            if draw >= burn_in:
                for k in range(n_components):
                    if c[k] == 0:
                        out_empty[i, k] += 1.0
        for k in range(n_components):
            out_component_counts[i, k] /= n_draws
            out_empty[i, k] /= n_draws


@kernel()
def chib(
    indptr, words, counts, levels, shape, rate, present, loadings,
    out_log_probability, n_sweeps, seed, run,
):  # fmt: skip
    """Estimate the log sequence probability of each document, scores integrated out.

    Same as twins.evidence.chib. Chib's identity with the correction of Murray & Salakhutdinov
    (theory 6.1) is unbiased for p. The result is up to the model's constant, and -inf for a
    document with a word that no component has. ``n_sweeps`` (I,) is the length of the chain of each
    document; ``run`` is the number of an independent repetition.
    """
    n_components = loadings.shape[1]
    longest = longest_document(indptr, counts)
    token_words = np.empty(longest, dtype=np.int64)
    best = np.empty(longest, dtype=np.int64)
    most_words = 1
    for i in range(indptr.shape[0] - 1):
        most_words = max(most_words, indptr[i + 1] - indptr[i])
    shares = np.empty((most_words, n_components))
    first = np.empty(longest, dtype=np.int64)
    state = np.empty(longest, dtype=np.int64)
    c = np.empty(n_components, dtype=np.int64)
    weights = np.empty(n_components)
    stream = np.empty(2, dtype=np.uint64)
    for i in range(indptr.shape[0] - 1):
        level = levels[i]
        a, b, p = shape[level], rate[level], present[level]
        n_tokens = list_all_tokens(indptr, words, counts, i, loadings, token_words)
        if n_tokens < 0:
            out_log_probability[i] = -np.inf
            continue
        open_stream(stream, seed, EVIDENCE, run, content(indptr, words, counts, i))
        fill(c, np.int64(0))
        _start(stream, n_tokens, token_words, a, b, p, loadings, best, c, weights)
        for _ in range(20):
            _pass(stream, n_tokens, token_words, a, b, p, loadings, best, c, weights, 1)
        _centre(stream, n_tokens, token_words, a, b, p, loadings, best, c, weights, shares)
        log_joint = log_factor(c, a, b, p)
        for t in range(n_tokens):
            log_joint += math.log(loadings[token_words[t], best[t]])
        place = int(uniform(stream) * n_sweeps[i])
        copy(best, n_tokens, first)
        _pass(stream, n_tokens, token_words, a, b, p, loadings, first, c, weights, -1)
        top, total = -np.inf, 0.0
        for direction in (1, -1):
            copy(first, n_tokens, state)
            n_steps = n_sweeps[i] - 1 - place if direction == 1 else place
            for step in range(n_steps + 1):
                fill(c, np.int64(0))
                for t in range(n_tokens):
                    c[state[t]] += 1
                if step > 0:
                    _pass(stream, n_tokens, token_words, a, b, p, loadings, state, c, weights,
                          direction)  # fmt: skip
                elif direction == -1:
                    continue  # the first state counts once
                x = _log_transition(n_tokens, token_words, a, b, p, loadings, state, best, c,
                                    weights)  # fmt: skip
                if x > top:
                    total = total * math.exp(top - x) + 1.0
                    top = x
                else:
                    total += math.exp(x - top)
        out_log_probability[i] = log_joint - (top + math.log(total / n_sweeps[i]))


@part()
def longest_document(indptr, counts):
    """Tokens of the longest document, at least 1."""
    longest = 1
    for i in range(indptr.shape[0] - 1):
        length = 0
        for t in range(indptr[i], indptr[i + 1]):
            length += counts[t]
        longest = max(longest, length)
    return longest


@part()
def list_all_tokens(indptr, words, counts, i, loadings, token_words):
    """List the document's tokens; return their number, or -1 if no component has a word."""
    n_all = 0
    for t in range(indptr[i], indptr[i + 1]):
        n_all += counts[t]
    n_tokens = list_tokens(indptr, words, counts, i, loadings, token_words)
    return n_tokens if n_tokens == n_all else -1


@part()
def content(indptr, words, counts, i):
    """Hash a document's words and counts (FNV-1a over integers)."""
    result = np.uint64(0xCBF29CE484222325)
    prime = np.uint64(0x100000001B3)
    for t in range(indptr[i], indptr[i + 1]):
        result = (result ^ np.uint64(words[t])) * prime
        result = (result ^ np.uint64(counts[t])) * prime
        result ^= result >> np.uint64(29)
    return np.int64(result)


@part()
def weigh(c, shape, rate, present, row, weights):
    """Weigh the components of one more token with these loadings; return the sum."""
    total = 0.0
    for k in range(c.shape[0]):
        weights[k] = (c[k] + shape[k]) / rate[k] * row[k]
        if c[k] == 0:
            weights[k] *= present[k]
        total += weights[k]
    return total


@part()
def choose(stream, weights, total):
    """Draw a component in proportion to its weight, never one of weight zero."""
    left = uniform(stream) * total
    k = 0
    last = weights.shape[0] - 1
    left -= weights[0]
    while left >= 0.0 and k < last:
        k += 1
        left -= weights[k]
    while weights[k] <= 0.0 and k > 0:
        k -= 1
    return k


@part()
def list_tokens(indptr, words, counts, i, loadings, token_words):
    """List the document's tokens, except words that no component has."""
    n_tokens = 0
    for t in range(indptr[i], indptr[i + 1]):
        possible = False
        for k in range(loadings.shape[1]):
            if loadings[words[t], k] > 0.0:
                possible = True
                break
        if possible:
            for _ in range(counts[t]):
                token_words[n_tokens] = words[t]
                n_tokens += 1
    return n_tokens


@part()
def _start(stream, n_tokens, token_words, shape, rate, present, loadings, assignments, c, weights):
    """Draw a component for each token given those before it."""
    for t in range(n_tokens):
        total = weigh(c, shape, rate, present, loadings[token_words[t]], weights)
        assignments[t] = choose(stream, weights, total)
        c[assignments[t]] += 1


@part()
def _pass(stream, n_tokens, token_words, shape, rate, present, loadings, assignments, c, weights,
          direction):  # fmt: skip
    """Redraw all tokens, forwards (1) or backwards (-1)."""
    for step in range(n_tokens):
        t = step if direction == 1 else n_tokens - 1 - step
        c[assignments[t]] -= 1
        total = weigh(c, shape, rate, present, loadings[token_words[t]], weights)
        assignments[t] = choose(stream, weights, total)
        c[assignments[t]] += 1


@part()
def _centre(stream, n_tokens, token_words, shape, rate, present, loadings, assignments, c, weights,
            shares):  # fmt: skip
    """Set the state in the middle of the posterior: the tokens of each word by expected counts.

    The sweeps of all states can reach it with much the same probability. The most probable state
    is often far from all others.
    """
    for sweep in range(_CENTRE_SWEEPS):
        word = 0
        for t in range(n_tokens):
            if t > 0 and token_words[t] != token_words[t - 1]:
                word += 1
            if sweep == 0 and (t == 0 or token_words[t] != token_words[t - 1]):
                fill(shares[word], 0.0)
            c[assignments[t]] -= 1
            total = weigh(c, shape, rate, present, loadings[token_words[t]], weights)
            for k in range(weights.shape[0]):
                shares[word, k] += weights[k] / total / _CENTRE_SWEEPS
            assignments[t] = choose(stream, weights, total)
            c[assignments[t]] += 1
    fill(c, np.int64(0))
    word = 0
    for t in range(n_tokens):
        if t > 0 and token_words[t] != token_words[t - 1]:
            word += 1
        best = 0
        for k in range(weights.shape[0]):
            if shares[word, k] > shares[word, best]:
                best = k
        shares[word, best] -= 1.0
        assignments[t] = best
        c[best] += 1


@part()
def _log_transition(n_tokens, token_words, shape, rate, present, loadings, state, goal, c, weights):
    """Log probability that a forward sweep from ``state`` draws ``goal``; c ends at ``goal``."""
    result = 0.0
    for t in range(n_tokens):
        c[state[t]] -= 1
        total = weigh(c, shape, rate, present, loadings[token_words[t]], weights)
        result += math.log(weights[goal[t]] / total)
        c[goal[t]] += 1
    return result
