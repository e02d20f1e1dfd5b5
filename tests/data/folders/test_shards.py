# SPDX-License-Identifier: BSD-3-Clause
"""A damaged or replaced shard gives one line that says so, also while documents are read."""

import dataclasses
import json
import os
import threading

import numpy as np
import pytest

from discan.data.corpus import Corpus
from discan.data.folders.array_file import file_sha256
from discan.data.folders.format import load_manifest, save_manifest
from discan.data.folders.shards import FolderReader, ShardFile, load_folder
from discan.data.folders.writer import write_corpus
from discan.data.storage import read_file, write_file
from discan.errors import DiscanError, ModelFileError, StorageError


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    groups = np.arange(12) % 2
    counts = rng.poisson(0.7, (40, 12))
    exposures = rng.integers(0, 3, (40, 2)).astype(float)
    counts[exposures[:, groups] == 0] = 0
    corpus = Corpus(
        counts,
        groups=groups,
        exposures=exposures,
        document_names=[f"d{n}" for n in range(40)],
        metadata={"x": np.arange(40.0), "t": ["é"] * 40},
    )
    write_corpus(corpus, tmp_path / "big", 60)
    return tmp_path / "big"


def shard_paths(folder):
    return sorted((folder / "shards").iterdir())


def test_every_flipped_byte_is_told(folder):
    path = shard_paths(folder)[1]
    whole = path.read_bytes()
    for at in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[at] ^= 0x10
        path.write_bytes(damaged)
        with pytest.raises(ModelFileError, match=r"shards/00001-.*damaged") as caught:
            load_folder(folder)
        assert "\n" not in str(caught.value)
    path.write_bytes(whole)
    load_folder(folder)


@pytest.mark.parametrize("size", [0, 5, 300, -1])
def test_a_shard_cut_short(folder, size):
    path = shard_paths(folder)[0]
    os.truncate(path, size if size >= 0 else path.stat().st_size - 1)
    with pytest.raises(ModelFileError, match="damaged"):
        FolderReader(folder).read(0, 1)


def test_a_shard_cut_short_while_it_is_read(folder):
    reader = FolderReader(folder)
    reader.read(0, 40)
    path = shard_paths(folder)[0]
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(ModelFileError, match="fails its checksum"):
        reader.read(0, 1)


def test_a_file_that_ends_before_an_array_does(folder):
    """The last defence: the file is cut between the check and the read."""
    shard = load_manifest(folder).shards[0]
    file = ShardFile(folder, shard)
    descriptor = file.open()
    assert file.places
    os.truncate(file.path, 100)
    with pytest.raises(ModelFileError, match="cut short"):
        file.read(descriptor, "words", 0, shard.entries)
    os.close(descriptor)


def test_a_shard_replaced_by_another(folder):
    reader = FolderReader(folder)
    reader.read(0, 40)
    first, second = shard_paths(folder)[:2]
    os.replace(second, first)
    with pytest.raises(ModelFileError, match="from another corpus"):
        reader.read(0, 1)
    first.unlink()
    with pytest.raises(ModelFileError, match="missing; the corpus is not whole"):
        reader.read(0, 1)


def test_a_shard_is_verified_once_in_a_process(folder, monkeypatch):
    import discan.data.folders.shards as module

    calls = []
    real = module.hashlib.file_digest
    monkeypatch.setattr(module.hashlib, "file_digest", lambda *args: calls.append(1) or real(*args))
    n_shards = len(shard_paths(folder))
    for _ in range(3):
        FolderReader(folder).read(0, 40)
    assert len(calls) == n_shards
    FolderReader(folder).verify()
    assert len(calls) == 2 * n_shards


def test_verify_tells_damage_that_keeps_the_time(folder):
    """A bit that turns on the disk changes no time and no size."""
    reader = FolderReader(folder)
    reader.verify()
    path = shard_paths(folder)[0]
    before = path.stat()
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    with path.open("r+b") as stream:
        stream.write(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(ModelFileError, match="fails its checksum"):
        reader.verify()


def test_threads_read_at_once(folder):
    reader = FolderReader(folder)
    expected = reader.read(0, 40, about=True)
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(50):
            start, stop = sorted(rng.choice(41, 2, replace=False))
            piece = reader.read(start, stop, about=True)
            entries = slice(expected.indptr[start], expected.indptr[stop])
            same = np.array_equal(piece.words, expected.words[entries])
            if not same or piece.document_names != expected.document_names[start:stop]:
                wrong.append((start, stop))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def forged(folder, change):
    """Change the arrays of the first shard, with checksums that are right."""
    manifest = load_manifest(folder)
    shard = manifest.shards[0]
    path = folder / "shards" / shard.file
    _, arrays = read_file(path, "shard")
    change(arrays)
    write_file(path, "shard", {}, arrays)
    shards = (shard._replace(sha256=file_sha256(path)), *manifest.shards[1:])
    words = next(folder.glob("words-*")).name
    save_manifest(folder, dataclasses.replace(manifest, shards=shards), words)


def put(name, at, value):
    def change(arrays):
        arrays[name] = arrays[name].copy()
        arrays[name][at] = value

    return change


def drop(name):
    return lambda arrays: arrays.pop(name)


def retype(name, dtype):
    def change(arrays):
        arrays[name] = arrays[name].astype(dtype)

    return change


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (put("words", 0, 12), "words holds 12, outside 0 to 11"),
        (put("words", 0, -1), "words holds -1"),
        (put("words", slice(None), 3), "do not ascend"),
        (put("counts", 0, 0), "counts are not all above 0"),
        (put("indptr", 0, 1), "indptr does not lead"),
        (put("indptr", 1, 10**9), "indptr does not lead"),
        (put("exposures", 0, np.nan), "exposures are not sound"),
        (put("exposures", slice(None), 0), "exposures are not sound"),
        (put("documents.ends", 0, -5), "outside|ascend"),
        (put("documents.ends", -1, 10**9), "outside"),
        (put("metadata.1.text", slice(None), 255), "not UTF-8"),
        (drop("documents.ends"), "missing or superfluous"),
        (retype("counts", np.float64), "fractions, which the manifest denies"),
        (retype("words", np.int64), "words has shape"),
        (retype("exposures", np.float32), "exposures has shape"),
    ],
)
def test_arrays_that_compiled_code_could_not_trust(folder, change, problem):
    forged(folder, change)
    with pytest.raises(ModelFileError, match=problem) as caught:
        load_folder(folder)
    assert "\n" not in str(caught.value)
    assert str(folder) in str(caught.value)


def test_a_forged_shard_that_is_sound_loads(folder):
    forged(folder, put("metadata.0", 0, 200.0))
    assert load_folder(folder).metadata["x"][0] == 200


# ---- what the manifest and the words say of the shards ----


def forge_words(folder, name, value):
    """Change an array of the file of words, with checksums that are right."""
    path = next(folder.glob("words-*"))
    header, arrays = read_file(path, "words")
    kept = {key: header[key] for key in ("n_groups", "word_names", "group_names")}
    write_file(path, "words", kept, {**arrays, name: value(arrays[name])})


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("exposure_levels", lambda old: old[:-1], "sums that exposure_levels lack"),
        ("exposure_levels", lambda old: old + 0.5, "sums that exposure_levels lack"),
        ("word_totals", lambda old: old[::-1].copy(), "word_totals are not the sums"),
        ("word_totals", lambda old: old * 1e15, "word_totals are not the sums"),
    ],
)
def test_words_that_the_shards_deny(folder, name, value, problem, at_once):
    """They are checked again if the same shards were verified with other words."""
    load_folder(folder)
    forge_words(folder, name, value)
    parts = [(0, 40)] if at_once else [(n, n + 1) for n in range(40)]
    with pytest.raises(ModelFileError, match=problem) as caught:
        [FolderReader(folder).read(start, stop) for start, stop in parts]
    assert "\n" not in str(caught.value)
    with pytest.raises(ModelFileError, match=problem):  # and again
        load_folder(folder)


def test_counts_that_deny_the_tokens_of_a_shard(folder):
    forged(folder, put("counts", 0, 200))
    with pytest.raises(ModelFileError, match=r"counts sum to \d+, not to"):
        load_folder(folder)


@pytest.mark.parametrize("whole", [True, False])
def test_whole_counts_and_fractions(tmp_path, whole):
    """Samplers index by counts: fractions that are said to be whole would crash them."""
    counts = np.random.default_rng(0).poisson(0.7, (40, 12))
    write_corpus(Corpus(counts * 1.0 if not whole else counts * 0.5), tmp_path / "big", 60)
    manifest = load_manifest(tmp_path / "big")
    assert manifest.whole is not whole
    tokens = int(manifest.n_tokens) if whole else manifest.n_tokens
    shards = [s._replace(tokens=int(s.tokens)) for s in manifest.shards] if whole else None
    if whole:  # each shard must have a whole sum, else the manifest alone tells
        tokens = sum(shard.tokens for shard in shards)
    lie = dataclasses.replace(
        manifest, whole=whole, wide=True, n_tokens=tokens, shards=tuple(shards or manifest.shards)
    )
    save_manifest(tmp_path / "big", lie, next((tmp_path / "big").glob("words-*")).name)
    with pytest.raises(ModelFileError, match=r"which the counts deny|counts sum to"):
        load_folder(tmp_path / "big")


@pytest.mark.parametrize("value", [5, None, True, [], {}, "x", "\ud800"])
def test_a_header_that_is_no_text(folder, value):
    path = shard_paths(folder)[0]
    data = path.read_bytes()
    n_bytes = int.from_bytes(data[:8], "little")
    entries = json.loads(data[8 : 8 + n_bytes])
    entries["__metadata__"]["discan"] = value
    head = json.dumps(entries).encode()
    path.write_bytes(len(head).to_bytes(8, "little") + head + data[8 + n_bytes :])
    manifest = load_manifest(folder)
    shards = (manifest.shards[0]._replace(sha256=file_sha256(path)), *manifest.shards[1:])
    words = next(folder.glob("words-*")).name
    save_manifest(folder, dataclasses.replace(manifest, shards=shards), words)
    with pytest.raises(ModelFileError, match=r"not one of discan's|fails its checksum"):
        load_folder(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have names on POSIX alone")
def test_a_pipe_in_the_place_of_a_shard(folder):
    """To open it would wait for ever."""
    path = shard_paths(folder)[0]
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(StorageError, match="a pipe or a device"):
        load_folder(folder)


def test_a_folder_in_the_place_of_a_shard(folder):
    path = shard_paths(folder)[0]
    path.unlink()
    path.mkdir()
    with pytest.raises(DiscanError, match=path.name):
        load_folder(folder)
