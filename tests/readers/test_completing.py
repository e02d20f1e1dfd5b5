# SPDX-License-Identifier: BSD-3-Clause
"""Open cells of a table are filled in, and nothing else is changed."""

import pytest

import discan
from discan.readers import Source
from discan.readers.completing import complete_table

SURVEY = """\
id;age;vote;colour;note
r1;34;yes;red;x
r2;55;no;"b;lue";-1
r3;18;;red;=1+1
r4;77;no;NA;x
"""


def completed(path, answers, **options):
    reading = discan.read(path, "categorical", **options).reading
    table = complete_table(Source(path), reading, answers)
    return table.titles, table.delimiter, list(table.rows)


def test_other_cells_stay(tmp_path):
    path = tmp_path / "survey.csv"
    path.write_text(SURVEY)
    answers = {2: {"vote": ["yes"]}, 3: {"colour": ["red"]}}
    titles, delimiter, rows = completed(path, answers)
    assert delimiter == ";"
    assert titles == ["id", "age", "vote", "colour", "note"]
    assert rows == [
        ["r1", "34", "yes", "red", "x"],
        ["r2", "55", "no", "b;lue", "-1"],
        ["r3", "18", "yes", "red", "=1+1"],
        ["r4", "77", "no", "red", "x"],
    ]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["129/131", "131/131", "129/133", ""], "129/131"),
        (["129|131", "131|131", "129|133", "."], "129|131"),
    ],
)
def test_alleles_in_one_cell(tmp_path, cells, expected):
    path = tmp_path / "loci.csv"
    lines = [f"i{n},{cell},{cell}" for n, cell in enumerate(cells * 5)]
    path.write_text("\n".join(["ind,L1,L2", *lines]) + "\n")
    _, _, rows = completed(path, {3: {"L2": ["129", "131"]}})
    assert rows[3] == ["i3", cells[3], expected]


def test_alleles_in_two_columns(tmp_path):
    path = tmp_path / "loci.csv"
    alleles = ["129", "131", "133"]
    lines = [f"i{n}," + ",".join(alleles[(n * j) % 3] for j in range(1, 7)) for n in range(20)]
    lines[4] = "i4,0,0,129,131,129,131"  # 0 is no length
    path.write_text("\n".join(["ind,A_1,A_2,B_1,B_2,C_1,C_2", *lines]) + "\n")
    _, _, rows = completed(path, {4: {"A": ["131", "133"]}})
    assert rows[4] == ["i4", "131", "133", "129", "131", "129", "131"]


def test_a_table_without_titles(tmp_path):
    path = tmp_path / "bare.csv"
    path.write_text("1,2\n2,1\n1,\n2,1\n")
    titles, delimiter, rows = completed(path, {2: {"V2": ["2"]}}, header=False)
    assert titles is None
    assert delimiter == ","
    assert rows[2] == ["1", "2"]
