# SPDX-License-Identifier: BSD-3-Clause
"""Two levels: draw the parents' scores, mix them to shapes, and send tables up to the parents."""

import numpy as np

from .compile import kernel, part
from .draws import gammas, log_beta
from .evidence import choose, content, list_tokens
from .random import FOLD_IN, PARENTS, TABLES, open_stream, tables, uniform
from .special import log_rising

__all__ = ["draw_parents", "fold_in_levels", "mix_parents", "split_tables"]

_LEAST = 1e-150  # of scores and loadings of parents, so that their products do not underflow


def _gamma_buffers(n):
    """Allocate buffers for ``gammas`` of n variables, and a stream."""
    shape, draws, logs = np.empty((3, n))
    index, scratch = np.empty(n, dtype=np.int64), np.empty((6, n))
    return np.empty(2, dtype=np.uint64), (shape, draws, logs, index, scratch)


@kernel(lambda counts, *others: _gamma_buffers(counts.shape[1]))
def draw_parents(
    parent_counts, exposures, alpha, beta, out_scores, seed, cycle, first_document, stream, buffers
):
    """Draw h_r ~ Gamma(alpha_r + y_r, beta_r + e) of every document.

    Same as twins.levels.draw_parents (theory 13.2).
    """
    for i in range(parent_counts.shape[0]):
        open_stream(stream, seed, PARENTS, cycle, first_document + i)
        _draw_scores(stream, parent_counts[i], exposures[i], alpha, beta, out_scores[i], buffers)


@part()
def _draw_scores(stream, counts, exposure, alpha, beta, out_scores, buffers):
    shape, draws, logs, index, scratch = buffers
    for r in range(alpha.shape[0]):
        shape[r] = alpha[r] + counts[r]
    gammas(stream, shape, draws, logs, index, scratch)
    for r in range(alpha.shape[0]):
        out_scores[r] = max(draws[r] / (beta[r] + exposure), _LEAST)


@kernel()
def mix_parents(parent_scores, parents, out_shape):
    """Shapes s_k = sum_r Phi_kr h_r of every document; ``parents`` is (R, K).

    Same as twins.levels.mix_parents.
    """
    for i in range(parent_scores.shape[0]):
        _mix(parent_scores[i], parents, out_shape[i])


@part()
def _mix(scores, parents, out_shape):
    n_components = out_shape.shape[0]
    for k in range(n_components):
        out_shape[k] = 0.0
    for r in range(scores.shape[0]):
        for k in range(n_components):
            out_shape[k] += scores[r] * parents[r, k]


def _table_buffers(component_counts, shape, parents, *others):
    return np.empty(2, dtype=np.uint64), np.empty(parents.shape[0])


@kernel(_table_buffers)
def split_tables(
    component_counts, shape, parents, parent_scores, alpha,
    out_parent_counts, out_loading_counts, out_tables, out_exposures, out_log_factor,
    seed, cycle, first_document, stream, through,
):  # fmt: skip
    """Draw tables t_k ~ CRT(c_k, s_k), and split them over the parents by Phi_kr h_r.

    Same as twins.levels.split_tables (theory 13.2). ``parents`` is (R, K). Sums over k go to
    ``out_parent_counts`` (n, R); sums over documents are added to ``out_loading_counts`` (K, R).
    Tables CRT(y_r, alpha_r) of the parents are added to ``out_tables`` (R,). ``out_exposures`` (n,)
    gets -log u, u ~ Beta(sum_k s_k, L), and ``out_log_factor`` (n,) gets
    sum_k log Gamma(c_k + s_k) / Gamma(s_k).
    """
    n_components, n_parents = component_counts.shape[1], parents.shape[0]
    for i in range(component_counts.shape[0]):
        open_stream(stream, seed, TABLES, cycle, first_document + i)
        for r in range(n_parents):
            out_parent_counts[i, r] = 0
        length, log_factor = np.int64(0), 0.0
        total = 0.0
        for k in range(n_components):
            total += shape[i, k]
            c = np.int64(component_counts[i, k])
            if c == 0:
                continue
            length += c
            log_factor += log_rising(shape[i, k], c)
            n_tables = tables(stream, c, shape[i, k])
            _accumulate(parents, k, parent_scores[i], through)
            for _ in range(n_tables):
                r = _choose(stream, through)
                out_parent_counts[i, r] += 1
                out_loading_counts[k, r] += 1
        for r in range(n_parents):
            out_tables[r] += tables(stream, out_parent_counts[i, r], alpha[r])
        out_exposures[i] = 0.0 if length == 0 else -log_beta(stream, total, float(length))
        out_log_factor[i] = log_factor


@part()
def _accumulate(parents, k, scores, out_through):
    """Sums of Phi_kr h_r over the parents up to each."""
    sum_ = 0.0
    for r in range(scores.shape[0]):
        sum_ += parents[r, k] * scores[r]
        out_through[r] = sum_


@part()
def _choose(stream, through):
    """Draw a parent in proportion to weights, given their sums up to each."""
    last = through.shape[0] - 1
    goal = uniform(stream) * through[last]
    r = 0
    while r < last and through[r] <= goal:
        r += 1
    return r


def _fold_in_buffers(indptr, words, counts, rate, exposures, drawn, loadings, parents, *others):
    n_components, n_parents = loadings.shape[1], parents.shape[0]
    stream, buffers = _gamma_buffers(n_parents)
    ends = np.concatenate(([0], np.cumsum(counts[indptr[0] : indptr[-1]], dtype=np.int64)))
    longest = max(1, np.diff(ends[indptr - indptr[0]]).max(initial=1))
    weights, shape = np.empty((2, n_components))
    return (
        stream, buffers, np.empty((2, longest), dtype=np.int64),
        np.empty(n_components, dtype=np.int64), np.empty(n_parents, dtype=np.int64),
        weights, shape, np.empty(n_parents), np.empty(n_parents),
    )  # fmt: skip


@kernel(_fold_in_buffers)
def fold_in_levels(
    indptr, words, counts, rate, exposures, drawn, loadings, parents, alpha, beta,
    out_component_counts, out_scores, out_parent_scores, burn_in, n_draws, seed,
    stream, buffers, tokens, c, y, weights, shape, h, through,
):  # fmt: skip
    """Posterior means of c, of the scores and of the parents' scores of new documents, by Gibbs.

    Same as twins.levels.fold_in_levels (theory 13.3). Each sweep redraws every token given the
    shapes, scores integrated out, then the tables, then the parents' scores. The tokens add their
    conditional probabilities (Rao-Blackwell). ``drawn`` tells that the exposure of the parents is
    drawn and that scores are divided by their sum; else they have ``exposures`` (n,) and the scores
    ``rate`` (n,).
    """
    n_components, n_parents = loadings.shape[1], parents.shape[0]
    token_words, assignments = tokens[0], tokens[1]
    for i in range(indptr.shape[0] - 1):
        n_tokens = list_tokens(indptr, words, counts, i, loadings, token_words)
        open_stream(stream, seed, FOLD_IN, np.int64(0), content(indptr, words, counts, i))
        for r in range(n_parents):
            h[r] = alpha[r] / beta[r]
        _mix(h, parents, shape)
        for k in range(n_components):
            c[k] = 0
        for t in range(n_tokens):
            total = _weigh(c, shape, loadings[token_words[t]], weights)
            assignments[t] = choose(stream, weights, total)
            c[assignments[t]] += 1
        for draw in range(burn_in + n_draws):
            kept = draw >= burn_in
            for t in range(n_tokens):
                c[assignments[t]] -= 1
                total = _weigh(c, shape, loadings[token_words[t]], weights)
                if kept:
                    for k in range(n_components):
                        out_component_counts[i, k] += weights[k] / total
                assignments[t] = choose(stream, weights, total)
                c[assignments[t]] += 1
            sum_ = 0.0
            for k in range(n_components):
                sum_ += shape[k]
            if kept:
                divisor = n_tokens + sum_ if drawn else rate[i]
                for k in range(n_components):
                    out_scores[i, k] += (c[k] + shape[k]) / divisor
            for r in range(n_parents):
                y[r] = 0
            for k in range(n_components):
                if c[k] > 0:
                    n_tables = tables(stream, c[k], shape[k])
                    _accumulate(parents, k, h, through)
                    for _ in range(n_tables):
                        y[_choose(stream, through)] += 1
            exposure = exposures[i]
            if drawn:
                exposure = 0.0 if n_tokens == 0 else -log_beta(stream, sum_, float(n_tokens))
            if kept:
                for r in range(n_parents):
                    out_parent_scores[i, r] += (alpha[r] + y[r]) / (beta[r] + exposure)
            _draw_scores(stream, y, exposure, alpha, beta, h, buffers)
            _mix(h, parents, shape)
        for k in range(n_components):
            out_component_counts[i, k] /= n_draws
            out_scores[i, k] /= n_draws
        for r in range(n_parents):
            out_parent_scores[i, r] /= n_draws


@part()
def _weigh(c, shape, row, out_weights):
    """Weights (c_k + s_k) theta_k of the components for one token; return their sum."""
    total = 0.0
    for k in range(c.shape[0]):
        out_weights[k] = (c[k] + shape[k]) * row[k]
        total += out_weights[k]
    return total
