# SPDX-License-Identifier: BSD-3-Clause
"""Seeds and fixed components of an estimator: reading, names, order, files, new documents."""

import logging
from dataclasses import replace

import numpy as np
import pytest

import discan
from discan import DCA, Corpus, InputError, label_seeds
from discan.algorithms.starts import from_documents, matched
from discan.models import LoadingsPrior
from discan.models.seeds import Seeds

WORDS = [f"{part}{n}" for part in ("law", "sea", "art", "war") for n in range(6)]
SEEDED = {"sea": ["sea0", "sea1"], "law": ["law2", "law3"]}
ALGORITHMS = ["map", "cvb0", "variational", "gibbs", "collapsed"]
SAMPLER = {"gibbs": discan.Gibbs(40, 40), "collapsed": discan.Collapsed(40, 40)}


def make_corpus(seed=0, n=80, **about):
    """Documents of four subjects, mostly of one, with six words each."""
    rng = np.random.default_rng(seed)
    theta = np.kron(np.eye(4), rng.dirichlet(np.full(6, 2.0))) * 0.97 + 0.03 / 24
    m = rng.dirichlet(np.full(4, 0.15), n)
    return Corpus(rng.multinomial(30, m @ theta), word_names=WORDS, **about)


CORPUS = make_corpus()


def fitted(algorithm="map", n_components=5, **options):
    options = {"random_state": 0, "max_iter": 80, "seed_words": SEEDED} | options
    return DCA(n_components, algorithm=SAMPLER.get(algorithm, algorithm), **options).fit(CORPUS)


def part_of(estimator, name):
    """Share of the words of a subject in the component of that name."""
    row = estimator.components_[estimator.component_names_.index(name)]
    return sum(p for p, word in zip(row, WORDS, strict=True) if word.startswith(name))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("init", ["auto", "random", "words", "corners", "documents"])
def test_components_hold_their_seeds(algorithm, init):
    estimator = fitted(algorithm, init=init)
    assert part_of(estimator, "sea") > 0.8
    assert part_of(estimator, "law") > 0.8
    assert (np.diff(estimator.sizes_) <= 0).all()  # in order of size, with their names
    assert estimator.component_counts_.sum() == pytest.approx(CORPUS.n_tokens, rel=1e-3)


def test_weak_seeds_name_and_strong_seeds_bind():
    """Seeds against the data: five tokens give way, five thousand do not."""
    against = {"mixed": ["sea0", "war0"]}
    weak, strong = (fitted(seed_words=against, seed_strength=s) for s in (5, 5000))
    loads = [
        e.components_[e.component_names_.index("mixed")][[WORDS.index("sea0"), WORDS.index("war0")]]
        for e in (weak, strong)
    ]
    assert loads[0].min() < 0.1
    assert loads[1].min() > 0.4


def test_default_strength_is_that_of_the_data_but_no_more_than_half_a_component(caplog):
    caplog.set_level(logging.INFO, "discan")
    rare = fitted(seed_words={"sea": ["sea0"]}).fit_.params.prior.seeds
    assert rare.tokens[0] == CORPUS.word_totals[WORDS.index("sea0")]
    assert "seeds of 1 component: 1 word," in caplog.text
    many = fitted(seed_words={"all": WORDS}).fit_.params.prior.seeds
    assert many.tokens.sum() == pytest.approx(CORPUS.n_tokens / 10, rel=0.02)
    told = fitted(seed_words={"sea": {"sea0": 7, "sea1": 9}}).fit_.params.prior.seeds
    assert told.tokens.tolist() == [7, 9]


def test_unknown_seeds_are_said_in_one_remark(caplog):
    caplog.set_level(logging.INFO, "discan")
    fitted(seed_words={"sea": ["sea0", "SEA1", "ocean", "tide"]})
    (remark,) = [r for r in caplog.records if "seeds that" in r.getMessage()]
    assert remark.getMessage() == "seeds that are not among the words of the data: ocean, tide"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed_words": {"sea": ["ocean"]}}, "no seed of 'sea' is among the words.*ocean"),
        ({"seed_words": {"sea": []}}, "no seed of 'sea'"),
        ({"seed_words": ["sea0"]}, "give a mapping from names"),
        ({"seed_words": {}}, "give a mapping"),
        ({"seed_words": {3: ["sea0"]}}, "3 is not the name of a component"),
        ({"seed_words": {"sea": {"sea0": "x"}}}, "gives 'sea0' 'x' tokens"),
        ({"seed_words": {"sea": {"sea0": -1}}}, "at least 0"),
        ({"seed_words": {"sea": np.ones(3)}}, "24 columns"),
        ({"seed_words": {"sea": 5}}, "give a list of words"),
        ({"seed_strength": 0}, "seed_strength"),
        (
            {"seed_words": None, "seed_strength": 5},
            "seed_strength=5 is for seeds; leave it out, or use seed_words",
        ),
        ({"n_components": 1}, "2 components have seeds or are fixed.*n_components=2"),
        ({"algorithm": "ml"}, "no priors"),
        ({"fixed_components": np.ones((1, 3))}, "24 columns"),
        ({"fixed_components": -np.ones((1, 24))}, "at least 0"),
        ({"fixed_components": "nothing.discan"}, "nothing.discan"),
        ({"fixed_components": {"sea": np.ones(24)}}, "name of a fixed component and of seeds"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(discan.DiscanError, match=message):
        fitted(**options)


def test_columns_without_names_are_found_by_number():
    X = CORPUS.to_csr()
    estimator = DCA(5, algorithm="map", random_state=0, seed_words={"sea": [6, 7]}).fit(X)
    assert estimator.components_[estimator.component_names_.index("sea")][6:12].sum() > 0.8
    with pytest.raises(InputError, match="number of a column"):
        DCA(5, seed_words={"sea": ["sea0"]}).fit(X)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_fixed_components_stay(algorithm):
    """A component that the data contradict stays within 1 %, beside others that fit them."""
    wanted = np.where([word.startswith("war") for word in WORDS], 1 / 6, 0.0)
    estimator = fitted(algorithm, fixed_components={"flat": wanted})
    row = estimator.components_[estimator.component_names_.index("flat")]
    assert np.abs(row - wanted).sum() < 0.02
    assert part_of(estimator, "sea") > 0.8


def test_fixed_components_of_an_earlier_model(tmp_path, caplog):
    caplog.set_level(logging.INFO, "discan")
    first = DCA(4, algorithm="map", random_state=0).fit(CORPUS)
    first.fit_ = first.fit_.named({1: "old"})
    first.save(tmp_path / "first.discan")
    # other words, in another order: they are found by their names
    rng = np.random.default_rng(1)
    order = rng.permutation(24)
    other = make_corpus(1)
    table = np.column_stack([other.to_csr().toarray()[:, order], rng.poisson(1.0, 80)])
    corpus = Corpus(table, word_names=[*(WORDS[j] for j in order), "new"])
    for earlier in (first, first.fit_, tmp_path / "first.discan", str(tmp_path / "first.discan")):
        second = DCA(6, algorithm="map", random_state=0, fixed_components=earlier).fit(corpus)
        k = second.component_names_.index("old")
        assert second.components_[k, :24] == pytest.approx(first.components_[0][order], abs=0.01)
        assert {"fixed 2", "fixed 3", "fixed 4"} < set(second.component_names_)
    assert "1 of 25 words are not in the earlier model" in caplog.text
    unlike = Corpus(np.ones((3, 2)), word_names=["x", "y"])
    with pytest.raises(InputError, match="none of the words"):
        DCA(6, fixed_components=first).fit(unlike)


def test_known_populations():
    """Labelled documents, of which a part is drawn into seeds, name the components."""
    about = {"metadata": {"party": ["a", None] * 10}}
    corpus = Corpus(np.tile([[3, 0], [1, 2]], (10, 1)), **about)
    assert label_seeds(corpus, "party")["a"].tolist() == [30, 0]
    assert label_seeds(corpus, "party", most=7)["a"].tolist() == [7, 0]
    numbers = label_seeds(corpus, [1.0, np.nan] * 10)
    assert list(numbers) == ["1"]
    with pytest.raises(InputError, match="no such column"):
        label_seeds(corpus, "state")
    with pytest.raises(InputError, match="19 labels for 20 documents"):
        label_seeds(corpus, ["a"] * 19)
    with pytest.raises(InputError, match="no document has a label"):
        label_seeds(corpus, [None] * 20)
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(8), 3)
    theta = np.concatenate([rng.dirichlet(np.full(3, 0.3), 3) for _ in range(8)], axis=1)
    which = np.repeat(np.arange(3), 20)
    table = np.concatenate(
        [[rng.multinomial(2, theta[k, groups == g]) for k in which] for g in range(8)], axis=1
    )
    known = np.arange(60) % 4 == 0
    seeds = label_seeds(Corpus(table[known], groups), [f"pop {k}" for k in which[known]])
    estimator = DCA(3, groups=groups, algorithm="collapsed", random_state=0, seed_words=seeds)
    estimator.fit(table[~known])
    found = np.array(estimator.component_names_)[estimator.proportions_.argmax(axis=1)]
    assert (found == [f"pop {k}" for k in which[~known]]).mean() > 0.9


# --------------------------------------------------------------------------------------- files


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_models_are_saved_and_loaded_with_their_seeds(algorithm, tmp_path):
    estimator = fitted(algorithm, fixed_components=np.eye(24)[:1])
    estimator.save(tmp_path / "m.discan")
    loaded = discan.load(tmp_path / "m.discan")
    assert loaded.component_names_ == estimator.component_names_
    assert np.array_equal(loaded.transform(CORPUS), estimator.transform(CORPUS))
    mine, its = estimator.fit_.params.prior.seeds, loaded.fit_.params.prior.seeds
    assert np.array_equal(mine.table(24, 5), its.table(24, 5))
    name = estimator.component_names_.index("sea")
    assert its.table(24, 5)[WORDS.index("sea0"), name] > 0
    assert loaded.seed_words == {name: tuple(words) for name, words in SEEDED.items()}
    assert list(loaded.fixed_components) == ["fixed 1"]
    again = loaded.fit(CORPUS)  # its settings are whole
    assert np.array_equal(again.components_, estimator.components_)


@pytest.mark.parametrize("algorithm", [*ALGORITHMS, discan.Collapsed(5, 9, schedule="blocked")])
def test_runs_are_resumed(algorithm, tmp_path):
    whole = fitted(algorithm, max_iter=14, tol=0.0)
    stopped = fitted(
        algorithm, max_iter=14, tol=0.0, checkpoint=tmp_path / "run", checkpoint_every=1,
        callback=lambda run: run.cycle == 7,
    )  # fmt: skip
    assert stopped.n_iter_ == 7
    resumed = discan.resume(tmp_path / "run")
    assert np.array_equal(resumed.components_, whole.components_)
    assert resumed.component_names_ == whole.component_names_


def test_one_thread_and_several_give_the_same_bits():
    for algorithm in ALGORITHMS:
        one, two = (fitted(algorithm, n_jobs=n) for n in (1, 2))
        assert np.array_equal(one.components_, two.components_)


def test_several_chains_keep_the_names():
    estimator = fitted("collapsed", n_chains=3)
    assert part_of(estimator, "sea") > 0.8
    assert part_of(estimator, "law") > 0.8


def test_evidence_refuses_seeds():
    with pytest.raises(InputError, match=r"evidence.*seeds"):
        discan.log_evidence(CORPUS, fit=fitted())


# -------------------------------------------------------------------------------------- starts


def test_a_start_from_documents_takes_those_with_the_seeds():
    table = np.zeros((24, 3), dtype=int)
    table[6:8, 1] = 20
    counts = from_documents(CORPUS, 3, 0, seeds=Seeds.of(table)).loading_counts
    assert counts[6:12, 1].sum() / counts[:, 1].sum() > 0.6
    assert counts.sum() == pytest.approx(CORPUS.n_tokens)
    for k in (0, 2):
        assert counts[6:12, k].sum() / counts[:, k].sum() < 0.5


def test_a_start_is_put_in_the_order_of_the_seeds():
    table = np.zeros((24, 4), dtype=int)
    table[0, 3], table[12, 0] = 5, 5
    start = discan.algorithms.base.Start(np.kron(np.eye(4), np.ones((6, 1))) + 0.01, np.eye(4))
    prior = replace(LoadingsPrior.of(0.5, CORPUS.layout), seeds=Seeds.of(table))
    found = matched(start, prior)
    assert found.loading_counts[0].argmax() == 3
    assert found.loading_counts[12].argmax() == 0
    assert np.array_equal(found.loading_counts.argmax(axis=1)[::6], found.scores.argmax(axis=1))


def test_streams_refuse_seeds():
    with pytest.raises(InputError, match="partial_fit takes no seeds"):
        DCA(5, algorithm="map", seed_words=SEEDED).partial_fit(CORPUS)
    with pytest.raises(InputError, match="partial_fit takes no seeds"):
        fitted().set_params(seed_words=None).partial_fit(CORPUS)
