# SPDX-License-Identifier: BSD-3-Clause
"""A corpus folder holds the same corpus as memory, whatever the pieces and shards."""

import os
import pickle

import numpy as np
import pytest
from scipy import sparse

from discan.data.corpus import Corpus
from discan.data.folders.format import MANIFEST, is_corpus_folder, load_manifest
from discan.data.folders.pieces import Piece, join_pieces, part_of
from discan.data.folders.shards import FolderReader, load_folder
from discan.data.folders.writer import FolderWriter, write_corpus
from discan.data.nouns import Nouns
from discan.errors import InputError, StorageError
from discan.readers.convert import convert


def make_corpus(kind="plain", n_documents=60, n_words=25, seed=0):
    """A corpus with what its kind names; some documents are empty."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.6, (n_documents, n_words))
    counts[::7] = 0
    options = {}
    if kind == "fractions":
        counts = counts * rng.random(counts.shape)
    elif kind == "large":
        counts = counts * 70_000
    elif kind == "huge":
        counts = counts * (2.0**33)
    elif kind == "exposures":
        groups = np.arange(n_words) % 3
        exposures = rng.integers(0, 3, (n_documents, 3)) * 0.75
        counts[exposures[:, groups] == 0] = 0
        options = {"groups": groups, "exposures": exposures, "group_names": ["a", "b", "c"]}
    elif kind == "named":
        options = {
            "document_names": [f"é{n}" * (n % 3) for n in range(n_documents)],
            "word_names": [f"w{n}" for n in range(n_words)],
            "metadata": {
                "number": np.where(rng.random(n_documents) < 0.2, np.nan, 1.5),
                "text": [None if n % 5 == 0 else f"text {n} ∀" for n in range(n_documents)],
            },
            "nouns": Nouns("senator", "vote", "bloc"),
            "reading": {"format": "csv", "options": {"header": True}},
            "left_out": np.array([3, 9], dtype=np.uint32),
        }
    return Corpus(sparse.csr_array(counts), **options)


KINDS = ("plain", "fractions", "large", "huge", "exposures", "named")


def assert_same(one, other):
    """Both corpora have the same bits, names and metadata."""
    assert one.digest == other.digest
    for name in ("indptr", "words", "counts", "exposures"):
        a, b = getattr(one, name), getattr(other, name)
        assert (a is None) == (b is None)
        if a is not None:
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
    assert one.layout.word_names == other.layout.word_names
    assert one.layout.group_names == other.layout.group_names
    assert one.document_names == other.document_names
    assert (one.nouns, one.reading) == (other.nouns, other.reading)
    assert list(one.metadata) == list(other.metadata)
    for name, column in one.metadata.items():
        np.testing.assert_array_equal(column, other.metadata[name])
    np.testing.assert_array_equal(one.left_out, other.left_out)


@pytest.mark.parametrize("shard_entries", [10, 200, 2**24])
@pytest.mark.parametrize("kind", KINDS)
def test_folder_equals_memory(tmp_path, kind, shard_entries):
    corpus = make_corpus(kind)
    manifest = write_corpus(corpus, tmp_path / "big", shard_entries)
    assert is_corpus_folder(tmp_path / "big")
    assert_same(corpus, load_folder(tmp_path / "big"))
    loaded = load_manifest(tmp_path / "big")
    for found in (manifest, loaded):
        assert found.digest == corpus.digest
        assert found.n_tokens == corpus.n_tokens
        assert found.whole == corpus.integral
        assert (found.n_documents, found.n_entries) == (corpus.n_documents, corpus.n_entries)
        np.testing.assert_array_equal(found.word_totals, corpus.word_totals)
        np.testing.assert_array_equal(found.exposure_levels, corpus.exposure_levels)
    assert (len(loaded.shards) > 1) == (shard_entries < 2**24)


def test_sums_of_fractions_have_the_bits_of_memory(tmp_path):
    """Of more entries than NumPy adds in one go, and than a block holds."""
    rng = np.random.default_rng(3)
    corpus = Corpus(sparse.random_array((3000, 200), density=0.5, rng=rng))
    assert corpus.n_entries > 4 * 2**16
    manifest = write_corpus(corpus, tmp_path, 100_003)
    assert manifest.n_tokens == corpus.n_tokens
    assert manifest.n_tokens != np.cumsum(corpus.counts)[-1]  # which adds one after another
    assert manifest.word_totals.tobytes() == corpus.word_totals.tobytes()


def files(folder):
    return {
        os.path.relpath(os.path.join(root, name), folder): open(
            os.path.join(root, name), "rb"
        ).read()
        for root, _, names in os.walk(folder)
        for name in names
    }


def test_pieces_do_not_change_a_byte(tmp_path):
    corpus = make_corpus("named")
    write_corpus(corpus, tmp_path / "whole", 100)
    writer = FolderWriter(tmp_path / "pieces", 100)
    reader = FolderReader(tmp_path / "whole")
    start = 0
    for size in (1, 2, 30, 5, 22):
        writer.add(reader.read(start, start + size, about=True))
        start += size
    assert start == corpus.n_documents
    writer.finish(corpus.layout, corpus.nouns, corpus.reading, corpus.left_out)
    assert files(tmp_path / "pieces") == files(tmp_path / "whole")


def test_counts_are_stored_in_the_smallest_type(tmp_path):
    for kind, expected in (("plain", "u1"), ("large", "i4"), ("fractions", "f8")):
        write_corpus(make_corpus(kind), tmp_path / kind)
        reader = FolderReader(tmp_path / kind)
        (shard,) = reader.manifest.shards
        text = (tmp_path / kind / "shards" / shard.file).read_bytes()[:4000]
        names = {"u1": b'"U8"', "i4": b'"I32"', "f8": b'"F64"'}
        place = text.index(b'"counts":{"dtype":') + len(b'"counts":{"dtype":')
        assert text[place:].startswith(names[expected])


@pytest.mark.parametrize("kind", KINDS)
def test_any_documents_can_be_read(tmp_path, kind):
    corpus = make_corpus(kind)
    write_corpus(corpus, tmp_path, 50)
    reader = FolderReader(tmp_path)
    np.testing.assert_array_equal(reader.offsets(), corpus.indptr)
    rng = np.random.default_rng(1)
    for _ in range(30):
        start, stop = sorted(rng.choice(corpus.n_documents + 1, 2, replace=False))
        piece = reader.read(start, stop, about=True)
        expected = corpus.select(slice(start, stop))
        np.testing.assert_array_equal(piece.indptr, expected.indptr)
        np.testing.assert_array_equal(piece.words, expected.words)
        np.testing.assert_array_equal(piece.counts, expected.counts)
        assert piece.counts.dtype == corpus.counts.dtype
        assert (piece.indptr.dtype, piece.words.dtype) == (np.int64, np.int32)
        assert piece.document_names == expected.document_names
        if corpus.exposures is not None:
            np.testing.assert_array_equal(piece.exposures, expected.exposures)
        for name, column in piece.metadata.items():
            np.testing.assert_array_equal(column, expected.metadata[name])
        assert all(a.flags.owndata or a.base.flags.owndata for a in piece[:3])
    for wrong in ((5, 5), (-1, 3), (0, corpus.n_documents + 1)):
        with pytest.raises(InputError, match="outside"):
            reader.read(*wrong)


def test_a_reader_can_be_sent(tmp_path):
    corpus = make_corpus()
    write_corpus(corpus, tmp_path)
    reader = pickle.loads(pickle.dumps(FolderReader(tmp_path)))
    np.testing.assert_array_equal(reader.read(0, 60).words, corpus.words)


def test_a_new_corpus_replaces_the_old_one_at_the_end(tmp_path):
    old, new = make_corpus(seed=1), make_corpus("named", seed=2)
    write_corpus(old, tmp_path, 50)
    writer = FolderWriter(tmp_path, 50)
    blocks = [Piece(new.indptr, new.words, new.counts, None, new.document_names, new.metadata)]
    for piece in blocks:
        writer.add(piece)
    assert_same(load_folder(tmp_path), old)
    writer.finish(new.layout, new.nouns, new.reading, new.left_out)
    assert_same(load_folder(tmp_path), new)
    manifest = load_manifest(tmp_path)
    assert {shard.file for shard in manifest.shards} == set(os.listdir(tmp_path / "shards"))
    assert sum(name.startswith("words-") for name in os.listdir(tmp_path)) == 1


def test_a_folder_that_is_not_finished_is_no_corpus(tmp_path):
    corpus = make_corpus()
    writer = FolderWriter(tmp_path, 50)
    writer.add(Piece(corpus.indptr, corpus.words, corpus.counts))
    assert os.listdir(tmp_path / "shards")
    assert not (tmp_path / MANIFEST).exists()
    assert not is_corpus_folder(tmp_path)


def test_pieces_must_be_alike(tmp_path):
    corpus = make_corpus("named")
    writer = FolderWriter(tmp_path)
    piece = Piece(corpus.indptr, corpus.words, corpus.counts, None, corpus.document_names)
    writer.add(piece)
    with pytest.raises(InputError, match="from number 60 on have other names"):
        writer.add(piece._replace(document_names=None))


def test_words_must_be_in_the_layout(tmp_path):
    corpus, small = make_corpus(), make_corpus(n_words=10)
    writer = FolderWriter(tmp_path)
    with pytest.raises(InputError, match="no documents"):
        writer.finish(corpus.layout)
    writer.add(Piece(corpus.indptr, corpus.words, corpus.counts))
    with pytest.raises(InputError, match="word 24 is beyond the 10 words"):
        writer.finish(small.layout)


def test_a_file_in_the_way(tmp_path):
    (tmp_path / "big").write_text("x")
    with pytest.raises(StorageError, match="big"):
        FolderWriter(tmp_path / "big")


def test_parts_and_joins():
    corpus = make_corpus("named")
    piece = Piece(corpus.indptr, corpus.words, corpus.counts, None, corpus.document_names)
    parts = [part_of(piece, *limits) for limits in ((0, 7), (7, 8), (8, 60))]
    joined = join_pieces(parts)
    for a, b in zip(joined[:3], piece[:3], strict=True):
        np.testing.assert_array_equal(a, b)
    assert joined.document_names == piece.document_names


@pytest.mark.parametrize("name", ["shards", "tmp", "manifest.json"])
def test_links_inside_the_folder_are_refused(tmp_path, name):
    """What they lead to is neither written nor removed."""
    other = tmp_path / "other"
    other.mkdir()
    mine = other / "00000-0123456789abcdef.discan"
    mine.write_text("mine")
    (tmp_path / "big").mkdir()
    (tmp_path / "big" / name).symlink_to(other)
    for write in (write_corpus, convert):
        with pytest.raises(StorageError, match=r"a link, not followed|holds other files"):
            write(Corpus(np.eye(4, dtype=int)), tmp_path / "big")
    assert [path.name for path in other.iterdir()] == [mine.name]
    assert mine.read_text() == "mine"


def test_files_of_others_stay(tmp_path):
    folder = tmp_path / "big"
    write_corpus(Corpus(np.eye(4, dtype=int)), folder)
    others = [folder / "words-mine.discan", folder / "shards" / "model.discan"]
    for path in others:
        path.write_text("mine")
    write_corpus(Corpus(np.eye(5, dtype=int)), folder)
    assert [path.read_text() for path in others] == ["mine", "mine"]
    assert len(list((folder / "shards").iterdir())) == 2
