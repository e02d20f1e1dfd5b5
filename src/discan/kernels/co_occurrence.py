# SPDX-License-Identifier: BSD-3-Clause
"""Which words stand beside which: the company of every word, in few columns."""

import numpy as np

from .compile import kernel

__all__ = ["add_co_occurrences"]


@kernel()
def add_co_occurrences(indptr, words, counts, columns, signs, out_company, out_totals):
    """Add to each word's row what stands beside it in its documents, as shares of their length.

    Same as twins.add_co_occurrences. With L the length of a document, word j gains w_j / L times
    signs_h w_h in column columns_h for every other word h, and w_j / L times sum_h w_h as a total.
    """
    row = np.zeros(out_company.shape[1])
    touched = np.empty(out_company.shape[1], np.int64)
    seen = np.zeros(out_company.shape[1], np.bool_)
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
            share = count / length
            for n in range(n_touched):
                out_company[j, touched[n]] += share * row[touched[n]]
            out_company[j, columns[j]] -= share * signs[j] * count
            out_totals[j] += share * (length - count)
        for n in range(n_touched):
            row[touched[n]] = 0.0
            seen[touched[n]] = False
