# SPDX-License-Identifier: BSD-3-Clause
"""Data on the command line: what was done with them is said in the words of the shell."""

import csv
import io
import json

import numpy as np
import pytest

import discan


@pytest.fixture(scope="module")
def roll_calls(run, tmp_path_factory):
    """Roll calls with columns that describe the members, and a model of them."""
    folder = tmp_path_factory.mktemp("votes")
    titles = ["id", "state", "party", "member", *(f"vote{j}" for j in range(10))]
    rows = []
    for i in range(40):
        votes = ["Yea" if (i + j) % 2 else "Nay" for j in range(10)]
        rows.append([4000 + i, ("AL", "AK")[i % 4 // 2], "DR"[i % 2], f"Member {i}", *votes])
    text = io.StringIO()
    csv.writer(text).writerows([titles, *rows])
    (folder / "votes.csv").write_text(text.getvalue())
    (folder / "one.csv").write_text("\n".join(text.getvalue().splitlines()[:2]) + "\n")
    _, err = run("fit", folder / "votes.csv", "-k", 2, "-o", folder / "m.discan")
    (folder / "said").write_text(err)
    return folder


def rows_of(text):
    return list(csv.reader(io.StringIO(text)))


def test_remarks_speak_shell(roll_calls):
    said = (roll_calls / "said").read_text()
    assert "column 'member' names the rows" in said
    assert (
        "3 columns describe the rows and are not counted: 'id' (all different), 'state', " in said
    )
    assert "use --answers NAME or --metadata NAME" in said


def test_facts_of_documents_come_with_the_scores(run, roll_calls):
    model, data = roll_calls / "m.discan", roll_calls / "votes.csv"
    rows = rows_of(run("transform", model, data, "-q")[0])
    assert rows[0] == ["member", "id", "state", "party", "bloc 1", "bloc 2"]
    assert rows[1][:4] == ["Member 0", "4000", "AL", "D"]
    plain = rows_of(run("transform", model, data, "-q", "--plain")[0])
    assert plain[0] == ["member", "bloc 1", "bloc 2"]
    assert [row[4:] for row in rows] == [row[1:] for row in plain]
    alone = rows_of(run("transform", model, roll_calls / "one.csv", "-q")[0])
    assert alone == rows[:2]
    records = json.loads(run("transform", model, data, "-q", "--json")[0])
    assert records[1]["party"] == "R"


def test_labels_by_column(run, fails, roll_calls, tmp_path):
    model, file = roll_calls / "m.discan", tmp_path / "f.html"
    run("plot", model, "structure", "-o", file, "--labels", "party", "-q")
    page = file.read_text("utf-8")
    assert ">D<" in page
    assert ">R<" in page
    line = fails("plot", model, "structure", "-o", file, "--labels", "parti")
    assert "--labels parti: no such column and no such file" in line
    assert all(column in line for column in ("id", "state", "party"))


def test_columns_by_flag(run, roll_calls, tmp_path):
    data, model = roll_calls / "votes.csv", tmp_path / "m.discan"
    run("fit", data, "-k", 2, "-o", model, "--answers", "vote*,party", "--metadata", "vote9", "-q")
    fit = discan.load(model).fit_
    assert fit.layout.group_names == ("party", *(f"vote{j}" for j in range(9)))
    assert set(fit.metadata) == {"id", "state", "vote9"}
    run("fit", data, "-k", 2, "-o", model, "--unit", "senator,vote,camp", "-q")
    assert discan.load(model).fit_.nouns.components == "camps"


def test_bins_by_flag_are_remembered(run, tmp_path):
    rng = np.random.default_rng(0)
    data, model = tmp_path / "s.csv", tmp_path / "m.discan"
    data.write_text("age,q\n" + "".join(f"{a},{'yn'[a % 2]}\n" for a in rng.integers(18, 80, 60)))
    _, err = run("fit", data, "-k", 2, "-o", model, "--bins", 3)
    assert "column 'age' is cut into intervals: <" in err
    new = tmp_path / "n.csv"
    new.write_text("age,q\n99,y\n3,n\n")
    rows = rows_of(run("transform", model, new, "-q", "--unknown")[0])
    assert rows[0][1:4] == ["age", "known", "unknown"]
    assert [row[2:4] for row in rows[1:]] == [["2", "0"], ["2", "0"]]


def test_unknown_words_per_document(run, place, tmp_path):
    new = tmp_path / "new.txt"
    new.write_text("apple zork zork\nzork\nplum pear\n")
    out, err = run("transform", place / "model", new, "--unknown", "--plain")
    rows = rows_of(out)
    assert rows[0][:3] == ["document", "known", "unknown"]
    assert [row[1:3] for row in rows[1:]] == [["1", "2"], ["0", "1"], ["2", "0"]]
    assert "1 of 3 documents hold no word that the model knows and get the prior mean: '1'" in err


def test_reading_options_are_remembered(run, fails, tmp_path):
    data, model = tmp_path / "news.csv", tmp_path / "m.discan"
    texts = ["red fish swim in the sea all day", "old trees grow in the wood all year"] * 10
    data.write_text("n,a,b\n" + "".join(f"{n},x{n} y z,{t} {n}\n" for n, t in enumerate(texts)))
    run("fit", data, "-k", 2, "-o", model, "--field", "b", "--max-df", "1.0",
        "--stop-words", "none", "-q")  # fmt: skip
    _, err = run("transform", model, data, "--unknown")
    assert "read as the data of the model were, with --field b, --stop-words none" in err
    assert "never saw" not in err
    assert "words that were left out" not in err
    for command in ("score", "transform"):
        run(command, model, data)
    _, err = run("transform", model, data, "--field", "a")
    assert "--field b" not in err
    assert "hold no word that the model knows" in err


def test_predict_and_impute_read_as_the_model_did(run, roll_calls):
    model, data = roll_calls / "m.discan", roll_calls / "one.csv"
    out, _ = run("predict", model, data, "--group", "vote3", "--csv")
    assert rows_of(out)[1][0] == "Member 0"
    out, err = run("impute", model, data)
    assert "0 cells filled in" in err
    assert out == data.read_text()


def test_cells(run, tmp_path):
    pytest.importorskip("h5py")
    from discan.data.h5ad import write_h5ad

    counts = np.random.default_rng(0).poisson(1.0, (20, 6))
    corpus = discan.Corpus(
        counts, word_names=[f"G{j}" for j in range(6)],
        document_names=[f"c{i}" for i in range(20)], metadata={"type": ["T", "B"] * 10},
    )  # fmt: skip
    data, model, out = tmp_path / "x.h5ad", tmp_path / "m.discan", tmp_path / "out.h5ad"
    write_h5ad(data, corpus, {"X_pca": np.zeros((20, 2))}, {}, {})
    run("fit", data, "-k", 3, "-o", model, "-q")
    _, err = run("transform", model, data, "-o", out)
    assert "20 cells written to" in err
    assert "scores in obsm['X_discan']" in err
    import h5py

    estimator = discan.load(model)
    with h5py.File(out) as file:
        np.testing.assert_array_equal(file["obsm/X_discan"], estimator.transform(counts))
        np.testing.assert_allclose(file["varm/discan"], estimator.components_.T)
        assert "X_pca" in file["obsm"]
        assert file["uns/discan/components"][()] == 3
    # other data are written whole
    rows = [f"c{i},{'TB'[i % 2]}," + ",".join(map(str, row)) for i, row in enumerate(counts)]
    table = tmp_path / "x.csv"
    table.write_text("\n".join(["cell,type," + ",".join(f"G{j}" for j in range(6)), *rows]) + "\n")
    run("transform", model, table, "-o", out, "--format", "wide", "-q")
    again = discan.read(out)
    assert np.array_equal(again.to_csr().toarray(), counts)
    assert again.metadata["type"][:2].tolist() == ["T", "B"]


def test_metadata_are_listed(run, roll_calls):
    out, _ = run("info", roll_calls / "m.discan")
    assert "metadata    id, state, party" in out
    out, _ = run("info", roll_calls / "votes.csv", "-q", "--json")
    assert json.loads(out)["metadata"] == ["id", "state", "party"]
