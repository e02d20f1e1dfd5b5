# SPDX-License-Identifier: BSD-3-Clause
"""Model files: the same bits after a round trip, and no damage goes unnoticed."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest

import discan
from discan.data.nouns import Nouns
from discan.data.storage import FORMAT, write_file
from discan.errors import ModelFileError, StorageError
from discan.fitting.modelfile import load_fit

W = np.random.default_rng(0).poisson(0.8, (25, 12))
CELLS = [
    (model, algorithm)
    for model in ("dm", "gp", "cgp")
    for algorithm in ("ml", "map", "variational", "gibbs", "collapsed")
    if (model, algorithm) not in {("cgp", "ml"), ("cgp", "map")}
]


@pytest.fixture
def fitted(tmp_path):
    estimator = discan.LDA(3, random_state=0, max_iter=5, groups=np.arange(12) % 2)
    estimator.fit(discan.Corpus(W, groups=np.arange(12) % 2, word_names=list("abcdefghijkl")))
    path = tmp_path / "model.discan"
    estimator.save(path)
    return estimator, path


@pytest.mark.parametrize(("model", "algorithm"), CELLS)
def test_round_trip_gives_the_same_bits(tmp_path, model, algorithm):
    estimator = discan.DCA(3, model=model, algorithm=algorithm, random_state=1, max_iter=8).fit(W)
    estimator.save(tmp_path / "m.discan")
    loaded = discan.load(tmp_path / "m.discan")
    assert type(loaded) is discan.DCA
    np.testing.assert_array_equal(loaded.transform(W), estimator.transform(W))
    for name in ("components_", "component_counts_", "scores_", "proportions_", "alpha_", "gamma_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(estimator, name))
    np.testing.assert_array_equal(loaded.trace_["objective"], estimator.trace_["objective"])
    assert loaded.stop_reason_ == estimator.stop_reason_
    assert loaded.settings_ == estimator.settings_
    assert loaded.score(W) == estimator.score(W)


def test_names_groups_and_settings_survive(fitted):
    _estimator, path = fitted
    loaded = discan.load(path)
    assert type(loaded) is discan.LDA
    assert (loaded.fit_.metadata, loaded.fit_.nouns, loaded.fit_.reading) == ({}, Nouns(), {})
    assert loaded.fit_.layout.word_names == tuple("abcdefghijkl")
    assert loaded.get_params()["n_components"] == 3
    np.testing.assert_array_equal(loaded.groups, np.arange(12) % 2)
    assert list(loaded.components_frame().index) == list("abcdefghijkl")


def test_what_is_known_about_the_documents_survives(tmp_path):
    about = {
        "metadata": {"party": ["R", None] * 12 + ["D"], "age": np.arange(25.0)},
        "nouns": Nouns("senator", "vote", "bloc"),
        "reading": {"format": "categorical", "options": {"missing": ["NA"]}},
    }
    for estimator in (discan.LDA(2, max_iter=2), discan.DCAClassifier(2, max_iter=2)):
        estimator.fit(discan.Corpus(W, **about), np.arange(25) % 2)
        estimator.save(tmp_path / "m.discan")
        loaded = discan.load(tmp_path / "m.discan")
        for fitted in (estimator, loaded):
            fit = getattr(fitted, "dca_", fitted).fit_
            assert fit.metadata["party"].tolist() == about["metadata"]["party"]
            assert fit.metadata["age"].tolist() == list(range(25))
            assert fit.nouns == about["nouns"]
            assert fit.reading == about["reading"]


def test_a_fit_is_loaded_without_its_estimator(fitted, tmp_path):
    estimator, path = fitted
    fit, owner = load_fit(path)
    assert owner == "LDA"
    corpus = discan.Corpus(W, groups=np.arange(12) % 2)
    np.testing.assert_array_equal(fit.infer(corpus).scores, estimator.transform(corpus))
    assert fit.describe() == estimator.fit_.describe()
    discan.DCAClassifier(2, random_state=0).fit(W, np.arange(25) % 2).save(tmp_path / "c.discan")
    assert load_fit(tmp_path / "c.discan")[1] == "DCA"
    with pytest.raises(ModelFileError, match="no such file"):
        load_fit(tmp_path / "missing")


def test_options_of_algorithms_models_and_priors_survive(tmp_path):
    estimator = discan.DCA(
        2,
        model=discan.GammaPoisson(alpha=[0.3, 0.4], beta=0.2),
        algorithm=discan.Collapsed(burn_in=3, n_draws=2, schedule="exact"),
        hyperprior=discan.Hyperprior(alpha=(2.0, 3.0)),
        learn=("alpha",),
        random_state=5,
    ).fit(W)
    estimator.save(tmp_path / "m.discan")
    loaded = discan.load(tmp_path / "m.discan")
    assert loaded.algorithm == estimator.algorithm
    assert loaded.hyperprior == estimator.hyperprior
    assert loaded.learn == ("alpha",)
    np.testing.assert_array_equal(loaded.fit(W).components_, estimator.components_)


def test_a_folder_stands_for_the_file_inside(tmp_path, fitted):
    estimator, _ = fitted
    estimator.save(f"{tmp_path}/model/")
    assert (tmp_path / "model" / "model.discan").exists()
    np.testing.assert_array_equal(
        discan.load(tmp_path / "model").components_, estimator.components_
    )


def test_from_components_can_be_saved(tmp_path):
    estimator = discan.DCA.from_components(np.eye(3) + 0.1, model="gp", beta=1.0, random_state=0)
    estimator.save(tmp_path / "m.discan")
    X = np.arange(9).reshape(3, 3)
    loaded = discan.load(tmp_path / "m.discan")
    np.testing.assert_array_equal(loaded.transform(X), estimator.transform(X))


def test_every_truncation_is_noticed(fitted, tmp_path):
    _, path = fitted
    data = path.read_bytes()
    header = 8 + struct.unpack("<Q", data[:8])[0]
    places = [*range(0, header, 97), *np.linspace(header, len(data) - 1, 60).astype(int)]
    broken = tmp_path / "broken.discan"
    for size in places:
        broken.write_bytes(data[:size])
        with pytest.raises(ModelFileError) as caught:
            discan.load(broken)
        assert "\n" not in str(caught.value)


def test_every_flipped_bit_is_noticed(fitted, tmp_path):
    _, path = fitted
    data = bytearray(path.read_bytes())
    rng = np.random.default_rng(0)
    broken = tmp_path / "broken.discan"
    for _ in range(600):
        place, bit = int(rng.integers(len(data))), 1 << int(rng.integers(8))
        data[place] ^= bit
        broken.write_bytes(data)
        data[place] ^= bit
        with pytest.raises(ModelFileError):
            discan.load(broken)


def test_a_future_format_names_both_versions(tmp_path):
    write_file(tmp_path / "f.discan", "model", {"format": FORMAT + 1, "library": "9.9"}, {})
    with pytest.raises(ModelFileError, match=r"format 2, written by discan 9\.9.*upgrade"):
        discan.load(tmp_path / "f.discan")


def test_other_files_are_refused(tmp_path):
    text = tmp_path / "a.discan"
    text.write_text("hello")
    with pytest.raises(ModelFileError, match="is text, not a file of discan"):
        discan.load(text)
    with pytest.raises(ModelFileError, match="no such file"):
        discan.load(tmp_path / "none.discan")
    from safetensors.numpy import save_file

    save_file({"x": np.zeros(3)}, str(tmp_path / "other.discan"))
    with pytest.raises(ModelFileError, match=r"not one of discan's"):
        discan.load(tmp_path / "other.discan")


@pytest.mark.parametrize(
    "text",
    ['{"a": 1, "a": 2}', '{"a": NaN}', "[" * 100_000, '{"a": 1e400}', "9" * 10_000, "null", "{}"],
)
def test_strange_headers_are_refused(tmp_path, text):
    import hashlib

    from safetensors.numpy import save_file

    metadata = {"discan": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}
    save_file({"x": np.zeros(3)}, str(tmp_path / "x.discan"), metadata=metadata)
    with pytest.raises(ModelFileError):
        discan.load(tmp_path / "x.discan")


def test_nothing_is_unpickled(fitted, monkeypatch):
    import pickle

    def refuse(*args, **kwargs):
        raise AssertionError("pickle was used")

    monkeypatch.setattr(pickle, "Unpickler", refuse)
    monkeypatch.setattr(pickle, "loads", refuse)
    monkeypatch.setattr(pickle, "load", refuse)
    discan.load(fitted[1])


@pytest.mark.parametrize("fails", ["write", "fsync", "replace"])
def test_a_failed_save_leaves_the_old_file(fitted, monkeypatch, fails):
    import os

    estimator, path = fitted
    before = path.read_bytes()

    def fail(*args, **kwargs):
        raise OSError(28, "No space left on device")

    if fails == "write":
        monkeypatch.setattr("tempfile.mkstemp", fail)
    else:
        monkeypatch.setattr(os, fails, fail)
    with pytest.raises(StorageError, match="no space left"):
        estimator.save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_unwritable_places_are_said_so(fitted, tmp_path):
    estimator, _ = fitted
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError):
        estimator.save(tmp_path / "file" / "m.discan")


def test_leftovers_of_a_killed_save_are_swept(fitted):
    estimator, path = fitted
    left = path.parent / f".{path.name}.abc.tmp"
    left.write_bytes(b"half")
    estimator.save(path)
    assert not left.exists()


GOLDEN = Path(__file__).parents[1] / "golden" / "models"


@pytest.mark.parametrize("name", sorted(p.stem for p in GOLDEN.glob("*.discan")) or ["missing"])
def test_models_of_every_release_load_for_ever(name):
    """Files written by each release, with the answers they gave, are kept and must load."""
    loaded = discan.load(GOLDEN / f"{name}.discan")
    expected = json.loads((GOLDEN / f"{name}.json").read_text())
    X = np.array(expected["X"])
    np.testing.assert_allclose(loaded.transform(X), expected["transform"], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(loaded.components_, expected["components"], rtol=1e-12)
