# SPDX-License-Identifier: BSD-3-Clause
"""Model files: the same bits after a round trip, and no damage goes unnoticed."""

import os
import struct
from pathlib import Path

import numpy as np
import pytest
from golden_files import check_model

import discan
from discan.data.nouns import Nouns
from discan.data.storage import FORMAT, read_file, write_file
from discan.errors import DiscanError, InputError, ModelFileError, StorageError
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
    estimator, path = fitted
    before = path.read_bytes()

    def fail(*args, **kwargs):
        raise OSError(28, "No space left on device")

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

    def die(*args):
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "unlink", lambda path: None)
        patch.setattr(os, "replace", die)
        with pytest.raises(KeyboardInterrupt):
            estimator.save(path)
    assert len(list(path.parent.iterdir())) == 2
    estimator.save(path)
    assert list(path.parent.iterdir()) == [path]


GOLDEN = Path(__file__).parents[1] / "golden" / "models"


@pytest.mark.parametrize("name", sorted(p.stem for p in GOLDEN.glob("*.discan")) or ["missing"])
def test_models_of_every_release_load_for_ever(name):
    """Files written by each release, with the answers they gave, are kept and must load."""
    check_model(GOLDEN / name)


# ---- content that is wrong behind right checksums; tests/resigned.py makes thousands more ----


def put(at, value):
    """Change of an array: one element becomes ``value``."""

    def change(array):
        array = array.copy()
        array[at] = value
        return array

    return change


# Change of a file: the array and what becomes of it, and a piece of the message.
WRONG_ARRAYS = {
    "inference loadings of one row": ("inference_loadings", lambda a: a[:1], "shape"),
    "loadings of one row": ("loadings", lambda a: a[:1], "shape"),
    "not a number": ("loadings", put((0, 0), np.nan), "loadings holds nan"),
    "infinite": ("inference_loadings", put((2, 1), np.inf), "holds inf"),
    "negative": ("loadings", put((0, 0), -0.5), "holds -0.5"),
    "sums of 2": ("loadings", lambda a: np.minimum(2 * a, 1.0), "sum to 1"),
    "whole numbers": ("loadings", lambda a: a.astype(np.int64), "type int64"),
    "gamma too long": ("gamma", lambda a: np.append(a, 1.0), "gamma has shape"),
    "gamma of 0": ("gamma", np.zeros_like, "gamma"),
    "negative group": ("group_of_word", put(0, -1), "group_of_word holds -1"),
    "group that owns no word": ("group_of_word", put(0, 2**31 - 1), "owns no word"),
    "groups of 64 bits": ("group_of_word", lambda a: a.astype(np.int64) + 2**31, "type int64"),
    "no words": ("group_of_word", lambda a: a[:0], "no words"),
    "alpha of one row": ("model.alpha", lambda a: a[None], "model.alpha has shape"),
    "negative alpha": ("model.alpha", put(0, -1.0), "holds -1"),
    "no components": ("model.alpha", lambda a: a[:0], "no components"),
    "scores of fewer components": ("scores_", lambda a: a[:, :2].copy(), "scores_ has shape"),
    "scores that do not sum to 1": ("scores_", put((0, 0), 5.0), "do not sum to 1"),
    "counts below 0": ("component_counts_", put((0, 0), -1.0), "component_counts_ holds -1"),
    "trace with other columns": ("trace", lambda a: a[:, :2].copy(), "trace has shape"),
    "trace that is not a number": ("trace", put((0, 1), np.nan), "trace holds nan"),
    "missing": ("gamma", lambda a: None, "gamma is missing"),
    "counts missing": ("component_counts_", lambda a: None, "component_counts_ is missing"),
}


def resign(path, change):
    """Write a file again with right checksums, after ``change(header, arrays)``."""
    header, arrays = read_file(path, "model")
    change(header, arrays)
    arrays = {name: value for name, value in arrays.items() if value is not None}
    kept = {key: header[key] for key in header if key not in ("format", "kind", "library")}
    write_file(path, "model", kept, arrays)


def assert_refused(path, *pieces):
    with pytest.raises(ModelFileError) as caught:
        discan.load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    assert all(piece in message for piece in pieces), message


@pytest.mark.parametrize("case", WRONG_ARRAYS)
def test_wrong_arrays_are_refused(fitted, case):
    name, change, piece = WRONG_ARRAYS[case]
    _, path = fitted
    resign(path, lambda header, arrays: arrays.update({name: change(arrays[name])}))
    assert_refused(path, piece)


def within(*keys):
    """Change of a header: the value at these keys."""

    def change(header, value):
        for key in keys[:-1]:
            header = header[key]
        header[keys[-1]] = value

    return change


WRONG_HEADERS = {
    "seed": (within("attributes", "settings_", "seed"), 2**64, "seed"),
    "no seed": (within("attributes", "settings_"), {}, "seed"),
    "cycles": (within("attributes", "n_iter_"), -1, "n_iter_ holds -1"),
    "reason": (within("attributes", "stop_reason_"), ["x"], "stop_reason_"),
    "unknown attribute": (within("attributes", "x"), 1, "unknown attribute 'x'"),
    "no attributes": (within("attributes"), [], "attributes"),
    "temperature": (within("tau"), 0, "tau holds 0"),
    "symmetry": (within("symmetric"), "yes", "symmetric"),
    "model": (within("model"), "nothing", "nothing"),
    "model without its hyperparameters": (within("model"), "gamma-poisson", "model.beta"),
    "algorithm": (within("algorithm"), {"object": "nothing", "fields": {}}, "nothing"),
    "algorithm that is a list": (within("algorithm"), {"list": ["map"]}, "algorithm"),
    "algorithm that refuses": (
        within("algorithm"), {"object": "maximum-likelihood", "fields": {}}, "zeros",
    ),
    "words": (within("word_names"), ["a"], "word_names has 1"),
    "words that are no text": (within("word_names"), [1] * 12, "word_names"),
    "documents": (within("document_names"), ["a"], "document_names"),
    "class": (within("class"), "Popen", "unknown class"),
    "components": (within("settings", "n_components"), 7, "n_components"),
    "threads": (within("settings", "n_jobs"), 10**9, "n_jobs"),
    "groups": (within("settings", "groups"), {"list": ["a"] * 12}, "groups"),
    "settings": (within("settings"), [], "settings"),
    "setting": (within("settings", "tol"), {"x": 1}, "setting"),
    "checkpoint": (within("settings", "checkpoint"), "/tmp/elsewhere", "may not set 'checkpoint'"),
    "callback": (within("settings", "callback"), "print", "may not set 'callback'"),
    "nouns": (within("nouns"), ["a", "b"], "nouns has 2"),
    "reading": (within("reading"), "x", "reading"),
    "metadata of other documents": (
        within("metadata"), [{"name": "a", "values": ["x"]}], "1 values for 25 documents",
    ),
    "metadata that are no text": (
        within("metadata"), [{"name": "a", "values": [1] * 25}], "not a list of texts",
    ),
    "metadata without a name": (within("metadata"), [{"name": 3, "values": []}], "not a name"),
    "metadata that are no numbers": (
        within("metadata"), [{"name": "a", "array": "gamma"}], "one number per document",
    ),
    "settings of the fit": (within("attributes", "settings_"), [], "settings_"),
    "learnt": (within("attributes", "settings_", "learnt"), ["x"], "learnt is"),
    "learnt nothing": (within("attributes", "settings_", "learnt"), 0, "learnt is not a list"),
    "learnt words": (within("attributes", "settings_", "learnt"), "gamma", "learnt is not a list"),
    "no cycles": (within("attributes", "n_iter_"), None, "the length of the trace"),
    "other cycles": (within("attributes", "n_iter_"), 2**40, "the length of the trace"),
    "too many draws": (within("attributes", "settings_", "draws"), 9, "9 draws of 5 cycles"),
    "chains": (within("attributes", "settings_", "chains"), [], "chains is []"),
    "batches": (within("attributes", "settings_", "documents"), "x", "documents is 'x'"),
    "schedule": (within("attributes", "settings_", "schedule"), 1, "schedule is 1"),
    "names of components": (within("component_names"), ["a"], "names of the components"),
    "names that are no text": (within("component_names"), [1, 2, 3], "names of the components"),
    "huge number of cycles": (within("attributes", "n_iter_"), 2**70, "n_iter_ is"),
    "outer class": (within("outer"), {"class": "x", "settings": {}, "facts": {}}, "invalid"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG_HEADERS)
def test_wrong_headers_are_refused(fitted, case):
    change, value, piece = WRONG_HEADERS[case]
    _, path = fitted
    resign(path, lambda header, arrays: change(header, value))
    assert_refused(path, piece)


@pytest.mark.parametrize(("name", "value"), [("burn_in", None), ("burn_in", 4), ("thin", 2**40)])
def test_draws_are_those_of_the_cycles(tmp_path, name, value):
    path = tmp_path / "model.discan"
    discan.LDA(3, algorithm=discan.Collapsed(2, 4), random_state=0).fit(W).save(path)
    change = within("attributes", "settings_", name)
    resign(path, lambda header, arrays: change(header, value))
    assert_refused(path, "4 draws of 6 cycles")


def test_settings_that_are_null_are_left_out(fitted):
    estimator, path = fitted
    change = within("attributes", "settings_", "tokens")
    resign(path, lambda header, arrays: change(header, None))
    loaded = discan.load(path)
    assert loaded.settings_.keys() == estimator.settings_.keys() - {"tokens"}
    loaded.fit_.verdict()  # reads the number of tokens, if it is there


def test_a_symmetric_gamma_is_one_number(tmp_path):
    path = tmp_path / "m.discan"
    discan.LDA(2, random_state=0, max_iter=2).fit(W).save(path)
    resign(path, lambda header, arrays: arrays.update(gamma=np.linspace(0.1, 1, 12)))
    assert_refused(path, "same for all words")


@pytest.mark.parametrize(
    ("name", "value", "piece"),
    [
        ("classes_dtype", "<U100000000", None),  # no memory is taken at its word
        ("classes_dtype", "V8", "classes of type"),
        ("classes", {"list": ["b", "a"]}, "not in order"),
        ("classes", {"list": ["a", "b", "c"]}, "last group"),
        ("exposure", -1.0, "exposure"),
        ("feature_names", {"list": ["a"]}, "feature_names"),
    ],
)
def test_a_classifier_is_checked(tmp_path, name, value, piece):
    path = tmp_path / "c.discan"
    labels = np.where(W[:, 0] > 0, "a", "b")
    discan.DCAClassifier(2, random_state=0, max_iter=2).fit(W, labels).save(path)
    resign(path, lambda header, arrays: header["outer"]["facts"].update({name: value}))
    if piece is None:
        assert discan.load(path).classes_.itemsize == 4
    else:
        assert_refused(path, piece)


def test_features_are_checked(tmp_path):
    path = tmp_path / "f.discan"
    discan.DCAFeatures(2, random_state=0, max_iter=2).fit(W).save(path)
    resign(path, lambda header, arrays: arrays.update({"outer.idf": np.ones(3)}))
    assert_refused(path, "idf has shape (3,)")


# ---- writing ----


def test_the_same_model_gives_the_same_bytes(fitted, tmp_path):
    estimator, path = fitted
    for _ in range(5):
        estimator.save(tmp_path / "again.discan")
        assert (tmp_path / "again.discan").read_bytes() == path.read_bytes()
    discan.load(path).save(tmp_path / "loaded.discan")
    assert (tmp_path / "loaded.discan").read_bytes() == path.read_bytes()


def test_an_objective_of_minus_infinity_survives(tmp_path):
    """A word that no given component has is impossible: so says the objective, for ever."""
    components = np.eye(3, 12) + 0.0
    options = {"algorithm": "ml", "init": components, "max_iter": 3, "random_state": 0}
    estimator = discan.DCA(3, model="gp", **options, checkpoint=tmp_path / "run").fit(W)
    assert estimator.trace_["objective"][0] == -np.inf
    estimator.save(tmp_path / "m.discan")
    loaded = discan.load(tmp_path / "m.discan")
    np.testing.assert_array_equal(loaded.trace_["objective"], estimator.trace_["objective"])
    resumed = discan.resume(tmp_path / "run")
    np.testing.assert_array_equal(resumed.components_, estimator.components_)


@pytest.mark.parametrize(
    ("name", "piece"), [("", "is empty"), ("a\0b", "not a file name"), ("\ud800", "file name")]
)
def test_names_that_no_file_has(fitted, name, piece):
    estimator, _ = fitted
    with pytest.raises(DiscanError, match=piece) as caught:
        estimator.save(name)
    assert "\n" not in str(caught.value)
    with pytest.raises(DiscanError):
        discan.load(name)


def test_a_name_that_is_too_long(fitted, tmp_path):
    estimator, _ = fitted
    with pytest.raises(StorageError, match="too long"):
        estimator.save(tmp_path / ("a" * 300))
    with pytest.raises(StorageError, match="too long"):
        discan.load(tmp_path / ("a" * 300))
    estimator.save(tmp_path / ("a" * 255))  # the longest that there is


def test_what_is_no_path(fitted):
    estimator, path = fitted
    with pytest.raises(InputError, match="is not a file name"):
        estimator.save(3)
    with pytest.raises(InputError, match="is not a file name"):
        discan.load(3)
    discan.load(os.fsencode(path))


def test_numbers_of_any_kind_are_kept(tmp_path):
    """A number in an array of its own, and numbers with the highest byte first."""
    estimator = discan.LDA(
        2, alpha=np.array(0.3), gamma=np.linspace(0.1, 1, 12).astype(">f8"), max_iter=2
    ).fit(W)
    estimator.save(tmp_path / "m.discan")
    loaded = discan.load(tmp_path / "m.discan")
    assert loaded.alpha.shape == ()
    np.testing.assert_array_equal(loaded.gamma, estimator.gamma)
    loaded.fit(W)
    whole = discan.LDA(np.int64(2), alpha=np.float32(0.5), max_iter=np.int64(2)).fit(W)
    whole.save(tmp_path / "n.discan")
    again = discan.load(tmp_path / "n.discan")
    assert (again.n_components, again.alpha, again.max_iter) == (2, 0.5, 2)


def test_groups_by_name_are_kept(tmp_path):
    names = np.array(["x", "y"] * 6)
    estimator = discan.MPCA(2, groups=names, random_state=0, max_iter=2).fit(W)
    estimator.save(tmp_path / "m.discan")
    again = discan.load(tmp_path / "m.discan")
    assert list(again.groups) == list(names)
    np.testing.assert_array_equal(again.transform(W), estimator.transform(W))


def test_an_algorithm_that_cannot_fit_the_model_is_refused(tmp_path):
    path = tmp_path / "m.discan"
    estimator = discan.DCA(2, model="cgp", algorithm="variational", random_state=0, max_iter=2)
    estimator.fit(W).save(path)
    other = {"object": "maximum-a-posteriori", "fields": {}}
    resign(path, lambda header, arrays: header.update(algorithm=other))
    assert_refused(path, "atom at zero")
