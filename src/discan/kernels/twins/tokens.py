# SPDX-License-Identifier: BSD-3-Clause
"""Twins of the tokeniser of bytes."""

from itertools import pairwise

import numpy as np

__all__ = [
    "APOSTROPHE", "HAS_LETTER", "INSIDE", "IS_COMPOUND", "IS_LETTER", "LONGEST", "NON_STARTER",
    "ODD", "SEPARATOR", "WORD", "collect_words", "find_tokens",
]  # fmt: skip

SEPARATOR, WORD, INSIDE, APOSTROPHE, ODD = range(5)
NON_STARTER, IS_LETTER = 8, 16
HAS_LETTER, IS_COMPOUND = 1, 2
LONGEST = 190


def find_tokens(data, ends, first, classes, lowered, as_is):
    """Return the tokens of each document, as bytes in order; None for one left to the caller."""
    whole = data.tobytes()
    limits = [0, *ends.tolist()]
    texts = [whole[a:b] for a, b in zip(limits[first:], limits[first + 1 :], strict=False)]
    if as_is:
        return [[token for token in text.split(b"\0") if token] for text in texts]
    return [_tokens(text.decode("utf-8", "surrogatepass"), classes, lowered) for text in texts]


def _tokens(text, classes, lowered):
    codes = [ord(character) for character in text]
    kinds = [int(classes[c]) if c < len(classes) else ODD for c in codes]
    for one, other in pairwise(kinds):
        if one & other & NON_STARTER:
            return None
    roles = [kind & 7 for kind in kinds]
    if ODD in roles:
        return None
    tokens, token, pending = [], "", False
    for code, what in zip([*codes, 32], [*roles, SEPARATOR], strict=True):
        if what == WORD or (what == INSIDE and token and not pending):
            token += "'" * pending + chr(lowered[code])
            pending = False
        elif what == APOSTROPHE and token and not pending:
            pending = True
        elif token:
            tokens.append(token.encode("utf-8", "surrogatepass"))
            token, pending = "", False
    return None if any(len(token) > LONGEST for token in tokens) else tokens


def collect_words(starts, lengths, ids, counts, numbers, n_words):
    """Return indptr, words and counts of documents, and frequencies and totals of the words."""
    table = np.zeros((len(starts), n_words), dtype=np.int64)
    for row, start, length in zip(table, starts, lengths, strict=True):
        entries = slice(start, start + length)
        words, amounts = numbers[ids[entries]], counts[entries]
        np.add.at(row, words[words >= 0], amounts[words >= 0])
    rows, words = np.nonzero(table)
    indptr = np.searchsorted(rows, np.arange(len(starts) + 1))
    frequencies = (table > 0).sum(axis=0)
    return indptr, words, table[rows, words], frequencies, table.sum(axis=0)
