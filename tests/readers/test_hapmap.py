# SPDX-License-Identifier: BSD-3-Clause
"""Tables of SNPs, in rows or in columns: bases, letters of two bases, or counts of an allele."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discan.readers import Source, guess, read

FIRST = "rs# alleles chrom pos strand assembly# center protLSID assayLSID panelLSID QCcode".split()
PEOPLE = ["NA1", "NA2", "NA3", "NA4"]
CALLS = [
    ("rs11", "A/G", "AA AG GG NN"),
    ("rs27", "C/T", "TT NN CT CC"),
    ("rs3", "G", "GG GG GG GG"),
]
COUNTS = [[2, 0, 0, 2, 2], [1, 1, 0, 0, 2], [0, 2, 1, 1, 2], [0, 0, 2, 0, 2]]
ONE_LETTER = {"AA": "A", "CC": "C", "GG": "G", "TT": "T", "AG": "R", "CT": "Y", "NN": "N"}


def hapmap(separator, form=str):
    rows = [[*FIRST, *PEOPLE]]
    for n, (name, alleles, calls) in enumerate(CALLS):
        about = [name, alleles, "chr1", str(100 + n), "+", "b36", "NA", "NA", "NA", "panel", "QC+"]
        rows.append([*about, *map(form, calls.split())])
    return "\n".join(map(separator.join, rows)) + "\n"


@pytest.mark.parametrize(
    ("name", "separator"), [("x.txt", " "), ("x.hmp.txt", "\t"), ("x.csv", ","), ("x.hapmap", " ")]
)
def test_hapmap(tmp_path, write, dense, remarks, name, separator):
    path = write(tmp_path / name, hapmap(separator))
    assert guess(Source(path)) == "hapmap"
    corpus = read(path)
    assert corpus.document_names == tuple(PEOPLE)
    assert corpus.word_names == ("rs11:A", "rs11:G", "rs27:C", "rs27:T", "rs3:G")
    assert dense(corpus) == COUNTS
    assert corpus.exposures.tolist() == [[1, 1, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]]
    assert "a row is a SNP, and 4 individuals are the columns from 'NA1' on" in remarks()
    assert "left out, as they describe SNPs: 'alleles', 'chrom'" in remarks()


def test_the_same_genotypes_in_other_forms(tmp_path, write):
    expected = read(write(tmp_path / "x.txt", hapmap(" "))).digest
    letters = write(tmp_path / "x.hmp.txt", hapmap("\t", ONE_LETTER.__getitem__))
    assert read(letters).digest == expected
    slashes = [["marker", "chr", "pos", *PEOPLE]]
    slashes += [
        [name, "1", str(n), *("/".join(call) for call in calls.split())]
        for n, (name, _, calls) in enumerate(CALLS)
    ]
    path = write(tmp_path / "y.csv", "\n".join(map(",".join, slashes)) + "\n")
    assert read(path).digest == expected


def test_places_name_snps_without_a_name(tmp_path, write):
    path = write(
        tmp_path / "x.csv", "CHROM,POS,REF,ALT,a,b\n1,500,A,G,0/1,./.\n1,700,C,T,1/1,0/0\n"
    )
    corpus = read(path)
    assert corpus.word_names == ("1:500:0", "1:500:1", "1:700:0", "1:700:1")
    assert corpus.document_names == ("a", "b")


def test_counts_of_alleles_are_told_by_titles(tmp_path, write, dense, remarks):
    rows = [[(i * j) % 3 for j in range(6)] for i in range(4)]
    titles = ["id", "pop", *(f"rs{100 + j}" for j in range(6))]
    people = [
        [f"p{i}", "north" if i < 2 else "south", *map(str, row)] for i, row in enumerate(rows)
    ]
    columns = write(tmp_path / "x.csv", "\n".join(map(",".join, [titles, *people])) + "\n")
    corpus = read(columns)
    assert corpus.nouns.document == "individual"
    assert dense(corpus) == [[n for c in row for n in (c, 2 - c)] for row in rows]
    assert list(corpus.metadata["pop"]) == ["north", "north", "south", "south"]
    assert "0, 1 and 2 count an allele, as the titles name SNPs" in remarks()
    turned = [["chrom", "snp", *(f"p{i}" for i in range(4))]]
    turned += [["1", f"rs{100 + j}", *(str(row[j]) for row in rows)] for j in range(6)]
    path = write(tmp_path / "y.csv", "\n".join(map(",".join, turned)) + "\n")
    other = read(path)
    assert (other.word_names, other.document_names) == (corpus.word_names, corpus.document_names)
    assert dense(other) == dense(corpus)
    assert read(path, "dosages", transpose=True).digest == other.digest


def test_new_people_are_read_as_the_old(tmp_path, write):
    path = write(tmp_path / "x.csv", hapmap(","))
    corpus = read(path)
    assert read(path, like=corpus).digest == corpus.digest
    answers = read(path, "categorical")
    assert read(path, like=answers).digest == answers.digest


@pytest.mark.parametrize(
    "table",
    [
        "id,q1,q2\na,AA,AG\nb,AG,GG\n",  # individuals in rows
        "marker,unit,low,high\nCRP,mg,1.5,7.25\nIL6,pg,0.5,12.5\n",  # no genotypes
        "A1,A2,A3,A4\nAA,AG,GG,AG\nCC,CT,TT,CT\n",  # no SNPs
    ],
)
def test_other_tables_are_read_as_before(tmp_path, write, table):
    assert guess(Source(write(tmp_path / "x.csv", table))) in ("categorical", "wide")


def test_what_is_no_genotype_is_refused(tmp_path, write, fails):
    many = "".join(f"rs{n},AA,AG,GG,AG\n" for n in range(20))
    path = write(tmp_path / "x.csv", f"SNP,a,b,c,d\n{many}rs99,AA,AX,GG,AG\n")
    fails(path, "line 22: 'AX' is no genotype such as AG")
    fails(write(path, "a,b\n1,2\n"), "not a table with SNPs in rows", "hapmap")
    fails(write(path, "SNP,a,b\nrs1,NN,NN\nrs2,NN,NN\n"), "every genotype is missing")


@pytest.mark.parametrize("format", ["hapmap", "dosages"])
@given(st.text("rsNAG012,\n/ ", max_size=60))
@settings(suppress_health_check=list(HealthCheck), max_examples=40, deadline=None)
def test_any_table_is_read_or_refused(tmp_path, write, survives, format, text):
    survives(write(tmp_path / "x.csv", f"SNP,a,b\nrs1,AG,GG\n{text}"), format)
    survives(write(tmp_path / "y.csv", f"id,rs1,rs2\na,0,2\n{text}"), format)


QUESTIONS = [",".join(["who", *(f"q{j}" for j in range(8))])]
QUESTIONS += [",".join([f"p{i}", *(str(i * j % 3 % 2 * 2) for j in range(8))]) for i in range(30)]


def test_mostly_zeros_are_answers_below_titles_of_questions(tmp_path, write, remarks):
    text = "\n".join(QUESTIONS) + "\n"
    assert guess(Source(write(tmp_path / "x.csv", text))) == "categorical"
    path = write(tmp_path / "y.csv", text.replace("q", "site"))
    assert guess(Source(path)) == "wide"
    read(path)
    assert "read as counts, 0 as nothing; if they are answers use format='categorical'" in remarks()


def test_the_remark_on_small_counts_names_what_may_be(tmp_path, write, remarks):
    rows = [",".join([f"p{i}", *(str(i * j % 7 % 3) for j in range(1, 8))]) for i in range(20)]
    path = tmp_path / "x.csv"
    write(path, "\n".join([",".join(["who", *(f"w{j}" for j in range(7))]), *rows]) + "\n")
    read(path, "wide")
    assert "if they are answers use format='categorical', if alleles format='dosages'" in remarks()
    n_remarks = len(remarks())
    large = write(tmp_path / "y.csv", "id,a,b\n" + "".join(f"d{i},{i},{2 * i}\n" for i in range(9)))
    read(large, "wide")
    assert "if they are answers" not in remarks()[n_remarks:]


@pytest.mark.parametrize("letters", ["ARG", "AGN"])
def test_letters_of_two_bases_with_people_in_rows_are_pointed_out(
    tmp_path, write, remarks, letters
):
    titles = ",".join(["taxon", *(f"m{n}" for n in range(36))])
    rows = [",".join([f"i{r}", *(letters[(r * n + n) % 3] for n in range(36))]) for r in range(20)]
    read(write(tmp_path / "x.csv", "\n".join([titles, *rows]) + "\n"), "categorical")
    assert ("R are answers of their own here" in remarks()) == ("R" in letters)
