# SPDX-License-Identifier: BSD-3-Clause
"""Seeds and fixed components from the shell."""

import json

import pytest

import discan
from discan.cli.seeds import read_seeds
from discan.errors import InputError, StorageError


@pytest.fixture
def seeds(tmp_path):
    """A file of seeds."""
    file = tmp_path / "seeds.txt"
    file.write_text("# subjects\n\nboats: ship sail Boat\nfruit: apple, pear\n")
    return file


def test_a_fit_with_seeds_and_one_with_its_components_fixed(run, place, seeds, tmp_path):
    model, again = tmp_path / "m.discan", tmp_path / "again.discan"
    _, err = run("fit", place / "texts.jsonl", "-k", 3, "--seeds", seeds, "-o", model)
    assert "seeds of 2 components: 5 words, with a prior weight of" in err
    names = discan.load(model).component_names_
    assert set(names) > {"boats", "fruit"}
    assert "boats:" in run("show", model)[0]
    _, err = run("fit", place / "texts.jsonl", "-k", 4, "--fixed", model, "-o", again)
    assert "3 fixed components" in err
    first, second = discan.load(model), discan.load(again)
    for name in ("boats", "fruit"):
        rows = (e.components_[e.component_names_.index(name)] for e in (first, second))
        assert next(rows) == pytest.approx(next(rows), abs=0.02)


def test_json_and_strength(run, place, tmp_path):
    file, model = tmp_path / "seeds.json", tmp_path / "m.discan"
    file.write_text(json.dumps({"boats": ["ship"], "fruit": {"apple": 9}}))
    options = ("--seeds", file, "--seed-strength", 4, "-o", model, "-q")
    run("fit", place / "texts.jsonl", "-k", 3, *options)
    assert sorted(discan.load(model).fit_.params.prior.seeds.tokens) == [4, 9]


def test_documents_of_known_labels(run, place, tmp_path):
    labels, model = tmp_path / "labels.txt", tmp_path / "m.discan"
    n = discan.read(place / "texts.jsonl").n_documents
    labels.write_text("early\n" * 3 + "\n" * (n - 3))
    run("fit", place / "texts.jsonl", "-k", 3, "--seed-labels", labels, "-o", model, "-q")
    assert "early" in discan.load(model).component_names_


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("law court", "line 1: no name and words"),
        ("law:", "line 1: no name and words"),
        ("law: a\nlaw: b", "line 2: 'law' has seeds already"),
        ("", "holds no seeds"),
        ('{"law": 3}', "'law' has no list of words"),
        ('{"law": [3]}', "'law' has no list of words"),
        ("{", "not JSON"),
        ("{}", "holds no seeds"),
        (b"law: \xff\xfe", "not text in UTF-8"),
    ],
)
def test_files_that_hold_no_seeds(tmp_path, text, message):
    file = tmp_path / "seeds.txt"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=message):
        read_seeds(file)


def test_a_missing_file(tmp_path):
    with pytest.raises(StorageError, match="No such file"):
        read_seeds(tmp_path / "nothing.txt")


@pytest.mark.parametrize("option", ["--seeds", "--fixed"])
def test_missing_files_are_told_before_the_data_are_read(fails, place, tmp_path, option):
    options = (option, tmp_path / "nothing", "-o", tmp_path / "m")
    err = fails("fit", place / "texts.jsonl", *options)
    assert "nothing" in err
    assert "o such" in err
    assert "read in" not in err


def test_errors_of_seeds_name_the_flags(fails, place, tmp_path):
    def error(*options):
        return fails("fit", place / "texts.jsonl", *options, "-o", tmp_path / "m", "-q")

    assert "--seed-strength 4 is for seeds; leave it out, or use --seeds" in error(
        "--seed-strength", 4
    )
    assert "or use --components auto" in error("-k", 3, "--max-components", 9)
    labels = tmp_path / "labels.txt"
    labels.write_text("a\nb\n")
    assert error("--classes", labels).startswith("error: --classes VALUE: 2 labels for ")


def test_what_cannot_be_is_one_line(fails, place, seeds, tmp_path):
    seeds.write_text("law: court\n")
    err = fails("fit", place / "texts.jsonl", "--seeds", seeds, "-o", tmp_path / "m")
    assert err.startswith("error: no seed of 'law' is among the words of the data: ['court']")
    seeds.write_text("boats: ship\n")
    options = ("--seeds", seeds, "--algorithm", "ml", "-o", tmp_path / "m")
    err = fails("fit", place / "texts.jsonl", *options)
    assert "has no priors" in err
    assert "--algorithm map" in err
