# SPDX-License-Identifier: BSD-3-Clause
"""VCF: phased and unphased calls, several alleles, one allele, missing calls, packed files."""

import gzip

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discan.data.nouns import ALLELES
from discan.readers import Source, guess, read

HEAD = "##fileformat=VCFv4.2\n##source=test\n"
TITLES = "#CHROM POS ID REF ALT QUAL FILTER INFO FORMAT s1 s2 s3\n"
LINES = [
    "1 10 rs1 A G 50 PASS . GT 0/0 0/1 1/1",
    "1 20 . C T,G 50 . . GT:DP 0|2:9 ./.:. 1|2:8",
    "1 30 rs3 AT A 50 q10 . DP:GT 7:0/1 7:1/. 9:.",
    "X 40 rs4 T C 50 PASS . GT 1 0 .",
]


def vcf(lines=LINES, titles=TITLES):
    return HEAD + "".join(f"{line}\n".replace(" ", "\t") for line in (titles.strip(), *lines))


def test_vcf(tmp_path, write, dense, remarks):
    path = write(tmp_path / "x.vcf", vcf())
    assert guess(Source(path)) == "vcf"
    corpus = read(path)
    assert corpus.document_names == ("s1", "s2", "s3")
    assert corpus.layout.group_names == ("rs1", "1:20", "rs3", "rs4")
    assert corpus.layout.word_names == (
        "rs1:A", "rs1:G", "1:20:C", "1:20:T", "1:20:G", "rs3:AT", "rs3:A", "rs4:T", "rs4:C",
    )  # fmt: skip
    assert dense(corpus) == [
        [2, 0, 1, 0, 1, 1, 1, 0, 1],
        [1, 1, 0, 0, 0, 0, 1, 1, 0],
        [0, 2, 0, 1, 1, 0, 0, 0, 0],
    ]
    assert corpus.exposures.tolist() == [[1, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 0]]
    assert corpus.nouns == ALLELES
    said = remarks()
    assert "1 of 4 variants failed a filter and are read; passed=True leaves them out" in said
    assert "4 variants (1 of them with more than two alleles), 25 % of the calls missing" in said
    assert "1 or 2 alleles per call" in said


def test_options(tmp_path, write):
    path = write(tmp_path / "x.vcf", vcf())
    assert read(path, passed=True).layout.group_names == ("rs1", "1:20", "rs4")
    assert read(path, exposures=False).exposures is None


@pytest.mark.parametrize("name", ["x.vcf.gz", "x.vcf.bgz", "calls.gz"])
def test_packed(tmp_path, name, dense):
    """As bgzip does, in blocks that follow each other; the last one is empty."""
    path = tmp_path / name
    data = vcf().encode()
    blocks = [data[:100], data[100:150], data[150:], b""]
    path.write_bytes(b"".join(map(gzip.compress, blocks)))
    assert guess(Source(path)) == "vcf"
    assert read(path).n_tokens == 15


def test_many_individuals_in_several_parts(tmp_path, write, monkeypatch, dense):
    from discan.readers import vcf as module

    whole = dense(read(write(tmp_path / "x.vcf", vcf())))
    monkeypatch.setattr(module, "CELLS_AT_ONCE", 1)
    assert dense(read(tmp_path / "x.vcf")) == whole


def test_names_that_repeat(tmp_path, write):
    lines = [LINES[0], LINES[0].replace("1 10", "1 11")]
    corpus = read(write(tmp_path / "x.vcf", vcf(lines, TITLES.replace("s2", "s1"))))
    assert corpus.layout.group_names == ("rs1", "rs1.2")
    assert corpus.document_names == ("s1 (1)", "s1 (2)", "s3")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (vcf([LINES[0][:-4]]), "line 4: 11 columns, expected 12; is it cut short"),
        (vcf([LINES[0].replace("1/1", "2/1")]), "line 4: allele 2, but the variant has 2"),
        (vcf([LINES[0].replace("1/1", "x/1")]), "line 4: genotype 'x/1' is not read"),
        (vcf([LINES[0].replace("GT", "DP")]), "line 4: no genotypes: FORMAT has no GT"),
        (vcf([LINES[0]], TITLES.replace("FORMAT", "INFO2")), "line 3: no genotypes"),
        (vcf([]), "holds no genotypes"),
        (vcf(["1 10 rs1 A G 50 PASS . GT ./. ./. ."]), "every genotype is missing"),
        (HEAD + LINES[0].replace(" ", "\t") + "\n", "line 3: no line of titles"),
        (HEAD + "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n", "no genotypes"),
    ],
)
def test_wrong_files(tmp_path, write, fails, text, match):
    fails(write(tmp_path / "x.vcf", text), match)


@settings(max_examples=40, deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(data=st.data())
def test_any_damage_is_survived(tmp_path, write, data, changed_at_random):
    changed_at_random(write(tmp_path / "x.vcf", vcf()), "vcf", data)


def test_many_and_long_genotypes(tmp_path, write, fails):
    people = range(2**15 + 10)
    titles = TITLES.replace("s1 s2 s3", " ".join(f"p{n}" for n in people))
    calls = " ".join(f"{n // 200}/{n % 200}" for n in people)
    path = write(tmp_path / "x.vcf", vcf([f"1 9 v A C . PASS . GT {calls}"], titles))
    fails(path, "line 4: too many different genotypes")
    long = "/".join(["0"] * 3000)
    path = write(tmp_path / "y.vcf", vcf([f"1 9 v A C . PASS . GT {long} 0/1 ."]))
    fails(path, "line 4: a genotype of more than 1,024 alleles")
