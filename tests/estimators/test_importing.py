# SPDX-License-Identifier: BSD-3-Clause
"""Components of other programs become fits."""

import gzip
import re

import numpy as np
import pytest
from scipy import sparse

import discan
from discan.errors import InputError, StorageError

TEXTS = [["apple", "pear", "plum"], ["boat", "ship", "boat"], ["apple", "plum"]] * 6


def check(estimator, tmp_path, n_components, n_documents):
    """It can be summarised, judged, searched, saved and applied."""
    fit = estimator.fit_
    assert len(fit.summary()) == n_components
    np.testing.assert_allclose(fit.proportions.sum(axis=1), 1)
    assert fit.proportions.shape == (n_documents, n_components)
    estimator.save(tmp_path / "m.discan")
    again = discan.load(tmp_path / "m.discan")
    np.testing.assert_array_equal(again.components_, estimator.components_)
    assert len(estimator.quality()) == n_components
    assert str(fit.verdict()).startswith("converged: fitted by")
    discan.compare(estimator, again)
    one = np.zeros((1, fit.layout.n_words), dtype=int)
    one[0, 0] = 1
    assert estimator.transform(one).shape == (1, n_components)
    assert len(estimator.search([fit.layout.word_names[0]], n=2)) == 2


def test_gensim(tmp_path):
    corpora = pytest.importorskip("gensim.corpora")
    models = pytest.importorskip("gensim.models")
    words = corpora.Dictionary(TEXTS)
    bags = [words.doc2bow(text) for text in TEXTS]
    theirs = models.LdaModel(bags, num_topics=2, id2word=words, random_state=0)
    estimator = discan.from_gensim(theirs, bags)
    np.testing.assert_allclose(estimator.components_, theirs.get_topics(), rtol=1e-5)
    assert estimator.fit_.layout.word_names == tuple(words[j] for j in range(len(words)))
    np.testing.assert_allclose(estimator.alpha_, theirs.alpha)
    check(estimator, tmp_path, 2, 18)
    assert discan.from_gensim(theirs).fit_.documents is None


@pytest.mark.filterwarnings("ignore")
def test_tomotopy(tmp_path):
    tomotopy = pytest.importorskip("tomotopy")
    theirs = tomotopy.LDAModel(k=2, seed=1)
    for text in TEXTS:
        theirs.add_doc(text)
    theirs.train(20, workers=1)
    estimator = discan.from_tomotopy(theirs)
    np.testing.assert_allclose(estimator.components_[1], theirs.get_topic_word_dist(1), rtol=1e-5)
    np.testing.assert_allclose(
        estimator.proportions_[4], list(theirs.docs)[4].get_topic_dist(), rtol=1e-5
    )
    np.testing.assert_allclose(estimator.component_counts_.sum(axis=1), [3, 3, 2] * 6)
    check(estimator, tmp_path, 2, 18)


@pytest.mark.parametrize("kind", ["LatentDirichletAllocation", "NMF"])
def test_sklearn(tmp_path, kind):
    from sklearn import decomposition

    X = sparse.csr_array(np.random.default_rng(0).poisson(1.0, (12, 6)))
    theirs = getattr(decomposition, kind)(2, random_state=0).fit(X)
    estimator = discan.from_sklearn(theirs, list("abcdef"), X)
    expected = theirs.components_ / theirs.components_.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(estimator.components_, expected)
    if kind != "NMF":
        np.testing.assert_allclose(estimator.proportions_, theirs.transform(X))
    check(estimator, tmp_path, 2, 12)
    assert discan.from_sklearn(theirs).fit_.layout.word_names is None


STATE = """#doc source pos typeindex type topic
#alpha : 0.5 0.25
#beta : 0.01
0 a b.txt 0 0 apple 0
0 a b.txt 1 1 pear 0
1 c.txt 0 2 boat 1
1 c.txt 1 0 apple 1
1 c.txt 2 2 boat 1
"""


def test_mallet_state(tmp_path):
    path = tmp_path / "state.gz"
    path.write_bytes(gzip.compress(STATE.encode()))
    estimator = discan.from_mallet(path)
    assert estimator.fit_.layout.word_names == ("apple", "boat", "pear")
    weights = np.array([[1.01, 0.01, 1.01], [1.01, 2.01, 0.01]])
    np.testing.assert_allclose(estimator.components_, weights / weights.sum(axis=1)[:, None])
    np.testing.assert_allclose(estimator.alpha_, [0.5, 0.25])
    np.testing.assert_allclose(estimator.proportions_[0], np.array([2.5, 0.25]) / 2.75)
    assert estimator.document_names_ == ("a b.txt", "c.txt")
    check(estimator, tmp_path, 2, 2)


def test_mallet_weights(tmp_path):
    (tmp_path / "w.txt").write_text("0\tapple\t2.0\n0\tboat\t0.5\n1\tapple\t0.5\n1\tboat\t1.5\n")
    (tmp_path / "d.txt").write_text("#doc name topic\n0\tx.txt\t0.75\t0.25\n1\ty.txt\t0.1\t0.9\n")
    estimator = discan.from_mallet(tmp_path / "w.txt", tmp_path / "d.txt")
    np.testing.assert_allclose(estimator.components_, [[0.8, 0.2], [0.25, 0.75]])
    np.testing.assert_allclose(estimator.proportions_, [[0.75, 0.25], [0.1, 0.9]])
    assert estimator.document_names_ == ("x.txt", "y.txt")
    check(estimator, tmp_path, 2, 2)


WEIGHTS = "".join(
    f"{k}\tw{j}\t{1.01 if j % 3 == k else 0.01}\n" for k in range(3) for j in range(6)
)


@pytest.mark.parametrize(
    "text",
    [
        # up to 2.0.7, and with --doc-topics-threshold or -max: pairs, the largest share first
        "#doc name topic proportion ...\n0\tx y\t2\t0.5\t0\t0.3\t1\t0.2\t\n1\tz\t1\t1.0\t\n",
        "#doc source topic proportion ...\n0 x%20y 2 0.5 0 0.3 1 0.2 \n1 z 1 1.0 \n",
        # from 2.0.8 on; infer-topics writes the first line of the old form over it
        "0\tx y\t0.3\t0.2\t0.5\n1\tz\t0.0\t1.0\t0.0\n",
        "#doc name topic proportion ...\r\n0\tx y\t0.3\t0.2\t0.5\r\n1\tz\t0.0\t1.0\t0.0\r\n",
    ],
    ids=["pairs", "pairs between spaces", "all", "all under another title"],
)
def test_mallet_shares_in_every_form(tmp_path, text):
    (tmp_path / "w.txt").write_text(WEIGHTS)
    (tmp_path / "d.txt").write_bytes(text.encode())
    estimator = discan.from_mallet(tmp_path / "w.txt", tmp_path / "d.txt")
    np.testing.assert_allclose(estimator.proportions_, [[0.3, 0.2, 0.5], [0, 1, 0]], atol=1e-9)
    assert estimator.document_names_[1] == "z"
    check(estimator, tmp_path, 3, 2)


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("#doc name\n", "no documents"),
        ("0\tx\n", "no shares"),
        ("0\tx\t3\t0.5\n", "topics other than 0 to 2"),
        ("0\tx\t1\t0.5\t2\n", "topics other than"),
        ("0\tx\t0.5\t0.5\n", "shape"),
        ("0\tx\t0.5\tno\t0.2\n", "not a table of numbers"),
    ],
)
def test_wrong_mallet_shares(tmp_path, text, piece):
    (tmp_path / "w.txt").write_text(WEIGHTS)
    (tmp_path / "d.txt").write_text(text)
    with pytest.raises(InputError, match=piece):
        discan.from_mallet(tmp_path / "w.txt", tmp_path / "d.txt")


def test_mallet_documents_without_names(tmp_path):
    """Documents without tokens are not in a state; sources may be unknown."""
    state = STATE.replace("1 c.txt", "2 c.txt")
    (tmp_path / "state").write_text(state)
    estimator = discan.from_mallet(tmp_path / "state")
    assert estimator.document_names_ == ("a b.txt", "1", "c.txt")
    np.testing.assert_allclose(estimator.proportions_[1], [2 / 3, 1 / 3])
    (tmp_path / "state").write_text(STATE.replace("a b.txt", "NA").replace("c.txt", "NA"))
    assert discan.from_mallet(tmp_path / "state").document_names_ is None
    (tmp_path / "state").write_text(STATE.replace("a b.txt", "a\u2028b.txt"))
    assert discan.from_mallet(tmp_path / "state").document_names_[0] == "a\u2028b.txt"


def test_admixture(tmp_path):
    (tmp_path / "x.2.P").write_text("0.1 0.9\n0.25 0.75\n0.000010 0.5\n")
    (tmp_path / "x.2.Q").write_text("0.3 0.7\n0.999990 0.000010\n")
    estimator = discan.from_admixture(
        tmp_path / "x.2.P", tmp_path / "x.2.Q", ["rs1", "rs2", "rs3"], ["Ann", "Bob"]
    )
    np.testing.assert_allclose(estimator.components_[0], [0.9, 0.1, 0.75, 0.25, 0.99999, 0.00001])
    np.testing.assert_allclose(estimator.proportions_, [[0.3, 0.7], [0.99999, 0.00001]])
    assert estimator.fit_.layout.word_names[:2] == ("rs1=1", "rs1=2")
    check(estimator, tmp_path, 2, 2)
    (tmp_path / "bad.P").write_text("0.1 2\n")
    with pytest.raises(InputError, match="between 0 and 1"):
        discan.from_admixture(tmp_path / "bad.P")
    (tmp_path / "wide.Q").write_text("0.2 0.3 0.5\n")
    with pytest.raises(InputError, match="shape"):
        discan.from_admixture(tmp_path / "x.2.P", tmp_path / "wide.Q")


STRUCTURE = """
Inferred ancestry of individuals:
        Label (%Miss) :  Inferred clusters
  1      Ann    (0)   :  0.900 0.100
  2      Bob   (12)   :  0.250 0.750  (0.1,0.4) (0.6,0.9)

Estimated Allele Frequencies in each cluster
First column gives estimated ancestral frequencies

Locus 1 : L1
2 alleles
0.0% missing data
  101   (0.512) 0.800 0.100
  103   (0.488) 0.200 0.900

Locus 2 :
3 alleles
1.5% missing data
   1   (0.3) 0.500 0.200
   2   (0.3) 0.300 0.300
   3   (0.4) 0.200 0.500

Values of parameters used in structure:
"""


def test_structure(tmp_path):
    (tmp_path / "out_f").write_text(STRUCTURE)
    estimator = discan.from_structure(tmp_path / "out_f")
    np.testing.assert_allclose(
        estimator.components_, [[0.8, 0.2, 0.5, 0.3, 0.2], [0.1, 0.9, 0.2, 0.3, 0.5]]
    )
    assert estimator.fit_.layout.word_names == (
        "L1=101", "L1=103", "locus 2=1", "locus 2=2", "locus 2=3",
    )  # fmt: skip
    assert estimator.document_names_ == ("Ann", "Bob")
    np.testing.assert_allclose(estimator.proportions_, [[0.9, 0.1], [0.25, 0.75]])
    check(estimator, tmp_path, 2, 2)


HEAD = """
Run parameters:
   2 individuals
   2 populations assumed

Mean value of alpha         = 0.0203
"""
# What the options of STRUCTURE change: columns, intervals, frequencies without an ancestor.
INDEPENDENT = re.sub(r"\(0\.\d+\) ", "", STRUCTURE.partition("Inferred")[2]).replace(
    "First column gives estimated ancestral frequencies\n", ""
)
FORMS = {
    "no labels": "        (%Miss) :  Inferred clusters\n  1     (0)   :  0.900 0.100 \n"
    "  2    (12)   :  0.250 0.750 \n",
    "populations": "        Label (%Miss) Pop:  Inferred clusters\n"
    "  1      Ann    (0)    2 :  0.900 0.100 \n  2      Bob   (12)   -9 :  0.250 0.750 \n",
    "intervals": "        Label (%Miss) Pop:  Inferred clusters (and 90% probability intervals)\n"
    "  1      Ann    (0)    2 :  0.900 0.100     (0.700,0.990) (0.010,0.300) \n"
    "  2      Bob   (12)    1 :  0.250 0.750     (0.000,1.000) (0.010,1.000) \n",
    "linkage": "        Label (%Miss) :   Ind's r Inferred clusters\n"
    "  1      Ann    (0)   :   3.1415  0.900 0.100 \n"
    "  2      Bob   (12)   :   0.2000  0.250 0.750 \n",
    "assumed": "Probability of being from assumed population | prob of other pops\n"
    "         Label (%Miss) Pop\n"
    "  1      Ann    (0)    1 :  0.880 | Pop 2: 0.050 0.070 0.060  |  \n"
    "  2      Bob   (12)    2 :  0.100 | Pop 1: 0.200 0.100 0.000  |  *\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_structure_with_other_options(tmp_path, form):
    text = f"{HEAD}\nInferred ancestry of individuals:\n{FORMS[form]}\n\n"
    text += STRUCTURE[STRUCTURE.index("Estimated") :] + "PLOIDY=4,\tLABEL=1\n"
    (tmp_path / "out_f").write_text(text)
    estimator = discan.from_structure(tmp_path / "out_f")
    np.testing.assert_allclose(estimator.proportions_, [[0.9, 0.1], [0.25, 0.75]])
    assert estimator.document_names_ == (("1", "2") if form == "no labels" else ("Ann", "Bob"))
    np.testing.assert_allclose(estimator.alpha_, 0.0203)
    np.testing.assert_allclose(estimator.component_counts_.sum(axis=1), 8.0)
    check(estimator, tmp_path, 2, 2)


def test_structure_with_independent_frequencies(tmp_path):
    assert "0.512" not in INDEPENDENT
    (tmp_path / "out_f").write_text("Inferred" + INDEPENDENT.replace("  101 ", "Null "))
    estimator = discan.from_structure(tmp_path / "out_f")
    np.testing.assert_allclose(
        estimator.components_, [[0.8, 0.2, 0.5, 0.3, 0.2], [0.1, 0.9, 0.2, 0.3, 0.5]]
    )
    assert estimator.fit_.layout.word_names[0] == "L1=Null"


@pytest.mark.parametrize(
    ("change", "piece"),
    [
        (("0.900 0.100", "0.900"), "'Ann' has 1 shares of 2 clusters"),
        (("0.900 0.100", "0.9 | Pop 3: 0.1 |"), "no population 3"),
        (("0.900 0.100", "0.9 | Pop 2: 0.1 |"), "no known population"),
    ],
)
def test_wrong_results_of_structure(tmp_path, change, piece):
    (tmp_path / "out_f").write_text(STRUCTURE.replace(*change))
    with pytest.raises(InputError, match=piece):
        discan.from_structure(tmp_path / "out_f")


def test_bad_files_and_objects(tmp_path):
    (tmp_path / "bad").write_text("nothing of use\n")
    for read in (discan.from_mallet, discan.from_structure, discan.from_admixture):
        with pytest.raises(InputError):
            read(tmp_path / "bad")
        with pytest.raises(StorageError):
            read(tmp_path / "absent")
    for read in (discan.from_gensim, discan.from_tomotopy, discan.from_sklearn):
        with pytest.raises(InputError, match="not a fitted model of"):
            read(object())
