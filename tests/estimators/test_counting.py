# SPDX-License-Identifier: BSD-3-Clause
"""The number of components is learnt: limits, results, files, checkpoints, refusals."""

import logging

import numpy as np
import pytest
from conftest import planted

import discan
from discan import Collapsed, Gibbs
from discan.data.storage import read_file, write_file
from discan.errors import InputError, ModelFileError
from discan.estimators.counting import upper_limit
from discan.readers.datasets import load_senate2005

TRUE = 4


def counts(seed=0, n_documents=120, n_words=60, length=60):
    rng = np.random.default_rng(seed)
    components, shares = planted(rng, (n_documents, n_words), TRUE, 0.1, 0.2)
    return rng.multinomial(length, shares @ components)


X = counts()


@pytest.fixture(scope="module")
def fitted():
    return discan.DCA("auto", random_state=0).fit(X)


def test_the_planted_number_is_found(fitted):
    low, high = fitted.n_used_interval_
    assert low <= TRUE <= high
    assert low <= fitted.n_used_ <= high <= TRUE + 4
    assert fitted.n_large_ == TRUE
    assert fitted.n_large_interval_[0] <= TRUE <= fitted.n_large_interval_[1]
    assert 0.05 < fitted.concentration_ < 5.0
    assert fitted.settings_["model"] == "dirichlet-process"


@pytest.mark.parametrize("model", ["gp", "cgp"])
def test_amounts_have_processes_too(model):
    estimator = discan.DCA("auto", model=model, random_state=0).fit(X)
    assert estimator.n_large_interval_[0] <= TRUE <= estimator.n_large_interval_[1]
    assert estimator.concentration_ > 0
    assert estimator.settings_["model"].endswith("gamma-process")


def test_unused_components_are_in_no_table(fitted):
    fit, n = fitted.fit_, len(fitted.components_)
    limit = upper_limit(discan.Corpus(X), "auto", None)
    assert n < limit
    assert len(fit.unused["alpha"]) == limit - n
    assert fitted.sizes_.shape == fitted.alpha_.shape == (n,)
    assert (np.diff(fitted.sizes_) <= 0).all()  # the largest first
    assert fitted.scores_.shape == fitted.component_counts_.shape == (len(X), n)
    np.testing.assert_allclose(fitted.scores_.sum(axis=1), 1.0)
    np.testing.assert_allclose(fitted.components_.sum(axis=1), 1.0)
    np.testing.assert_allclose(fitted.transform(X[:9]).sum(axis=1), 1.0)
    assert fitted.components_sd_.shape == fitted.components_.shape
    assert len(fit.summary()) == n
    assert len(fitted.component_names_) == n
    # tokens outside of the tables are those of components that few draws use
    assert fitted.component_counts_.sum() > 0.99 * X.sum()


def test_what_is_used_is_counted_in_all_components(fitted):
    """The posterior of the number of used components includes those in no table."""
    record = fitted.fit_.record
    assert (record.used >= (record.sizes > 0).sum(axis=1)).all()
    assert (record.used > (record.sizes > 0).sum(axis=1)).any()
    assert record.sizes.shape[1] == len(fitted.components_)
    # a component stays if it is used in half of the draws
    assert ((record.sizes > 0).mean(axis=0) >= 0.5).all()


def test_the_evidence_keeps_unused_components(fitted):
    whole = fitted.fit_.whole_model
    limit = upper_limit(discan.Corpus(X), "auto", None)
    assert len(whole.alpha) == limit
    assert whole.name == "dirichlet-multinomial"
    found = discan.log_evidence(X[:5], fit=fitted, method="bound", random_state=0)
    assert found.n_components == limit
    assert np.isfinite(found.value)


@pytest.mark.parametrize("algorithm", [Gibbs(20, 20), Collapsed(20, 20, schedule="blocked")])
def test_any_sampler_can_count(algorithm):
    estimator = discan.DCA("auto", algorithm=algorithm, random_state=1).fit(X)
    assert TRUE <= estimator.n_used_ <= TRUE + 6
    assert estimator.concentration_ > 0


def test_the_limit_is_said_and_can_be_given(caplog):
    with caplog.at_level(logging.INFO, "discan"):
        discan.DCA("auto", random_state=0, max_iter=20).fit(X)
    assert "at most 30 components are tried" in caplog.text
    assert "components are used (90 % interval" in caplog.text
    with caplog.at_level(logging.INFO, "discan"):
        discan.DCA("auto", max_components=1, random_state=0, max_iter=20).fit(X)
    assert "1 component is used (90 % interval 1 to 1); 1 has at least" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.INFO, "discan"):
        estimator = discan.DCA("auto", max_components=3, random_state=0, max_iter=20).fit(X)
    assert "are tried" not in caplog.text
    assert "the data use all of the 3 components that were allowed" in caplog.text
    assert len(estimator.components_) == estimator.n_used_ == 3


def test_the_limit_follows_from_the_data():
    def limit(n_documents, n_words, count):
        return upper_limit(discan.Corpus(np.full((n_documents, n_words), count)), "auto", None)

    assert limit(1000, 300, 1) == 250
    assert limit(800, 250, 1) == 200  # beyond, one for 1,000 tokens
    assert limit(1200, 300, 1) == 300
    assert limit(1200, 270, 1) == 270  # columns
    assert limit(5000, 1100, 1) == 1000
    assert limit(400, 300, 1) == 100  # one for 4 documents
    assert limit(400, 20, 1) == 20  # columns
    assert limit(400, 30, 1) == 30
    assert limit(200, 50, 1) == 50  # one for 200 tokens
    assert limit(20, 50, 1) == 10  # at least 10
    assert limit(6, 50, 1) == 6  # documents


def test_files_keep_the_count(fitted, tmp_path):
    path = tmp_path / "m.discan"
    fitted.save(path)
    loaded = discan.load(path)
    assert loaded.n_components == "auto"
    for name in ("n_used_", "n_used_interval_", "n_large_", "concentration_"):
        assert getattr(loaded, name) == getattr(fitted, name)
    np.testing.assert_array_equal(loaded.components_, fitted.components_)
    np.testing.assert_array_equal(loaded.transform(X[:7]), fitted.transform(X[:7]))
    np.testing.assert_array_equal(loaded.fit_.unused["alpha"], fitted.fit_.unused["alpha"])
    np.testing.assert_array_equal(loaded.fit_.record.used, fitted.fit_.record.used)
    described = loaded.fit_.describe()
    assert described["used components"] == fitted.n_used_
    assert described["most components"] == 30
    assert described["concentration"] == fitted.concentration_


@pytest.mark.parametrize(
    ("name", "change", "why"),
    [
        ("record.used", lambda used: np.zeros_like(used), "record.used is less than"),
        ("record.used", lambda used: used[:-1], "record.used has shape"),
        ("record.used", lambda used: used.astype(float), "record.used has type"),
        ("unused.alpha", lambda alpha: -alpha, "unused.alpha holds"),
        ("unused.concentration", lambda alpha: alpha[:-1], "unused.concentration has shape"),
    ],
)
def test_files_are_checked(fitted, tmp_path, name, change, why):
    path = tmp_path / "m.discan"
    fitted.save(path)
    header, arrays = read_file(path, "model")
    write_file(path, "model", header, arrays | {name: change(arrays[name])})
    with pytest.raises(ModelFileError, match=why):
        discan.load(path)


def test_a_run_is_resumed_with_the_same_bits(tmp_path):
    options = {"random_state": 3, "max_iter": 40}
    whole = discan.DCA("auto", **options).fit(X)
    discan.DCA(
        "auto", **options, checkpoint=tmp_path, checkpoint_every=5,
        callback=lambda run: run.cycle == 20,
    ).fit(X)  # fmt: skip
    resumed = discan.resume(tmp_path)
    assert resumed.n_iter_ == 40
    np.testing.assert_array_equal(resumed.components_, whole.components_)
    assert resumed.n_used_interval_ == whole.n_used_interval_
    np.testing.assert_array_equal(resumed.fit_.record.used, whole.fit_.record.used)


def test_threads_do_not_change_the_bits():
    one, two = (
        discan.DCA("auto", random_state=3, max_iter=30, n_jobs=n).fit(X) for n in (1, 2)
    )  # fmt: skip
    np.testing.assert_array_equal(one.components_, two.components_)


def test_several_chains(tmp_path):
    estimator = discan.DCA("auto", random_state=0, n_chains=2, max_iter=120).fit(X)
    assert estimator.chains_.n_chains == 2
    assert estimator.chains_.sizes.shape == (2, len(estimator.components_))
    estimator.save(tmp_path / "m.discan")
    assert discan.load(tmp_path / "m.discan").n_used_ == estimator.n_used_


def test_a_process_with_a_given_limit_keeps_all_components():
    estimator = discan.DCA(8, model="dmp", random_state=0, max_iter=60).fit(X)
    assert len(estimator.components_) == 8
    assert estimator.n_used_ <= 8
    assert estimator.fit_.unused == {}


def test_components_with_seeds_stay_and_the_others_are_counted(fitted, tmp_path):
    """Seeds from the first component; seeds that no document has; and a fixed component."""
    words = np.argsort(-fitted.components_[0])[:5].tolist()
    rare = int(np.argmin(X.sum(axis=0)))
    estimator = discan.DCA(
        "auto", seed_words={"first": words, "none": {rare: 500}},
        fixed_components={"second": fitted.components_[1]}, random_state=0,
    ).fit(X)  # fmt: skip
    names = estimator.component_names_
    assert {"first", "second", "none"} <= set(names)
    assert estimator.sizes_[names.index("none")] < 0.01  # it stays, empty or nearly so
    found = [fitted.components_ @ estimator.components_[names.index(n)] for n in names]
    assert [int(np.argmax(found[names.index(n)])) for n in ("first", "second")] == [0, 1]
    assert estimator.sizes_[names.index("first")] == pytest.approx(fitted.sizes_[0], rel=0.2)
    assert estimator.n_large_interval_[0] <= TRUE <= estimator.n_large_interval_[1]
    assert len(estimator.fit_.params.prior.seeds.words) >= 6
    estimator.save(tmp_path / "m.discan")
    loaded = discan.load(tmp_path / "m.discan")
    assert loaded.component_names_ == names
    np.testing.assert_array_equal(loaded.transform(X[:9]), estimator.transform(X[:9]))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"algorithm": "map"}, "gives every component a part of each token"),
        ({"algorithm": "ml"}, "algorithm='collapsed' or 'gibbs'"),
        ({"algorithm": "variational"}, "gives every component a part of each token"),
        ({"alpha": 0.1}, "learns alpha"),
        ({"init": np.ones((3, X.shape[1]))}, "n_components=3"),
        ({"max_components": 0}, "max_components=0"),
        ({"n_components": "many"}, "give a whole number or 'auto'"),
        ({"n_components": 5, "max_components": 9}, "max_components=9"),
    ],
)
def test_refusals(options, why):
    with pytest.raises(InputError, match=why):
        discan.DCA(**{"n_components": "auto", **options}).fit(X)


def test_fractions_cannot_be_counted():
    with pytest.raises(InputError, match="gives every component a part of each token"):
        discan.DCA("auto").fit(X * 0.5)


def test_other_fits_have_no_count():
    estimator = discan.DCA(3, algorithm="map", max_iter=3).fit(X)
    assert estimator.concentration_ is None
    with pytest.raises(AttributeError, match="counted in draws"):
        estimator.n_used_  # noqa: B018
    sampled = discan.DCA(3, algorithm=Collapsed(5, 10), random_state=0).fit(X)
    assert sampled.n_used_ == 3  # a flat fit has no more components than that


def test_merging_and_trees_of_a_counted_fit(fitted):
    tree = fitted.tree()
    merged = tree.merged(2)
    assert merged.n_components == 2
    assert merged.params.model.name == "dirichlet-process"


def test_the_start_joins_no_more_than_the_data_do():
    """Blocs of the Senate overlap; joined to two they would predict much worse."""
    corpus = load_senate2005().corpus
    fitted = discan.DCA("auto", random_state=1, max_iter=60).fit(corpus)
    assert 4 <= fitted.n_large_ <= 6
