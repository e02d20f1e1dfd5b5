# SPDX-License-Identifier: BSD-3-Clause
"""Naming components from the shell."""

import csv
import io
import json
import shutil

import pytest

import discan


@pytest.fixture
def model(place, tmp_path):
    """A model that may be changed."""
    return shutil.copy(place / "model" / "model.discan", tmp_path / "m.discan")


def test_names_are_kept_and_used_everywhere(run, place, model, tmp_path):
    names = tmp_path / "names.json"
    names.write_text('{"1": "fruit", "topic 2": "boats"}')
    out, err = run("name", model, names)
    assert out == ""
    assert err == f"2 of 2 components have names; written to {model}\n"
    assert discan.load(model).component_names_ == ("fruit", "boats")
    assert run("show", model, "--words", 2)[0].startswith("fruit: 58.6 % of all counts\n")
    assert [c["component"] for c in json.loads(run("show", model, "--json")[0])] == [
        "fruit", "boats",
    ]  # fmt: skip
    table = run("transform", model, place / "texts.jsonl", "-q")[0]
    assert next(csv.reader(io.StringIO(table)))[1:] == ["fruit", "boats"]
    run("plot", model, "map", "-o", tmp_path / "map.svg", "-q")
    assert "fruit" in (tmp_path / "map.svg").read_text("utf-8")


def test_names_can_be_printed_edited_and_given_back(run, model, tmp_path):
    out, _ = run("name", model, "--json")
    assert json.loads(out) == {"topic 1": "topic 1", "topic 2": "topic 2"}
    file = tmp_path / "names.json"
    file.write_text(out.replace('"topic 2": "topic 2"', '"topic 2": "boats"'))
    run("name", model, file, "-q")
    assert discan.load(model).fit_.given_names == (None, "boats")
    table, _ = run("name", model)
    assert table.splitlines()[0].split() == ["number", "name", "size", "words", "by", "lift"]
    assert "boats" in table
    assert "boat, ship, sail" in table
    file.write_text('["", "ships"]')
    run("name", model, file, "-q")
    assert discan.load(model).component_names_ == ("topic 1", "ships")


def test_a_copy_can_be_named(run, model, tmp_path):
    file, copy = tmp_path / "names.json", tmp_path / "copy.discan"
    file.write_text('{"2": "boats"}')
    run("name", model, file, "-o", copy, "-q")
    assert discan.load(copy).component_names_ == ("topic 1", "boats")
    assert discan.load(model).component_names_ == ("topic 1", "topic 2")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fruit, boats", "not JSON"),
        ('"fruit"', "holds no names"),
        ('{"3": "x"}', "no component '3'; they are numbered 1 to 2"),
        ('["a"]', "1 names for 2 components"),
        ('{"1": 4}', "4 is not a name"),
    ],
)
def test_wrong_names(fails, model, tmp_path, text, message):
    before = discan.load(model).component_names_
    file = tmp_path / "names.json"
    file.write_text(text)
    assert message in fails("name", model, file)
    assert discan.load(model).component_names_ == before


def test_wrong_usage(run, fails, model, tmp_path):
    assert "no such file" in fails("name", model, tmp_path / "none.json").lower()
    assert "give a file of names" in run("name", model, "-o", tmp_path / "x", code=2)[1]
