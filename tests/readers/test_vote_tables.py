# SPDX-License-Identifier: BSD-3-Clause
"""Tables of votes as people write them: names in rows or columns, abstentions as 9, totals."""

import pytest

from discan.readers import read

MEMBERS = [f"Member {n}, X." for n in range(12)]
PARTIES = ["Left" if n % 2 else "Right" for n in range(12)]
CODES = [[1 if (n + r) % 3 else 2 for r in range(8)] for n in range(12)]
CODES[0][0] = CODES[5][3] = 9


def table(rows, separator=","):
    quoted = [
        [f'"{cell}"' if separator in str(cell) else str(cell) for cell in row] for row in rows
    ]
    return "\n".join(map(separator.join, quoted)) + "\n"


def in_rows(cells=str, first=("Name", "Party")):
    titles = [[*first, *(f"V{r}" for r in range(8))]]
    whose = zip(MEMBERS, PARTIES, CODES, strict=True)
    return titles + [[name, party, *map(cells, codes)] for name, party, codes in whose]


def test_nine_among_ones_and_twos_is_pointed_out(tmp_path, write, remarks):
    path = write(tmp_path / "x.csv", table(in_rows()))
    assert read(path).n_words == 18
    assert "counted as answers: '9' (2); to read them as missing use missing='9'" in remarks()
    assert read(path, missing="9").n_words == 16


def test_nine_among_eight_is_an_answer(tmp_path, write, remarks):
    rows = [["id", "q1", "q2"], *([f"p{n}", n % 10, (n + 1) % 10] for n in range(30))]
    read(write(tmp_path / "x.csv", table(rows)), "categorical")
    assert "counted as answers" not in remarks()


@pytest.mark.parametrize("words", ["Ja Nein", "Oui Non", "Yea Nay"])
def test_ballots_in_other_languages(tmp_path, write, words):
    yes, no = words.split()
    words = {1: yes, 2: no, 9: "Enthaltung"}
    path = write(tmp_path / "x.csv", table(in_rows(words.get, ("Abgeordnete/r", "Fraktion")), ";"))
    corpus = read(path)
    assert corpus.document_names == tuple(MEMBERS)
    assert corpus.group_names == tuple(f"V{r}" for r in range(8))
    assert list(corpus.metadata["Fraktion"]) == PARTIES
    assert corpus.nouns.document == "member"


def test_members_in_columns(tmp_path, write, remarks, dense):
    words = {1: "Yea", 2: "Nay", 9: ""}
    turned = [["Bill", "Date", *MEMBERS]]
    turned += [
        [f"V{r}", f"2023-01-0{r + 1}", *(words[codes[r]] for codes in CODES)] for r in range(8)
    ]
    path = write(tmp_path / "x.csv", table(turned))
    corpus = read(path)
    assert corpus.nouns.documents == "bills"
    assert "to explain the members use transpose=True" in remarks()
    members = read(path, transpose=True)
    other = read(write(tmp_path / "y.csv", table(in_rows(words.get))))
    assert (members.document_names, members.word_names) == (other.document_names, other.word_names)
    assert dense(members) == dense(other)
    assert members.exposures.tolist() == other.exposures.tolist()
    assert read(path, like=members).digest == members.digest


def test_rows_above_the_titles_are_left_out(tmp_path, write, remarks):
    expected = read(write(tmp_path / "x.csv", table(in_rows()))).digest
    commas = "," * 9
    for above in ("Roll calls of 2023\n\n", f"Roll calls of 2023{commas}\n{commas}\n"):
        assert read(write(tmp_path / "y.csv", above + table(in_rows()))).digest == expected
    assert remarks().count("what is above the titles is left out: 'Roll calls of 2023'") == 2
    counts = "name,a,b\nx,,\ny,1,2\nz,3,0\n"  # a row of one cell below the titles stays
    assert read(write(tmp_path / "z.csv", counts), "categorical").n_documents == 3


def test_totals_are_pointed_out(tmp_path, write, remarks):
    words = {1: "Y", 2: "N", 9: "A"}
    rows = [*in_rows(words.get), ["TOTAL", "", *(["8"] * 8)]]
    read(write(tmp_path / "x.csv", table(rows)))
    assert "the last row is called 'TOTAL'" in remarks()
    counts = [["site", "elm", "oak", "Total"], *([f"s{n}", n, 20, n + 20] for n in range(30))]
    read(write(tmp_path / "y.csv", table(counts)), "wide")
    assert "the last column is called 'Total'" in remarks()
