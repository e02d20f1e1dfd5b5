# SPDX-License-Identifier: BSD-3-Clause
"""The generator of text with known topics: the same bytes however made, and true to its topics."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import discan
from discan.engines import Threads
from discan.readers.stop_words import english_stop_words

FOLDER = Path(__file__).parents[1] / "benchmarks"
N = 3000  # documents


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    yield
    for name in ("language", "make_text"):
        sys.modules.pop(name, None)


@pytest.fixture
def language():
    from language import Language

    return Language(seed=3, n_topics=6, n_words=2000, topic_words=200)


def test_bytes_do_not_depend_on_threads_and_parts(language, tmp_path):
    from make_text import write_lines

    with Threads(1) as one, Threads(3) as three:
        size = write_lines(language, tmp_path / "a", 0, N, one)
        write_lines(language, tmp_path / "b", 0, N, three)
        write_lines(language, tmp_path / "c", 0, 2500, three)
        write_lines(language, tmp_path / "d", 2500, N, one)
    whole = (tmp_path / "a").read_bytes()
    assert len(whole) == size
    assert (tmp_path / "b").read_bytes() == whole
    assert (tmp_path / "c").read_bytes() + (tmp_path / "d").read_bytes() == whole
    alone, _ = language.text(1234, 1)
    assert whole.splitlines(keepends=True)[1234] == alone.tobytes()


def test_another_seed_gives_another_text(language):
    from dataclasses import replace

    other = replace(language, seed=4)
    assert other.words == language.words  # the language is the same, its topics are not
    assert (other.components != language.components).nnz > 0
    assert other.text(0, 1)[0].tobytes() != language.text(0, 1)[0].tobytes()


def test_documents_have_the_sizes_and_the_alphabet_of_text(language):
    from language import MEAN_BYTES

    text, ends = language.text(0, N)
    sizes = np.diff(ends, prepend=0)
    assert sizes.min() >= 800
    assert sizes.max() <= 3000 + 30
    assert sizes.mean() == pytest.approx(MEAN_BYTES, rel=0.03)
    decoded = text.tobytes().decode()
    assert set(decoded) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ,.'\né")
    lines = decoded.splitlines()
    assert len(lines) == N
    accented = np.mean(["é" in line for line in lines])
    assert 0.05 < accented < 0.3


def test_the_words_are_distinct_and_no_stop_words(language):
    words = language.words
    assert len(set(words)) == len(words) == 2000
    assert not set(words) & english_stop_words()
    assert np.mean([len(word) for word in words[:500]]) < np.mean([len(w) for w in words[-500:]])
    np.testing.assert_allclose(language.components.sum(axis=1), 1.0)
    np.testing.assert_allclose(language.proportions(5, 100).sum(axis=1), 1.0)
    np.testing.assert_array_equal(language.proportions(5, 2)[1:], language.proportions(6, 1))


def test_both_layouts_are_read_as_the_same_corpus(language, tmp_path):
    from make_text import write_files, write_lines

    with Threads(1) as engine:
        size = write_lines(language, tmp_path / "a.txt", 0, 1200, engine)
        assert write_files(language, tmp_path / "a", 1200, engine) == size
    lines = discan.read(tmp_path / "a.txt")
    files = discan.read(tmp_path / "a")
    assert lines.n_documents == files.n_documents == 1200
    assert lines.digest == files.digest
    assert set(lines.layout.word_names) <= set(language.words)  # a word that occurs once is cut


def test_counts_follow_the_true_components(language, tmp_path):
    from make_text import write_lines

    with Threads(1) as engine:
        write_lines(language, tmp_path / "a.txt", 0, N, engine)
    corpus = discan.read(tmp_path / "a.txt", vocabulary=language.words)
    true = language.proportions(0, N) @ language.components.toarray()
    lengths = np.asarray(corpus.lengths)
    expected = lengths @ true
    z = (corpus.word_totals - expected) / np.sqrt(expected)
    # tokens are drawn one by one: the totals are nearly Poisson
    assert np.sqrt(np.mean(z**2)) == pytest.approx(1.0, abs=0.1)
    # and inside a document, those of its own topics are the likelier ones
    wrong = np.roll(true, 1, axis=0)
    counts = corpus.to_csr().toarray()
    assert (counts * np.log(true + 1e-9)).sum() > (counts * np.log(wrong + 1e-9)).sum()


def test_a_fit_finds_the_topics(language, tmp_path):
    from make_text import write_lines

    with Threads(1) as engine:
        write_lines(language, tmp_path / "a.txt", 0, N, engine)
    corpus = discan.read(tmp_path / "a.txt", vocabulary=language.words)
    fit = discan.DCA(7, algorithm="cvb0", random_state=0, max_iter=60).fit(corpus)
    true = language.components.toarray()
    norms = np.linalg.norm(true, axis=1)[:, None] * np.linalg.norm(fit.components_, axis=1)
    likeness = true @ fit.components_.T / norms
    assert (likeness[:-1].max(axis=1) > 0.9).all()


def test_the_command_writes_parts_and_the_truth(tmp_path):
    def make(*arguments):
        command = [sys.executable, str(FOLDER / "make_text.py"), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    small = ("--gb", 0.0005, "--topics", 3, "--words", 300)
    code, said = make(tmp_path / "parts", *small, "--parts", 3, "--truth", tmp_path / "truth.npz")
    assert code == 0
    assert "documents" in said
    parts = sorted((tmp_path / "parts").iterdir())
    assert [path.name for path in parts] == [f"part-0000{n}.txt" for n in range(3)]
    make(tmp_path / "last.txt", *small, "--parts", 3, "--part", 2)
    assert (tmp_path / "last.txt").read_bytes() == parts[2].read_bytes()
    assert sum(path.stat().st_size for path in parts) == pytest.approx(5e5, rel=0.1)
    truth = np.load(tmp_path / "truth.npz")
    assert tuple(truth["shape"]) == (4, 300)
    code, said = make(tmp_path / "x.txt", "--parts", 3, "--part", 3)
    assert code == 2
    assert "--part must be 0 to 2" in said
