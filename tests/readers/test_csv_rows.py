# SPDX-License-Identifier: BSD-3-Clause
"""Tables from files: triples, counts, categories and votes; good, bad and real."""

import gzip
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discan.errors import InputError, LimitError, StorageError
from discan.readers import read
from discan.readers.source import Source, guess

DATA = Path(os.environ.get("DISCAN_DATA", Path(__file__).parents[3] / "shared" / "data"))
EXPECTED = (InputError, LimitError, StorageError)


def real(*parts):
    path = DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path} is not there; set DISCAN_DATA to the folder of real data")
    return path


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def fails(path, match, format=None, kind=EXPECTED, **options):
    with pytest.raises(kind, match=match) as caught:
        read(path, format, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 600 + 3 * len(str(path))
    return message


def dense(corpus):
    return corpus.to_csr().toarray().tolist()


# ---- long ----

LONG = "document,word,count\na,x,2\nb,y,1\na,y,3\nb,x,1\nb,x,4\n"


@pytest.mark.parametrize("delimiter", list(",;\t|"))
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_long(tmp_path, delimiter, ends):
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


def test_long_columns(tmp_path):
    text = "n;who;when;what\n2;a;1999;x\n1;b;1999;y\n"
    path = write(tmp_path / "x.csv", text)
    corpus = read(path, "long", columns=("who", "what", "n"))
    assert dense(corpus) == [[2, 0], [0, 1]]
    assert dense(read(path, "long", columns=(1, 3, 0))) == [[2, 0], [0, 1]]
    assert dense(read(path, "long", columns=("who", "what"))) == [[1, 0], [0, 1]]
    fails(path, "no column 'whom'", "long", columns=("whom", "what", "n"))
    fails(path, "no column 9", "long", columns=(1, 9, 0), header=True)
    fails(path, "columns=", "long", columns=("who",))


def test_long_without_heading_or_count(tmp_path):
    path = write(tmp_path / "x.dat", "1\t51\t7\n1\t52\t8\n2\t51\t9\n")
    assert guess(Source(path)) == "long"
    assert read(path).document_names == ("1", "2")
    assert dense(read(path)) == [[7, 8], [9, 0]]
    path = write(tmp_path / "y.csv", "doc,term\na,x\na,x\nb,y\n")
    assert guess(Source(path)) == "long"
    assert dense(read(path)) == [[2, 0], [0, 1]]


def test_long_quotes(tmp_path):
    text = 'document,word,count\n"a, b","say ""hi""\nthere",2\nc,"x",1\n'
    corpus = read(write(tmp_path / "x.csv", text), "long")
    assert corpus.document_names == ("a, b", "c")
    assert corpus.layout.word_names == ('say "hi"\nthere', "x")
    path = write(tmp_path / "y.csv", 'd,w,n\na,"x,1\nb,y,2\n')
    fails(path, "quotes=False", "long")
    assert read(path, "long", quotes=False).layout.word_names == ('"x', "y")


# ---- wide ----

WIDE = "name,apple,pear,plum\none,3,0,0\ntwo,0,0,2\nthree,0,0,0\n"


@pytest.mark.parametrize("delimiter", list(",;\t|"))
def test_wide(tmp_path, delimiter):
    path = write(tmp_path / "x.csv", WIDE.replace(",", delimiter))
    assert guess(Source(path)) == "wide"
    corpus = read(path)
    assert dense(corpus) == [[3, 0, 0], [0, 0, 2], [0, 0, 0]]
    assert corpus.document_names == ("one", "two", "three")
    assert corpus.layout.word_names == ("apple", "pear", "plum")


def test_wide_variants(tmp_path):
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


# ---- categorical ----

SURVEY = "id,colour,size\np1,red,10\np2,blue,9\np3,,10\np4,red,NA\n"


def test_categorical(tmp_path):
    path = write(tmp_path / "x.csv", SURVEY)
    assert guess(Source(path)) == "categorical"
    corpus = read(path)
    assert corpus.document_names == ("p1", "p2", "p3", "p4")
    assert corpus.layout.word_names == ("colour=blue", "colour=red", "size=9", "size=10")
    assert corpus.layout.group_names == ("colour", "size")
    assert corpus.layout.group_of_word.tolist() == [0, 0, 1, 1]
    assert dense(corpus) == [[0, 1, 0, 1], [1, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0]]
    assert corpus.exposures.tolist() == [[1, 1], [1, 1], [0, 1], [1, 0]]
    assert read(path, exposures=False).exposures is None


def test_categorical_options(tmp_path):
    path = write(tmp_path / "x.csv", SURVEY)
    assert read(path, columns=["size"]).layout.group_names == ("size",)
    assert read(path, drop="size").layout.group_names == ("colour",)
    assert read(path, missing=["red", ""], columns="colour").layout.word_names == ("colour=blue",)
    corpus = read(path, id_column="colour", drop=["id"])
    assert corpus.document_names == ("red", "blue", "", "red")
    fails(path, "no column 'weight'", drop=["weight"])
    fails(path, "no columns", columns=[])
    fails(path, "every cell is missing", columns=["colour"], missing=["", "red", "blue"])


def test_alleles(tmp_path):
    text = "ind,L1,L2\nx,123/125,8/8\ny,125/125,NA\nz,0/123,0/0\n"
    corpus = read(write(tmp_path / "x.csv", text), "categorical", alleles="/", missing=["NA", "0"])
    assert corpus.layout.word_names == ("L1=123", "L1=125", "L2=8")
    assert dense(corpus) == [[1, 1, 2], [0, 2, 0], [1, 0, 0]]
    assert corpus.exposures.tolist() == [[1, 1], [1, 0], [1, 0]]


def test_no_heading_and_numbers_that_are_codes(tmp_path):
    path = write(tmp_path / "x.data", "0,1,1\n0,0,1\n1,1,0\n")
    assert guess(Source(path)) == "categorical"
    assert read(path).layout.word_names == ("V1=0", "V1=1", "V2=0", "V2=1", "V3=0", "V3=1")
    path = write(tmp_path / "y.csv", "q1,q2\n" + "1,5\n2,4\n5,3\n" * 5)
    assert guess(Source(path)) == "categorical"


def test_prose_is_left_to_the_text_readers(tmp_path):
    prose = "it was the best of times and it was the worst of times"
    path = write(tmp_path / "x.csv", "title,body\n" + f"a,{prose}\nb,{prose}\n")
    with pytest.raises(InputError, match="cannot tell the format"):
        guess(Source(path))


# ---- tables that are wrong ----

BAD_COUNTS = ["-1", "nan", "inf", "-inf", "1e300", "x", "1_0", "", "0x1", "\0", "é", "1" * 400]


@pytest.mark.parametrize("count", BAD_COUNTS)
@pytest.mark.parametrize(
    ("format", "text"),
    [("long", "document,word,count\na,x,1\na,y,{}\n"), ("wide", "name,x,y\na,1,2\nb,1,{}\n")],
)
def test_bad_count(tmp_path, format, text, count):
    path = write(tmp_path / "x.csv", text.format(count))
    assert "line 3: count " in fails(path, ".", format)


@pytest.mark.parametrize(
    ("format", "text", "match"),
    [
        ("long", "", "empty"),
        ("long", "document,word,count\n", "no rows"),
        ("long", "a\nb\n", "single column"),
        ("long", "document,word,count\na,x\n", "line 2: 2 cells, expected 3"),
        ("long", "document,word,count\na,,1\n", "line 2: an empty word"),
        ("long", "document,word,count\n,x,1\n", "line 2: an empty document"),
        ("long", b"document,word,count\na,\xff,1\n", "line 2: byte 2 is not UTF-8"),
        ("long", 'document,word,count\na,"x"y,1\n', "line 2"),
        ("wide", "", "empty"),
        ("wide", "name,x\n", "no rows"),
        ("wide", "name,x\na,1\nb,1,2\n", "line 3: 3 cells, expected 2"),
        ("wide", "a\nb\nc\n", "line 1|line 2"),
        ("categorical", "", "empty"),
        ("categorical", "q1,q2\n\n", "no rows"),
        ("categorical", "q1,q2\nyes,no\nyes\n", "line 3: 1 cells, expected 2"),
        ("categorical", "q1,q2\nNA,\nNA,?\n", "every cell is missing"),
        ("categorical", "q1,q2\nyes," + "n" * 200_000 + "\n", "line 2: field larger"),
    ],
)
def test_bad_table(tmp_path, format, text, match):
    fails(write(tmp_path / "x.csv", text), match, format)


def test_odd_options(tmp_path):
    path = write(tmp_path / "x.csv", SURVEY)
    fails(path, "delimiter=", "categorical", delimiter="::")
    fails(path, "alleles=", "categorical", alleles="")
    fails(tmp_path, "is a folder", "long")
    fails(path, "has no option", "long", id_column=3)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.one_of(st.binary(max_size=80), st.text('a1,";\n\t NA/', max_size=60)))
@pytest.mark.parametrize("format", ["long", "wide", "categorical", None])
def test_any_bytes(tmp_path, format, content):
    path = write(tmp_path / "x.csv", content)
    message = ""
    try:
        read(path, format)
    except EXPECTED as error:
        message = str(error)
    assert "\n" not in message


# ---- Parquet ----


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "x.parquet"
    triples = {"doc": ["a", "a", "b"], "word": ["x", "y", "x"], "count": [1, 2, 3]}
    parquet.write_table(pyarrow.table(triples), path)
    assert guess(Source(path)) == "long"
    assert dense(read(path)) == [[1, 2], [3, 0]]
    parquet.write_table(pyarrow.table({"q1": ["yes", None, "no"], "q2": [1, 2, 2]}), path)
    corpus = read(path, "categorical", id_column=False)
    assert corpus.layout.word_names == ("q1=no", "q1=yes", "q2=1", "q2=2")
    assert corpus.exposures.tolist() == [[1, 1], [0, 1], [1, 1]]
    parquet.write_table(pyarrow.table({"x": [1.0, 0.0], "y": [2.0, float("nan")]}), path)
    fails(path, "count 'nan' is not finite", "wide")
    good = path.read_bytes()
    for cut in (0, 20, len(good) - 3):
        fails(write(path, good[:cut]), "Parquet|empty", "wide")
    for at in range(4, len(good), 7):
        damaged = bytearray(good)
        damaged[at] ^= 0x55
        write(path, bytes(damaged))
        try:
            read(path, "wide")
        except EXPECTED:
            pass


def test_parquet_without_a_library(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    fails(write(tmp_path / "x.parquet", b"PAR1"), "pip install pyarrow", "wide")


# ---- votes ----

MEMBERS = """congress,chamber,icpsr,state_abbrev,party_code,district_code,bioname
108,President,99910,USA,200,0,"BUSH, George Walker"
108,Senate,1,AZ,200,0,"McCAIN, John Sidney, III"
108,Senate,2,FL,100,0,"NELSON, Clarence William (Bill)"
108,Senate,3,FL,100,0,"NELSON, Benjamin"
108,Senate,4,VT,328,0,"O'HARA-DeWINE, Jo"
"""
ROLLCALLS = """congress,chamber,rollnumber,date,session,bill_number,vote_question
108,Senate,1,2003-01-07,1,,On the Motion
108,Senate,2,2004-01-16,2,HJRES2,On the Amendment
"""
VOTES = """congress,chamber,rollnumber,icpsr,cast_code,prob
108,Senate,1,99910,1,1.0
108,Senate,1,4,6,1.0
108,Senate,1,1,1,1.0
108,Senate,1,2,9,1.0
108,Senate,2,1,5,1.0
108,Senate,2,2,3,1.0
108,Senate,2,3,7,1.0
"""


def write_votes(folder, votes=VOTES, members=MEMBERS, rollcalls=ROLLCALLS):
    for name, text in (("members", members), ("rollcalls", rollcalls), ("votes", votes)):
        if text is not None:
            write(folder / f"S108_{name}.csv", text)
    return folder / "S108_votes.csv"


def test_voteview(tmp_path):
    path = write_votes(tmp_path)
    assert guess(Source(path)) == guess(Source(tmp_path)) == "voteview"
    corpus = read(path)
    assert corpus.document_names == (
        "McCain (R-AZ)",
        "Nelson, Clarence William (Bill) (D-FL)",
        "Nelson, Benjamin (D-FL)",
        "O'Hara-DeWine (I-VT)",
    )
    assert corpus.layout.word_names == ("1=yea", "1=nay", "2=yea", "2=nay")
    assert corpus.layout.group_names == (
        "1 2003-01-07 On the Motion",
        "2 2004-01-16 HJRES2 On the Amendment",
    )
    assert dense(corpus) == [[1, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0]]
    assert corpus.exposures.tolist() == [[1, 1], [0, 1], [0, 0], [1, 0]]
    assert read(tmp_path, session=1).n_words == 2
    turned = read(tmp_path, orientation="rollcalls")
    assert turned.layout.word_names[:2] == ("McCain (R-AZ)=yea", "McCain (R-AZ)=nay")
    assert dense(turned) == [[1, 0, 0, 0, 0, 0, 0, 1], [0, 1, 1, 0, 0, 0, 0, 0]]


def test_voteview_alone(tmp_path):
    corpus = read(write_votes(tmp_path, members=None, rollcalls=None))
    assert corpus.document_names == ("4", "1", "2", "3")
    assert corpus.layout.group_names == ("1", "2")
    fails(tmp_path, "no roll calls of session 1", session=1)


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("4,6,1.0", "4,x,1.0", "line 3: vote 'x' is no code"),
        ("4,6,1.0", "4,-1,1.0", "line 3: vote '-1'"),
        ("4,6,1.0", "4,nan,1.0", "line 3: vote 'nan'"),
        ("4,6,1.0", "77,6,1.0", "line 3: legislator '77' is not in"),
        ("4,6,1.0", "y,6,1.0", "line 3: 'y' is not a whole number"),
        ("2,3,7,1.0", "2,2,7,1.0", "line 8: a second vote"),
        ("4,6,1.0", "4,6", "line 3: 5 cells"),
        ("icpsr", "who", "line 1: no column icpsr"),
        (VOTES[VOTES.index("\n") + 1 :], "", "no votes"),
    ],
)
def test_bad_voteview(tmp_path, old, new, match):
    assert old in VOTES
    fails(write_votes(tmp_path, VOTES.replace(old, new)), match)


def test_voteview_folder_of_several(tmp_path):
    write_votes(tmp_path)
    write(tmp_path / "H108_votes.csv", VOTES)
    fails(tmp_path, "2 congresses")
    assert read(tmp_path / "S108_votes.csv").n_documents == 4
    fails(tmp_path / "S108_votes.csv", "orientation=", orientation="up")
    (tmp_path / "empty").mkdir()
    fails(tmp_path / "empty", "no roll calls found", "voteview")


def test_plain_votes(tmp_path):
    votes = ",1-1,1-2\nBUSH (R USA),1,9\nSHELBY (R AL),1,6\nMCCAIN (R AZ),9,4\n"
    path = write(tmp_path / "votes.csv", votes)
    assert guess(Source(path)) == "voteview"
    corpus = read(path)
    assert corpus.document_names == ("Shelby (R-AL)", "McCain (R-AZ)")
    assert dense(corpus) == [[1, 0, 0, 1], [0, 0, 0, 1]]
    fails(write(path, votes.replace("1,6", "1,66")), "line 3: vote '66'", "voteview")
    fails(write(path, votes.replace("1,6", "1")), "line 3: 2 cells", "voteview")


# ---- real data ----


def test_lastfm():
    corpus = read(real("lastfm", "user_artists.dat"))
    assert (corpus.n_documents, corpus.n_words) == (1892, 17632)
    assert (corpus.n_entries, corpus.n_tokens) == (92834, 69183975)


def test_nltcs():
    corpus = read(real("nltcs", "nltcs.test.data"))
    assert (corpus.n_documents, corpus.n_words, corpus.n_groups) == (3236, 32, 16)
    assert corpus.exposures is None
    assert np.array_equal(corpus.lengths, np.full(3236, 16.0))


def test_senate_of_2003():
    folder = real("senate2003")
    corpus = read(folder / "S108_votes.csv", session=1)
    assert (corpus.n_documents, corpus.n_groups, corpus.n_tokens) == (100, 459, 28517 + 15574)
    assert corpus.to_csr()[:, ::2].sum() == 28517
    assert {"McCain (R-AZ)", "Jeffords (I-VT)", "Nelson (D-FL)"} <= set(corpus.document_names)
    meta = ["date", "bill", "question", "result", "outcome", "yea", "nay"]
    table = read(folder / "senate2003.csv", drop=meta)
    assert (table.n_documents, table.n_groups, table.n_tokens) == (459, 100, 28517 + 15574)
    assert (table.exposures == 0).sum() == 1809


def test_senate_of_2005():
    corpus = read(real("senate109"), session=1)
    assert (corpus.n_documents, corpus.n_groups) == (101, 366)
    assert not any("Bush" in name for name in corpus.document_names)
    assert "McCain (R-AZ)" in corpus.document_names


@pytest.mark.parametrize("bad", ["-7", "nan"])
def test_a_small_count_table_with_a_bad_cell_is_not_taken_for_answers(tmp_path, bad):
    text = "doc,apple,pear,fig,plum\na,12,0,3,1\nb,0,{},2,9\nc,4,15,0,0\n"
    good = write(tmp_path / "good.csv", text.format(7))
    np.testing.assert_array_equal(read(good).to_csr().toarray()[1], [0, 7, 2, 9])
    fails(write(tmp_path / "bad.csv", text.format(bad)), "line 3")
