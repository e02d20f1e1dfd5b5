# SPDX-License-Identifier: BSD-3-Clause
"""Tables of answers become groups of words; missing answers have exposure 0."""

import numpy as np

from discan.readers import Source, guess, read

SURVEY = "id,colour,size\np1,red,10\np2,blue,9\np3,,10\np4,red,NA\n"


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


def test_alleles(tmp_path, write, dense):
    text = "ind,L1,L2\nx,123/125,8/8\ny,125/125,NA\nz,0/123,0/0\n"
    corpus = read(write(tmp_path / "x.csv", text), "categorical", alleles="/", missing=["NA", "0"])
    assert corpus.layout.word_names == ("L1=123", "L1=125", "L2=8")
    assert dense(corpus) == [[1, 1, 2], [0, 2, 0], [1, 0, 0]]
    assert corpus.exposures.tolist() == [[1, 1], [1, 0], [1, 0]]


def test_no_heading_and_numbers_that_are_codes(tmp_path, write):
    path = write(tmp_path / "x.data", "0,1,1\n0,0,1\n1,1,0\n")
    assert guess(Source(path)) == "categorical"
    assert read(path).layout.word_names == ("V1=0", "V1=1", "V2=0", "V2=1", "V3=0", "V3=1")
    path = write(tmp_path / "y.csv", "q1,q2\n" + "1,5\n2,4\n5,3\n" * 5)
    assert guess(Source(path)) == "categorical"


def test_nltcs(real):
    corpus = read(real("nltcs", "nltcs.test.data"))
    assert (corpus.n_documents, corpus.n_words, corpus.n_groups) == (3236, 32, 16)
    assert corpus.exposures is None
    assert np.array_equal(corpus.lengths, np.full(3236, 16.0))
