# SPDX-License-Identifier: BSD-3-Clause
"""A manifest is loaded whole and sound, or refused in one line."""

import hashlib
import json
import os

import numpy as np
import pytest

from discan.data.corpus import Corpus
from discan.data.folders.format import MANIFEST, is_corpus_folder, load_manifest
from discan.data.folders.writer import write_corpus
from discan.data.storage import read_file, write_file
from discan.errors import DiscanError, ModelFileError, StorageError


@pytest.fixture
def folder(tmp_path):
    counts = np.random.default_rng(0).poisson(0.7, (30, 8))
    corpus = Corpus(counts, groups=np.arange(8) % 2, metadata={"x": np.arange(30.0)})
    write_corpus(corpus, tmp_path / "big", 60)
    return tmp_path / "big"


def edit(folder, change, sign=True):
    """Change a manifest, with a right checksum unless not wanted."""
    path = folder / MANIFEST
    found = json.loads(path.read_text())
    change(found)
    if sign:
        found.pop("sha256", None)
        text = json.dumps(found, sort_keys=True)
        found["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    path.write_text(json.dumps(found))


def test_every_flipped_byte_is_told(folder):
    path = folder / MANIFEST
    whole = path.read_bytes()
    for at in range(0, len(whole), 5):
        damaged = bytearray(whole)
        damaged[at] ^= 0x02
        path.write_bytes(damaged)
        with pytest.raises(DiscanError, match="manifest") as caught:
            load_manifest(folder)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("size", [0, 1, 50, -3])
def test_a_manifest_cut_short(folder, size):
    path = folder / MANIFEST
    data = path.read_bytes()
    path.write_bytes(data[: size if size >= 0 else len(data) + size])
    with pytest.raises(ModelFileError, match="manifest"):
        load_manifest(folder)


def put(name, value):
    return lambda found: found.__setitem__(name, value)


def put_shard(name, value):
    return lambda found: found["shards"][0].__setitem__(name, value)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (put("words", 0), "words holds 0"),
        (put("words", "8"), "words is '8'"),
        (put("words", 9), "group_of_word has shape"),
        (put("documents", 31), "documents is 31, but shards have 30"),
        (put("entries", None), "entries is None"),
        (put("tokens", -1), "tokens holds"),
        (put("digest", "0"), "digest is '0'"),
        (put("whole", "yes"), "whole is 'yes'"),
        (put("metadata", [["x", 1]]), "which is no column"),
        (put("metadata", {}), "no list of columns"),
        (put("nouns", ["a", "b"]), "nouns has 2 names"),
        (put("reading", []), "reading is not a mapping"),
        (put("words_file", "../x.discan"), "no name of a file"),
        (put("words_file", None), "no name of a file"),
        (put("shards", []), "no list of files"),
        (put("shards", [1]), "shard 0 is 1"),
        (put_shard("file", "../../etc/passwd"), "no name of a file"),
        (put_shard("documents", 0), "documents of shard 0"),
        (put_shard("entries", 1.5), "entries of shard 0"),
        (put_shard("tokens", "x"), "tokens of shard 0"),
        (put_shard("sha256", "x"), "sha256 of shard 0"),
        (put_shard("more", 1), "shard 0 is"),
        (put("tokens", 5), "tokens is 5, but shards have"),
        (put_shard("tokens", 10**6), r"tokens is \d+, but shards have 100\d+"),
        (put("whole", False), "said to be fractions and to fit into int32"),
        (lambda found: found["shards"].reverse(), "which is out of order"),
        (lambda found: found["shards"].append(found["shards"][0]), "which is out of order"),
        (lambda found: found.update(format=2), "upgrade discan"),
        (lambda found: found.update(format=True), "upgrade discan"),
        (lambda found: found.update(kind="x"), "not the manifest"),
        (lambda found: found.pop("digest"), "digest is None"),
    ],
)
def test_every_field_is_checked(folder, change, problem):
    edit(folder, change)
    with pytest.raises(ModelFileError, match=problem) as caught:
        load_manifest(folder)
    assert "\n" not in str(caught.value)


def test_a_change_without_a_checksum(folder):
    edit(folder, put("words", 7), sign=False)
    with pytest.raises(ModelFileError, match="fails its checksum"):
        load_manifest(folder)


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("group_of_word", np.zeros(8, np.int32), "owns no word"),
        ("group_of_word", np.full(8, 2, np.int32), "group_of_word holds 2"),
        ("word_totals", np.full(8, -1.0), "word_totals holds"),
        ("word_totals", np.ones(3), "word_totals has shape"),
        ("exposure_levels", np.array([2.0, 1.0]), "do not ascend"),
        ("exposure_levels", np.zeros(0), "do not ascend"),
        ("exposure_levels", np.array([np.inf]), "exposure_levels holds"),
        ("left_out", np.zeros(2), "left_out has type"),
        ("exposure_levels", np.array([1.0, 2.0]), "exposure_levels, but no exposures"),
    ],
)
def test_words_are_checked(folder, name, value, problem):
    path = next(folder.glob("words-*"))
    header, arrays = read_file(path, "words")
    kept = {key: header[key] for key in ("n_groups", "word_names", "group_names")}
    write_file(path, "words", kept, {**arrays, name: value})
    with pytest.raises(ModelFileError, match=problem):
        load_manifest(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have names on POSIX alone")
def test_a_pipe_in_the_place_of_the_manifest(folder):
    """To open it would wait for ever."""
    (folder / MANIFEST).unlink()
    os.mkfifo(folder / MANIFEST)
    assert not is_corpus_folder(folder)
    with pytest.raises(StorageError, match=r"manifest\.json: a pipe or a device"):
        load_manifest(folder)


def test_what_is_no_corpus_folder(tmp_path):
    (tmp_path / "file").write_text("x")
    for path in (tmp_path, tmp_path / "file", tmp_path / "absent"):
        assert not is_corpus_folder(path)
        with pytest.raises(ModelFileError, match="no corpus folder"):
            load_manifest(path)
    (tmp_path / MANIFEST).write_text('{"name": "another program"}')
    assert not is_corpus_folder(tmp_path)
    with pytest.raises(ModelFileError, match="not the manifest of a corpus folder"):
        load_manifest(tmp_path)
