# SPDX-License-Identifier: BSD-3-Clause
"""What documents, words and components are called: senators, votes and blocs, for example."""

from __future__ import annotations

import re
from dataclasses import dataclass

from discan.errors import InputError

__all__ = ["ALLELES", "ANSWERS", "CELLS", "TEXT", "VOTES", "Nouns", "counted", "plural"]

_IRREGULAR = {"person": "people", "child": "children", "man": "men", "woman": "women"}
_UNCHANGED = ("species", "series", "sheep", "fish", "people", "children", "data")


@dataclass(frozen=True)
class Nouns:
    """What a row, a column and a component of a table are called, each in the singular."""

    document: str = "document"
    word: str = "word"
    component: str = "component"

    @classmethod
    def of(cls, text: str, others: Nouns | None = None) -> Nouns:
        """Read ``"senator"``, ``"senator,vote"`` or ``"senator,vote,bloc"``.

        Nouns that are not given are those of ``others``.
        """
        others = others or cls()
        given = [part.strip() for part in text.split(",")]
        if len(given) > 3 or not given[0] or not all(part.isprintable() for part in given):
            problem = "{}; name a row, a column and a component, e.g. senator,vote,bloc"
            raise InputError(problem, argument="unit", value=text)
        defaults = (others.document, others.word, others.component)
        given += [""] * (3 - len(given))
        return cls(*(noun or other for noun, other in zip(given, defaults, strict=True)))

    @property
    def documents(self) -> str:
        """The noun of a row in the plural."""
        return plural(self.document)

    @property
    def words(self) -> str:
        """The noun of a column in the plural."""
        return plural(self.word)

    @property
    def components(self) -> str:
        """The noun of a component in the plural."""
        return plural(self.component)


def plural(noun: str) -> str:
    """Return the plural of an English noun; of several words, that of the last."""
    start, space, last = noun.rpartition(" ")
    key = last.lower()
    if key in _IRREGULAR:
        end = _IRREGULAR[key]
        return start + space + (end.capitalize() if last[:1].isupper() else end)
    if key in _UNCHANGED:
        return noun
    if re.search(r"[^aeiou]y$", key):
        return noun[:-1] + "ies"
    if re.search(r"(s|x|z|ch|sh)$", key):
        return noun + "es"
    return noun + "s"


def counted(number: int, noun: str) -> str:
    """Return a number and its noun: "1 senator", "1,350 votes"."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


TEXT = Nouns("document", "word", "topic")
VOTES = Nouns("member", "vote", "bloc")
ANSWERS = Nouns("respondent", "answer", "component")
ALLELES = Nouns("individual", "allele", "component")
CELLS = Nouns("cell", "gene", "component")
