# SPDX-License-Identifier: BSD-3-Clause
"""AnnData and MuData objects: counts are found, modalities are groups, results are written back."""

import logging

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import discan
from discan.data.annotated import is_annotated, unique_names
from discan.data.nouns import CELLS, Nouns
from discan.errors import InputError

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(1.0, (20, 8)).astype(np.float32)
GENES = [f"G{j}" for j in range(8)]
CELL_NAMES = [f"c{i}" for i in range(20)]


class Raw:
    def __init__(self, X, names):
        self.X, self.var_names = X, names


class Cells:
    """What discan asks of an AnnData."""

    def __init__(self, X, genes=GENES, names=CELL_NAMES, layers=None, raw=None, **obs):
        self.X, self.layers, self.raw = X, layers or {}, raw
        self._obs = pd.DataFrame(obs, index=pd.Index(names))
        self._var = pd.DataFrame(index=pd.Index(genes))
        self.obsm, self.varm, self.uns = {}, {}, {}

    obs = property(lambda self: self._obs)
    var = property(lambda self: self._var)
    obs_names = property(lambda self: self._obs.index)
    var_names = property(lambda self: self._var.index)


class Modalities(Cells):
    """What discan asks of a MuData."""

    def __init__(self, parts, names, **obs):
        super().__init__(None, [g for part in parts.values() for g in part.var_names], names, **obs)
        self._parts = parts

    mod = property(lambda self: self._parts)


def real_cells(*arguments, **options):
    anndata = pytest.importorskip("anndata", reason="anndata is not installed")
    fake = Cells(*arguments, **options)
    data = anndata.AnnData(fake.X, obs=fake.obs, var=fake.var)
    for name, layer in fake.layers.items():
        data.layers[name] = layer
    if fake.raw is not None:
        data.raw = anndata.AnnData(fake.raw.X, var=pd.DataFrame(index=fake.raw.var_names))
    return data


def real_modalities(parts, names, **obs):
    mudata = pytest.importorskip("mudata", reason="mudata is not installed")
    data = mudata.MuData(parts)
    for name, column in obs.items():
        data.obs[name] = column
    return data


MAKE = pytest.mark.parametrize(
    ("cells", "modalities"), [(Cells, Modalities), (real_cells, real_modalities)],
    ids=["like", "real"],
)  # fmt: skip


@pytest.fixture
def said(caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("discan"), "propagate", True)
    caplog.set_level(logging.INFO, "discan")
    return lambda: caplog.text


@MAKE
def test_fit_and_write_back(cells, modalities):
    data = cells(sparse.csr_matrix(COUNTS), type=["T", "B"] * 10, depth=np.arange(20.0))
    assert is_annotated(data)
    estimator = discan.LDA(3, random_state=0, max_iter=10).fit(data)
    plain = discan.LDA(3, random_state=0, max_iter=10).fit(COUNTS)
    np.testing.assert_array_equal(estimator.components_, plain.components_)
    fit = estimator.fit_
    assert fit.layout.word_names == tuple(GENES)
    assert fit.document_names == tuple(CELL_NAMES)
    assert fit.metadata["type"][:2].tolist() == ["T", "B"]
    assert fit.metadata["depth"].tolist() == list(range(20))
    assert fit.nouns == CELLS
    assert estimator.annotate(data) is data
    np.testing.assert_array_equal(data.obsm["X_discan"], estimator.transform(data))
    np.testing.assert_allclose(data.varm["discan"], estimator.components_.T)
    assert data.uns["discan"]["model"] == "dirichlet-multinomial"
    assert len(data.uns["discan"]["names"]) == 3
    estimator.annotate(data, key="topics")
    assert "X_topics" in data.obsm
    assert "topics" in data.varm


@MAKE
def test_new_cells_are_matched_by_gene(cells, modalities, said):
    estimator = discan.LDA(2, random_state=0, max_iter=10).fit(cells(COUNTS))
    order = [3, 0, 5]
    few = cells(COUNTS[:4][:, order], [GENES[j] for j in order], CELL_NAMES[:4])
    expected = np.zeros((4, 8))
    expected[:, order] = COUNTS[:4][:, order]
    np.testing.assert_array_equal(estimator.transform(few), estimator.transform(expected))
    other = cells(COUNTS[:4][:, :4], [*GENES[:3], "unheard"], CELL_NAMES[:4])
    estimator.annotate(other)
    assert np.isnan(other.varm["discan"][3]).all()
    assert not np.isnan(other.varm["discan"][:3]).any()
    assert "genes that the model never saw, and are ignored, e.g. 'unheard'" in said()
    with pytest.raises(InputError, match="right model"):
        estimator.transform(cells(COUNTS[:4][:, :2], ["x", "y"], CELL_NAMES[:4]))


@MAKE
def test_raw_counts_are_found(cells, modalities, said):
    logs = np.log1p(COUNTS)
    expected = discan.LDA(2, random_state=0, max_iter=5).fit(COUNTS).components_
    layered = cells(logs, layers={"counts": COUNTS})
    estimator = discan.LDA(2, random_state=0, max_iter=5).fit(layered)
    np.testing.assert_array_equal(estimator.components_, expected)
    assert "X holds no whole counts, so layers['counts'] is read" in said()
    few = cells(logs[:, :3], GENES[:3], raw=Raw(COUNTS, pd.Index(GENES)))
    found = discan.LDA(2, random_state=0, max_iter=5).fit(few)
    np.testing.assert_array_equal(found.components_, expected)
    assert "so raw.X is read" in said()
    # new cells are taken from the same place
    mixed = cells(COUNTS, layers={"counts": COUNTS[::-1].copy()})
    np.testing.assert_array_equal(estimator.transform(mixed), estimator.transform(COUNTS[::-1]))
    assert discan.read(layered, layer="X").integral is False
    with pytest.raises(InputError, match="no layers"):
        discan.read(layered, layer="nosuch")
    with pytest.raises(InputError, match="no option 'colour'"):
        discan.read(layered, colour=1)
    discan.read(cells(logs))
    assert "holds fractions, so it may be normalised" in said()


@MAKE
def test_modalities_are_groups(cells, modalities):
    proteins = RNG.poisson(2.0, (12, 3)).astype(np.float32)
    parts = {
        "rna": cells(COUNTS),
        "prot": cells(proteins, ["P0", "P1", "P2"], CELL_NAMES[4:16]),
    }
    data = modalities(parts, CELL_NAMES, donor=["d1", "d2"] * 10)
    corpus = discan.read(data)
    assert corpus.layout.group_names == ("rna", "prot")
    assert corpus.layout.word_names == (*GENES, "P0", "P1", "P2")
    assert corpus.shape == (20, 11)
    assert corpus.exposures[:, 1].tolist() == [0] * 4 + [1] * 12 + [0] * 4
    assert np.array_equal(corpus.to_csr().toarray()[4:16, 8:], proteins)
    assert corpus.metadata["donor"][:2].tolist() == ["d1", "d2"]
    assert corpus.nouns == Nouns("cell", "feature", "component")
    estimator = discan.GaP(2, random_state=0, max_iter=10).fit(data)
    estimator.annotate(data)
    assert data.obsm["X_discan"].shape == (20, 2)
    np.testing.assert_allclose(data.varm["discan"], estimator.components_.T)
    np.testing.assert_allclose(data.mod["prot"].varm["discan"], estimator.components_.T[8:])


def test_names_of_two_modalities_that_are_the_same():
    parts = {"a": Cells(COUNTS), "b": Cells(COUNTS)}
    corpus = discan.read(Modalities(parts, CELL_NAMES))
    assert corpus.layout.word_names[:2] == ("a:G0", "a:G1")
    assert corpus.layout.word_names[-1] == "b:G7"


def test_names_of_genes_that_repeat(said):
    assert unique_names(["A", "B", "A", "A", "A-1"]) == ["A", "B", "A-2", "A-3", "A-1"]
    assert said() == ""
    genes = [*GENES[:7], "G0"]
    data = Cells(COUNTS, genes)
    estimator = discan.LDA(2, random_state=0, max_iter=5).fit(data)
    assert estimator.fit_.layout.word_names[-1] == "G0-1"
    assert "names of genes that repeat (1) were made unique, e.g. 'G0-1'" in said()
    estimator.annotate(data)
    np.testing.assert_allclose(data.varm["discan"], estimator.components_.T)


def test_only_cells_can_be_annotated():
    estimator = discan.LDA(2, max_iter=2).fit(COUNTS)
    with pytest.raises(InputError, match="no AnnData"):
        estimator.annotate(COUNTS)


def test_groups_can_be_given():
    estimator = discan.LDA(2, groups=[0, 0, 0, 0, 1, 1, 1, 1], max_iter=2).fit(Cells(COUNTS))
    assert estimator.fit_.layout.n_groups == 2
    assert estimator.transform(Cells(COUNTS)).shape == (20, 2)
