# SPDX-License-Identifier: BSD-3-Clause
"""Several chains: the same bits on any number of threads, modes and stuck chains reported."""

import numpy as np
import pytest

import discan
from discan.data.storage import read_file, write_file
from discan.evaluation.chains import as_fits, chain_seeds, gathered
from discan.evaluation.comparison import compare

RNG = np.random.default_rng(0)
N_WORDS = 30


def clusters(n, lengths=60, n_documents=60, rng=RNG):
    """Documents of one of n kinds, each with words of its own."""
    components = np.full((n, N_WORDS), 1e-3)
    for k in range(n):
        components[k, k * N_WORDS // n : (k + 1) * N_WORDS // n] = 1.0
    components /= components.sum(axis=1, keepdims=True)
    return components, rng.multinomial(lengths, components[np.arange(n_documents) % n])


THREE, COUNTS = clusters(3)
SHORT = discan.Collapsed(burn_in=20, n_draws=20)


def lda(n, **options):
    options = {"algorithm": SHORT, "alpha": 0.1, "gamma": 0.1, "progress": False} | options
    return discan.LDA(n, random_state=0, **options)


@pytest.fixture(scope="module")
def four():
    return lda(3, n_chains=4, init=THREE).fit(COUNTS)


def test_seeds_follow_from_the_seed_by_number():
    seeds = chain_seeds(7, 4)
    assert seeds[0] == 7
    assert len(set(seeds)) == 4
    assert chain_seeds(7, 6)[:4] == seeds
    assert chain_seeds(8, 4)[1:] != seeds[1:]


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_the_bits_do_not_depend_on_the_threads(four, n_jobs):
    again = lda(3, n_chains=4, init=THREE, n_jobs=n_jobs).fit(COUNTS)
    np.testing.assert_array_equal(again.components_, four.components_)
    np.testing.assert_array_equal(again.scores_, four.scores_)
    np.testing.assert_array_equal(again.chains_.objective, four.chains_.objective)
    assert again.chains_.chosen == four.chains_.chosen


def test_the_first_chain_is_the_fit_with_one_chain():
    one = lda(3, init=THREE).fit(COUNTS)
    many = lda(3, n_chains=3, init=THREE).fit(COUNTS)
    np.testing.assert_array_equal(many.chains_.objective[0], one.trace_["objective"][-20:])
    assert many.settings_["seed"] == one.settings_["seed"] == 0
    assert one.chains_ is None


def test_chains_that_agree_say_so(four):
    chains = four.chains_
    assert chains.agree
    assert chains.report[0] == "all 4 chains agree"
    assert f"chain {chains.chosen + 1} is used: it predicts best" in chains.report[1]
    assert chains.stability.min() > 0.95
    np.testing.assert_allclose(np.diag(chains.similarity), 1)
    assert chains.similarity.min() > 0.9
    assert chains.components.shape == (4, 3, N_WORDS)
    np.testing.assert_allclose(chains.components[chains.chosen], four.components_, rtol=1e-6)
    assert four.quality()["stability"].min() > 0.95


def test_the_chain_that_predicts_best_is_used(four):
    chains = four.chains_
    assert chains.chosen == int(np.argmax(chains.value))
    assert chains.value[chains.chosen] == pytest.approx(four.score(COUNTS))


def test_two_modes_are_reported():
    """Three kinds of documents and two components: which kinds are together is left to chance."""
    _, counts = clusters(3, rng=np.random.default_rng(1))
    found = lda(2, n_chains=4, init="random").fit(counts).chains_
    assert not found.agree
    assert found.report[0].split(";")[0] in (
        "2 of 4 chains agree", "3 of 4 chains agree", "no two chains agree",
        f"chain {found.chosen + 1} agrees with none of the other 3",
    )  # fmt: skip
    assert found.report[0].count("chain ") >= 2
    assert found.stability.min() < 0.8


def stuck_fits():
    """Three chains in one mode; the second merges two components and splits the third."""
    merged = np.vstack([THREE[0] + THREE[1], THREE[2], THREE[2] + 1e-3 * RNG.random(N_WORDS)])
    still = discan.Collapsed(burn_in=0, n_draws=20)
    inits = [THREE, merged, THREE, THREE]
    return [
        discan.LDA(
            3, algorithm=still, alpha=0.01, gamma=0.01, init=init, random_state=seed,
            progress=False,
        ).fit(COUNTS).fit_
        for seed, init in enumerate(inits)
    ]  # fmt: skip


def test_a_stuck_chain_is_reported():
    found = gathered(stuck_fits(), discan.Corpus(COUNTS))
    names = found.component_names
    chains = found.chains
    assert not chains.agree
    assert chains.chosen != 1
    assert chains.report[0].startswith("3 of 4 chains agree; chain 2 merges ")
    assert sum(name in chains.report[0] for name in names) >= 2
    assert "the chains have not mixed" in chains.report[2]
    third = compare(found, as_fits(found)[1])
    assert third.merges
    assert third.splits


def test_disagreement_is_a_remark(caplog):
    with caplog.at_level("WARNING", logger="discan"):
        lda(2, n_chains=4, init="random").fit(clusters(3, rng=np.random.default_rng(1))[1])
    assert any("agree" in record.getMessage() for record in caplog.records)


def test_starts_of_algorithms_that_do_not_sample():
    fitted = lda(3, algorithm="map", n_chains=3).fit(COUNTS)
    chains = fitted.chains_
    assert chains.objective.shape == (3, 0)
    assert chains.records is None
    assert chains.chosen == int(np.argmax(chains.value))
    assert chains.value.max() == fitted.trace_.last("objective")
    assert "start" in chains.report[0]
    assert "highest objective" in chains.report[1]
    with pytest.raises(discan.InputError, match="no draws"):
        fitted.diagnostics()


def test_components_of_chains_are_matched():
    """Sizes of a component are alike in all chains, though the chains began in other orders."""
    fitted = lda(3, n_chains=4, init="map").fit(
        np.vstack([COUNTS, np.repeat(COUNTS[::3], 2, axis=0)])
    )
    chains = fitted.chains_
    alike = chains.similarity[chains.chosen] > 0.9
    assert alike.sum() >= 3  # one is stuck, and said to be
    assert np.ptp(chains.sizes[alike], axis=0).max() < 0.02
    assert chains.report[0].startswith("3 of 4 chains agree; chain 3 merges component 2 and")
    assert (np.diff(fitted.sizes_) <= 0).all()


def test_diagnostics_of_one_chain_and_of_several(four):
    table = four.diagnostics()
    assert {"log p", "entropy of the sizes", "size of component 1"} <= set(table.index)
    assert (table["ess_bulk"] > 1).all()
    assert table.loc["log p", "rhat"] < 1.3
    one = lda(3, init=THREE, alpha=None, gamma=None, learn=("alpha", "gamma")).fit(COUNTS)
    table = one.diagnostics("polars")
    assert {"sum of alpha", "mean of gamma"} <= set(table["quantity"])


def test_chains_and_draws_survive_in_files(tmp_path):
    keep = discan.Collapsed(burn_in=10, n_draws=10, keep_draws=True)
    fitted = lda(3, algorithm=keep, n_chains=2, init=THREE, alpha=None, learn=("alpha",))
    fitted.fit(COUNTS).save(tmp_path / "m.discan")
    again = discan.load(tmp_path / "m.discan")
    assert again.n_chains == 2
    for name in ("value", "similarity", "stability", "sizes", "components", "objective"):
        np.testing.assert_array_equal(getattr(again.chains_, name), getattr(fitted.chains_, name))
    assert again.chains_.report == fitted.chains_.report
    assert again.chains_.seeds == fitted.chains_.seeds
    for one, two in zip(again.chains_.draws, fitted.chains_.draws, strict=True):
        np.testing.assert_array_equal(one.loadings, two.loadings)
        np.testing.assert_array_equal(one.component_counts, two.component_counts)
        for a, b in zip(one.hyperparameters, two.hyperparameters, strict=True):
            np.testing.assert_array_equal(a["alpha"], b["alpha"])
    np.testing.assert_array_equal(again.draws_.loadings, fitted.draws_.loadings)
    assert again.diagnostics().equals(fitted.diagnostics())


@pytest.mark.parametrize("missing", ["draws.gamma", "draws.alpha", "chains.1.record.alpha"])
def test_files_whose_draws_lack_a_hyperparameter_are_refused(tmp_path, missing):
    keep = discan.Collapsed(burn_in=4, n_draws=4, keep_draws=True)
    fitted = lda(3, algorithm=keep, n_chains=2, init=THREE, alpha=None, learn=("alpha",))
    fitted.fit(COUNTS).save(tmp_path / "m.discan")
    header, arrays = read_file(tmp_path / "m.discan", "model")
    del arrays[missing]
    kept = {key: value for key, value in header.items() if key not in ("format", "library")}
    write_file(tmp_path / "m.discan", "model", kept, arrays)
    with pytest.raises(discan.ModelFileError, match=r"missing|different hyperparameters"):
        discan.load(tmp_path / "m.discan")


@pytest.mark.parametrize("stop", [3, 17])
def test_chains_are_resumed_with_the_same_bits(tmp_path, stop):
    whole = lda(3, n_chains=3).fit(COUNTS)

    def interrupt(run):
        if run.cycle == stop:
            raise RuntimeError("killed")

    broken = lda(3, n_chains=3, checkpoint=tmp_path / "run", checkpoint_every=2)
    with pytest.raises(RuntimeError):
        broken.set_params(callback=interrupt).fit(COUNTS)
    resumed = discan.resume(tmp_path / "run")
    np.testing.assert_array_equal(resumed.components_, whole.components_)
    np.testing.assert_array_equal(resumed.chains_.objective, whole.chains_.objective)
    np.testing.assert_array_equal(resumed.chains_.records[2].sizes, whole.chains_.records[2].sizes)
    assert resumed.chains_.report == whole.chains_.report


def test_a_callback_stops_its_chain():
    seen = []

    def callback(run):
        seen.append(run.task.seed)
        return run.cycle == 5

    fitted = lda(3, n_chains=2, callback=callback).fit(COUNTS)
    assert fitted.n_iter_ == 5
    assert set(seen) == set(chain_seeds(0, 2))


def test_warm_start_is_for_one_chain():
    with pytest.raises(discan.InputError, match="warm_start continues one chain"):
        lda(3, n_chains=2, warm_start=True).fit(COUNTS)


@pytest.mark.parametrize("value", [0, 1.5, "4"])
def test_wrong_numbers_of_chains(value):
    with pytest.raises(discan.InputError, match="n_chains"):
        lda(3, n_chains=value).fit(COUNTS)


def test_classifiers_have_chains_too():
    classes = np.arange(60) % 3
    fitted = discan.DCAClassifier(3, n_chains=2, algorithm=SHORT, random_state=0, progress=False)
    assert fitted.fit(COUNTS, classes).dca_.chains_.n_chains == 2


def test_to_arviz():
    pytest.importorskip("xarray", reason="xarray is not installed")
    keep = discan.Collapsed(burn_in=10, n_draws=12, keep_draws=True)
    fitted = lda(3, algorithm=keep, n_chains=2, init=THREE, alpha=None, learn=("alpha",))
    tree = fitted.fit(COUNTS).to_arviz()
    posterior = tree["posterior"]
    assert dict(posterior.sizes) == {
        "chain": 2, "draw": 12, "component": 3, "word": N_WORDS, "document": 60
    }  # fmt: skip
    assert posterior["alpha"].dims == ("chain", "draw", "component")
    np.testing.assert_allclose(posterior["loadings"].sum("word"), 1)
    chosen = fitted.chains_.chosen
    np.testing.assert_allclose(
        posterior["loadings"][chosen].mean("draw"), fitted.components_, rtol=1e-9
    )
    np.testing.assert_array_equal(tree["sample_stats"]["lp"], fitted.chains_.objective)
    single = lda(3, init=THREE).fit(COUNTS).to_arviz()
    assert dict(single["posterior"].sizes) == {"chain": 1, "draw": 20, "component": 3}
    with pytest.raises(discan.InputError, match="no draws"):
        lda(3, algorithm="map").fit(COUNTS).to_arviz()


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_arviz_takes_it(four):
    az = pytest.importorskip("arviz", reason="ArviZ is not installed")
    found = az.rhat(four.to_arviz()["posterior"].to_dataset())
    expected = four.diagnostics()["rhat"]
    for k, name in enumerate(four.component_names_):
        assert float(found["size"][k]) == pytest.approx(expected[f"size of {name}"], rel=1e-6)
