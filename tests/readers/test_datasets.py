# SPDX-License-Identifier: BSD-3-Clause
"""Embedded data agree with the record; public sets are found, or the message helps."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from discan import InputError
from discan.readers import datasets

SHARED = Path(__file__).parents[3] / "shared" / "data"
SUPERMAJORITY = ("On the Cloture Motion", "On the Motion")  # cloture, waivers, suspensions


@pytest.fixture(scope="module")
def senate():
    return datasets.load_senate2005()


def ballots(senate):
    counts = senate.corpus.to_csr().toarray()
    return counts[:, 0::2], counts[:, 1::2]


# ---- the Senate ----


def test_seats_and_parties(senate):
    assert senate.corpus.n_documents == 100
    party, state = senate.document_table["party"], senate.document_table["state"]
    assert {p: int((party == p).sum()) for p in "DRI"} == {"D": 44, "R": 55, "I": 1}
    assert np.unique(state, return_counts=True)[1].tolist() == [2] * 50
    names = senate.corpus.document_names
    assert len(set(names)) == 100
    assert {"McCain (R-AZ)", "Corzine (D-NJ)", "Jeffords (I-VT)", "Nelson (D-NE)"} <= set(names)
    assert not any("Bush" in name or "Menendez" in name for name in names)


def test_facts_of_senators_are_metadata_of_the_corpus(senate):
    assert list(senate.corpus.metadata) == ["name", "party", "state"]
    assert senate.corpus.metadata["party"].tolist() == senate.document_table["party"].tolist()
    assert senate.corpus.nouns.documents == "senators"


def test_totals_agree_with_the_record(senate):
    yea, nay = ballots(senate)
    assert senate.corpus.n_groups == 366
    np.testing.assert_array_equal(yea.sum(axis=0), senate.group_table["yeas"])
    np.testing.assert_array_equal(nay.sum(axis=0), senate.group_table["nays"])
    assert ((yea + nay) <= 1).all()
    assert (yea + nay).sum() == senate.corpus.n_tokens == 35_643
    assert senate.group_table["number"].tolist() == list(range(1, 367))


def test_results_agree_with_majorities(senate):
    table = senate.group_table
    agreed, majority = table["agreed"], table["yeas"] > table["nays"]
    tie = table["yeas"] == table["nays"]
    by_majority = np.array([not q.startswith(SUPERMAJORITY) for q in table["question"]])
    table_motion = np.array([q.startswith("On the Motion to") for q in table["question"]])
    simple = (by_majority | table_motion) & ~tie
    assert simple.sum() > 250
    np.testing.assert_array_equal(agreed[simple], majority[simple])
    assert not (agreed & ~majority & ~tie).any()  # nothing passes against a majority
    # The Vice President broke one tie for the motion, on the Deficit Reduction Act.
    assert table["number"][tie & agreed].tolist() == [363]
    turned_down = {"Held Nongermane", "Not Sustained", "Rejected"}
    assert set(table["result"]) == datasets._AGREED | turned_down


def test_facts_one_can_look_up(senate):
    table = senate.group_table
    roberts = int(np.flatnonzero(np.char.find(table["title"], "Roberts, Jr.") >= 0)[-1])
    assert (table["yeas"][roberts], table["nays"][roberts]) == (78, 22)
    assert table["date"][roberts] == np.datetime64("2005-09-29")
    yea, nay = ballots(senate)
    obama = senate.corpus.document_names.index("Obama (D-IL)")
    assert nay[obama, roberts] == 1
    assert yea[obama, roberts] == 0


def test_names_of_roll_calls(senate):
    layout = senate.corpus.layout
    assert len(set(layout.group_names)) == 366
    assert len(set(layout.word_names)) == 732
    assert layout.word_names[1] == f"{layout.group_names[0]}: nay"
    assert layout.group_of_word.tolist() == np.repeat(np.arange(366), 2).tolist()


def test_data_file_is_small_and_in_the_package():
    file = Path(datasets.__file__).with_name("senate2005.csv")
    assert file.stat().st_size < 100_000


# ---- digits and docstrings ----


def test_digits():
    data = datasets.load_digits()
    assert (data.corpus.n_documents, data.corpus.n_words) == (1797, 64)
    assert data.corpus.integral
    assert sorted(set(data.document_table["digit"])) == list(range(10))


def test_docstrings():
    data = datasets.load_docstrings()
    corpus = data.corpus
    assert corpus.n_documents > 200
    assert corpus.lengths.min() > 0
    assert {"argparse", "json.decoder", "statistics"} <= set(corpus.document_names)
    assert not any(name.startswith(("test", "_")) for name in corpus.document_names)
    words = np.array(corpus.layout.word_names)
    one = corpus.to_csr()[[corpus.document_names.index("statistics")]].toarray()[0]
    assert "deviation" in words[one > 0]


def test_docstrings_of_functions():
    data = datasets.load_docstrings("functions", min_df=5)
    assert data.corpus.n_documents > 3000
    assert "statistics.median" in data.corpus.document_names
    assert len(data.document_table["module"]) == data.corpus.n_documents
    with pytest.raises(InputError, match="modules"):
        datasets.load_docstrings("classes")


def test_docstrings_import_nothing():
    code = (
        "import sys\n"
        "from discan.readers.datasets import load_docstrings\n"
        "load_docstrings()\n"
        "print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(Path(datasets.__file__).parents[2])},
    ).stdout.split()  # fmt: skip
    assert "antigravity" not in loaded
    assert "turtle" not in loaded


# ---- public sets ----

PUBLIC = ["20newsgroups", "reuters", "ap", "kos", "voteview", "hapmap3"]


def test_registry():
    assert set(datasets.DATASETS) == {"senate2005", "digits", "docstrings", *PUBLIC}
    for name, known in datasets.DATASETS.items():
        assert 20 < len(known.summary) < 90
        assert callable(known.loader)
        assert known.loader.__doc__
        assert ("path" in known.options) == (name in PUBLIC)
    assert "stop_words" in datasets.DATASETS["reuters"].options
    assert "session" in datasets.DATASETS["voteview"].options


def test_data_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("DISCAN_DATA", str(tmp_path))
    assert datasets.data_folder() == tmp_path
    monkeypatch.delenv("DISCAN_DATA")
    assert datasets.data_folder().name == "discan"


@pytest.mark.parametrize("name", PUBLIC)
def test_without_copy_or_network_the_message_helps(name, monkeypatch, tmp_path):
    monkeypatch.setenv("DISCAN_DATA", str(tmp_path))

    def no_network(*args, **kwargs):
        raise OSError("no network")

    pooch = pytest.importorskip("pooch")
    monkeypatch.setattr(pooch, "retrieve", no_network)
    with pytest.raises(InputError, match="put ") as caught:
        datasets.DATASETS[name].loader()
    message = str(caught.value)
    assert str(tmp_path) in message
    assert "http" in message
    assert "\n" not in message
    assert not list(tmp_path.iterdir())


def test_without_pooch_the_message_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("DISCAN_DATA", str(tmp_path))
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(InputError, match="pip install pooch"):
        datasets.load_20newsgroups()


def test_a_fetch_has_a_checksum(monkeypatch, tmp_path):
    pooch = pytest.importorskip("pooch")
    seen = []

    def retrieve(url, known_hash, fname, path):
        seen.append((url, known_hash, fname))
        raise ValueError("SHA256 hash differs")

    monkeypatch.setenv("DISCAN_DATA", str(tmp_path))
    monkeypatch.setattr(pooch, "retrieve", retrieve)
    for name in PUBLIC:
        with pytest.raises(InputError):
            datasets.DATASETS[name].loader()
    assert [fname for _, _, fname in seen] == ["20news-bydate.tar.gz", "hapmap3.bed"]
    for url, known_hash, _ in seen:
        assert url.startswith("https://")
        assert known_hash.startswith("sha256:")
        assert len(known_hash) == 7 + 64


@pytest.mark.parametrize("name", PUBLIC)
def test_wrong_paths(name, tmp_path):
    loader = datasets.DATASETS[name].loader
    with pytest.raises(InputError, match="no such"):
        loader(path=tmp_path / "absent")
    with pytest.raises(InputError, match="holds none of"):
        loader(path=tmp_path)


def test_wrong_options():
    for options in ({"chamber": "lords"}, {"congress": 0}, {"congress": "109"}):
        with pytest.raises(InputError):
            datasets.load_voteview(**options)
    for loader in (datasets.load_20newsgroups, datasets.load_reuters):
        with pytest.raises(InputError, match="subset"):
            loader(subset="dev")


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="no shared copies of public data here")
@pytest.mark.parametrize(
    ("name", "options", "shape", "n_tokens"),
    [
        ("20newsgroups", {}, (18_846, None), None),
        ("reuters", {}, (12_902, None), None),
        ("reuters", {"subset": "train"}, (9_603, None), None),
        ("ap", {}, (2_246, 10_473), 435_838),
        ("kos", {}, (3_430, 6_906), 467_714),
        ("voteview", {"congress": 108}, (100, 1_350), None),
        ("hapmap3", {}, (324, 27_856), None),
    ],
)
def test_real_copies(name, options, shape, n_tokens, monkeypatch):
    monkeypatch.setenv("DISCAN_DATA", str(SHARED))
    data = datasets.DATASETS[name].loader(**options)
    assert data.corpus.n_documents == shape[0]
    assert shape[1] in (None, data.corpus.n_words)
    assert n_tokens in (None, data.corpus.n_tokens)
    for column in data.document_table.values():
        assert len(column) == data.corpus.n_documents
    if name == "20newsgroups":
        assert len(set(data.document_table["newsgroup"])) == 20
        assert (data.document_table["split"] == "test").sum() == 7_532
