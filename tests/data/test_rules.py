# SPDX-License-Identifier: BSD-3-Clause
"""Rules of values from files."""

import numpy as np
import pytest

from discan.data.rules import Rule, faults_of, taken
from discan.errors import InputError, LimitError, ModelFileError, StorageError


@pytest.mark.parametrize(
    ("rule", "value", "piece"),
    [
        (Rule(("K",)), None, "x is missing"),
        (Rule(("K",)), [1.0, 2.0, 3.0], "x is not an array"),
        (Rule(("K", None)), np.ones(3), r"x has shape \(3,\), not \(3, any\)"),
        (Rule(("K",), "i"), np.ones(3), "x has type float64"),
        (Rule(("K",)), np.array([1.0, np.nan, 2.0]), "x holds nan"),
        (Rule(("K",)), np.array([1.0, np.inf, 2.0]), "x holds an infinite value"),
        (Rule(("K",), low=0, above=True), np.zeros(3), "x holds 0.0, outside 0 to inf"),
        (Rule(("K",), "i", low=0, below="K"), np.array([0, 1, 3]), "x holds 3, outside 0 to 2"),
        (Rule(types="whole"), 2**62, "x is 4611686018427387904"),
        (Rule(types="whole"), -(2**62), "x is -4611686018427387904"),
        (Rule(types="whole"), True, "x is True, not a whole"),
        (Rule(types="number", high=1), 1.5, "x holds 1.5"),
        (Rule(types="flag"), 2, "x is 2, not a flag"),
        (Rule(types="text"), 5, "x is 5, not a text"),
    ],
)
def test_what_breaks_a_rule_is_named(rule, value, piece):
    with pytest.raises(ModelFileError, match=piece):
        rule.check("x", value, {"K": 3})


def test_what_obeys_is_taken():
    rules = {
        "a": Rule(("K",), optional=True), "b": Rule(types="whole"), "c": Rule(types="flag"),
        "d": Rule(("K",), finite=False), "e": Rule((0,)),
    }  # fmt: skip
    values = {
        "p.b": 2**62 - 1, "p.c": 1, "p.d": np.array([-np.inf, 0.0, np.inf]), "p.e": np.empty(0),
        "p.other": 1,
    }  # fmt: skip
    found = taken(rules, values, {"K": 3}, "p.")
    assert list(found) == ["b", "c", "d", "e"]
    assert found["b"] == 2**62 - 1


@pytest.mark.parametrize(
    ("raised", "expected", "message"),
    [
        (StorageError("f: permission denied"), StorageError, "f: permission denied"),
        (MemoryError(), LimitError, "f: there is not enough memory to load it"),
        (ModelFileError("f: damaged"), ModelFileError, "f: damaged"),
        (InputError("alpha is 0"), ModelFileError, "f: invalid: alpha is 0"),
        (KeyError("x"), ModelFileError, "f: invalid (KeyError: 'x')"),
    ],
)
def test_faults_of_a_file_are_one_error(raised, expected, message):
    with pytest.raises(expected) as caught, faults_of("f"):
        raise raised
    assert str(caught.value) == message
