# SPDX-License-Identifier: BSD-3-Clause
"""The demo shows every senator and agrees with history."""

import re

from discan.readers.datasets import load_senate2005


def test_every_senator_once(printed):
    rows = printed[0].partition("Every senator")[2].partition("Whose outcome")[0]
    for name in load_senate2005().corpus.document_names:
        assert rows.count(name) == 1, name


def test_plain_in_a_pipe(printed):
    assert "\x1b" not in printed[0]
    body = [line for line in printed[0].splitlines() if "picture" not in line]
    assert max(map(len, body)) <= 80


def test_wings(printed):
    rows = printed[0].partition("Every senator")[2]
    names = re.findall(r"[A-Z]\w+ \([DRI]-[A-Z]{2}\)", rows.partition("Whose")[0])
    first, second = names[0::2], names[1::2]
    order = first + second
    assert order[0].endswith("D-MA)")
    assert sum("(D-" in name for name in order[:44]) >= 42
    assert all("(R-" in name for name in order[-40:])


def test_blocs_are_as_history_says(printed):
    table = printed[0].partition("Votes that set")[0]
    assert "Snowe (R-ME), Collins (R-ME)" in table or "Collins (R-ME), Snowe (R-ME)" in table
    outcome = printed[0].partition("Whose outcome")[2]
    shares = [int(share) for share in re.findall(r"^ +[A-E] +\d+% +(\d+)%", outcome, re.MULTILINE)]
    assert shares
    assert shares[-1] == max(shares) > 50  # the majority's bloc
