# SPDX-License-Identifier: BSD-3-Clause
"""Tables of GenAlEx: three lines of titles, two columns per locus."""

import pytest

from discan.readers import Source, guess, read

TABLE = """2,4,2,2,2
Cats,,,North,South
Sample,Pop,FCA8,,FCA23,
a,North,129,131,0,0
b,North,131,131,200,202
c,South,129,129,202,202
d,South,,,200,200
"""


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_genalex(tmp_path, write, dense, delimiter, remarks):
    path = write(tmp_path / "x.csv", TABLE.replace(",", delimiter))
    assert guess(Source(path)) == "genalex"
    corpus = read(path)
    assert corpus.layout.word_names == ("FCA8=129", "FCA8=131", "FCA23=200", "FCA23=202")
    assert dense(corpus) == [[1, 1, 0, 0], [0, 2, 1, 1], [2, 0, 0, 2], [0, 0, 2, 0]]
    assert corpus.exposures.tolist() == [[1, 0], [1, 1], [1, 1], [0, 1]]
    assert corpus.document_names == ("a", "b", "c", "d")
    assert corpus.metadata["population"].tolist() == ["North", "North", "South", "South"]
    assert "alleles '0' are read as missing" in remarks()


def test_wrong_tables(tmp_path, write, fails, remarks):
    path = write(tmp_path / "x.csv", TABLE.replace("c,South,129,129,202,202", "c,South,129"))
    fails(path, "line 6: 3 cells, expected 6")
    read(write(tmp_path / "x.csv", TABLE.replace("2,4,2", "2,9,2")))
    assert "the first line says 9 individuals; there are 4" in remarks()
    path = write(tmp_path / "y.csv", "1,2,3\n4,5,6\n7,8,9\n1,1,1\n")
    assert guess(Source(path)) != "genalex"
    fails(path, "not a table of GenAlEx", "genalex")
