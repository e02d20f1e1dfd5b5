# SPDX-License-Identifier: BSD-3-Clause
"""Words left out are remembered by checksums, and told apart from unseen ones."""

import numpy as np

from discan.data.left_out import NOTHING, are_left_out, checksums


def test_words_left_out():
    left_out = checksums(["rare", "common", "rare", "\ud800"])
    assert left_out.dtype == np.uint32
    assert (left_out[1:] > left_out[:-1]).all()
    assert are_left_out(["common", "new", "\ud800", "rare"], left_out).tolist() == [
        True, False, True, True,
    ]  # fmt: skip
    assert are_left_out(["common"], NOTHING).tolist() == [False]
    assert are_left_out([], left_out).size == 0


def test_few_words_share_a_checksum():
    left_out = checksums(f"word{n}" for n in range(20_000))
    assert are_left_out([f"other{n}" for n in range(20_000)], left_out).mean() < 0.001
