# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the readers share: write a file, read it or fail in one line, real data."""

import logging
import os
from pathlib import Path

import pytest
from hypothesis import strategies as st

from discan.errors import InputError, LimitError, StorageError
from discan.readers import read

DATA = Path(os.environ.get("DISCAN_DATA", Path(__file__).parents[3] / "shared" / "data"))
EXPECTED = (InputError, LimitError, StorageError)

WORDS = ("bird", "blue", "fish", "red", "sing")
TABLE = [[0, 1, 2, 1, 0], [2, 1, 0, 1, 0], [0, 0, 0, 0, 0], [0, 0, 1, 0, 1]]


@pytest.fixture(scope="session")
def write():
    """Write text or bytes to a path, and return the path."""

    def write(path, text):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.fixture
def remarks(caplog, monkeypatch):
    """Return a function that gives the remarks of discan so far, one per line."""
    monkeypatch.setattr(logging.getLogger("discan"), "propagate", True)  # the command line's is off
    caplog.set_level(logging.INFO, "discan")
    return lambda: "\n".join(record.getMessage() for record in caplog.records)


@pytest.fixture(scope="session")
def fails():
    """Reading fails with one line that is not too long; return it."""

    def fails(path, match, format=None, kind=EXPECTED, **options):
        with pytest.raises(kind, match=match) as caught:
            read(path, format, **options)
        message = str(caught.value)
        assert "\n" not in message
        assert len(message) < 600 + 3 * len(str(path))
        return message

    return fails


@pytest.fixture(scope="session")
def survives():
    """A file is read, or refused in one line."""

    def survives(path, format=None, **options):
        message = ""
        try:
            read(path, format, **options)
        except EXPECTED as error:
            message = str(error)
        assert "\n" not in message

    return survives


@pytest.fixture(scope="session")
def changed_at_random(survives):
    """Change some bytes of a file as Hypothesis draws them: it is read, or refused in one line."""

    def changed_at_random(path, format, data):
        changed = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 3))):
            at = data.draw(st.integers(0, len(changed) - 1))
            changed[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
            changed = changed or bytearray(b"\n")
        path.write_bytes(bytes(changed))
        survives(path, format)

    return changed_at_random


@pytest.fixture(scope="session")
def dense():
    """The counts of a corpus as nested lists."""
    return lambda corpus: corpus.to_csr().toarray().tolist()


@pytest.fixture(scope="session")
def is_example():
    """Tell whether a corpus holds the counts of the four texts of the text tests."""
    return lambda c: c.layout.word_names == WORDS and c.to_csr().toarray().tolist() == TABLE


@pytest.fixture(scope="session")
def real():
    """Return the path of a file of real data, or skip the test."""

    def real(*parts):
        path = DATA.joinpath(*parts)
        if not path.exists():
            pytest.skip(f"{path} is not there; set DISCAN_DATA to the folder of real data")
        return path

    return real
