# SPDX-License-Identifier: BSD-3-Clause
"""Genotypes as counts of an allele, and the forms of them that other programs write."""

import pytest

from discan.readers import Source, guess, read


def test_counts_of_vcftools(tmp_path, write, dense, remarks, fails):
    path = write(tmp_path / "x.012", "0\t2\t0\n1\t0\t-1\n2\t1\t1\n")
    assert guess(Source(path)) == "dosages"
    assert dense(read(path)) == [[2, 0, 0, 2], [0, 2, 0, 0], [1, 1, 1, 1]]
    assert "no x.012.indv beside it" in remarks()
    write(tmp_path / "x.012.indv", "a\nb\nc\n")
    write(tmp_path / "x.012.pos", "1\t100\n2\t50\n")
    corpus = read(path)
    assert corpus.document_names == ("a", "b", "c")
    assert corpus.word_names == ("1:100:alt", "1:100:ref", "2:50:alt", "2:50:ref")
    assert corpus.exposures.tolist() == [[1, 1], [1, 0], [1, 1]]
    write(tmp_path / "x.012.indv", "a\nb\n")
    fails(path, "2 names of individuals, but 3 individuals")
    fails(write(path, "0\t2\t3\n"), "line 1: '3' is no count of alleles")
    fails(write(path, "0\t2\t1\n1\t2\n"), "line 2: 1 genotypes, expected 2")


def test_eigenstrat_and_lfmm(tmp_path, write, dense, fails):
    path = write(tmp_path / "x.geno", "201\n091\n")
    write(tmp_path / "x.ind", "a U P1\nb U P1\nc U P2\n")
    write(tmp_path / "x.snp", "rs1 1 0.0 5 A G\nrs2 1 0.0 9 C T\n")
    corpus = read(path)
    assert dense(corpus) == [[2, 0, 0, 2], [0, 2, 0, 0], [1, 1, 1, 1]]
    assert corpus.word_names == ("rs1:A", "rs1:G", "rs2:C", "rs2:T")
    assert list(corpus.metadata["population"]) == ["P1", "P1", "P2"]
    same = read(write(tmp_path / "y.lfmm", "2 0\n0 9\n1 1\n"))
    assert dense(same) == dense(corpus)
    fails(write(path, b"GENO   3   2\0\0"), "packed")


def test_a_table_of_counts_is_pointed_out(tmp_path, write, dense, remarks):
    titles = ",".join(["IID", *(f"rs{n}" for n in range(30))])
    rows = [",".join([f"i{r}", *(str((r * n + n) % 3) for n in range(30))]) for r in range(20)]
    path = write(tmp_path / "x.csv", "\n".join([titles, *rows]) + "\n")
    read(path, "categorical")
    assert "if they count alleles, use format='dosages'" in remarks()
    corpus = read(path, "dosages")
    assert corpus.n_groups == 30
    assert corpus.n_tokens == 2 * 20 * 30
    assert corpus.document_names[3] == "i3"


def test_the_name_that_plink_takes(tmp_path, write):
    write(tmp_path / "p.bed", b"\x6c\x1b\x01\x03")
    write(tmp_path / "p.bim", "1\trs1\t0\t5\tA\tG\n")
    write(tmp_path / "p.fam", "F a 0 0 0 -9\n")
    assert read(tmp_path / "p").word_names == ("rs1:A", "rs1:G")


def test_structure_with_a_remark_first_and_zeros_for_missing(tmp_path, write, remarks):
    rows = "a\t1\t1\t2\na\t1\t2\t0\nb\t1\t0\t1\nb\t1\t0\t1\n".replace("2\t0\n", "2\t2\n")
    path = write(tmp_path / "x.structure", f"# Stacks v2.5\n\t\t5_1\t7_1\n{rows}")
    corpus = read(path)
    assert corpus.word_names == ("5_1=1", "5_1=2", "7_1=1", "7_1=2")
    assert corpus.n_tokens == 6
    assert "alleles '0' are read as missing" in remarks()


def test_structure_without_labels_in_two_rows(tmp_path, write, remarks):
    rows = ["150 -9 160 170", "152 -9 160 172", "150 155 -9 170", "150 157 -9 170"] * 3
    corpus = read(write(tmp_path / "x.str", "\n".join(rows) + "\n"))
    assert corpus.n_documents == 6
    assert corpus.n_groups == 4
    assert "no labels tell the rows of an individual; if there are not 2, use rows=1" in remarks()


@pytest.mark.parametrize("missing", ["NN", "00", "--"])
def test_genotypes_of_two_bases(tmp_path, write, missing):
    pairs = [("AG", "CC"), ("GA", "CT"), ("AA", missing)]
    rows = [f"i{n},{a},{b}" for n, (a, b) in enumerate(pairs)]
    corpus = read(write(tmp_path / "x.csv", "\n".join(["id,rs1,rs2", *rows]) + "\n"))
    assert corpus.word_names == ("rs1=A", "rs1=G", "rs2=C", "rs2=T")
    assert corpus.n_tokens == 10
