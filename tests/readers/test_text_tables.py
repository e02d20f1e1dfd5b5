# SPDX-License-Identifier: BSD-3-Clause
"""Tables with a column of text: it is found, and the other columns describe the documents."""

import json

import numpy as np
import pytest

from discan.data.nouns import TEXT
from discan.errors import InputError
from discan.readers import Source, guess, read

WORDS = "red fish blue bird sing song old tree new leaf".split()
RNG = np.random.default_rng(0)
TEXTS = [" ".join(RNG.choice(WORDS, 12)) for _ in range(30)]


def news(delimiter=",", titles=("id", "date", "author", "headline", "content")):
    lines = [delimiter.join(titles)]
    for i, text in enumerate(TEXTS):
        body = text.replace(" ", f"{delimiter} ", 1).replace(" fish", "\nfish")
        cells = (i + 100, f"2016-01-{1 + i % 28:02d}", f"author {i % 3}", f"Story {i}", f'"{body}"')
        lines.append(delimiter.join(map(str, cells)))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(("name", "delimiter"), [("x.csv", ","), ("x.tsv", "\t"), ("x.csv", ";")])
def test_news(tmp_path, write, remarks, name, delimiter):
    path = write(tmp_path / name, news(delimiter))
    assert guess(Source(path)) == "texts"
    corpus = read(path, min_df=1, max_df=1.0, stop_words="none")
    assert corpus.n_documents == 30
    assert corpus.layout.word_names == tuple(sorted(set(WORDS)))
    assert corpus.n_tokens == 360
    assert corpus.document_names[:2] == ("Story 0", "Story 1")
    assert list(corpus.metadata) == ["id", "date", "author"]
    assert corpus.metadata["date"][1] == "2016-01-02"
    assert corpus.metadata["author"][:2].tolist() == ["author 0", "author 1"]
    assert corpus.nouns == TEXT
    said = remarks()
    assert "column 'content' holds the text; for another use field='NAME'" in said
    assert "column 'headline' names the documents" in said
    assert "kept as metadata, not counted: 'id', 'date', 'author'" in said


def test_a_parquet_file(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "x.parquet"
    parquet.write_table(pyarrow.table({"n": list(range(30)), "note": TEXTS}), path)
    assert guess(Source(path)) == "texts"
    assert read(path, max_df=1.0).n_documents == 30
    assert read(path, field="note", max_df=1.0).metadata["n"][3] == "3"


def test_the_field_can_be_chosen(tmp_path, write, remarks, fails):
    path = write(tmp_path / "x.csv", news())
    corpus = read(path, field="headline", min_df=1, max_df=1.0)
    assert corpus.layout.word_names == ("story",)
    assert "content" not in corpus.metadata or len(TEXTS[0]) < 300
    fails(path, "no column 'nosuch'", field="nosuch")
    both = read(path, field="headline,content", min_df=1, max_df=1.0)
    assert both.layout.group_names == ("headline", "content")
    assert both.layout.word_names[0] == "headline:story"


def test_field_of_a_table_of_answers(tmp_path, write):
    path = write(tmp_path / "x.csv", "q1,q2\n" + "red fish,yes\nblue fish,no\n" * 10)
    assert guess(Source(path)) == "categorical"
    corpus = read(path, field="q1", max_df=1.0)
    assert corpus.layout.word_names == ("blue", "fish", "red")
    assert corpus.metadata["q2"][:2].tolist() == ["yes", "no"]


def test_a_survey_with_comments_is_a_survey(tmp_path, write, remarks):
    rows = [
        ",".join([f"I really think that it was fine, number {i}".replace(",", ";"),
                  *("agree" if (i + j) % 3 else "disagree" for j in range(20))])
        for i in range(40)
    ]  # fmt: skip
    titles = ",".join(["comment", *(f"q{j}" for j in range(20))])
    path = write(tmp_path / "x.csv", "\n".join([titles, *rows]) + "\n")
    assert guess(Source(path)) == "categorical"
    corpus = read(path, id_column=False)
    assert len(corpus.layout.group_names) == 20
    assert "'comment' (all different)" in remarks()


def test_no_titles(tmp_path, write):
    lines = "".join(f'{i},"{text}"\n' for i, text in enumerate(TEXTS))
    corpus = read(write(tmp_path / "x.csv", lines), max_df=1.0)
    assert corpus.n_documents == 30
    one = read(write(tmp_path / "y.csv", "text\n" + "red fish\nblue bird\n"), max_df=1.0)
    assert one.n_documents == 2


def test_missing_texts_are_empty_and_long_columns_are_left_out(tmp_path, write, remarks):
    lines = [f'{i},"{text}","{text * 20}"' for i, text in enumerate(TEXTS)]
    lines[3] = "3,NA,x"
    path = write(tmp_path / "x.csv", "\n".join(["n,short,long", *lines]) + "\n")
    corpus = read(path, field="short", stop_words="none", min_df=1, max_df=1.0)
    assert corpus.lengths[3] == 0
    assert list(corpus.metadata) == ["n"]
    assert "left out, long or nested: 'long'" in remarks()


def test_titles_that_repeat(tmp_path, write, remarks):
    text = "note,note\n" + "".join(f'"{t}",x{i % 2}\n' for i, t in enumerate(TEXTS))
    corpus = read(write(tmp_path / "x.csv", text), max_df=1.0)
    assert corpus.n_documents == 30
    assert corpus.metadata["note.1"][0] == "x0"
    assert "titles that repeat were made unique: 'note.1'" in remarks()


# ---- JSON lines ----


def json_lines(**more):
    return "".join(json.dumps({"body": t, "year": 2000 + i, "tags": ["a", "b"], **more}) + "\n"
                   for i, t in enumerate(TEXTS))  # fmt: skip


def test_json_lines_keep_their_other_fields(tmp_path, write, remarks):
    path = write(tmp_path / "x.jsonl", json_lines(author=None, deep=[{"x": 1}]))
    corpus = read(path, max_df=1.0)
    assert corpus.metadata["year"][0] == 2000.0
    assert corpus.metadata["tags"][0] == "a;b"
    assert "deep" not in corpus.metadata
    assert "author" not in corpus.metadata, "it is always missing"
    said = remarks()
    assert "column 'body' holds the text" in said
    assert "left out, long or nested: 'deep'" in said


def test_json_lines_without_a_text(tmp_path, write):
    path = write(tmp_path / "x.jsonl", '{"a": 1, "b": "x"}\n' * 3)
    with pytest.raises(InputError, match="cannot tell which field holds the text; there are 'a'"):
        read(path)


def test_fields_keep_the_others(tmp_path, write):
    path = write(tmp_path / "x.csv", news())
    corpus = read(path, fields="headline,content", min_df=1, max_df=1.0)
    assert list(corpus.metadata) == ["date", "author"]
    assert corpus.document_names[0] == "100"


def test_a_list_of_json_objects(tmp_path, write, fails):
    records = [{"body": t, "year": 2000 + i} for i, t in enumerate(TEXTS)]
    path = write(tmp_path / "x.json", json.dumps(records, indent=1))
    assert guess(Source(path)) == "jsonl"
    corpus = read(path, max_df=1.0)
    assert corpus.n_documents == 30
    assert corpus.metadata["year"][1] == 2001.0
    fails(write(tmp_path / "x.json", json.dumps(records)[:-9]), "not a list of JSON objects")
    fails(write(tmp_path / "x.json", '[{"text": "a b"}, 3]'), "item 2 is a JSON int")
