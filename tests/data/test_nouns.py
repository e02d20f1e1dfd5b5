# SPDX-License-Identifier: BSD-3-Clause
"""What rows, columns and components are called, in the singular and the plural."""

import pytest

from discan.data.nouns import TEXT, VOTES, Nouns, plural
from discan.errors import InputError


@pytest.mark.parametrize(
    ("noun", "expected"),
    [
        ("document", "documents"), ("person", "people"), ("Person", "People"),
        ("country", "countries"), ("survey", "surveys"), ("class", "classes"), ("box", "boxes"),
        ("species", "species"), ("roll call", "roll calls"), ("young person", "young people"),
        ("branch", "branches"), ("fish", "fish"),
    ],
)  # fmt: skip
def test_plural(noun, expected):
    assert plural(noun) == expected


def test_plurals_of_nouns():
    assert (TEXT.documents, TEXT.words, TEXT.components) == ("documents", "words", "topics")
    assert VOTES.components == "blocs"
    assert Nouns().components == "components"


def test_nouns_of_text():
    assert Nouns.of("senator,vote,bloc") == Nouns("senator", "vote", "bloc")
    assert Nouns.of("senator", VOTES) == Nouns("senator", "vote", "bloc")
    assert Nouns.of(" judge , ruling") == Nouns("judge", "ruling", "component")
    assert Nouns.of("cell,,programme") == Nouns("cell", "word", "programme")
    for wrong in ("", ",vote", "a,b,c,d", "a\0b"):
        with pytest.raises(InputError, match="name a row"):
            Nouns.of(wrong)
