# SPDX-License-Identifier: BSD-3-Clause
"""A corpus that stays in its folder says what the same corpus in memory says."""

import pickle

import numpy as np
import pytest

from discan.data.corpus import Corpus
from discan.data.folders.corpus import FolderCorpus, open_corpus
from discan.data.folders.writer import write_corpus
from discan.data.nouns import Nouns
from discan.data.store import save_corpus
from discan.errors import InputError, LimitError
from discan.fitting.hidden_groups import usual_totals
from discan.models import MODELS

KINDS = ["plain", "groups", "exposures", "fractions", "large", "empty"]


def table(kind):
    rng = np.random.default_rng(1)
    counts = rng.poisson(0.6, (50, 12))
    counts[7] = counts[-1] = 0
    groups = np.arange(12) % 3
    names = {"document_names": [f"d{n}" for n in range(50)]}
    if kind == "groups":
        return Corpus(counts, groups=groups, metadata={"x": np.arange(50.0)}, **names)
    if kind == "exposures":
        exposures = rng.integers(0, 4, (50, 3)) / 4.0
        seen = exposures[:, groups] > 0
        return Corpus(np.where(seen, counts, 0), groups=groups, exposures=exposures)
    if kind == "fractions":
        return Corpus(counts * 0.1)
    if kind == "large":
        return Corpus(np.where(counts > 2, 2**40, counts))
    return Corpus(np.zeros((4, 3), int)) if kind == "empty" else Corpus(counts, **names)


@pytest.fixture(params=KINDS)
def both(request, tmp_path):
    corpus = table(request.param)
    write_corpus(corpus, tmp_path / "big", 60)
    return corpus, FolderCorpus(tmp_path / "big")


def test_properties(both):
    memory, disk = both
    for name in (
        "n_documents", "n_words", "n_groups", "n_entries", "n_tokens", "integral", "count_type",
        "digest", "description", "has_exposures", "shape", "exposure_sum",
    ):  # fmt: skip
        assert getattr(memory, name) == getattr(disk, name), name
    for name in ("word_totals", "exposure_levels", "length_table"):
        np.testing.assert_array_equal(getattr(memory, name), getattr(disk, name))
    np.testing.assert_array_equal(usual_totals(memory), usual_totals(disk))
    assert len(disk) == len(memory)
    assert disk.on_disk
    assert not memory.on_disk


@pytest.mark.parametrize("n_entries", [1, 13, 40, 2**16])
def test_blocks(both, n_entries):
    memory, disk = both
    blocks = zip(memory.blocks_of(n_entries), disk.blocks_of(n_entries), strict=True)
    for block, ref in blocks:
        found = disk.read(ref)
        for name in ("index", "start", "stop", "token_start", "token_stop"):
            assert getattr(block, name) == getattr(ref, name) == getattr(found, name)
        entries = slice(block.indptr[0], block.indptr[-1])
        assert found.indptr[0] == 0
        np.testing.assert_array_equal(found.indptr, block.indptr - block.indptr[0])
        np.testing.assert_array_equal(found.words, memory.words[entries])
        np.testing.assert_array_equal(found.counts, memory.counts[entries])
        assert found.counts.dtype == memory.counts.dtype
        np.testing.assert_array_equal(found.levels, block.levels)
        assert disk.read(found) is found


@pytest.mark.parametrize("model", ["dm", "gp"])
def test_sums(both, model):
    memory, disk = both
    first, second = (MODELS.find(model).prepare(3, each) for each in both)
    assert repr(first) == repr(second)
    assert first.total_log_bag(memory) == second.total_log_bag(disk)
    assert np.isclose(first.total_log_bag(memory), first.log_bag(memory).sum(), rtol=1e-12)
    sums = [each.sum_by_length(first.log_constant) for each in both]
    assert sums[0] == sums[1]
    assert np.isclose(sums[0], first.log_constant(memory.lengths).sum(), rtol=1e-12)


@pytest.mark.parametrize("documents", [[3, 0, 3], slice(1, 4), [-1], [0, 1, 2, 3]])
def test_selections(both, documents):
    memory, disk = both
    one, other = memory.select(documents), disk.select(documents)
    assert one.digest == other.digest
    assert one.counts.dtype == other.counts.dtype
    assert one.document_names == other.document_names
    assert list(one.metadata) == list(other.metadata)
    assert disk.loaded().digest == memory.digest


def test_tables_of_all_documents_are_refused(tmp_path):
    write_corpus(table("exposures"), tmp_path / "big")
    disk = FolderCorpus(tmp_path / "big")
    for name in ("counts", "indptr", "words", "lengths", "levels", "exposures"):
        with pytest.raises(LimitError, match="stay in the folder"):
            getattr(disk, name)
    with pytest.raises(LimitError, match="stay in the folder"):
        disk.to_csr()
    assert not hasattr(disk, "something_else")


def test_other_processes_get_the_path(tmp_path):
    write_corpus(table("groups"), tmp_path / "big", 60)
    disk = FolderCorpus(tmp_path / "big")
    again = pickle.loads(pickle.dumps(disk))
    assert again.digest == disk.digest
    assert disk.described(nouns=Nouns("vote", "x", "y")).nouns.document == "vote"
    with pytest.raises(InputError, match="cannot be replaced"):
        disk.described(metadata={})


def test_paths(tmp_path):
    write_corpus(table("plain"), tmp_path / "big")
    save_corpus(table("plain"), tmp_path / "c.discan")
    assert open_corpus(tmp_path / "big").on_disk
    assert not open_corpus(str(tmp_path / "c.discan")).on_disk
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="discan convert"):
        open_corpus(tmp_path / "x.csv")
