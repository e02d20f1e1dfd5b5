# SPDX-License-Identifier: BSD-3-Clause
"""Files of GENEPOP: alleles of two and three digits, populations, and wrong files."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discan.readers import Source, guess, read

TWO = """Title line: two digits
loc1
loc2
Pop
north_1 ,  0102 0303
north_2 ,  0000 0103
POP
south_1 ,  0202 0001
south_2 ,  0101 0000
"""
THREE = """Three digits, loci on one line
loc1, loc2
pop
a, 129155 088088
a, 129129 000000
 pop
b, 155155 088090
b, 000129 090090
"""


@pytest.mark.parametrize("name", ["x.gen", "x.txt", "x.genepop"])
def test_two_digits(tmp_path, write, dense, name, remarks):
    path = write(tmp_path / name, TWO)
    assert guess(Source(path)) == "genepop"
    corpus = read(path)
    assert corpus.layout.word_names == ("loc1=1", "loc1=2", "loc2=1", "loc2=3")
    assert dense(corpus) == [[1, 1, 0, 2], [0, 0, 1, 1], [0, 2, 1, 0], [2, 0, 0, 0]]
    assert corpus.exposures.tolist() == [[1, 1], [0, 1], [1, 1], [1, 0]]
    assert corpus.metadata["population"].tolist() == ["north", "north", "south", "south"]
    assert corpus.document_names == ("north_1", "north_2", "south_1", "south_2")
    assert "4 individuals in 2 populations, 2 loci, alleles of 2 digits" in remarks()


def test_three_digits(tmp_path, write, dense):
    corpus = read(write(tmp_path / "x.gen", THREE))
    assert corpus.layout.word_names == ("loc1=129", "loc1=155", "loc2=88", "loc2=90")
    assert dense(corpus) == [[1, 1, 2, 0], [2, 0, 0, 0], [0, 2, 1, 1], [1, 0, 0, 2]]
    assert corpus.document_names == ("a (1)", "a (2)", "b (1)", "b (2)")
    assert corpus.metadata["population"].tolist() == ["a", "a", "b", "b"]


def test_one_allele_each(tmp_path, write, dense):
    corpus = read(write(tmp_path / "x.gen", "t\nl1\nl2\nPop\nx, 01 0102\ny, 02 00\n"))
    assert dense(corpus) == [[1, 0, 1, 1], [0, 1, 0, 0]]


def test_populations_without_a_name_in_common_are_numbered(tmp_path, write):
    corpus = read(
        write(tmp_path / "x.gen", "t\nl1\nPop\nx, 0101\ny, 0102\nPop\nz, 0202\nw, 0201\n")
    )
    assert corpus.metadata["population"][0] == "population 1"
    assert corpus.metadata["population"][3] == "population 2"


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("0303", "0303 0101", "line 5: 3 genotypes, expected 2"),
        ("0303", "03a3", "line 5: genotype '03a3' is not of digits"),
        ("0303", "030303", "genotypes of 4, 6 digits"),
        ("north_1 ,", "north_1 ", "line 5: expected a name, a comma"),
        ("loc2", "loc1", "two loci are named 'loc1'"),
        ("0102 0303", "0000 0000", None),
    ],
)
def test_wrong_files(tmp_path, write, fails, old, new, match):
    path = write(tmp_path / "x.gen", TWO.replace(old, new, 1))
    if match is None:
        assert read(path).lengths[0] == 0
    else:
        fails(path, match)


def test_other_files_of_that_name(tmp_path, write, fails):
    fails(write(tmp_path / "x.gen", "1 rs1 100 A G 1 0 0\n"), "not a file of GENEPOP")


@settings(max_examples=40, deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(data=st.data())
def test_any_damage_is_survived(tmp_path, write, data, changed_at_random):
    changed_at_random(write(tmp_path / "x.gen", THREE), "genepop", data)
