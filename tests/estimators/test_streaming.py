# SPDX-License-Identifier: BSD-3-Clause
"""partial_fit: one online round per batch, the same bits for the same batches."""

import pickle

import numpy as np
import pytest
from scipy import sparse

import discan
from discan import DCA, Corpus
from discan.algorithms import MAP, Collapsed, MaximumLikelihood

K, J = 4, 120


def documents(n, seed):
    """Counts with four components."""
    rng = np.random.default_rng(seed)
    loadings = np.random.default_rng(0).dirichlet(np.full(J, 0.05), K)
    shares = rng.dirichlet(np.full(K, 0.2), n)
    return np.array([rng.multinomial(50, p) for p in shares @ loadings])


@pytest.fixture(scope="module")
def batches():
    return np.array_split(documents(600, 1), 10)


def streamed(batches, total=None, **settings):
    estimator = DCA(K, random_state=0, **settings)
    for batch in batches:
        estimator.partial_fit(batch, total_documents=total)
    return estimator


CELLS = [
    *((algorithm, model) for algorithm in ("cvb0", "map", "ml") for model in ("dm", "gp")),
    *(("variational", model) for model in ("dm", "gp", "cgp")),
]


@pytest.mark.parametrize(("algorithm", "model"), CELLS)
def test_a_stream_is_nearly_as_good_as_a_fit_and_has_the_same_bits_again(batches, algorithm, model):
    settings = {"algorithm": algorithm, "model": model}
    one = streamed(batches, 600, **settings)
    other = streamed([sparse.csr_matrix(batch) for batch in batches], 600, n_jobs=3, **settings)
    np.testing.assert_array_equal(one.components_, other.components_)
    assert one.n_iter_ == 10
    assert (one.settings_["batches"], one.settings_["documents"]) == (10, 600)
    assert len(one.trace_["objective"]) == 10
    new = documents(200, 2)
    whole = DCA(K, random_state=0, learn=(), **settings).fit(np.vstack(batches))
    assert one.score(new) > whole.score(new) - 0.05
    assert one.score(new) > one.fit_.unigram_score(Corpus(new)) + 0.5


def test_the_number_of_documents_may_be_unknown(batches):
    new = documents(200, 2)
    unknown, known = streamed(batches, algorithm="cvb0"), streamed(batches, 600, algorithm="cvb0")
    assert unknown.score(new) == pytest.approx(known.score(new), abs=0.05)
    stream, _ = unknown._stream
    assert stream.total == 600


@pytest.mark.parametrize("visits", [1, 3])
@pytest.mark.parametrize("total", [None, 600, 5000])
def test_weights_and_scale_of_the_counts(batches, total, visits):
    """Counts stand for all documents; batch t has weight (delay + t)^-decay."""
    algorithm = MAP(delay=2.0, decay=0.9, visits=visits)
    estimator = DCA(K, algorithm=algorithm, random_state=0)
    for number, batch in enumerate(batches[:4]):
        before, _ = estimator.__dict__.get("_stream", (None, None))
        estimator.partial_fit(batch, total_documents=total)
        stream, _ = estimator._stream
        n = total or 60 * (number + 1)
        if before is None:  # the start has the counts of the first batch
            expected = batch.sum() * n / 60
        else:
            weight = (2.0 + number + 1) ** -0.9
            kept = before.counts.sum() * (n / before.total)
            expected = weight * batch.sum() * n / 60 + (1.0 - weight) * kept
        assert stream.counts.sum() == pytest.approx(expected, rel=1e-9)


def test_components_keep_their_order(batches):
    estimator = streamed(batches[:5], algorithm="map")
    before = estimator.components_
    after = estimator.partial_fit(batches[5]).components_
    assert (np.argmax(before @ after.T, axis=1) == np.arange(K)).all()


@pytest.mark.parametrize("algorithm", ["cvb0", "map", "ml", "variational"])
def test_a_saved_stream_continues_with_the_same_bits(batches, algorithm, tmp_path):
    estimator = streamed(batches[:3], 600, algorithm=algorithm)
    estimator.save(tmp_path / "m.discan")
    copies = [discan.load(tmp_path / "m.discan"), pickle.loads(pickle.dumps(estimator))]
    estimator.partial_fit(batches[3], total_documents=600)
    for copy in copies:
        copy.partial_fit(batches[3], total_documents=600)
        np.testing.assert_array_equal(copy.components_, estimator.components_)
        assert copy.n_iter_ == 4
        assert len(copy.trace_["seconds"]) == 4


def test_a_stream_in_a_file_is_checked(batches, tmp_path):
    from discan.data.storage import HEAD, read_file, write_file

    estimator = streamed(batches[:2], algorithm="map")
    estimator.save(tmp_path / "m.discan")
    header, arrays = read_file(tmp_path / "m.discan", "model")
    kept = {name: value for name, value in header.items() if name not in HEAD}

    def written(**changes):
        stream = {**kept["stream"], **changes.pop("numbers", {})}
        write_file(tmp_path / "b.discan", "model", {**kept, "stream": stream}, arrays | changes)
        return tmp_path / "b.discan"

    assert discan.load(written()).n_iter_ == 2
    counts = arrays["stream.counts"]
    for changes in (
        {"stream.counts": counts[1:]}, {"stream.counts": -counts},
        {"stream.counts": counts * np.nan},
        {"numbers": {"total": 0}}, {"numbers": {"batches": "many"}},
    ):  # fmt: skip
        with pytest.raises(discan.errors.ModelFileError):
            discan.load(written(**changes))


def test_fit_forgets_the_stream_and_a_stream_continues_a_fit(batches):
    whole = np.vstack(batches)
    estimator = streamed(batches[:2], algorithm="cvb0").fit(whole)
    fresh = DCA(K, algorithm="cvb0", random_state=0).fit(whole)
    np.testing.assert_array_equal(estimator.components_, fresh.components_)
    before, new = fresh.components_, documents(200, 2)
    score = fresh.score(new)
    fresh.partial_fit(documents(60, 3))
    assert (np.argmax(before @ fresh.components_.T, axis=1) == np.arange(K)).all()
    assert fresh.score(new) > score - 0.01  # sixty documents do not wipe out six hundred
    np.testing.assert_array_equal(fresh.gamma_, estimator.gamma_)
    stream, _ = fresh._stream
    assert (stream.batches, stream.documents) == (11, 660)


def test_the_default_algorithm_streams_after_any_fit(batches):
    estimator = DCA(K, random_state=0, max_iter=20).fit(np.vstack(batches))
    assert estimator.settings_["algorithm"] == "collapsed"
    alpha = estimator.alpha_
    estimator.partial_fit(batches[0])
    assert estimator.settings_["algorithm"] == "collapsed-variational"
    np.testing.assert_array_equal(estimator.alpha_, alpha)
    conditional = DCA(K, model="cgp", random_state=0).partial_fit(batches[0])
    assert conditional.settings_["algorithm"] == "variational"


def test_a_failed_batch_changes_nothing(batches):
    estimator = streamed(batches[:3], algorithm="cvb0")
    before = estimator.components_.copy()
    stream, _ = estimator._stream
    counts = stream.counts.copy()
    with pytest.raises(ValueError, match="features"):
        estimator.partial_fit(batches[3][:, 1:])
    with pytest.raises(ValueError, match=r"nan|NaN|finite|infinite"):
        estimator.partial_fit(np.full((2, J), np.nan))
    np.testing.assert_array_equal(estimator.components_, before)
    assert estimator._stream[0] is stream
    np.testing.assert_array_equal(stream.counts, counts)


def test_groups_exposures_weights_and_names(batches):
    names = [f"w{j}" for j in range(J)]
    groups = np.arange(J) % 2
    order = np.random.default_rng(0).permutation(J)
    by_name = DCA(K, algorithm="cvb0", random_state=0, init="random")
    plain = DCA(K, algorithm="cvb0", random_state=0, init="random")
    for n, batch in enumerate(batches[:3]):
        plain.partial_fit(Corpus(batch, groups=groups, word_names=names))
        columns = order if n else np.arange(J)
        shuffled = [names[j] for j in columns]
        by_name.partial_fit(Corpus(batch[:, columns], groups=groups[columns], word_names=shuffled))
    np.testing.assert_array_equal(plain.components_, by_name.components_)
    weighted = DCA(K, algorithm="cvb0", random_state=0).partial_fit(
        batches[0], sample_weight=np.full(60, 2.0)
    )
    doubled = DCA(K, algorithm="cvb0", random_state=0).partial_fit(2 * batches[0])
    np.testing.assert_allclose(weighted.components_, doubled.components_, rtol=1e-12)
    exposed = DCA(K, model="gp", algorithm="map", random_state=0)
    for n, batch in enumerate(batches[:2]):
        exposures = np.full((60, 1), 1.0 + n)
        exposed.partial_fit(Corpus(batch, exposures=exposures))
    assert np.isfinite(exposed.components_).all()


def test_batches_without_documents_or_counts(batches):
    estimator = streamed(batches[:2], algorithm="cvb0")
    with pytest.raises(ValueError, match="no documents"):
        estimator.partial_fit(Corpus(batches[2]).select(np.zeros(60, dtype=bool)))
    estimator.partial_fit(np.zeros((3, J)))
    assert np.isfinite(estimator.components_).all()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"algorithm": "collapsed"}, "a sampler draws .* all documents.*cvb0"),
        ({"algorithm": "gibbs"}, "a sampler"),
        ({"algorithm": Collapsed(burn_in=3)}, "a sampler"),
        ({"algorithm": "map", "n_chains": 2}, "one chain"),
        ({"algorithm": "variational", "learn": ("alpha",)}, "learns no hyperparameters"),
        ({"algorithm": "map", "checkpoint": "run"}, "save"),
        ({"algorithm": MaximumLikelihood(tau="auto")}, "tau"),
    ],
)
def test_refusals(batches, settings, said):
    with pytest.raises(discan.errors.InputError, match=said):
        DCA(K, random_state=0, **settings).partial_fit(batches[0])


def test_totals_and_settings_must_make_sense(batches):
    with pytest.raises(discan.errors.InputError, match="less than the 60 documents"):
        DCA(K, algorithm="map").partial_fit(batches[0], total_documents=59)
    with pytest.raises(discan.errors.InputError, match="total_documents"):
        DCA(K, algorithm="map").partial_fit(batches[0], total_documents=0.5)
    estimator = DCA(K, algorithm="map", alpha=0.3).partial_fit(batches[0])
    estimator.set_params(n_jobs=2).partial_fit(batches[1])
    with pytest.raises(discan.errors.InputError, match="settings have changed"):
        estimator.set_params(alpha=0.2).partial_fit(batches[2])


def test_presets_stream_too(batches):
    nmf = discan.NMF(K, random_state=0)
    for batch in batches:
        nmf.partial_fit(batch)
    assert nmf.settings_["algorithm"] == "maximum-likelihood"
    np.testing.assert_allclose(nmf.components_.sum(axis=1), 1.0)
