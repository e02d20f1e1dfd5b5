# SPDX-License-Identifier: BSD-3-Clause
"""The demo prints components of the docstrings, the largest first."""

import io
import re

from discan import demos


def test_text():
    stream = io.StringIO()
    estimator = demos.text(n_components=4, n_words=5, stream=stream, width=72)
    text = stream.getvalue()
    assert text.count("by lift") == 4
    assert text.count("of the tokens") == 4
    assert max(map(len, text.splitlines())) <= 72
    assert estimator.components_.shape[0] == 4
    sizes = [int(size) for size in re.findall(r"(\d+)% of the tokens", text)]
    assert 97 <= sum(sizes) <= 103
    assert sizes == sorted(sizes, reverse=True)
