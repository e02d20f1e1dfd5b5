# SPDX-License-Identifier: BSD-3-Clause
"""PLINK genotypes: alleles, missing calls and wrong files."""

import numpy as np
from genotype_files import write_plink
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discan.readers import Source, guess, read


def test_plink(tmp_path):
    codes = np.random.default_rng(1).integers(0, 4, size=(1500, 6))
    codes[0] = [0, 1, 2, 3, 0, 3]
    bed = write_plink(tmp_path, codes)
    for path in (bed, bed.with_suffix(".fam"), tmp_path):
        assert guess(Source(path)) == "plink"
    corpus = read(bed)
    dense = corpus.to_csr().toarray()
    assert corpus.document_names == tuple(f"i{i}" for i in range(6))
    assert corpus.layout.word_names[:3] == ("rs0:A", "rs0:G", "rs1:A")
    assert corpus.layout.group_names[:2] == ("rs0", "rs1")
    assert dense[:, :2].tolist() == [[2, 0], [0, 0], [1, 1], [0, 2], [2, 0], [0, 2]]
    assert np.array_equal(dense[:, ::2], np.array([2, 0, 1, 0])[codes.T])
    assert np.array_equal(dense[:, 1::2], np.array([0, 0, 1, 2])[codes.T])
    assert np.array_equal(corpus.exposures, codes.T != 1)
    assert read(bed, exposures=False).exposures is None


def test_bad_plink(tmp_path, write, fails):
    bed = write_plink(tmp_path, [[0, 1, 2, 3, 0]] * 3)
    good = bed.read_bytes()
    fails(write(bed, good[:-1]), "8 bytes, but 5 individuals and 3 SNPs take 9")
    fails(write(bed, good + b"\0"), "10 bytes")
    fails(write(bed, b"xx\x01" + good[3:]), "no PLINK")
    fails(write(bed, good[:2] + b"\0" + good[3:]), "make-bed")
    write(bed, good)
    bim = bed.with_suffix(".bim")
    text = bim.read_text()
    write(bim, text.replace("\tG\n", "\n", 1))
    fails(bed, "line 1: expected 6 fields")
    write(bim, "")
    fails(bed, "no SNPs")
    write(bim, text)
    write(bed.with_suffix(".fam"), "one\n")
    fails(bed, "line 1: expected 6 fields, found 'one'")
    bim.unlink()
    fails(bed, "are needed", "plink")


def test_hapmap(real):
    corpus = read(real("hapmap3", "hapmap3.bed"))
    assert (corpus.n_documents, corpus.n_groups) == (324, 13928)
    assert corpus.n_tokens == 2 * (324 * 13928 - 11894)
    assert (corpus.exposures == 0).sum() == 11894
    assert (corpus.counts == 1).sum() == 2 * 1226366


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_bytes_changed_at_random(tmp_path, data, changed_at_random):
    path = write_plink(tmp_path, np.array([[0, 1, 2, 3], [3, 3, 1, 0], [2, 2, 2, 2]]))
    changed_at_random(path, "plink", data)
