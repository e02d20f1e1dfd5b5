# SPDX-License-Identifier: BSD-3-Clause
"""Models and new documents: transform, predict, impute and score."""

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import discan


def test_transform(run, place, tmp_path):
    arguments = ("transform", place / "model", place / "texts.jsonl", "--option", "id_field=id")
    out, err = run(*arguments, "-q")
    assert err == ""
    rows = list(csv.reader(io.StringIO(out)))
    assert rows[0] == ["document", "topic 1", "topic 2"]
    assert len(rows) == 21
    records = json.loads(run(*arguments, "--json", "-q")[0])
    assert [str(v) for v in records[3].values()] == rows[4]
    written = tmp_path / "scores.csv"
    assert run(*arguments, "-q", "-o", written) == ("", "")
    assert written.read_text() == out
    assert run(*arguments, "-q", "-o", "/dev/null") == ("", "")
    many = list(csv.reader(io.StringIO(run(*arguments, "-q", "--counts")[0])))
    assert sum(map(float, many[1][1:])) == pytest.approx(6)
    estimator = discan.load(place / "model")
    expected = estimator.transform(discan.read(place / "corpus.discan"))
    np.testing.assert_array_equal(expected, [[float(x) for x in row[1:]] for row in rows[1:]])


def test_transform_with_deviations(run, fails, place, survey, tmp_path):
    arguments = ("transform", place / "model", place / "texts.jsonl", "-q")
    rows = list(csv.reader(io.StringIO(run(*arguments, "--sd")[0])))
    assert rows[0] == ["document", "topic 1", "topic 2", "topic 1 sd", "topic 2 sd"]
    estimator = discan.load(place / "model")
    expected = estimator.transform_sd(discan.read(place / "corpus.discan"))
    np.testing.assert_array_equal(expected, [[float(x) for x in row[3:]] for row in rows[1:]])
    assert "--counts" in run(*arguments, "--sd", "--counts", code=2)[1]
    path = tmp_path / "ml.discan"
    run("fit", survey / "answers.csv", "-o", path, "-k", 2, "--algorithm", "ml", "-q")
    line = fails("transform", path, survey / "answers.csv", "--sd")
    assert "the algorithm ml gives no standard deviations of the scores" in line
    assert "use --algorithm map, variational or collapsed" in line


def test_recommend(run, fails, place, survey, tmp_path):
    plays = tmp_path / "plays.csv"
    rows = [("ann", "jazz", 9), ("ann", "blues", 5), ("bob", "rock", 7), ("bob", "punk", 4)]
    kinds = [("rock", "punk", "metal"), ("jazz", "blues", "soul")]
    rows += [(f"u{n}", item, 4) for n in range(30) for item in kinds[n % 2]]
    plays.write_text("user,item,plays\n" + "".join(f"{u},{i},{n}\n" for u, i, n in rows))
    model = tmp_path / "m.discan"
    run("fit", plays, "-o", model, "-k", 2, "--alpha", 0.1, "-q")
    out, _ = run("recommend", model, plays, "-n", 2, "-q")
    table = list(csv.DictReader(io.StringIO(out)))
    first = {row["rank"]: list(row.values()) for row in table if "ann" in row.values()}
    assert first["1"][2] == "soul"
    assert float(first["1"][3]) > 10 * float(first["2"][3])
    got = {(u, i) for u, i, _ in rows}
    assert all((row[0], row[2]) not in got for row in csv.reader(io.StringIO(out)))
    file = tmp_path / "found.json"
    _, err = run("recommend", model, plays, "-n", 1, "-o", file)
    assert f"{32} recommendations written to {file}" in err
    assert len(json.loads(file.read_text())) == 32
    line = fails("recommend", survey / "m.discan", survey / "answers.csv")
    assert "3 groups" in line
    assert "use --group VALUE" in line
    one, _ = run(
        "recommend", survey / "m.discan", survey / "answers.csv", "-g", "pet", "-n", 1, "-q"
    )
    assert "pet=" in one


def test_new_text_is_counted_by_the_words_of_the_model(run, fails, place, tmp_path):
    new = tmp_path / "new.txt"
    new.write_text("Apple pear unheard\nship\nunheard\n")
    out, err = run("transform", place / "model", new)
    assert "40 % of the tokens are words that the model never saw" in err
    assert "1 of 3 documents hold no word that the model knows and get the prior mean: '2'" in err
    values = np.array([row[1:] for row in csv.reader(io.StringIO(out))][1:], float)
    assert values[0, 0] > 0.9
    assert values[1, 1] > 0.8
    np.testing.assert_allclose(values[2], 0.5)  # nothing known: the prior
    assert "40 % of the tokens" in fails("transform", place / "model", new, "--max-unseen", 0.3)
    again, _ = run("transform", place / "model", new, "--max-unseen", 0.5)
    assert again == out


def test_bigrams_are_found_again(run, texts, tmp_path):
    file, path = tmp_path / "t.txt", tmp_path / "m.discan"
    file.write_text("\n".join(texts))
    run("fit", file, "-o", path, "--option", "ngrams=1,2", "-k", 2, "--iterations", 2)
    assert "pear plum" in discan.load(path).fit_.layout.word_names
    out, _ = run("transform", path, file, "--counts")
    total = sum(float(x) for row in list(csv.reader(io.StringIO(out)))[1:] for x in row[1:])
    assert total == pytest.approx(discan.read(file, ngrams=(1, 2)).n_tokens)


def test_predict(run, fails, survey):
    arguments = ("predict", survey / "m.discan", survey / "new.csv", "--format", "categorical")
    rows = json.loads(run(*arguments, "--group", "vote", "--json")[0])
    assert [row["prediction"][-3:].strip("=") for row in rows] == ["yes", "no", "no"]
    assert all(row["probability"] > 0.8 for row in rows)
    by_number, _ = run(*arguments, "-g", 0, "--csv")
    assert by_number == run(*arguments, "--group", "vote", "--csv")[0]
    assert "prediction" in run(*arguments, "--group", "vote", "-q")[0]
    table = list(csv.reader(io.StringIO(run(*arguments, "-g", "vote", "--probabilities")[0])))
    assert len(table) == 4
    assert sum(map(float, table[1][1:])) == pytest.approx(1.0)
    assert "'vote', 'colour', 'pet'" in fails(*arguments, "--group", "age")
    run(*arguments[:-2], code=2)


def test_impute_completes_the_table(run, survey, tmp_path):
    arguments = ("impute", survey / "m.discan", survey / "answers.csv", "--format", "categorical")
    out, err = run(*arguments)
    assert "2 cells filled in, each by its likeliest answer" in err
    given = (survey / "answers.csv").read_text().splitlines()
    assert out.splitlines() == [*given[:-2], "yes,red,cat", "no,blue,dog"]
    file = tmp_path / "full.csv"
    run(*arguments, "-o", file, "-q")
    assert file.read_text() == out
    records = json.loads(run(*arguments, "--json", "-q")[0])
    assert records[-1] == {"vote": "no", "colour": "blue", "pet": "dog"}


def test_imputed_roll_calls_are_a_table_by_question(run, tmp_path):
    path = tmp_path / "s.discan"
    run("fit", "dataset:senate2005", "-o", path, "-k", 2, "--max-iter", 5, "-q")
    out, _ = run("impute", path, "dataset:senate2005", "-q")
    titles, *rows = csv.reader(io.StringIO(out))
    assert titles[:4] == ["senator", "name", "party", "state"]
    assert len(rows) == 100
    assert {cell for row in rows for cell in row[4:]} == {"yea", "nay"}


def test_single_answers_are_imputed_as_a_table_by_question(run, tmp_path):
    rows = [f"m{i},b{j},{'yes' if (i + j) % 2 else 'no'}" for i in range(6) for j in range(5)]
    (tmp_path / "x.csv").write_text("\n".join(["member,bill,vote", *rows[1:]]))
    options = ("--option", "pivot=member,bill,vote")
    run("fit", tmp_path / "x.csv", *options, "-o", tmp_path / "m.discan", "-k", 1, "-q")
    out, _ = run("impute", tmp_path / "m.discan", tmp_path / "x.csv", "-q")
    titles, *found = csv.reader(io.StringIO(out))
    assert titles == ["member", "b1", "b2", "b3", "b4", "b0"]
    assert len(found) == 6
    assert {cell for row in found for cell in row[1:]} == {"yes", "no"}


def test_members_in_columns_are_imputed_as_a_table_by_member(run, tmp_path):
    """Even where there are as many members as roll calls."""
    bills = [[f"b{j}", *("" if i == j else "yes no".split()[(i + j) % 2] for i in range(6))]
             for j in range(6)]  # fmt: skip
    titles = ["bill", *(f"m{i}" for i in range(6))]
    (tmp_path / "x.csv").write_text("\n".join(map(",".join, [titles, *bills])))
    turned = ("--option", "transpose=True")
    run("fit", tmp_path / "x.csv", *turned, "-o", tmp_path / "m.discan", "-k", 1, "-q")
    out, _ = run("impute", tmp_path / "m.discan", tmp_path / "x.csv", "-q")
    titles, *found = csv.reader(io.StringIO(out))
    assert titles == ["member", *(f"b{j}" for j in range(6))]
    assert [row[0] for row in found] == [f"m{i}" for i in range(6)]
    assert {cell for row in found for cell in row[1:]} == {"yes", "no"}


def test_texts_are_not_answers(fails, run, place):
    arguments = ("impute", place / "model", place / "texts.jsonl")
    assert "counts, not answers to questions; --long lists" in fails(*arguments)
    assert run(*arguments, "--long", "-q")[0].count("\n") == 1


def test_impute_lists_the_cells(run, survey, tmp_path):
    arguments = (
        "impute", survey / "m.discan", survey / "answers.csv", "--format", "categorical", "--long",
    )  # fmt: skip
    out, err = run(*arguments)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == ["respondent", "group", "answer", "expected"]
    assert [(row["group"], len(row["answer"]) > 0) for row in rows] == [
        ("pet", True), ("pet", True), ("colour", True), ("colour", True),
    ]  # fmt: skip
    assert "4 counts filled in" in err
    assert sum(float(row["expected"]) for row in rows[:2]) == pytest.approx(1.0)
    by_word = {row["answer"]: float(row["expected"]) for row in rows}
    assert max(by_word, key=by_word.get)[-3:] in ("cat", "lue")
    records = json.loads(run(*arguments, "--json")[0])
    assert [record["answer"] for record in records] == [row["answer"] for row in rows]
    run(*arguments, "-o", tmp_path / "out.csv", "-q")
    assert (tmp_path / "out.csv").read_text() == out


def test_score(run, place):
    rows = json.loads(run("score", place / "model", place / "corpus.discan", "--json")[0])
    assert [row["predictor"] for row in rows] == ["model", "unigram"]
    assert rows[0]["perplexity"] < rows[1]["perplexity"]
    estimator = discan.load(place / "model")
    found = estimator.score_with_error(discan.read(place / "corpus.discan"))
    assert (rows[0]["nats per token"], rows[0]["standard error"]) == found
    assert found[1] > 0
    assert "perplexity" in run("score", place / "model", place / "corpus.discan")[0]


def test_score_of_held_out_entries(run, fails, survey, tmp_path):
    """Answers that were held out are predicted from the others of the same people."""
    (tmp_path / "known.csv").write_text("vote,colour,pet\nyes,red,\nno,blue,\n")
    (tmp_path / "held.csv").write_text("vote,colour,pet\n,,cat\n,,dog\n")
    given = ("--given", tmp_path / "known.csv", "--format", "categorical")
    data = ("score", survey / "m.discan", tmp_path / "held.csv")
    rows = json.loads(run(*data, *given, "--json")[0])
    # the known answers tell the pet; the training data have as many cats as dogs
    assert rows[0]["perplexity"] < 1.3
    assert rows[1]["perplexity"] == pytest.approx(2.0, abs=0.05)
    assert "are the ones given" in fails(*data, "--given", data[2], "--format", "categorical")
    (tmp_path / "known.csv").write_text("vote,colour,pet\nyes,red,\n")
    assert "the same documents in the same order" in fails(*data, *given)


def test_components_that_were_given_have_no_unigram(run, tmp_path):
    known = discan.LDA.from_components(np.eye(2, 3) + 0.1, random_state=0)
    known.save(tmp_path / "known.discan")
    sparse.save_npz(tmp_path / "counts.npz", sparse.csr_array(np.full((2, 3), 4)))
    out, _ = run("score", tmp_path / "known.discan", tmp_path / "counts.npz", "--json")
    assert [row["predictor"] for row in json.loads(out)] == ["model"]


def test_wrong_model(run, fails, place, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("a,b\n" + "x,y\nz,w\n" * 20)
    assert "is it the right model" in fails("transform", place / "model", other)
    new = tmp_path / "new.csv"
    new.write_text("document,word,count\na,apple,1\nb,unheard,1\n")
    run("transform", place / "model", new)
    line = fails("transform", place / "model", new, "--max-unseen", 0.1)
    assert "50 % of the tokens" in line


def test_the_guide_shows_what_is_printed(run, tmp_path, monkeypatch):
    guide = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")
    [block] = re.findall(r"```console\n\$ cat survey.csv\n(.*?)```", guide, re.DOTALL)
    table, *steps = block.split("$ discan ")
    (tmp_path / "survey.csv").write_text(table)
    monkeypatch.chdir(tmp_path)
    assert [step.split()[0] for step in steps] == ["fit", "predict", "impute", "impute"]
    for step in steps:
        command, _, shown = step.partition("\n")
        out, err = run(*command.split())
        assert rounded(err + out) == rounded(shown)


def rounded(text):
    """Round the numbers of a transcript, and leave out the time."""
    text = re.sub(r"read in .*", "", text)
    return re.sub(r"\d+\.\d+", lambda found: f"{float(found[0]):.3f}", text)


def test_transform_interval(run, place, tmp_path):
    out, _ = run("transform", place / "model", place / "texts.jsonl", "--interval", 0.8, "-q")
    head, first, *_ = [line.split(",") for line in out.splitlines()]
    assert [name.strip('"') for name in head[-4:]] == [
        "topic 1 low", "topic 2 low", "topic 1 high", "topic 2 high"
    ]  # fmt: skip
    share, low, high = (float(first[n]) for n in (-6, -4, -2))
    assert low < share < high
    run("transform", place / "model", place / "texts.jsonl", "--interval", 0, code=2)
    run("transform", place / "model", place / "texts.jsonl", "--interval", 0.9, "--counts", code=2)


def test_answers_in_files_from_a_corpus_folder(run, fails, survey, tmp_path):
    from discan.data.folders.writer import write_corpus

    model = tmp_path / "m.discan"
    run("fit", survey / "answers.csv", "-k", 2, "--algorithm", "map", "-o", model, "-q")
    corpus = discan.read(survey / "answers.csv")
    write_corpus(corpus, tmp_path / "big")
    for command in (
        ("transform",), ("transform", "--sd"), ("predict", "--group", corpus.layout.group_names[0]),
        ("impute", "--long"),
    ):  # fmt: skip
        name, *options = command
        for ending in (".csv", ".parquet"):
            files = [tmp_path / f"{place}{ending}" for place in ("memory", "folder")]
            run(name, model, survey / "answers.csv", *options, "-o", files[0], "-q")
            _, err = run(name, model, tmp_path / "big", *options, "-o", files[1])
            assert files[0].read_bytes() == files[1].read_bytes()
            assert "read block by block" in err
    run("transform", model, tmp_path / "big", "-o", tmp_path / "s.npy", "-q")
    np.testing.assert_array_equal(np.load(tmp_path / "s.npy"), discan.load(model).transform(corpus))
    out, _ = run("score", model, tmp_path / "big", "--json", "-q")
    assert out == run("score", model, survey / "answers.csv", "--json", "-q")[0]
    line = fails("transform", model, tmp_path / "big")
    assert "write the answers to a file (--output)" in line
    line = fails("transform", model, tmp_path / "big", "-o", tmp_path / "s.json")
    assert ".parquet" in line
