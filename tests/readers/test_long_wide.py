# SPDX-License-Identifier: BSD-3-Clause
"""Tables of counts, one row per triple or per document: good, bad and real."""

import gzip

import numpy as np
import pytest

from discan.readers import Source, guess, read

LONG = "document,word,count\na,x,2\nb,y,1\na,y,3\nb,x,1\nb,x,4\n"


WIDE = "name,apple,pear,plum\none,3,0,0\ntwo,0,0,2\nthree,0,0,0\n"


BAD_COUNTS = ["-1", "nan", "inf", "-inf", "1e300", "x", "1_0", "", "0x1", "\0", "é", "1" * 400]


@pytest.mark.parametrize("delimiter", list(",;\t|"))
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_long(tmp_path, delimiter, ends, write, dense):
    text = LONG.replace(",", delimiter).replace("\n", ends)
    path = write(tmp_path / "x.csv", "\ufeff" + text)
    assert guess(Source(path)) == "long"
    corpus = read(path)
    assert dense(corpus) == [[2, 3], [5, 1]]
    assert corpus.document_names == ("a", "b")
    assert corpus.layout.word_names == ("x", "y")
    packed = tmp_path / "x.tsv.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert dense(read(packed)) == dense(corpus)


def test_long_columns(tmp_path, write, fails, dense):
    text = "n;who;when;what\n2;a;1999;x\n1;b;1999;y\n"
    path = write(tmp_path / "x.csv", text)
    corpus = read(path, "long", columns=("who", "what", "n"))
    assert dense(corpus) == [[2, 0], [0, 1]]
    assert dense(read(path, "long", columns=(1, 3, 0))) == [[2, 0], [0, 1]]
    assert dense(read(path, "long", columns=("who", "what"))) == [[1, 0], [0, 1]]
    fails(path, "no column 'whom'", "long", columns=("whom", "what", "n"))
    fails(path, "no column 9", "long", columns=(1, 9, 0), header=True)
    fails(path, "columns=", "long", columns=("who",))


def test_long_without_heading_or_count(tmp_path, write, dense):
    path = write(tmp_path / "x.dat", "1\t51\t7\n1\t52\t8\n2\t51\t9\n")
    assert guess(Source(path)) == "long"
    assert read(path).document_names == ("1", "2")
    assert dense(read(path)) == [[7, 8], [9, 0]]
    path = write(tmp_path / "y.csv", "doc,term\na,x\na,x\nb,y\n")
    assert guess(Source(path)) == "long"
    assert dense(read(path)) == [[2, 0], [0, 1]]


def test_triples_among_other_columns(tmp_path, write):
    """Logs of events have the columns of user and item, and many others."""
    titles = "user_id,item_id,plays,time,device,country,session"
    rows = [f"u{i % 7},{i % 5},{i % 3 + 1},{i},phone,DE,s{i}" for i in range(60)]
    path = write(tmp_path / "x.csv", "\n".join([titles, *rows]))
    assert guess(Source(path)) == "long"
    assert read(path).word_totals.sum() == 120
    rows = [f"u{i},{i % 5},{i % 3 + 1},{i},phone,DE,s{i}" for i in range(60)]  # a row per user
    assert guess(Source(write(path, "\n".join([titles, *rows])))) == "categorical"


def test_tables_with_tabs_that_end_in_txt(tmp_path, write, dense):
    path = write(tmp_path / "x.txt", "1\t51\t7\n1\t52\t8\n2\t51\t9\n")
    assert guess(Source(path)) == "long"
    assert dense(read(path)) == [[7, 8], [9, 0]]
    write(path, "a\tnews\tthe cat sat on the mat\nb\tnews\ta dog and a cat sat on it\n" * 2)
    assert guess(Source(path)) == "lines"
    write(path, "the cat\tsat\non the mat\n")
    assert guess(Source(path)) == "lines"


def test_long_quotes(tmp_path, write, fails):
    text = 'document,word,count\n"a, b","say ""hi""\nthere",2\nc,"x",1\n'
    corpus = read(write(tmp_path / "x.csv", text), "long")
    assert corpus.document_names == ("a, b", "c")
    assert corpus.layout.word_names == ('say "hi"\nthere', "x")
    path = write(tmp_path / "y.csv", 'd,w,n\na,"x,1\nb,y,2\n')
    fails(path, "quotes=False", "long")
    assert read(path, "long", quotes=False).layout.word_names == ('"x', "y")


@pytest.mark.parametrize("delimiter", list(",;\t|"))
def test_wide(tmp_path, delimiter, write, dense):
    path = write(tmp_path / "x.csv", WIDE.replace(",", delimiter))
    assert guess(Source(path)) == "wide"
    corpus = read(path)
    assert dense(corpus) == [[3, 0, 0], [0, 0, 2], [0, 0, 0]]
    assert corpus.document_names == ("one", "two", "three")
    assert corpus.layout.word_names == ("apple", "pear", "plum")


def test_wide_variants(tmp_path, write, dense):
    path = write(tmp_path / "x.csv", "3,0,0\n0,0.5,2\n")
    corpus = read(path, "wide")
    assert dense(corpus) == [[3, 0, 0], [0, 0.5, 2]]
    assert corpus.document_names is corpus.layout.word_names is None
    path = write(tmp_path / "y.csv", "a,b,key\n1,2,u\n3,4,v\n")
    corpus = read(path, "wide", id_column="key")
    assert (dense(corpus), corpus.document_names) == ([[1, 2], [3, 4]], ("u", "v"))
    path = write(tmp_path / "r.csv", "a\tb\nu\t1\t2\nv\t3\t4\n")
    corpus = read(path, "wide")
    assert (dense(corpus), corpus.document_names) == ([[1, 2], [3, 4]], ("u", "v"))
    path = write(tmp_path / "i.csv", "id,a,b\n1,2,3\n2,3,4\n")
    assert read(path, "wide").document_names == ("1", "2")
    assert read(path, "wide", id_column=False).n_words == 3


@pytest.mark.parametrize("count", BAD_COUNTS)
@pytest.mark.parametrize(
    ("format", "text"),
    [("long", "document,word,count\na,x,1\na,y,{}\n"), ("wide", "name,x,y\na,1,2\nb,1,{}\n")],
)
def test_bad_count(tmp_path, format, text, count, write, fails):
    path = write(tmp_path / "x.csv", text.format(count))
    assert "line 3: count " in fails(path, ".", format)


@pytest.mark.parametrize("bad", ["-7", "nan"])
def test_a_small_count_table_with_a_bad_cell_is_not_taken_for_answers(tmp_path, bad, write, fails):
    text = "doc,apple,pear,fig,plum\na,12,0,3,1\nb,0,{},2,9\nc,4,15,0,0\n"
    good = write(tmp_path / "good.csv", text.format(7))
    np.testing.assert_array_equal(read(good).to_csr().toarray()[1], [0, 7, 2, 9])
    fails(write(tmp_path / "bad.csv", text.format(bad)), "line 3")


def test_lastfm(real):
    corpus = read(real("lastfm", "user_artists.dat"))
    assert (corpus.n_documents, corpus.n_words) == (1892, 17632)
    assert (corpus.n_entries, corpus.n_tokens) == (92834, 69183975)


def test_ratings_are_triples(tmp_path, write, remarks):
    rng = np.random.default_rng(0)
    rows = [f"{u},{m},{r},{t}" for u, m, r, t in zip(
        rng.integers(1, 20, 200), rng.integers(1, 50, 200), rng.integers(1, 6, 200),
        rng.integers(10**8, 10**9, 200), strict=True)]  # fmt: skip
    path = write(tmp_path / "x.csv", "\n".join(["userId,movieId,rating,timestamp", *rows]) + "\n")
    assert guess(Source(path)) == "long"
    corpus = read(path)
    assert corpus.n_documents <= 19
    assert corpus.nouns.document == "user"
    said = remarks()
    assert "document, word and count are the columns 'userId', 'movieId', 'rating'" in said
    assert "column 'timestamp' is left out: its title names no count" in said


def test_facts_of_documents_in_triples(tmp_path, write, remarks):
    text = "doc,word,count,year\na,x,1,1999\na,y,2,1999\nb,x,3,2001\nb,z,1,2001\n"
    corpus = read(write(tmp_path / "x.csv", text))
    assert corpus.metadata["year"].tolist() == [1999.0, 2001.0]
    assert "kept as metadata, not counted: 'year'" in remarks()


def test_counts_with_columns_that_describe_rows(tmp_path, write, remarks, fails):
    rng = np.random.default_rng(0)
    rows = [f"d{i},Author {i % 3},{1990 + i % 5},{'yes' if i else 'no'}," + ",".join(
        map(str, rng.poisson(0.4, 12))) for i in range(30)]  # fmt: skip
    titles = ",".join(["doc", "author", "year", "kept", *(f"w{j}" for j in range(12))])
    path = write(tmp_path / "x.csv", "\n".join([titles, *rows]) + "\n")
    assert guess(Source(path)) == "wide"
    corpus = read(path)
    assert corpus.n_words == 12
    assert list(corpus.metadata) == ["author", "year", "kept"]
    assert corpus.metadata["year"][0] == 1990.0
    assert "3 columns describe the rows, kept as metadata and not counted" in remarks()
    assert "w3" in read(path, metadata="w3").metadata


def test_numeric_codes_with_a_weight_are_answers(tmp_path, write):
    """One column of fractions does not make a survey a table of counts."""
    rng = np.random.default_rng(0)
    codes = rng.integers(1, 6, (40, 10))
    rows = [f"{i},{rng.random():.3f}," + ",".join(map(str, row)) for i, row in enumerate(codes)]
    titles = ",".join(["id", "weight", *(f"q{j}" for j in range(10))])
    path = write(tmp_path / "x.csv", "\n".join([titles, *rows]) + "\n")
    assert guess(Source(path)) == "categorical"
    corpus = read(path)
    assert corpus.n_groups == 10
    assert "weight" in corpus.metadata


def test_ratings_at_a_time_may_repeat(tmp_path, write):
    rows = [f"u{n % 20},i{n * 7 % 31},{1 + n % 5}.0,{1400000000 + n}" for n in range(60)]
    corpus = read(write(tmp_path / "x.csv", "\n".join([*rows, *rows[:5]]) + "\n"))
    assert corpus.n_documents == 20
    assert corpus.n_words == 31
