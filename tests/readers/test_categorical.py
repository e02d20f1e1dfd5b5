# SPDX-License-Identifier: BSD-3-Clause
"""Tables of answers become groups of words; columns that describe the rows are metadata."""

import numpy as np
import pytest

from discan.data.nouns import Nouns
from discan.readers import Source, guess, read

SURVEY = "id,colour,size\np1,red,10\np2,blue,9\np3,,10\np4,red,NA\n"


def table(titles, rows, delimiter=","):
    return "\n".join(delimiter.join(map(str, row)) for row in (titles, *rows)) + "\n"


def test_categorical(tmp_path, write, dense):
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


def test_categorical_options(tmp_path, write, fails):
    path = write(tmp_path / "x.csv", SURVEY)
    assert read(path, columns=["size"]).layout.group_names == ("size",)
    assert read(path, drop="size").layout.group_names == ("colour",)
    assert read(path, missing=["red", ""], columns="colour").layout.word_names == ("colour=blue",)
    corpus = read(path, id_column="colour", drop=["id"])
    assert corpus.document_names == ("red", "blue", "", "red")
    fails(path, "no column 'weight'", drop=["weight"])
    fails(path, "no columns", columns=[])
    fails(path, "every cell is missing", columns=["colour"], missing=["", "red", "blue"])


# ---- titles ----


def test_titles_that_repeat_stay_titles(tmp_path, write, remarks):
    corpus = read(write(tmp_path / "x.csv", "a,a\nyes,no\nno,no\nyes,no\nno,yes\n"))
    assert corpus.n_documents == 4
    assert corpus.layout.group_names == ("a", "a.1")
    assert "titles that repeat were made unique: 'a.1'" in remarks()


def test_columns_without_a_title(tmp_path, write, remarks):
    corpus = read(write(tmp_path / "x.csv", "a,,b,\n" + "yes,no,maybe,\nno,yes,maybe,\n" * 3))
    assert corpus.layout.group_names == ("a", "column 2")
    assert corpus.metadata["b"].tolist() == ["maybe"] * 6
    said = remarks()
    assert "columns without a title are called 'column 2', 'column 4'" in said
    assert "1 column without any answer left out: 'column 4'" in said


def test_titles_that_are_numbers(tmp_path, write):
    rows = [(f"Rep {i}", "DR"[i % 2], *((i + j) % 2 for j in range(12))) for i in range(30)]
    corpus = read(write(tmp_path / "x.csv", table(("name", "party", *range(1, 13)), rows)))
    assert corpus.n_documents == 30
    assert corpus.layout.group_names == tuple(map(str, range(1, 13)))
    assert corpus.metadata["party"][:2].tolist() == ["D", "R"]


def test_no_heading_and_numbers_that_are_codes(tmp_path, write, remarks):
    path = write(tmp_path / "x.data", "0,1,1\n0,0,1\n1,1,0\n")
    assert guess(Source(path)) == "categorical"
    assert read(path).layout.word_names == ("V1=0", "V1=1", "V2=0", "V2=1", "V3=0", "V3=1")
    assert "no titles found; the columns are called V1, V2, ..." in remarks()
    path = write(tmp_path / "y.csv", "q1,q2\n" + "1,5\n2,4\n5,3\n" * 5)
    assert guess(Source(path)) == "categorical"


# ---- columns that describe the rows ----


def roll_calls(n=40):
    titles = ("id", "state", "party", "member", *(f"vote{j}" for j in range(8)))
    rows = []
    for i in range(n):
        votes = ["Yea" if (i + j) % 3 else "Nay" if j % 4 else "Not Voting" for j in range(8)]
        rows.append((4000 + i, ("AL", "AK", "AZ")[i % 3], "DR"[i % 2], f"Member {i}", *votes))
    return titles, rows


def test_roll_calls_with_metadata(tmp_path, write, remarks):
    corpus = read(write(tmp_path / "x.csv", table(*roll_calls())))
    assert corpus.layout.group_names == tuple(f"vote{j}" for j in range(8))
    assert corpus.document_names[:2] == ("Member 0", "Member 1")
    assert list(corpus.metadata) == ["id", "state", "party"]
    assert corpus.metadata["party"][:3].tolist() == ["D", "R", "D"]
    assert corpus.metadata["id"][0] == "4000"
    assert corpus.nouns == Nouns("member", "vote", "bloc")
    said = remarks()
    assert "counted as answers: 'Not Voting' (" in said
    assert "to read them as missing use missing='Not Voting'" in said
    for missing in ("Not Voting", ["not voting"]):
        votes = read(tmp_path / "x.csv", missing=missing)
        assert votes.n_words == corpus.n_words - 2
        assert votes.exposures is not None
    assert "column 'member' names the rows" in said
    assert "3 columns describe the rows and are not counted: 'id' (all different), " in said
    assert "'state', 'party' (unlike the other columns)" in said


def test_roll_calls_in_rows(tmp_path, write):
    """Where rows are roll calls, what is known of them is metadata, whatever its title."""
    titles = ("rollnumber", "date", "bill", "question", "yea", *(f"Senator {j}" for j in range(12)))
    rows = [
        (i, f"2003-01-{1 + i % 28:02d}", f"S{i % 4}", ("On passage", "On the motion")[i % 2],
         40 + i, *("YN"[(i + j) % 2] for j in range(12)))
        for i in range(30)
    ]  # fmt: skip
    corpus = read(write(tmp_path / "x.csv", table(titles, rows)))
    assert corpus.n_groups == 12
    assert list(corpus.metadata) == ["date", "bill", "question", "yea"]
    assert corpus.nouns.document == "roll call"


def test_roll_calls_without_titles(tmp_path, write):
    _, rows = roll_calls()
    corpus = read(write(tmp_path / "x.data", table(rows[0][2:3] + rows[0][4:], [
        row[2:3] + row[4:] for row in rows[1:]
    ])))  # fmt: skip
    assert corpus.n_documents == 40
    assert list(corpus.metadata) == ["V1"]
    assert len(corpus.layout.group_names) == 8


def test_a_survey_keeps_its_questions(tmp_path, write):
    """Columns with other answers than the rest are no metadata if the rest are no votes."""
    titles = ("gender", "region", *(f"q{j}" for j in range(8)))
    likert = ("agree", "neutral", "disagree")
    rows = [
        ("MF"[i % 2], "NSEW"[i % 4], *(likert[(i * j) % 3] for j in range(8))) for i in range(40)
    ]
    corpus = read(write(tmp_path / "x.csv", table(titles, rows)))
    assert corpus.layout.group_names[:2] == ("gender", "region")
    assert corpus.nouns.document == "respondent"


def mixed(n=60):
    rng = np.random.default_rng(0)
    titles = ("Respondent ID", "age", "income", "country", "when", "note", "q1", "q2, really")
    rows = [
        (i, rng.integers(18, 70), round(rng.lognormal(), 3), "France", f"2024-01-{1 + i % 28:02d}",
         f'"I said, {i}"', "yes" if i % 3 else "no", i % 4)
        for i in range(n)
    ]  # fmt: skip
    return table((*titles[:-1], f'"{titles[-1]}"'), rows)


def test_columns_that_describe_rows(tmp_path, write, remarks):
    corpus = read(write(tmp_path / "x.csv", mixed()))
    assert corpus.layout.group_names == ("q1", "q2, really")
    assert corpus.nouns.document == "respondent"
    assert corpus.metadata["age"].dtype == np.float64
    assert corpus.metadata["when"][0] == "2024-01-01"
    assert corpus.metadata["country"].tolist() == ["France"] * 60
    said = remarks()
    assert "'age' (numbers)" in said
    assert "'country' (constant)" in said
    assert "'note' (all different)" in said
    assert "bins=5" in said


def test_columns_named_as_metadata_or_answers(tmp_path, write, fails):
    path = write(tmp_path / "x.csv", mixed())
    found = read(path, metadata="q1")
    assert found.layout.group_names == ("q2, really",)
    assert "q1" in found.metadata
    assert read(path, answers="q*").layout.group_names == ("q1", "q2, really")
    assert read(path, answers=["q2, really"]).layout.group_names == ("q2, really",)
    assert read(path, answers=("q2", " really")).layout.group_names == ("q2, really",)
    assert read(path, answers=6).layout.group_names == ("q1",)
    everything = read(path, answers="*", metadata=["note", "income"])
    assert everything.layout.group_names == ("age", "country", "when", "q1", "q2, really")
    assert set(everything.metadata) == {"note", "income"}
    fails(path, "no column 'nosuch'", answers="nosuch")


def test_numbers_are_cut_into_intervals_on_request(tmp_path, write, remarks, fails):
    path = write(tmp_path / "x.csv", mixed())
    corpus = read(path, bins=3)
    assert corpus.layout.group_names == ("age", "income", "q1", "q2, really")
    ages = [w for w in corpus.layout.word_names if w.startswith("age=")]
    assert len(ages) == 3
    assert ages[0].startswith("age=<")
    assert ages[2].endswith("+")
    assert "age" in corpus.metadata, "the numbers are kept, too"
    sizes = corpus.word_totals[:3]
    assert sizes.sum() == 60
    assert sizes.min() >= 15
    assert "column 'age' is cut into intervals: <" in remarks()
    assert read(path, bins="age=3").layout.group_names == ("age", "q1", "q2, really")
    limits = read(path, bins={"age": [30, 50]}).layout.word_names[:3]
    assert limits == ("age=<30", "age=30-49", "age=50+")
    assert read(path, bins="age=30/50").layout.word_names[:3] == limits
    fails(path, "bins", bins=1)
    fails(path, "no column 'size'", bins="size=3")


def test_names_that_repeat_get_an_identifier(tmp_path, write):
    rows = [(100 + i, f"Nelson{i // 2 * 2 if i < 2 else i}", "DR"[i % 2], "yes") for i in range(30)]
    corpus = read(write(tmp_path / "x.csv", table(("id", "name", "q1", "q2"), rows)))
    assert corpus.document_names[:3] == ("Nelson0 (100)", "Nelson0 (101)", "Nelson2")


# ---- values ----


def test_a_messy_survey(tmp_path, write, remarks, dense):
    cells = ["M", "Male ", "male", "F", "Female", "n/a", "N/A", "Na", ""] * 5
    rows = [(cell, "yes" if n % 2 else "no ") for n, cell in enumerate(cells)]
    path = write(tmp_path / "x.csv", table(("gender", "q"), rows))
    corpus = read(path)
    words = ("gender=F", "gender=Female", "gender=M", "gender=Male", "gender=male", "q=no", "q=yes")
    assert corpus.layout.word_names == words
    assert (corpus.exposures[:, 0] == 0).sum() == 20
    said = remarks()
    assert "cells read as missing, besides empty ones: 'n/a' (5), 'N/A' (5), 'Na' (5)" in said
    assert "answers that may mean the same are counted apart: 'F'/'Female' in 'gender'; " in said
    assert "'M'/'Male'/'male' in 'gender'" in said
    assert "merge=True" in said
    merged = read(path, merge=True)
    assert "gender=male" not in merged.layout.word_names
    assert merged.word_totals[3] == 10


def test_spellings_of_many_columns_are_listed_once(tmp_path, write, remarks):
    rows = [["Yea", "yea", "Y", "Nay", "nay"][(i + j) % 5] for i in range(20) for j in range(10)]
    rows = [rows[10 * i : 10 * i + 10] for i in range(20)]
    read(write(tmp_path / "x.csv", table([f"v{j}" for j in range(10)], rows)))
    said = remarks()
    assert "'Nay'/'nay' in 'v0', 'v1', 'v2' and 7 more; 'Y'/'Yea'/'yea' in 'v0', " in said


def test_codes_and_words_for_missing_answers_are_remarked_on(tmp_path, write, remarks):
    one, two = ["1", "2", "5", "99", "Refused"], ["1", "2", "-9", "3", "NA"]
    rows = [(one[i % 5], two[i % 4 if i else 4], ["10", "99"][i % 2]) for i in range(40)]
    path = write(tmp_path / "x.csv", table(("q1", "q2", "price"), rows))
    corpus = read(path)
    said = remarks()
    assert "counted as answers: '99' (8), 'Refused' (8), '-9' (10)" in said
    assert "missing='99,Refused,-9,NA'" in said  # NA as well: the marks replace the usual ones
    fewer = read(path, missing="99,Refused,-9,NA", metadata="price")
    assert set(fewer.layout.word_names) < set(corpus.layout.word_names)
    assert fewer.n_words == 6


def test_decimal_commas_are_numbers(tmp_path, write):
    rows = [("yes" if i % 2 else "no", f"0,{i % 30:03}") for i in range(60)]
    corpus = read(write(tmp_path / "x.csv", table(("q", "weight"), rows, ";")))
    assert corpus.layout.group_names == ("q",)
    assert corpus.metadata["weight"][:3].tolist() == [0.0, 0.001, 0.002]


# ---- one answer per row ----


def single_answers():
    rows = [
        (f"b{j}", f"m{i} ", "DR"[i % 2], ("Yea", "Nay")[(i + j) % 2], j)
        for j in range(8)
        for i in range(6)
        if (i, j) != (2, 3)
    ]
    return ("rollcall", "member", "party", "vote", "day"), rows


def test_one_answer_per_row(tmp_path, write, remarks, dense):
    path = write(tmp_path / "x.csv", table(*single_answers()))
    read(path)
    said = remarks()
    assert "each row seems to hold one answer, 'vote', of 'member' to 'rollcall'" in said
    assert "pivot='member,rollcall,vote'" in said
    corpus = read(path, pivot=("member", "rollcall", "vote"))
    assert "column 'day' is left out" in remarks()
    assert corpus.document_names == tuple(f"m{i}" for i in range(6))
    assert corpus.layout.group_names == tuple(f"b{j}" for j in range(8))
    assert corpus.metadata["party"].tolist() == list("DR" * 3)
    assert corpus.word_totals.sum() == 47
    assert corpus.exposures[2].tolist() == [1, 1, 1, 0, 1, 1, 1, 1]
    assert dense(corpus)[0][:4] == [0, 1, 1, 0]  # b0: nay, yea; b1
    again = read(path, like=corpus)
    assert dense(again) == dense(corpus)


def test_one_answer_per_row_refused(tmp_path, write, fails):
    titles, rows = single_answers()
    path = write(tmp_path / "x.csv", table(titles, rows))
    fails(path, "name three columns", pivot="member,vote")
    fails(path, "no column 'who'", pivot="who,rollcall,vote")
    write(path, table(titles, [*rows, ("b0", "m0", "D", "Nay", 0)]))
    fails(path, "'m0' has two answers to 'b0'", pivot="member,rollcall,vote")
    write(path, table(titles, [*rows, ("", "m0", "D", "Nay", 0)]))
    fails(path, "column 'rollcall' has an empty cell", pivot="member,rollcall,vote")


def test_a_survey_of_three_questions_is_no_list_of_answers(tmp_path, write, remarks):
    rng = np.random.default_rng(0)
    read(write(tmp_path / "x.csv", table(("a", "b", "c"), rng.integers(0, 9, (300, 3)).tolist())))
    assert "each row seems" not in remarks()


def test_many_categories_are_remarked_on(tmp_path, write, remarks):
    rows = [(f"city {i % 150}", "yes" if i % 2 else "no") for i in range(600)]
    read(write(tmp_path / "x.csv", table(("city", "q"), rows)))
    said = remarks()
    assert "columns with very many different answers: 'city' (150)" in said
    assert "metadata='city'" in said


def test_several_answers_in_a_cell(tmp_path, write, remarks, dense):
    cells = ["red;blue", "red", "blue; green;", "green;red"] * 3
    rows = [(cell, "yes" if n % 2 else "no") for n, cell in enumerate(cells)]
    corpus = read(write(tmp_path / "x.csv", table(("colour", "q"), rows)))
    assert corpus.layout.word_names[:3] == ("colour=blue", "colour=green", "colour=red")
    assert [row[:3] for row in dense(corpus)[:4]] == [[1, 0, 1], [0, 0, 1], [1, 1, 0], [0, 1, 1]]
    assert "'red;blue' in column 'colour' is read as several answers: red and blue" in remarks()
    whole = read(tmp_path / "x.csv", alleles="none")
    assert "colour=red;blue" in whole.layout.word_names


# ---- genotypes ----


def test_alleles(tmp_path, write, dense):
    text = "ind,L1,L2\nx,123/125,8/8\ny,125/125,NA\nz,0/123,0/0\n"
    corpus = read(write(tmp_path / "x.csv", text), "categorical", alleles="/", missing=["NA", "0"])
    assert corpus.layout.word_names == ("L1=123", "L1=125", "L2=8")
    assert dense(corpus) == [[1, 1, 2], [0, 2, 0], [1, 0, 0]]
    assert corpus.exposures.tolist() == [[1, 1], [1, 0], [1, 0]]


GENOTYPES = "ind,pop,FCA8,FCA23\nx,P1,129/155,8|8\ny,P1,155/155,NA\nz,P2,0/129,0/0\nw,P2,129,10/8\n"


def test_alleles_are_told_by_their_look(tmp_path, write, dense, remarks):
    corpus = read(write(tmp_path / "x.csv", GENOTYPES))
    assert corpus.layout.group_names == ("FCA8", "FCA23")
    assert corpus.metadata["pop"].tolist() == ["P1", "P1", "P2", "P2"]
    assert corpus.document_names == ("x", "y", "z", "w")
    assert corpus.layout.word_names[:2] == ("FCA8=129", "FCA8=155")
    assert [row[:2] for row in dense(corpus)] == [[1, 1], [0, 2], [1, 0], [1, 0]]
    assert corpus.nouns == Nouns("individual", "allele", "component")
    said = remarks()
    assert "'129/155' in 2 columns is read as alleles: 129 and 155" in said
    assert "'pop' (not alleles)" in said


def test_zero_is_an_allele_among_small_codes(tmp_path, write):
    rows = [(f"i{n}", "0/1", "1/1" if n % 2 else "0/0") for n in range(6)]
    corpus = read(write(tmp_path / "x.csv", table(("id", "s1", "s2"), rows)))
    assert corpus.layout.word_names == ("s1=0", "s1=1", "s2=0", "s2=1")
    assert corpus.exposures is None


def test_letters_and_missing_alleles(tmp_path, write):
    rows = [
        (f"i{n}", "A/G", "0/0" if n == 2 else "C/C", "./." if n == 1 else "T|A") for n in range(6)
    ]
    corpus = read(write(tmp_path / "x.csv", table(("id", "s1", "s2", "s3"), rows)))
    assert corpus.layout.word_names == ("s1=A", "s1=G", "s2=C", "s3=A", "s3=T")
    assert corpus.exposures[1:3].tolist() == [[1, 1, 0], [1, 0, 1]]


def test_alleles_of_three_digits(tmp_path, write, remarks):
    rng = np.random.default_rng(0)
    cell = lambda: "".join(str(a) for a in rng.choice([101, 105, 109], 2))  # noqa: E731
    rows = [
        (f"i{n}", "ab"[n % 2], cell(), cell(), "000000" if n == 3 else cell()) for n in range(20)
    ]
    path = write(tmp_path / "x.csv", table(("id", "pop", "L1", "L2", "L3"), rows))
    assert guess(Source(path)) == "categorical"
    corpus = read(path)
    assert corpus.layout.word_names[:3] == ("L1=101", "L1=105", "L1=109")
    assert corpus.lengths.tolist() == [6.0] * 3 + [4.0] + [6.0] * 16
    assert "alleles '000' are read as missing" in remarks()


@pytest.mark.parametrize(
    "titles",
    [
        ("L1", "L1", "L2", "L2", "L3", "L3"),
        ("L1", "", "L2", "", "L3", ""),
        ("L1a", "L1b", "L2a", "L2b", "L3a", "L3b"),
        ("L1_1", "L1_2", "L2_1", "L2_2", "L3_1", "L3_2"),
    ],
)
def test_alleles_in_two_columns_each(tmp_path, write, titles, remarks):
    rng = np.random.default_rng(0)
    rows = [(f"i{n}", n % 3, *rng.choice([101, 105, 109], 6)) for n in range(40)]
    rows[5] = (*rows[5][:2], 0, 0, *rows[5][4:])
    path = write(tmp_path / "x.csv", table(("Sample", "Pop", *titles), rows))
    assert guess(Source(path)) == "categorical"
    corpus = read(path)
    assert corpus.layout.group_names == ("L1", "L2", "L3")
    assert corpus.lengths.tolist() == [6.0] * 5 + [4.0] + [6.0] * 34
    assert list(corpus.metadata) == ["Pop"]
    assert "3 loci have their alleles in two columns each" in remarks()


# ---- real data ----


def test_nltcs(real):
    corpus = read(real("nltcs", "nltcs.test.data"))
    assert (corpus.n_documents, corpus.n_words, corpus.n_groups) == (3236, 32, 16)
    assert corpus.exposures is None
    assert np.array_equal(corpus.lengths, np.full(3236, 16.0))
