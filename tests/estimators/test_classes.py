# SPDX-License-Identifier: BSD-3-Clause
"""Classes of documents of an estimator: planted differences, new documents, files."""

import logging

import numpy as np
import pytest

import discan
from discan import DCA, Corpus, InputError
from discan.evaluation.effects import effects

ALPHA = np.array([[1.5, 0.1, 0.1], [0.1, 0.1, 1.5], [0.2, 1.0, 0.2]])
NAMES = np.array(["north", "south", "west"])
ALGORITHMS = ["gibbs", "collapsed", "variational"]
CHOSEN = {"gibbs": discan.Gibbs(60, 60), "collapsed": discan.Collapsed(60, 60)}


def make(n=240, length=12, seed=0, model="dm"):
    """Short documents of three classes: counts, labels, components."""
    rng = np.random.default_rng(seed)
    theta = np.random.default_rng(9).dirichlet(np.full(25, 0.3), 3)
    which = np.arange(n) % 3
    m = np.array([rng.dirichlet(ALPHA[c]) for c in which])
    return rng.multinomial(length, m @ theta), NAMES[which], theta


X, LABELS, THETA = make()
CORPUS = Corpus(X, metadata={"region": LABELS, "age": np.arange(len(X)) // 100})


def fitted(algorithm="collapsed", data=CORPUS, **options):
    options = {"random_state": 0, "init": THETA, "class_of_document": "region"} | options
    options = {"max_iter": 120} | options
    return DCA(3, algorithm=CHOSEN.get(algorithm, algorithm), **options).fit(data)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("model", ["dm", "gp", "cgp"])
def test_a_planted_difference_is_found(algorithm, model):
    estimator = fitted(algorithm, model=model)
    assert estimator.class_names_ == ("north", "south", "west")
    assert estimator.alpha_.shape == (3, 3)
    expected = estimator.alpha_
    if model != "dm":
        assert estimator.beta_.shape == (3, 3)
        rho = 0.0 if model == "gp" else estimator.rho_
        expected = (1 - rho) * estimator.alpha_ / estimator.beta_
    shares = expected / expected.sum(axis=1, keepdims=True)
    wanted = ALPHA / ALPHA.sum(axis=1, keepdims=True)
    assert np.abs(shares - wanted).max() < 0.12
    assert estimator.fit_.describe()["classes"] == 3


def test_alpha_itself_is_found_from_long_documents():
    counts, labels, theta = make(900, 60, seed=3)
    estimator = fitted(data=counts, class_of_document=labels, init=theta)
    assert estimator.alpha_ == pytest.approx(ALPHA, rel=0.25)


def test_classes_help_to_predict_documents_of_known_class():
    """Half of a short document says little of its mix; its class says more."""
    flat = fitted(class_of_document=None)
    classes = fitted()
    counts, labels, _ = make(300, 6, seed=5)
    new = Corpus(counts, metadata={"region": labels})
    gain = classes.score(new) - flat.score(new)
    found = classes.fit_.completion(new) - flat.fit_.completion(new)
    error = found[0].std() * np.sqrt(len(counts)) / counts.sum() * 2
    assert gain > 3 * error > 0
    # of an unknown class, they are predicted about as well as by a fit without classes
    unknown = classes.score(counts)
    assert unknown < classes.score(new)
    assert abs(unknown - flat.score(new)) < gain


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_new_documents(algorithm, caplog):
    caplog.set_level(logging.INFO, "discan")
    estimator = fitted(algorithm)
    empty = np.zeros((4, 25), dtype=int)
    labels = ["north", "south", None, "moon"]
    found = estimator.transform(empty, class_of_document=labels)
    wanted = [*estimator.alpha_[:2], *[estimator.fit_.params.model.alpha] * 2]
    assert found == pytest.approx(np.array([a / a.sum() for a in wanted]), rel=1e-9)
    assert "1 class was not in the fit and is taken as unknown, e.g. moon" in caplog.text
    # the column that gave the classes is found in new documents; others are of unknown class
    named = Corpus(empty, metadata={"region": labels})
    assert np.array_equal(estimator.transform(named), found)
    assert np.array_equal(estimator.transform(empty), np.tile(found[2], (4, 1)))
    # deviations of empty documents are those of the prior of their class
    alpha = np.array(wanted)
    share, total = found, alpha.sum(axis=1, keepdims=True)
    prior_sd = np.sqrt(share * (1 - share) / (total + 1))
    assert estimator.transform_sd(named) == pytest.approx(prior_sd, rel=1e-6)
    with pytest.raises(InputError, match="no classes"):
        fitted(class_of_document=None).transform(empty, class_of_document=labels)


def test_documents_without_a_class_have_a_prior_of_their_own(caplog):
    caplog.set_level(logging.INFO, "discan")
    labels = [None if label == "west" else label for label in LABELS]
    estimator = fitted(class_of_document=labels)
    assert estimator.class_names_ == ("north", "south")
    assert "2 classes of documents, of 80 documents; 80 documents have no class" in caplog.text
    unknown = estimator.fit_.params.model.alpha
    assert unknown.argmax() == 1  # as those in the west have it
    pooled = fitted()
    model = pooled.fit_.params.model
    assert model.alpha == pytest.approx(pooled.alpha_.mean(axis=0), rel=1e-6)


def test_the_number_of_components_cannot_be_learnt_with_classes():
    with pytest.raises(InputError, match="cannot be learnt; use n_components="):
        DCA("auto", class_of_document="region").fit(CORPUS)


def test_classes_of_few_documents_are_named(caplog):
    """What is learnt of a class of one document is mostly the prior of the priors."""
    caplog.set_level(logging.INFO, "discan")
    estimator = fitted(class_of_document=["one", *LABELS[1:]], max_iter=30)
    told = "4 classes of documents, of 1 to 80 documents"
    assert told in caplog.text
    assert "1 class has fewer than 5 documents, too few to learn a prior from, e.g. one" in (
        caplog.text
    )
    assert "90 % interval" not in estimator.fit_.learnt.partition("gamma")[0]
    caplog.clear()
    fitted(class_of_document=["all"] * 240, max_iter=4)
    assert "1 class of documents, of 240 documents" in caplog.text
    assert "fewer" not in caplog.text
    # what the fit knew must be said where labels are compared
    assert "the fit knew classes" in effects(estimator.fit_, LABELS).covers


def test_numbers_are_classes_in_their_order():
    estimator = fitted(class_of_document="age", max_iter=10)
    assert estimator.class_names_ == ("0", "1", "2")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"class_of_document": "nothing"}, "no such column.*region, age"),
        ({"class_of_document": 5}, "name of a column, or a label per document"),
        ({"class_of_document": ["a"] * 7}, "7 labels for 240 documents"),
        ({"class_of_document": [None] * 240}, "no document has a class"),
        ({"class_of_document": range(240)}, "too many"),
        ({"n_parents": 2}, "with parents cannot have classes"),
        ({"learn": ()}, "only if alpha is learnt"),
        ({"alpha": 0.5}, None),
        ({"algorithm": "map"}, "only if alpha is learnt.*collapsed"),
        ({"algorithm": "cvb0"}, "only if alpha is learnt"),
        ({"algorithm": "ml"}, "only if alpha is learnt"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    if message is None:  # given values are where learning starts
        assert fitted(max_iter=4, **options).alpha_.shape == (3, 3)
        return
    with pytest.raises(InputError, match=message):
        fitted(max_iter=4, **options)


def test_streams_and_evidence_refuse_classes():
    with pytest.raises(InputError, match="partial_fit takes no classes"):
        DCA(3, algorithm="variational", class_of_document="region").partial_fit(CORPUS)
    with pytest.raises(InputError, match="evidence of a model with classes"):
        discan.log_evidence(CORPUS, fit=fitted(max_iter=4))


@pytest.mark.parametrize("algorithm", [*ALGORITHMS, discan.Collapsed(4, 6, keep_draws=True)])
@pytest.mark.parametrize("given", ["region", LABELS], ids=["column", "labels"])
def test_files(algorithm, given, tmp_path):
    options = {"class_of_document": given, "max_iter": 10, "tol": 0.0, "model": "gp"}
    whole = fitted(algorithm, **options)
    whole.save(tmp_path / "m.discan")
    loaded = discan.load(tmp_path / "m.discan")
    assert loaded.class_names_ == whole.class_names_
    assert np.array_equal(loaded.alpha_, whole.alpha_)
    assert np.array_equal(loaded.transform(CORPUS), whole.transform(CORPUS))
    if whole.draws_ is not None:
        assert loaded.score(CORPUS) == whole.score(CORPUS)
    again = loaded.fit(CORPUS)
    assert np.array_equal(again.alpha_, whole.alpha_)
    folder = {"checkpoint": tmp_path / "run", "checkpoint_every": 1}
    stopped = fitted(algorithm, callback=lambda run: run.cycle == 6, **options, **folder)
    assert stopped.n_iter_ == 6
    resumed = discan.resume(tmp_path / "run")
    assert np.array_equal(resumed.alpha_, whole.alpha_)
    assert np.array_equal(resumed.components_, whole.components_)


def test_order_of_size_and_threads():
    """Components in order of size take the alpha of every class with them."""
    given = fitted()
    order = np.argsort(-given.sizes_)
    sorted_fit = given.fit_.by_size()
    assert np.array_equal(sorted_fit.hyperparameter("alpha"), given.alpha_[:, order])
    two = fitted(n_jobs=2)
    assert np.array_equal(two.alpha_, given.alpha_)


def test_several_chains_and_trees():
    estimator = fitted(n_chains=2, init="auto")
    assert estimator.alpha_.shape == (3, 3)
    merged = estimator.merged(2)
    assert merged.alpha_.shape == (3, 2)
    assert merged.alpha_.sum(axis=1) == pytest.approx(estimator.alpha_.sum(axis=1))
    assert merged.transform(CORPUS).shape == (len(X), 2)


def test_an_estimate_is_of_the_fit_with_classes():
    """Before the first fit, too: what the fit would refuse, the estimate refuses."""
    estimator = DCA(3, class_of_document="region", algorithm="map", random_state=0)
    with pytest.raises(InputError, match="only if alpha is learnt"):
        estimator.estimate(CORPUS)
    estimator.set_params(algorithm="collapsed")
    assert estimator.estimate(CORPUS).algorithm == "collapsed"
