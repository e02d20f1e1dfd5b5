# SPDX-License-Identifier: BSD-3-Clause
"""What a file says of how data were read is checked before new data are read in the same way."""

import numpy as np
import pytest

import discan
from discan.data.remembered import checked_reading
from discan.data.storage import HEAD, read_file, write_file
from discan.errors import InputError, ModelFileError
from discan.readers import READERS

SOUND = {
    "format": "categorical",
    "options": {"exposures": True, "missing": ["", "?"], "id_column": 0},
    "fields": ["text"],
    "document": None,
    "html": True,
    "places": {"": [None, False], "rna": ["counts", True]},
    "plan": {
        "answers": ["sex", "a1", "a2"], "document": "name", "split": {"sex": "/"},
        "joined": {"a": ["a1", "a2"]}, "no_allele": ["0"], "bins": {"sex": [1.0, 2]},
    },
    "else": 3,
}  # fmt: skip


def test_what_is_sound_stays_as_it_is():
    assert checked_reading(SOUND) == SOUND
    assert checked_reading({}) == {}


WRONG = [
    ("format", 3), ("format", ["csv"]), ("format", None),
    ("options", []), ("options", "x"),
    ("fields", "text"), ("fields", [1]), ("document", 4), ("html", 1),
    ("places", []), ("places", {"": ["x"]}), ("places", {"": [1, True]}),
    ("places", {"": [None, 1]}),
    ("plan", None), ("plan", {}), ("plan", {"answers": "sex"}),
    ("plan", {"answers": [], "document": 1}),
    ("plan", {"answers": [], "split": {"a": ""}}), ("plan", {"answers": [], "split": {"a": "0"}}),
    ("plan", {"answers": [], "split": {"a": "1000000000"}}),
    ("plan", {"answers": [], "split": {"a": "/" * 100}}), ("plan", {"answers": [], "split": ["/"]}),
    ("plan", {"answers": [], "joined": {"a": "a1"}}),
    ("plan", {"answers": ["a"], "joined": {"x": ["b"]}}),
    ("plan", {"answers": ["a", "b"], "joined": {"a": ["b"]}}),
    ("plan", {"answers": [], "no_allele": 0}),
    ("plan", {"answers": [], "bins": {"a": [2, 1]}}), ("plan", {"answers": [], "bins": {"a": 3}}),
    ("plan", {"answers": [], "bins": {"a": ["1"]}}),
    ("plan", {"answers": [], "bins": {"a": [True]}}),
    ("plan", {"answers": [], "bins": {"a": [10**400]}}),
]  # fmt: skip


@pytest.mark.parametrize(("part", "value"), WRONG, ids=str)
def test_what_is_wrong_is_named(part, value):
    with pytest.raises(ModelFileError, match=f"reading: {part} is"):
        checked_reading({**SOUND, part: value})


def test_no_mapping():
    with pytest.raises(ModelFileError, match="not a mapping of names"):
        checked_reading([])


def test_a_model_with_such_a_reading_is_refused(tmp_path):
    path = tmp_path / "m.discan"
    discan.LDA(2, random_state=0, max_iter=2).fit(np.eye(4)).save(path)
    header, arrays = read_file(path, "model")
    kept = {name: value for name, value in header.items() if name not in HEAD}
    write_file(path, "model", {**kept, "reading": {"format": {}}}, arrays)
    with pytest.raises(ModelFileError, match="reading: format"):
        discan.load(path)


# ---- options ----


@pytest.mark.parametrize(
    ("reader", "option", "right", "wrong"),
    [
        ("folder", "lowercase", [True], [1, "yes", None, [True], {}]),
        ("folder", "ngrams", [(1, 2), [1, 1], 2], ["1", (1, "2"), (1.0, 2), True]),
        ("folder", "stop_words", ["none", ("a", "b")], [3, (1,), {"a": 1}]),
        ("folder", "max_df", [1, 0.5, None], ["x", True, (1,)]),
        ("folder", "token_pattern", ["x", None], [1, ("x",)]),
        ("categorical", "answers", ["a", 1, ("a", 2), None], [1.5, (None,), {"a": 1}]),
        ("categorical", "missing", ["NA,?", ("", "NA")], [0, (0,), None]),
        ("categorical", "bins", [4, "age=3", {"age": 4}], [1.5, (1, 2)]),
        ("long", "columns", [("a", "b", 2), "a"], [True, (1.5,)]),
        ("mtx", "transpose", [True, None], ["yes", 1]),
    ],
)
def test_types_that_an_option_takes(reader, option, right, wrong):
    found = READERS[reader].options[option]
    assert [value for value in right if not found.takes(value)] == []
    assert [value for value in wrong if found.takes(value)] == []


@pytest.mark.parametrize("reader", READERS)
def test_every_option_takes_its_default(reader):
    for option in READERS[reader].options.values():
        assert option.takes(option.default), option


@pytest.mark.parametrize("options", [{"lowercase": "x"}, {"stop_words": "{path}"}, {"ngrams": {}}])
def test_options_that_a_model_remembers_wrongly(tmp_path, options):
    """They are refused, and no file that a model names is opened."""
    text = tmp_path / "t.txt"
    text.write_text("the cat sat\nthe dog ran\n" * 4)
    corpus = discan.read(text, format="lines")
    options = {k: v.format(path=text) if isinstance(v, str) else v for k, v in options.items()}
    like = corpus.described(reading={"format": "lines", "options": options})
    with pytest.raises(InputError, match=f"the model remembers {next(iter(options))}"):
        discan.read(text, format="lines", like=like)
