# SPDX-License-Identifier: BSD-3-Clause
"""Expected component counts of new documents, each token given all other tokens."""

import math

from .compile import REORDER, kernel, part
from .simd.memory import prefetch_row, work_rows

__all__ = ["split_new"]

_KEPT = 0.3  # a long step leaves at least this fraction of the counts that a plain step gives
_LEAST = 1e-6  # probability that a token is of another component, at least
_FEW = 8  # powers up to this are repeated products


def split_new(
    indptr, words, counts, levels, shape, rate, present, loadings, rows,
    out_component_counts, out_empty, stride, n_steps, tolerance,
):  # fmt: skip
    """Posterior means of c and of 1(c = 0) for each document, by collapsed variational inference.

    Same as twins.new_documents.split_new (theory 4.7). With q_k = 1 - present_k, e_k = P(c_k = 0)
    and the probability p_k that a token is of component k, the token is split in proportion to

        theta_jk (c_k - p_k + shape_k (1 - q_k e_k / (1 - p_k))) / rate_k,

    its loading times the expected score without the token. New c_k are the sums of the splits, or
    ``stride`` times that step; e_k is the product of the probabilities that a token is of another
    component. It is not computed, and is 1, if no component can be absent. A document starts even
    and is done when a step moves at most the fraction ``tolerance`` of its tokens.

    ``rows`` (n, width) holds the loadings of a document's words while it is worked on. Its type is
    the precision, its width is K or more. If a document has more than n words, they are copied
    again in every step.
    """
    split = split_absent if (present < 1.0).any() else split_present
    split(
        indptr, words, counts, levels, shape, rate, present, loadings, rows,
        out_component_counts, out_empty, stride, n_steps, tolerance,
        work_rows(9, rows.shape[1], rows.dtype),
    )  # fmt: skip


def _split(can_be_absent):
    """Compile one of two kernels, for scores that may be zero or that cannot."""

    @kernel(fastmath=REORDER)
    def split(
        indptr, words, counts, levels, shape, rate, present, loadings, rows,
        out_component_counts, out_empty, stride, n_steps, tolerance, vectors,
    ):  # fmt: skip
        n_components, n_rows, width = loadings.shape[1], rows.shape[0], rows.shape[1]
        real = rows.dtype.type
        scores, scale, prior, weights, c = (
            vectors[1], vectors[2], vectors[3], vectors[4], vectors[5],
        )  # fmt: skip
        added, absence, empty, others = vectors[6], vectors[7], vectors[8], vectors[9]
        for i in range(indptr.shape[0] - 1):
            first, n_words, level = indptr[i], indptr[i + 1] - indptr[i], levels[i]
            length = real(0.0)
            for t in range(first, first + n_words):
                prefetch_row(loadings, words[t])
                length += real(counts[t])
            for k in range(width):
                scale[k] = prior[k] = absence[k] = c[k] = real(0.0)
                empty[k] = real(1.0)
            for k in range(n_components):
                scale[k] = 1.0 / rate[level, k]
                prior[k] = shape[level, k]
                c[k] = length / n_components
                if can_be_absent:
                    absence[k] = 1.0 - present[level, k]
                    empty[k] = math.exp(-c[k])
            copied = n_words <= n_rows
            if copied:
                for t in range(n_words):
                    _copy_row(loadings, words[first + t], rows, t)
            for _ in range(n_steps):
                for k in range(width):
                    added[k] = real(0.0)
                    scores[k] = (c[k] + prior[k] * (real(1.0) - absence[k] * empty[k])) * scale[k]
                    others[k] = real(1.0)
                for t in range(n_words):
                    at = t
                    if not copied:
                        at = 0
                        _copy_row(loadings, words[first + t], rows, at)
                    norm = real(0.0)
                    for k in range(width):
                        norm += scores[k] * rows[at, k]
                    if norm <= 0.0:  # the word is impossible under every component
                        continue
                    count = real(counts[first + t])
                    token = min(count, real(1.0)) / norm
                    if can_be_absent:
                        norm = _weigh_absent(
                            rows[at], scores, scale, prior, c, absence, empty, token, width, weights
                        )
                    else:
                        norm = _weigh(rows[at], scores, scale, prior, token, width, weights)
                    if norm <= 0.0:
                        continue
                    ratio = count / norm
                    for k in range(width):
                        added[k] += ratio * weights[k]
                    if can_be_absent:
                        _multiply(weights, real(1.0) / norm, count, width, others)
                change, total, reached = real(0.0), real(0.0), real(0.0)
                for k in range(width):
                    change += abs(added[k] - c[k])
                    total += added[k]
                    ahead = c[k] + real(stride) * (added[k] - c[k])
                    c[k] = max(ahead, real(_KEPT) * added[k])
                    reached += c[k]
                    empty[k] = others[k]
                factor = total / reached if reached > 0.0 else real(0.0)
                for k in range(width):
                    c[k] *= factor
                if change <= real(tolerance) * total:
                    break
            for k in range(n_components):
                out_component_counts[i, k] = c[k]
                out_empty[i, k] = empty[k]

    return split


split_present, split_absent = _split(False), _split(True)


@part()
def _copy_row(loadings, word, rows, t):
    n_components = loadings.shape[1]
    for k in range(n_components):
        rows[t, k] = loadings[word, k]
    for k in range(n_components, rows.shape[1]):
        rows[t, k] = 0.0


@part(fastmath=REORDER)
def _weigh(row, scores, scale, prior, token, width, out_weights):
    """Weigh the components of a token, without the token itself; return the sum of the weights."""
    norm = row.dtype.type(0.0)
    for k in range(width):
        own = scores[k] * row[k] * token
        out_weights[k] = row[k] * max(scores[k] - own * scale[k], prior[k] * scale[k])
        norm += out_weights[k]
    return norm


@part(fastmath=REORDER)
def _weigh_absent(row, scores, scale, prior, c, absence, empty, token, width, out_weights):
    """Weigh components that may be absent, without the token itself."""
    real = row.dtype.type
    norm = real(0.0)
    for k in range(width):
        own = scores[k] * row[k] * token
        none = min(empty[k] / max(real(1.0) - own, real(_LEAST)), real(1.0))
        left = max(c[k] - own, real(0.0)) + prior[k] * (real(1.0) - absence[k] * none)
        out_weights[k] = row[k] * left * scale[k]
        norm += out_weights[k]
    return norm


@part()
def _multiply(weights, factor, count, width, others):
    """Multiply ``others`` by the probabilities that ``count`` tokens are of other components."""
    real = weights.dtype.type
    whole = int(count)
    if count == whole and whole <= _FEW:
        for _ in range(whole):
            for k in range(width):
                others[k] *= max(real(1.0) - weights[k] * factor, real(_LEAST))
    else:
        for k in range(width):
            others[k] *= max(real(1.0) - weights[k] * factor, real(_LEAST)) ** count
