# SPDX-License-Identifier: BSD-3-Clause
"""The English stop words are scikit-learn's, and are read without it."""

import os
import subprocess
import sys
from pathlib import Path

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

import discan
from discan.readers import stop_words
from discan.readers.stop_words import english_stop_words


def test_the_list_is_that_of_scikit_learn(monkeypatch):
    assert english_stop_words() == ENGLISH_STOP_WORDS
    english_stop_words.cache_clear()
    monkeypatch.setattr(stop_words.Path, "is_file", lambda path: False)
    assert english_stop_words() == ENGLISH_STOP_WORDS  # another version may keep it elsewhere


def test_it_is_read_without_scikit_learn():
    code = (
        "import sys; from discan.readers.stop_words import english_stop_words as words\n"
        "print(len(words()), 'sklearn' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(discan.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(len(ENGLISH_STOP_WORDS)), "False"]
