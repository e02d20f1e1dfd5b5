# SPDX-License-Identifier: BSD-3-Clause
"""A damaged or replaced shard gives one line that says so, also while documents are read."""

import dataclasses
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
from discan.errors import DiscanError, ModelFileError


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
    forged(folder, put("counts", 0, 200))
    assert load_folder(folder).counts[0] == 200


def test_a_folder_in_the_place_of_a_shard(folder):
    path = shard_paths(folder)[0]
    path.unlink()
    path.mkdir()
    with pytest.raises(DiscanError, match=path.name):
        load_folder(folder)
