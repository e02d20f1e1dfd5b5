# SPDX-License-Identifier: BSD-3-Clause
"""Find and count the tokens of texts, which are bytes of UTF-8.

A token begins with a word character (a letter, a digit or an underscore) and goes on with word
characters and marks. An apostrophe is part of it if a word character follows. Tokens are numbered
in order of appearance, by a hash table. A document that the rules do not cover is left to the
caller.
"""

import numpy as np

from .compile import kernel, part

__all__ = [
    "APOSTROPHE",
    "HAS_LETTER",
    "INSIDE",
    "IS_COMPOUND",
    "IS_LETTER",
    "LONGEST",
    "NON_STARTER",
    "ODD",
    "SEPARATOR",
    "WORD",
    "collect_words",
    "find_tokens",
    "rehash",
]

# What a character is: the lowest three bits of its class.
SEPARATOR, WORD, INSIDE, APOSTROPHE, ODD = 0, 1, 2, 3, 4
# More bits of a class: a character that is put in order with those beside it, and a letter.
NON_STARTER, IS_LETTER = 8, 16
# What a token is: it holds a letter; it holds an apostrophe or an underscore.
HAS_LETTER, IS_COMPOUND = 1, 2
LONGEST = 190
"""Bytes; a document with a longer token is left to the caller."""

_FIRST_HASH = np.uint64(14695981039346656037)
_HASH_FACTOR = np.uint64(1099511628211)


@kernel()
def find_tokens(
    data,
    ends,
    first,
    classes,
    lowered,
    as_is,
    out_table,
    out_hashes,
    out_token_ends,
    out_tokens,
    out_flags,
    out_seen,
    out_sizes,
    out_ids,
    out_counts,
    out_starts,
    out_lengths,
    out_odd,
):
    """Count the tokens of documents ``first`` and following; return the first one not counted.

    Same as twins.tokens.find_tokens. Stops before a document for which an output is too small.

    Parameters
    ----------
    data : (n_bytes,) uint8 array
        All texts, one behind another.
    ends : (n,) int64 array
        Where each text ends.
    first : int
    classes : (C,) uint8 array
        What each character is; characters from C on are odd.
    lowered : (C,) int32 array
        What each character is written as.
    as_is : bool
        Whether tokens are given, with a zero byte between.
    out_table : (2^m,) int32 array
        Hash table: the number of a token and 1, or 0.
    out_hashes, out_token_ends, out_flags, out_seen : (T,) arrays
        Hash of each token, where it ends in ``out_tokens``, what it is, and zeros.
    out_tokens : (B,) uint8 array
        The bytes of all tokens.
    out_sizes : (3,) int64 array
        Numbers of tokens, of their bytes and of entries so far.
    out_ids, out_counts : (n_entries,) int32 arrays
        Token and count, in order of appearance in each document.
    out_starts, out_lengths : (n,) int64 arrays
        The entries of each document.
    out_odd : (n,) bool array
        Documents that are left to the caller.
    """
    mask = out_table.shape[0] - 1
    n_tokens, n_bytes, n_entries = out_sizes[0], out_sizes[1], out_sizes[2]
    for d in range(first, ends.shape[0]):
        at = ends[d - 1] if d > 0 else np.int64(0)
        end = ends[d]
        most = (end - at) // 2 + 1
        if (
            2 * (n_tokens + most) > out_table.shape[0]
            or n_tokens + most > out_hashes.shape[0]
            or n_bytes + 2 * (end - at) + 256 > out_tokens.shape[0]
            or n_entries + most > out_ids.shape[0]
        ):
            out_sizes[0], out_sizes[1], out_sizes[2] = n_tokens, n_bytes, n_entries
            return d
        start = n_entries
        length = np.int64(0)
        pending = False
        odd = False
        before = np.uint8(0)
        flags = np.uint8(0)
        value = _FIRST_HASH
        while at <= end:
            # one step behind the text, a separator ends the last token
            code, size, kind = np.int64(32), np.int64(1), np.uint8(SEPARATOR)
            if at < end:
                byte = data[at]
                code = np.int64(byte)
                if as_is:
                    kind = np.uint8(SEPARATOR if byte == 0 else WORD)
                else:
                    if byte >= 128:
                        code, size = _decoded(data, at)
                    kind = classes[code] if code < classes.shape[0] else np.uint8(ODD)
                    if kind & before & NON_STARTER:
                        kind = np.uint8(ODD)
                    before = kind
            what = kind & 7
            if what == WORD or (what == INSIDE and length > 0 and not pending):
                if pending:
                    out_tokens[n_bytes + length] = 39
                    value = (value ^ np.uint64(39)) * _HASH_FACTOR
                    length += 1
                    flags |= np.uint8(IS_COMPOUND)
                    pending = False
                if kind & IS_LETTER:
                    flags |= np.uint8(HAS_LETTER)
                if as_is:
                    flags |= np.uint8(IS_COMPOUND)
                    out_tokens[n_bytes + length] = code
                    value = (value ^ np.uint64(code)) * _HASH_FACTOR
                    length += 1
                else:
                    new = np.int64(lowered[code])
                    if new < 128:
                        out_tokens[n_bytes + length] = new
                        value = (value ^ np.uint64(new)) * _HASH_FACTOR
                        length += 1
                        if new == 95:
                            flags |= np.uint8(IS_COMPOUND)
                    else:
                        stop = _encode(new, out_tokens, n_bytes + length)
                        for n in range(n_bytes + length, stop):
                            value = (value ^ np.uint64(out_tokens[n])) * _HASH_FACTOR
                        length = stop - n_bytes
                    if length > LONGEST:
                        odd = True
                        break
            elif what == APOSTROPHE and length > 0 and not pending:
                pending = True
            elif what == ODD:
                odd = True
                break
            elif length > 0:
                value ^= value >> np.uint64(32)
                slot = np.int64(value & np.uint64(mask))
                token = np.int64(-1)
                while out_table[slot] > 0:
                    other = np.int64(out_table[slot]) - 1
                    if out_hashes[other] == value:
                        begin = out_token_ends[other - 1] if other > 0 else np.int64(0)
                        if out_token_ends[other] - begin == length:
                            n = np.int64(0)
                            while n < length and out_tokens[begin + n] == out_tokens[n_bytes + n]:
                                n += 1
                            if n == length:
                                token = other
                                break
                    slot = (slot + 1) & mask
                if token < 0:
                    token = n_tokens
                    out_table[slot] = token + 1
                    out_hashes[token] = value
                    n_bytes += length
                    out_token_ends[token] = n_bytes
                    out_flags[token] = flags
                    n_tokens += 1
                if out_seen[token] == 0:
                    out_ids[n_entries] = token
                    n_entries += 1
                out_seen[token] += 1
                length = np.int64(0)
                pending = False
                flags = np.uint8(0)
                value = _FIRST_HASH
            at += size
        for n in range(start, n_entries):
            out_counts[n] = out_seen[out_ids[n]]
            out_seen[out_ids[n]] = 0
        if odd:
            n_entries = start
        out_odd[d] = odd
        out_starts[d], out_lengths[d] = start, n_entries - start
    out_sizes[0], out_sizes[1], out_sizes[2] = n_tokens, n_bytes, n_entries
    return ends.shape[0]


@part()
def _decoded(data, at):
    """Return the code of the character at a place, and its number of bytes."""
    byte = np.int64(data[at])
    if byte < 224:
        return ((byte & 31) << 6) | (np.int64(data[at + 1]) & 63), np.int64(2)
    if byte < 240:
        code = ((byte & 15) << 12) | ((np.int64(data[at + 1]) & 63) << 6)
        return code | (np.int64(data[at + 2]) & 63), np.int64(3)
    code = ((byte & 7) << 18) | ((np.int64(data[at + 1]) & 63) << 12)
    return code | ((np.int64(data[at + 2]) & 63) << 6) | (np.int64(data[at + 3]) & 63), np.int64(4)


@part()
def _encode(code, out, at):
    """Write a character of two bytes or more, and return the place behind it."""
    if code < 2048:
        out[at] = 192 | (code >> 6)
        out[at + 1] = 128 | (code & 63)
        return at + 2
    if code < 65536:
        out[at] = 224 | (code >> 12)
        out[at + 1] = 128 | ((code >> 6) & 63)
        out[at + 2] = 128 | (code & 63)
        return at + 3
    out[at] = 240 | (code >> 18)
    out[at + 1] = 128 | ((code >> 12) & 63)
    out[at + 2] = 128 | ((code >> 6) & 63)
    out[at + 3] = 128 | (code & 63)
    return at + 4


@kernel()
def rehash(hashes, n_tokens, out_table):
    """Put tokens into an empty, larger table."""
    mask = np.uint64(out_table.shape[0] - 1)
    for token in range(n_tokens):
        slot = hashes[token] & mask
        while out_table[slot] > 0:
            slot = (slot + np.uint64(1)) & mask
        out_table[slot] = token + 1


@kernel()
def collect_words(
    starts,
    lengths,
    ids,
    counts,
    numbers,
    out_seen,
    out_indptr,
    out_words,
    out_counts,
    out_frequencies,
    out_totals,
):
    """Count the words of documents, given the word of each token; return the number of entries.

    Same as twins.tokens.collect_words. Words ascend inside each document.

    Parameters
    ----------
    starts, lengths : (n,) int64 arrays
        The entries of each document in ``ids`` and ``counts``.
    ids, counts : (n_entries,) int32 arrays
    numbers : (T,) int32 array
        The word of each token, -1 if it is left out.
    out_seen : (W,) int32 array
        Zeros.
    out_indptr : (n + 1,) int64 array
        Zeros.
    out_words, out_counts : (n_entries,) int32 arrays
    out_frequencies, out_totals : (W,) int64 arrays
        To which the number of documents of each word and its tokens are added.
    """
    n_entries = np.int64(0)
    for d in range(starts.shape[0]):
        start = n_entries
        for t in range(starts[d], starts[d] + lengths[d]):
            word = numbers[ids[t]]
            if word < 0:
                continue
            if out_seen[word] == 0:
                out_words[n_entries] = word
                n_entries += 1
            out_seen[word] += counts[t]
        _sort(out_words, start, n_entries)
        for t in range(start, n_entries):
            word = out_words[t]
            out_counts[t] = out_seen[word]
            out_frequencies[word] += 1
            out_totals[word] += out_seen[word]
            out_seen[word] = 0
        out_indptr[d + 1] = n_entries
    return n_entries


@part()
def _sort(out_values, start, stop):
    """Sort part of an array: Shell's method, with gaps that are thirds."""
    gap = np.int64(1)
    while gap < (stop - start) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for n in range(start + gap, stop):
            value = out_values[n]
            at = n
            while at >= start + gap and out_values[at - gap] > value:
                out_values[at] = out_values[at - gap]
                at -= gap
            out_values[at] = value
        gap //= 3
