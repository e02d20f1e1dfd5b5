# SPDX-License-Identifier: BSD-3-Clause
"""Count which words occur together in documents, in few columns."""

import numpy as np

from .compile import kernel

__all__ = ["add_co_occurrences"]


@kernel()
def add_co_occurrences(indptr, words, counts, columns, signs, out_sums, out_totals):
    """Add to each word's row the other words of its documents, divided by the documents' lengths.

    Same as twins.co_occurrence.add_co_occurrences. With L the length of a document, the row of word
    j gains (w_j / L) signs_h w_h in column columns_h for every other word h; its total gains
    (w_j / L) sum_h w_h.
    """
    row = np.zeros(out_sums.shape[1])
    touched = np.empty(out_sums.shape[1], np.int64)
    seen = np.zeros(out_sums.shape[1], np.bool_)
    for i in range(indptr.shape[0] - 1):
        length, n_touched = 0.0, 0
        for t in range(indptr[i], indptr[i + 1]):
            column = columns[words[t]]
            if not seen[column]:
                seen[column] = True
                touched[n_touched] = column
                n_touched += 1
            row[column] += signs[words[t]] * counts[t]
            length += counts[t]
        for t in range(indptr[i], indptr[i + 1]):
            j, count = words[t], np.float64(counts[t])
            if count <= 0.0:
                continue
            fraction = count / length
            for n in range(n_touched):
                out_sums[j, touched[n]] += fraction * row[touched[n]]
            out_sums[j, columns[j]] -= fraction * signs[j] * count
            out_totals[j] += fraction * (length - count)
        for n in range(n_touched):
            row[touched[n]] = 0.0
            seen[touched[n]] = False
