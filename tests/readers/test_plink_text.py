# SPDX-License-Identifier: BSD-3-Clause
"""PLINK's files of text hold what the binary ones do: .ped with .map, and .raw."""

import numpy as np
import pytest

from discan.readers import Source, guess, read

PED = """f1 i1 0 0 1 -9 A A C T 0 0
f1 i2 0 0 2 1 A G C C G G
f2 i3 0 0 0 2 G G 0 0 G T
"""
MAP = "1 rs1 0 100\n1 . 0 200\n2 rs3 0 300\n"
RAW = """FID IID PAT MAT SEX PHENOTYPE rs1_A rs1_HET rs2_T(/C) rs_3_G
f1 i1 0 0 1 -9 2 0 1 NA
f1 i2 0 0 2 1 1 1 0 2
f2 i3 0 0 0 2 0 0 NA 1
"""


def test_ped(tmp_path, write, dense):
    path = write(tmp_path / "x.ped", PED)
    write(tmp_path / "x.map", MAP)
    assert guess(Source(path)) == "ped"
    corpus = read(path)
    assert corpus.layout.group_names == ("rs1", "1:200", "rs3")
    assert corpus.layout.word_names == ("rs1:A", "rs1:G", "1:200:C", "1:200:T", "rs3:G", "rs3:T")
    assert dense(corpus) == [[2, 0, 1, 1, 0, 0], [1, 1, 2, 0, 2, 0], [0, 2, 0, 0, 1, 1]]
    assert corpus.exposures.tolist() == [[1, 1, 0], [1, 1, 1], [1, 0, 1]]
    assert corpus.document_names == ("i1", "i2", "i3")
    assert corpus.metadata["family"].tolist() == ["f1", "f1", "f2"]
    assert corpus.metadata["sex"].tolist() == ["male", "female", None]
    assert corpus.metadata["phenotype"].tolist() == [None, "1", "2"]


def test_ped_without_map(tmp_path, write, remarks):
    corpus = read(write(tmp_path / "x.ped", PED))
    assert corpus.layout.group_names == ("SNP 1", "SNP 2", "SNP 3")
    assert "no x.map beside it; the SNPs are numbered" in remarks()


def test_wrong_ped(tmp_path, write, fails):
    fails(write(tmp_path / "x.ped", PED + "f3 i4 0 0 1 1 A A\n"), "line 4: 8 columns, expected 12")
    fails(write(tmp_path / "x.ped", ""), "no individuals")
    write(tmp_path / "x.map", MAP + MAP)
    fails(write(tmp_path / "x.ped", PED), "6 SNPs, but .*x.ped has 3")
    write(tmp_path / "x.map", "rs1\n")
    fails(tmp_path / "x.ped", "expected 3 or 4 columns")


def test_raw(tmp_path, write, dense):
    path = write(tmp_path / "x.raw", RAW)
    assert guess(Source(path)) == "raw"
    corpus = read(path)
    assert corpus.layout.word_names == (
        "rs1:A", "rs1:other", "rs2:T", "rs2:C", "rs_3:G", "rs_3:other",
    )  # fmt: skip
    assert dense(corpus) == [[2, 0, 1, 1, 0, 0], [1, 1, 0, 2, 2, 0], [0, 2, 0, 0, 1, 1]]
    assert corpus.exposures.tolist() == [[1, 1, 0], [1, 1, 1], [1, 0, 1]]
    assert corpus.metadata["family"].tolist() == ["f1", "f1", "f2"]


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("FID", "ID", "must begin with FID IID"),
        ("2 0 1 NA", "2 0 1", "line 2: 9 columns, expected 10"),
        ("2 0 1 NA", "3 0 1 NA", "line 2: '3' is no count of alleles"),
        ("2 0 1 NA", "x 0 1 NA", "line 2: 'x' is no count of alleles"),
    ],
)
def test_wrong_raw(tmp_path, write, fails, old, new, match):
    fails(write(tmp_path / "x.raw", RAW.replace(old, new, 1)), match)


def test_text_and_binary_agree(real, tmp_path):
    """Genotypes of HapMap3 written as .ped give the counts of the .bed file."""
    bed = read(real("hapmap3", "hapmap3.bed"))
    assert bed.metadata["population"][0] == "ASW"
    people, snps = 20, 200
    counts = bed.to_csr()[:people, : 2 * snps].toarray().reshape(people, snps, 2)
    names = np.array(bed.layout.word_names[: 2 * snps]).reshape(snps, 2)
    alleles = np.array([[n.rpartition(":")[2] for n in pair] for pair in names])
    lines = []
    for i in range(people):
        cells = [f"f{i}", f"p{i}", "0", "0", "0", "-9"]
        for j in range(snps):
            pair = np.repeat(alleles[j], counts[i, j]).tolist() or ["0", "0"]
            cells += pair
        lines.append(" ".join(cells))
    (tmp_path / "x.ped").write_text("\n".join(lines) + "\n")
    (tmp_path / "x.map").write_text("".join(f"1 {g} 0 1\n" for g in bed.layout.group_names[:snps]))
    found = read(tmp_path / "x.ped", missing="none")  # these files call an allele 0
    known = dict(zip(bed.layout.word_names[: 2 * snps], counts.reshape(people, -1).T, strict=True))
    table = found.to_csr().toarray()
    for j, word in enumerate(found.layout.word_names):
        if not word.endswith(":0"):
            assert np.array_equal(table[:, j], known[word])
