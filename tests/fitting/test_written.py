# SPDX-License-Identifier: BSD-3-Clause
"""Answers of a fit from memory, from a folder and in files: the same bits."""

import numpy as np
import pytest

import discan
from discan import DCA, Corpus
from discan.data import corpus as corpora
from discan.data.folders.corpus import FolderCorpus
from discan.data.folders.writer import write_corpus
from discan.errors import InputError
from discan.fitting.by_block import in_order

K = 3


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A corpus of three groups in many blocks, with names, metadata and exposures, in a folder."""
    rng = np.random.default_rng(0)
    patch = pytest.MonkeyPatch()
    patch.setattr(corpora, "BLOCK_ENTRIES", 150)
    patch.setattr("discan.data.folders.corpus.BLOCK_ENTRIES", 150)
    counts = rng.poisson(rng.gamma(0.3, size=(300, 40)))
    groups = np.repeat([0, 1, 2], [20, 12, 8])
    counts[rng.random(300) < 0.2, 32:] = 0
    exposures = rng.choice([0.5, 1.0, 2.0], size=(300, 3))
    exposures[:, 2] = counts[:, 32:].any(axis=1)
    exposures[:, :2][counts[:, :32].reshape(300, -1).sum(axis=1) == 0] = 1.0
    corpus = Corpus(
        counts, groups=groups, exposures=exposures, word_names=[f"w{j}" for j in range(40)],
        group_names=["p", "q", "r"], document_names=[f"d{i}" for i in range(300)],
        metadata={"year": rng.integers(1990, 2020, 300).astype(float),
                  "author": rng.choice(["x", "y"], 300).astype(object)},
    )  # fmt: skip
    path = tmp_path_factory.mktemp("folder") / "big"
    write_corpus(corpus, path, shard_entries=1000)
    folder = FolderCorpus(path)
    assert len(folder.blocks) == len(corpus.blocks) > 8
    yield corpus, folder
    patch.undo()


MODELS = [
    ("dm", "cvb0"), ("dm", "collapsed"), ("gp", "map"), ("cgp", "variational"), ("dm", "ml"),
]  # fmt: skip


@pytest.fixture(scope="module", params=MODELS, ids=lambda pair: "-".join(pair))
def fitted(request, data):
    model, algorithm = request.param
    return DCA(
        K, model=model, algorithm=algorithm, random_state=0, max_iter=8, learn=(), n_jobs=3
    ).fit(data[0])


def test_answers_are_those_in_memory(fitted, data):
    corpus, folder = data
    np.testing.assert_array_equal(fitted.transform(folder), fitted.transform(corpus))
    np.testing.assert_array_equal(
        fitted.predict_group_proba(folder, "r"), fitted.predict_group_proba(corpus, "r")
    )
    assert fitted.score_with_error(folder) == fitted.score_with_error(corpus)
    fit = fitted.fit_
    for a, b in zip(fit.fill(folder), fit.fill(corpus), strict=True):
        np.testing.assert_array_equal(a, b)
    assert fit.unigram_with_error(folder) == fit.unigram_with_error(corpus)
    if fitted.settings_["algorithm"] != "maximum-likelihood":
        np.testing.assert_array_equal(fitted.transform_sd(folder), fitted.transform_sd(corpus))


def test_scores_in_files(fitted, data, tmp_path):
    corpus, folder = data
    expected = fitted.transform(corpus)
    for ending in (".csv", ".parquet", ".npy"):
        paths = [tmp_path / f"{name}{ending}" for name in ("memory", "folder", "alone")]
        fitted.transform_to(paths[0], corpus)
        fitted.transform_to(paths[1], folder)
        fitted.set_params(n_jobs=1).transform_to(paths[2], folder.path)
        fitted.set_params(n_jobs=3)
        first, *others = (path.read_bytes() for path in paths)
        assert all(other == first for other in others)
    np.testing.assert_array_equal(np.load(tmp_path / "folder.npy"), expected)
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(tmp_path / "folder.parquet")
    assert table.column_names == ["document", "year", "author", *fitted.component_names_]
    assert table.column("document").to_pylist() == list(corpus.document_names)
    assert table.column("author").to_pylist() == corpus.metadata["author"].tolist()
    columns = [table.column(name) for name in fitted.component_names_]
    np.testing.assert_array_equal(np.column_stack(columns), expected)


def test_counts_and_deviations_in_files(data, tmp_path):
    corpus, folder = data
    estimator = DCA(K, algorithm="map", random_state=0, max_iter=8).fit(corpus)
    estimator.transform_to(tmp_path / "a.npy", folder, counts=True)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), estimator.component_counts(corpus))
    estimator.transform_to(tmp_path / "b.npy", folder, sd=True)
    both = np.hstack([estimator.transform(corpus), estimator.transform_sd(corpus)])
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), both)


def test_predictions_and_filled_counts_in_files(fitted, data, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    corpus, folder = data
    fitted.predict_group_to(tmp_path / "a.parquet", folder, "r")
    table = parquet.read_table(tmp_path / "a.parquet")
    assert table.column("prediction").to_pylist() == fitted.predict_group(corpus, "r").tolist()
    chances = fitted.predict_group_proba(corpus, "r")
    np.testing.assert_array_equal(table.column("probability"), chances.max(axis=1))
    fitted.predict_group_to(tmp_path / "b.npy", folder, "r", probabilities=True)
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), chances)
    fitted.impute_to(tmp_path / "c.parquet", folder)
    filled = fitted.fit_.fill(corpus)
    assert len(filled.values) > 100
    table = parquet.read_table(tmp_path / "c.parquet")
    np.testing.assert_array_equal(table.column("expected"), filled.values)
    assert table.column("document").to_pylist() == [f"d{i}" for i in filled.documents]
    assert table.column("word").to_pylist() == [f"w{j}" for j in filled.words]
    with pytest.raises(InputError, match="row per document"):
        fitted.impute_to(tmp_path / "d.npy", folder)


def test_a_part_predicts_the_other_part_from_folders(fitted, data, tmp_path):
    corpus, _ = data
    train, test = discan.split_entries(corpus)
    expected = fitted.score_with_error(test, train)
    for name, part in (("train", train), ("test", test)):
        write_corpus(part, tmp_path / name, shard_entries=1000)
    folders = FolderCorpus(tmp_path / "test"), FolderCorpus(tmp_path / "train")
    assert fitted.score_with_error(*folders) == expected
    assert fitted.score_with_error(test, folders[1]) == expected


def test_fractional_counts_are_split_as_in_memory(data, tmp_path):
    corpus, _ = data
    halved = Corpus(corpus.to_csr() * 0.7)
    write_corpus(halved, tmp_path / "f", shard_entries=1000)
    estimator = DCA(K, algorithm="map", random_state=0, max_iter=5).fit(halved)
    assert estimator.score(FolderCorpus(tmp_path / "f")) == estimator.score(halved)


def test_a_folder_of_other_words_is_moved_into_the_columns(data, tmp_path, caplog):
    corpus, _ = data
    rng = np.random.default_rng(1)
    order = rng.permutation(40)[:35]
    names = [f"w{j}" for j in order]
    counts = np.hstack([corpus.to_csr().toarray()[:, order], np.ones((300, 1), dtype=int)])
    other = Corpus(counts, word_names=[*names, "strange"])
    write_corpus(other, tmp_path / "other", shard_entries=1000)
    estimator = DCA(K, algorithm="cvb0", random_state=0, max_iter=8).fit(
        Corpus(corpus.to_csr(), word_names=[f"w{j}" for j in range(40)])
    )
    expected = estimator.transform(other)
    caplog.clear()
    np.testing.assert_array_equal(estimator.transform(tmp_path / "other"), expected)
    remarks = [record.getMessage() for record in caplog.records]
    assert len(remarks) == 1
    assert "never saw" in remarks[0]
    assert "'strange'" in remarks[0]
    assert estimator.score(tmp_path / "other") == estimator.score(other)


def test_an_error_in_the_middle_leaves_no_file(data, tmp_path, monkeypatch):
    corpus, folder = data
    estimator = DCA(K, algorithm="map", random_state=0, max_iter=3).fit(corpus)
    real, calls = FolderCorpus.documents, []

    def failing(self, start, stop):
        calls.append(start)
        if len(calls) > 5:
            raise KeyboardInterrupt
        return real(self, start, stop)

    monkeypatch.setattr(FolderCorpus, "documents", failing)
    with pytest.raises(KeyboardInterrupt):
        estimator.transform_to(tmp_path / "a.csv", folder)
    assert list(tmp_path.iterdir()) == []


def test_few_blocks_are_in_memory_at_once(data):
    import gc
    import weakref

    _, folder = data
    alive, most = weakref.WeakSet(), 0

    def work(first, part, engine):
        nonlocal most
        alive.add(part)
        gc.collect(0)
        most = max(most, len(alive))
        return first

    from discan.engines import Threads

    with Threads(2) as engine:
        firsts = list(in_order(folder, work, engine))
    assert firsts == [block.start for block in folder.blocks]
    assert most <= 4
