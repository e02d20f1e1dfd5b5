# SPDX-License-Identifier: BSD-3-Clause
"""A model remembers how its data were read: new data are read in the same way."""

import gzip

import numpy as np
import pytest

import discan
from discan.errors import InputError
from discan.readers import read

TEXTS = ["red fish swim", "blue fish swim fast", "old tree grows", "new tree grows tall"] * 8


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "texts"
    for n, text in enumerate(TEXTS):
        part = place / ("fish" if "fish" in text else "trees")
        part.mkdir(parents=True, exist_ok=True)
        (part / f"{n:02d}.txt").write_text(f"{text} unique{n}")
    return place


def fitted(corpus):
    return discan.LDA(2, random_state=0, max_iter=5).fit(corpus)


def test_words_left_out_at_the_fit_are_not_new(folder, remarks):
    corpus = read(folder)
    assert corpus.metadata["folder"][0] == "fish"
    assert corpus.left_out.size == 32
    model = fitted(corpus)
    again = read(folder, like=model)
    assert again.layout.word_names == corpus.layout.word_names
    assert again.digest == corpus.digest
    said = remarks()
    assert "of the tokens are words that were left out at the fit" in said
    assert "never saw" not in said
    (folder / "fish" / "00.txt").write_text("red fish zork")
    read(folder, like=model)
    assert "words that the model never saw, and are ignored, e.g. 'zork'" in remarks()


def test_a_saved_model_remembers(folder, tmp_path, remarks):
    stop = tmp_path / "stop.txt"
    stop.write_text("fish\ntree\n")
    model = fitted(read(folder, stop_words=str(stop), ngrams=2, lowercase=False))
    model.save(tmp_path / "m.discan")
    stop.unlink()
    loaded = discan.load(tmp_path / "m.discan")
    again = read(folder, like=loaded)
    assert again.layout.word_names == model.fit_.layout.word_names
    assert again.n_tokens == model.component_counts_.sum() == pytest.approx(again.n_tokens)
    assert "read as the data of the model were, with stop_words=" in remarks()
    lines = tmp_path / "new.txt"
    lines.write_text("swim fast\nzork\n")
    found = read(lines, like=loaded, unknown=True)
    assert found.shape == (2, len(again.layout.word_names))
    assert found.metadata["known"].tolist() == [3, 0]
    assert found.metadata["unknown"].tolist() == [0, 1]
    with pytest.raises(InputError, match="of the tokens"):
        read(lines, like=loaded, max_unseen=0.1)


def test_options_that_are_given_come_first(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "".join(f"{text},{text} more\n" for text in TEXTS))
    model = fitted(read(path, field="a", max_df=1.0))
    assert read(path, like=model).n_tokens == read(path, field="a", max_df=1.0).n_tokens
    assert read(path, like=model, field="b").metadata["a"][0] == TEXTS[0]


def survey(rows):
    return "id,member,party,age,colours,q1,q2\n" + "".join(f"{row}\n" for row in rows)


def test_few_rows_are_read_as_many_were(tmp_path, remarks):
    """Alone, a row would tell nothing: every column is constant and all different."""
    rows = [
        f"{i},Member {i},{'DR'[i % 2]},{20 + i % 50},{'red;blue' if i % 3 else 'red'},"
        f"{'yes' if i % 2 else 'no'},{i % 3}"
        for i in range(60)
    ]
    (tmp_path / "x.csv").write_text(survey(rows))
    corpus = read(tmp_path / "x.csv", bins=4, metadata="party")
    model = fitted(corpus)
    (tmp_path / "one.csv").write_text(survey(rows[7:8]))
    one = read(tmp_path / "one.csv", like=model)
    assert one.document_names == ("Member 7",)
    assert one.layout is not None
    assert np.array_equal(one.to_csr().toarray(), corpus.to_csr().toarray()[7:8])
    assert one.metadata["party"].tolist() == ["R"]
    # another order of columns, one of them missing and one new
    (tmp_path / "few.csv").write_text("q2,new,age,q1\n1,x,27,yes\n0,y,90,no\n")
    few = read(tmp_path / "few.csv", like=model)
    groups = corpus.layout.group_names
    assert few.exposures[0].tolist() == [float(g in ("q1", "q2", "age")) for g in groups]
    assert few.metadata["new"].tolist() == ["x", "y"]
    assert "1 of the model's 4 columns are not there and count as missing: 'colours'" in remarks()


def test_no_column_of_the_model(tmp_path, fails):
    (tmp_path / "x.csv").write_text("q1,q2\n" + "yes,no\nno,yes\n" * 10)
    model = fitted(read(tmp_path / "x.csv"))
    (tmp_path / "y.csv").write_text("p1,p2\n" + "yes,no\nno,yes\n" * 10)
    fails(tmp_path / "y.csv", "none of the model's columns .'q1', 'q2'. is there", like=model)


def test_counts_with_metadata(tmp_path):
    rng = np.random.default_rng(0)
    titles = ",".join(["doc", "author", *(f"w{j}" for j in range(20))])
    rows = [f"d{i},a{i % 3}," + ",".join(map(str, rng.poisson(0.3, 20))) for i in range(30)]
    (tmp_path / "x.csv").write_text("\n".join([titles, *rows]) + "\n")
    corpus = read(tmp_path / "x.csv")
    assert corpus.n_words == 20
    assert corpus.metadata["author"][1] == "a1"
    model = fitted(corpus)
    (tmp_path / "one.csv").write_text("\n".join([titles, rows[3]]) + "\n")
    one = read(tmp_path / "one.csv", like=model)
    assert np.array_equal(one.to_csr().toarray(), corpus.to_csr().toarray()[3:4])
    assert one.metadata["author"].tolist() == ["a0"]


def test_a_converted_corpus_remembers_how_it_was_read(folder, tmp_path):
    from discan.data.store import save_corpus

    save_corpus(read(folder, ngrams=2), tmp_path / "c.discan")
    corpus = read(tmp_path / "c.discan")
    assert corpus.reading["format"] == "folder"
    assert read(folder, like=fitted(corpus)).digest == corpus.digest


def test_an_older_model_tells_by_its_words(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("\n".join(TEXTS))
    corpus = read(path, ngrams=2, lowercase=False)
    older = corpus.described(reading={}, left_out=None)
    assert read(path, like=fitted(older)).digest == corpus.digest


def test_a_model_is_needed_to_compare_with(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("red fish\n")
    with pytest.raises(InputError, match="like=model"):
        read(path, unknown=True)


def test_matrices_with_their_vocabulary(tmp_path):
    (tmp_path / "x.ldac").write_text("2 0:1 2:3\n1 1:2\n")
    words = tmp_path / "elsewhere.txt"
    words.write_text("a\nb\nc\n")
    model = fitted(read(tmp_path / "x.ldac", vocabulary=str(words)))
    (tmp_path / "y.ldac.gz").write_bytes(gzip.compress(b"1 2:1\n"))
    assert read(tmp_path / "y.ldac.gz", like=model).layout.word_names == ("a", "b", "c")


@pytest.mark.parametrize(
    ("name", "content", "column"),
    [
        ("a.jsonl", '{"text": "law and order", "who": "x"}\n{"text": "sea", "who": "y"}\n', "who"),
        ("a.mallet", "d1 x law and order\nd2 y sea\n", "label"),
        ("a.txt", "law and order\nsea\n", None),
    ],
)
def test_excerpts_stand_beside_other_metadata(name, content, column, tmp_path):
    (tmp_path / name).write_text(content)
    metadata = discan.read(tmp_path / name, excerpt=30).metadata
    assert list(metadata) == [*([column] if column else []), "excerpt"]
    assert metadata["excerpt"].tolist() == ["law and order", "sea"]


def test_excerpts_of_folders(tmp_path):
    for folder in "ab":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.txt").write_text(f"text of {folder}")
    metadata = discan.read(tmp_path, excerpt=30).metadata
    assert metadata["folder"].tolist() == ["a", "b"]
    assert metadata["excerpt"].tolist() == ["text of a", "text of b"]
