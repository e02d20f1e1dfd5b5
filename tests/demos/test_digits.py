# SPDX-License-Identifier: BSD-3-Clause
"""The demo of the digits prints pictures that fit a terminal, in ASCII where needed."""

import io

import pytest

from discan import demos


def printed(encoding):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    demos.digits(stream, burn_in=1, n_draws=1)
    stream.flush()
    return raw.getvalue().decode(encoding)


@pytest.mark.parametrize(("encoding", "shades"), [("utf-8", "░▒▓█"), ("ascii", ".+*#")])
def test_pictures_fit_a_terminal(encoding, shades):
    text = printed(encoding)
    assert max(map(len, text.splitlines())) <= 100
    assert "unigram" in text
    for shade in shades:
        assert 2 * shade in text
    assert text.count("% of the ink") == 10
