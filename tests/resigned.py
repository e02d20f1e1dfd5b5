# SPDX-License-Identifier: BSD-3-Clause
"""Attack files after signing them again: the checksums are right and the content is wrong.

``python tests/resigned.py FOLDER KIND`` writes sound files of a kind and uses each. With SEED FIRST
LAST it makes cases FIRST to LAST - 1 of them, and prints a line of JSON before and after each, so
that a process that dies tells in which case. A case
takes a sound file apart, changes one to three parts of its header and arrays, writes it with right
checksums, and uses it as a user would. It passes if every step either raises an error of discan in
one line, or gives finite answers of the right shape.
"""

from __future__ import annotations

import hashlib
import json
import logging
import resource
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
from changed import J, K, mutated_header, resigned

import discan
import discan.algorithms.collapsed
import discan.algorithms.expectation as expectation
import discan.data.folders.writer
import discan.fitting.draws
from discan import data
from discan.algorithms import ALGORITHMS
from discan.data.corpus import Corpus
from discan.data.folders.corpus import FolderCorpus
from discan.data.folders.writer import write_corpus
from discan.data.nouns import Nouns
from discan.data.storage import read_file, write_file
from discan.data.store import load_corpus, save_corpus
from discan.errors import DiscanError
from discan.models import MODELS

GROUPS = np.arange(J) % 3
W = np.random.default_rng(0).poisson(0.9, (20, J))
W[3] = 0
NEW = Corpus(W[:6], groups=GROUPS, word_names=list("abcdefghijkl"), group_names=list("xyz"))
LIMIT = 6 << 30  # bytes of address space


def training():
    names = [f"document {i}" for i in range(len(W))]
    return Corpus(
        W, groups=GROUPS, word_names=list("abcdefghijkl"), group_names=list("xyz"),
        document_names=names, nouns=Nouns("senator", "vote", "bloc"), reading={"format": "x"},
        metadata={"party": ["R", None] * 10, "age": np.arange(20.0)},
        exposures=np.where(np.arange(20)[:, None] % 5, 1.0, [0.5, 1.0, 2.0]),
    )  # fmt: skip


def sparse():
    """Few tokens of many words, so that most words are in few components."""
    table = np.zeros((12, 64), dtype=int)
    rng = np.random.default_rng(0)
    np.add.at(table, (rng.integers(12, size=90), rng.integers(64, size=90)), 1)
    return Corpus(table)


# ------------------------------------------------------------------------------ sound files


def algorithms():
    """Every algorithm with short chains, and special ways to go about it."""
    for cls in ALGORITHMS:
        yield cls(burn_in=2, n_draws=4, thin=2) if cls.whole_counts else cls()
    yield discan.Collapsed(burn_in=2, n_draws=4, schedule="blocked", keep_draws=True)
    yield discan.MaximumLikelihood(tau="auto")
    yield discan.Variational(online=True, batch_entries=30)
    yield discan.CollapsedVariational(online=True, batch_entries=30, visits=2)


def make_models(folder):
    """Write a model of every cell, and of the estimators around it."""
    for model in MODELS:
        for n, algorithm in enumerate(algorithms()):
            if algorithm.refusal(model().prepare(K, NEW), frozenset(), NEW):
                continue
            estimator = discan.DCA(
                K, model=model.short, algorithm=algorithm, random_state=1, max_iter=6
            )
            estimator.fit(training()).save(folder / f"{model.short}-{n}.discan")
    for n, algorithm in enumerate(("map", "variational", discan.Collapsed(2, 4))):
        seeded = discan.DCA(
            K, algorithm=algorithm, random_state=1, max_iter=6, fixed_components=np.ones((1, J)),
            seed_words={"first": ["a", "b"], "second": {"c": 7}},
        )  # fmt: skip
        seeded.fit(training()).save(folder / f"seeded-{n}.discan")
    for n, algorithm in enumerate(("variational", discan.Collapsed(2, 4, keep_draws=True))):
        classed = discan.DCA(
            K, model="gp", algorithm=algorithm, random_state=1, max_iter=6,
            class_of_document="party" if n else ["x", "y", ""] * 6 + ["x", "y"],
        )  # fmt: skip
        classed.fit(training()).save(folder / f"classed-{n}.discan")
    for model in ("dm", "cgp"):
        found = discan.DCA("auto", max_components=5, model=model, random_state=1, max_iter=30)
        found.fit(training()).save(folder / f"auto-{model}.discan")
    flat = discan.LDA(K, random_state=1, max_iter=4, gamma=np.linspace(0.1, 1, J)).fit(W)
    flat.save(folder / "flat.discan")
    given = discan.DCA.from_components(np.eye(4) + 0.1, model="gp", beta=1.0, random_state=0)
    given.save(folder / "given.discan")
    labels = np.where(W[:, 0] > 0, "a", "b")
    discan.DCAClassifier(2, random_state=0, max_iter=4).fit(W, labels).save(folder / "c.discan")
    numbered = discan.DCAClassifier(2, model="gp", random_state=0, max_iter=4)
    numbered.fit(W, W[:, 0].clip(0, 2)).save(folder / "n.discan")
    discan.DCAFeatures(2, random_state=0, max_iter=4).fit(W).save(folder / "f.discan")


def make_runs(folder):
    """Write run folders, stopped half way."""
    for model in MODELS:
        for n, algorithm in enumerate(algorithms()):
            if algorithm.refusal(model().prepare(K, NEW), frozenset(), NEW):
                continue
            learn = (*model.hyperparameters, "gamma")
            learn = () if n % 2 or algorithm.refusal(model(), frozenset(learn), NEW) else learn
            discan.DCA(
                K, model=model.short, algorithm=algorithm, random_state=1, max_iter=14, tol=0.0,
                learn=learn, checkpoint=folder / f"{model.short}-{n}", checkpoint_every=1,
                callback=lambda run: run.cycle == 7,
            ).fit(training())  # fmt: skip
    for n, algorithm in enumerate(("map", "gibbs", discan.Collapsed(2, 4), "cvb0")):
        discan.DCA(
            K, algorithm=algorithm, random_state=1, max_iter=14, tol=0.0,
            checkpoint=folder / f"seeded-{n}", checkpoint_every=1,
            callback=lambda run: run.cycle == 7, fixed_components=np.ones((1, J)),
            seed_words={"first": ["a", "b"], "second": {"c": 7}},
        ).fit(training())  # fmt: skip
    for n, algorithm in enumerate(("variational", "gibbs", discan.Collapsed(2, 4))):
        discan.DCA(
            K, algorithm=algorithm, random_state=1, max_iter=14, tol=0.0,
            checkpoint=folder / f"classed-{n}", checkpoint_every=1,
            callback=lambda run: run.cycle == 7, class_of_document="party",
        ).fit(training())  # fmt: skip
    for n, schedule in enumerate(("exact", "blocked")):
        discan.DCA(
            8, algorithm=discan.Collapsed(burn_in=2, n_draws=8, schedule=schedule), random_state=1,
            learn=("alpha", "gamma") if n else (), checkpoint=folder / f"sparse-{n}",
            checkpoint_every=1, callback=lambda run: run.cycle == 7,
        ).fit(sparse())  # fmt: skip


def make_corpora(folder):
    """Write corpora, with all that they may hold and with little."""
    save_corpus(training(), folder / "full.discan")
    save_corpus(Corpus(W * 0.5), folder / "plain.discan")


def make_folders(folder):
    """Write corpus folders of several shards, with all that they may hold and with little."""
    few = 60  # non-zeros and documents of a shard
    write_corpus(training(), folder / "full", few)
    write_corpus(Corpus(W * 0.5), folder / "fractions", few)
    write_corpus(Corpus(np.where(W > 3, 70_000, W), word_names=NEW.layout.word_names), folder / "p")


# ----------------------------------------------------------------------------------- attacks


def finite(value, *shape):
    """Check an answer."""
    array = value.toarray() if hasattr(value, "toarray") else np.asarray(value)
    if shape:
        assert array.shape == shape, (array.shape, shape)
    assert np.isfinite(array).all(), "not finite"


def attempt(action):
    """Take a step: it works, or it is refused in one line."""
    try:
        return action()
    except DiscanError as error:
        text = str(error)
        assert text, "an empty message"
        assert "\n" not in text, text
        assert len(text) < 2000, text[:200]
    return None


def use_model(path, folder):
    """Load a model and ask it everything."""
    estimator = attempt(lambda: discan.load(path))
    if estimator is None:
        return "refused"
    dca = getattr(estimator, "dca_", estimator)
    fit = dca.fit_
    n, table = fit.n_components, NEW
    if fit.layout.n_words != NEW.n_words or hasattr(estimator, "dca_"):
        width = estimator.n_features_in_
        table = Corpus(np.arange(2 * width).reshape(2, width) % 3)
    finite(dca.components_, n, fit.layout.n_words)
    if fit.documents is not None:
        for name in ("scores_", "component_counts_", "proportions_"):
            finite(getattr(dca, name), len(dca.scores_), n)
        fit.summary(3, 2)
    fit.describe()
    if hasattr(estimator, "predict_proba"):
        attempt(lambda: finite(estimator.predict_proba(table)))
    elif hasattr(estimator, "idf_"):
        attempt(lambda: finite(estimator.transform(table)))
    else:
        rows = table.n_documents
        attempt(lambda: finite(estimator.transform(table), rows, n))
        attempt(lambda: finite(estimator.component_counts(table), rows, n))
        attempt(lambda: finite(estimator.score(table)))
        attempt(lambda: estimator.log_likelihood(table, "bound"))
        attempt(lambda: finite(estimator.predict_group_proba(table, 0)))
        attempt(lambda: finite(estimator.impute(table)))
    saved = folder / "again.discan"
    estimator.save(saved)
    discan.load(saved)  # what was loaded can be saved and loaded
    return "loaded"


def use_run(path, folder):
    """Resume a run for a few cycles."""

    def enough(run):
        return run.cycle >= 10

    estimator = attempt(lambda: discan.resume(path, callback=enough, progress=False))
    if estimator is None:
        return "refused"
    n = estimator.fit_.n_components
    finite(estimator.components_, n, estimator.fit_.layout.n_words)
    finite(estimator.scores_, len(estimator.scores_), n)
    finite(estimator.component_counts_, len(estimator.scores_), n)
    finite(estimator.trace_["objective"][7:])  # those before are the file's
    attempt(lambda: finite(estimator.transform(NEW)))
    return "loaded"


def use_corpus(path, folder):
    """Load a corpus and fit it."""
    corpus = attempt(lambda: load_corpus(path))
    if corpus is None:
        return "refused"
    for algorithm in ("map", "collapsed"):
        estimator = discan.LDA(2, algorithm=algorithm, random_state=0, max_iter=2)
        if attempt(lambda estimator=estimator: estimator.fit(corpus)) is not None:
            finite(estimator.components_, 2, corpus.n_words)
    return "loaded"


def use_folder(path, folder):
    """Open a corpus folder and fit it, with the same answers as in memory."""
    corpus = attempt(lambda: FolderCorpus(path))
    if corpus is None:
        return "refused"
    attempt(lambda: corpus.select([0, corpus.n_documents - 1]))
    whole = attempt(corpus.loaded)
    model, fitted = "gp" if corpus.has_exposures else "dm", 0
    for algorithm in ("cvb0", discan.Gibbs(2, 3), discan.Collapsed(2, 3, schedule="blocked")):
        settings = {"algorithm": algorithm, "model": model, "random_state": 0, "max_iter": 3}
        estimator = discan.DCA(2, **settings)
        if attempt(lambda estimator=estimator: estimator.fit(path)) is None:
            continue
        fitted += 1
        finite(estimator.components_, 2, corpus.n_words)
        attempt(lambda estimator=estimator: finite(estimator.transform(path)))
        if whole is not None:
            expected = discan.DCA(2, **settings).fit(whole).components_
            assert np.array_equal(expected, estimator.components_), "not as in memory"
    return "loaded" if fitted else "refused"


def use(kind, path, folder):
    """Use a file, a run folder or a corpus folder."""
    users = {"model": use_model, "run": use_run, "corpus": use_corpus, "folder": use_folder}
    return users[kind](path, folder)


def model_case(rng, bases, folder):
    names = sorted(bases.glob("*.discan"))
    target = folder / "case.discan"
    if not resigned(rng, names[rng.integers(len(names))], target, "model"):
        return "unwritable"
    return use("model", target, folder)


def run_case(rng, bases, folder):
    names = sorted(path for path in bases.iterdir() if path.is_dir())
    target = folder / "case"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(names[rng.integers(len(names))], target)
    part = str(rng.choice(["state", "state", "state", "state", "settings", "corpus"]))
    path = target / f"{part}.discan"
    header, _ = read_file(target / "state.discan", "state")
    if not resigned(rng, path, path, part):
        return "unwritable"
    if part != "state":  # a state that says it is of this run
        header, arrays = read_file(target / "state.discan", "state")
        for name in ("kind", "library", "format", "run"):
            header.pop(name, None)
        write_file(target / "state.discan", "state", header, arrays)
    return use("run", target, folder)


def corpus_case(rng, bases, folder):
    names = sorted(bases.glob("*.discan"))
    target = folder / "case.discan"
    if not resigned(rng, names[rng.integers(len(names))], target, "corpus"):
        return "unwritable"
    return use("corpus", target, folder)


def folder_case(rng, bases, folder):
    names = sorted(path for path in bases.iterdir() if path.is_dir())
    target = folder / "case"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(names[rng.integers(len(names))], target)
    manifest = target / "manifest.json"
    content = json.loads(manifest.read_text())
    shards = content["shards"]
    files = [(target / "shards" / shard["file"], "shard") for shard in shards]
    files.append((target / content["words_file"], "words"))
    for _ in range(int(rng.choice([1, 1, 2]))):
        if rng.random() < 0.4:
            mutated_header(rng, content)
            continue
        path, kind = files[rng.integers(len(files))]
        if not resigned(rng, path, path, kind):
            return "unwritable"
    for shard, (path, _) in zip(shards, files, strict=False):
        if isinstance(shard, dict) and path.is_file():
            shard["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    content.pop("sha256", None)
    content["sha256"] = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    manifest.write_text(json.dumps(content, indent=1))
    return use("folder", target, folder)


CASES = {"model": model_case, "run": run_case, "corpus": corpus_case, "folder": folder_case}
MAKERS = {
    "model": make_models, "run": make_runs, "corpus": make_corpora, "folder": make_folders,
}  # fmt: skip


def main(folder, kind, *numbers):
    """Write sound files, or make some cases of them."""
    # what large corpora get, already for small ones: lists of components, means of those in use
    discan.algorithms.collapsed.LISTED_FROM = 8
    if kind == "folder":  # blocks that begin in one shard and end in another
        for module in (data.corpus, data.folders.corpus, data.folders.writer, expectation):
            module.BLOCK_ENTRIES = 40
        discan.algorithms.collapsed.BLOCK_ENTRIES = 40
    discan.fitting.draws.SINGLE_FROM = discan.fitting.draws.SINGLE_MEANS_FROM = 8 * 64
    logging.getLogger("discan").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    bases, work = Path(folder) / kind, Path(folder) / "work"
    work.mkdir(parents=True, exist_ok=True)
    if not numbers:
        bases.mkdir()
        MAKERS[kind](bases)
        for path in sorted(bases.iterdir()):
            print(json.dumps(["end", path.name, use(kind, path, work)]), flush=True)
        return
    seed, first, last = map(int, numbers)
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    for number in range(first, last):
        print(json.dumps(["begin", number]), flush=True)
        rng = np.random.default_rng([seed, number, *map(ord, kind)])
        try:
            outcome = CASES[kind](rng, bases, work)
        except BaseException as error:
            outcome = f"{type(error).__name__}: {error}"[:500]
        print(json.dumps(["end", number, outcome]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
