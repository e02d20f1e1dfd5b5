# SPDX-License-Identifier: BSD-3-Clause
"""Options of readers are declared by types, and text becomes values of those types."""

import pytest

from discan.errors import InputError
from discan.readers import READERS


@pytest.mark.parametrize(
    ("format", "name", "text", "value"),
    [
        ("long", "columns", "who,what,2", ("who", "what", 2)),
        ("long", "header", "false", False),
        ("long", "quotes", "No", False),
        ("long", "delimiter", "\\t", "\t"),
        ("wide", "id_column", "3", 3),
        ("wide", "id_column", "False", False),
        ("wide", "id_column", "name", "name"),
        ("categorical", "missing", "NA", ("NA",)),
        ("categorical", "missing", "NA,,?", ("NA", "", "?")),
        ("categorical", "alleles", "/", "/"),
        ("categorical", "drop", "q1", "q1"),
        ("svmlight", "zero_based", "true", True),
        ("svmlight", "zero_based", "auto", "auto"),
        ("mtx", "vocabulary", "false", False),
        ("mtx", "vocabulary", "2005", "2005"),
        ("npz", "missing", "-1", -1),
        ("voteview", "session", "1", 1),
        ("fields", "fields", "title,1", ("title", "1")),
        ("lines", "stop_words", "english", "english"),
        ("lines", "stop_words", "red,blue", ("red", "blue")),
        ("lines", "min_df", "2", 2),
        ("reuters", "max_df", "0.5", 0.5),
        ("lines", "ngrams", "1,2", (1, 2)),
        ("lines", "min_df", 3, 3),
    ],
)
def test_text_to_value(format, name, text, value):
    found = READERS[format].options[name].parse(text)
    assert found == value
    assert type(found) is type(value)


def test_a_truth_value_that_is_none():
    with pytest.raises(InputError, match="header='maybe'; use one of True, False"):
        READERS["long"].options["header"].parse("maybe")


@pytest.mark.parametrize("name", READERS)
def test_every_option_has_help_and_no_reader_lists_its_source(name):
    options = READERS[name].options
    assert all(option.help.endswith(".") for option in options.values())
    assert not {"source", "options"} & set(options)
    assert READERS[name].is_text == ("stop_words" in options)
