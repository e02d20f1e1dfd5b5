# SPDX-License-Identifier: BSD-3-Clause
"""Blocs of the Senate, printed and as data, for all tests of the demos."""

import io

import pytest

from discan import demos
from discan.readers.datasets import load_senate2005


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    stream, file = io.StringIO(), tmp_path_factory.mktemp("demo") / "senate.html"
    path = demos.senate(file, stream=stream, width=80)
    assert path == file
    return stream.getvalue(), file.read_text("utf-8")


@pytest.fixture(scope="module")
def blocs():
    return demos.find_blocs(load_senate2005(), n_components=3, n_chains=2)
