# SPDX-License-Identifier: BSD-3-Clause
"""Blocks, and what is printed where the stream lacks them."""

import io

from discan.demos.terminal import Terminal, shade


def test_shades():
    assert [shade(share) for share in (0, 0.12, 0.13, 0.5, 0.86, 0.88, 1)] == list("  ░▒▓██")


def test_ascii_stream():
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    console = Terminal(stream, 40)
    console.print("░▒▓█ … é")
    stream.flush()
    assert raw.getvalue() == b".+*# ... ?\n"
