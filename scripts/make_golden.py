# SPDX-License-Identifier: BSD-3-Clause
"""Write the golden files of a release: models, run folders and corpora, with what they must give.

``python scripts/make_golden.py [FOLDER] [--only NAME ...]`` writes to tests/golden. The names begin
with the release, so that files of older releases stay: they are never made again. Run it once, when
the version of a release is set.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import discan
from discan.data.folders.writer import write_corpus
from discan.data.nouns import Nouns
from discan.data.storage import HEAD, read_file, write_file
from discan.data.store import save_corpus

HERE = Path(__file__).parents[1]
rng = np.random.default_rng(0)
W = rng.poisson(1.0, (20, 8))
GROUPS = np.array([0, 0, 0, 1, 1, 2, 2, 2])
CLASSES = ["north", "south", ""] * 6 + ["north", "south"]
CHAIN: dict[str, Any] = {"burn_in": 4, "n_draws": 4}
SEEDS: dict[str, Any] = {"seed_words": {"first": ["a", "b"]}, "seed_strength": 3}
FIXED = np.arange(1.0, 9.0)[None]  # one component that stays as it is


def chain(**options: Any) -> Any:
    """Options of a short collapsed chain."""
    return discan.Collapsed(**CHAIN, **options)


# Every model and algorithm, and every kind of thing that a file may hold.
MODELS: dict[str, Callable[[], Any]] = {
    "lda-map": lambda: discan.LDA(3, algorithm="map"),
    "lda-variational": lambda: discan.LDA(3, algorithm="variational"),
    "lda-auto": lambda: discan.LDA(3),
    "cvb0": lambda: discan.LDA(3, algorithm="cvb0", learn=("gamma",)),
    "nmf": lambda: discan.NMF(3),
    "plsi-tempered": lambda: discan.PLSI(2, algorithm=discan.MaximumLikelihood(tau=0.8)),
    "gap-variational": lambda: discan.GaP(2, algorithm="variational"),
    "grouped-gibbs": lambda: discan.MPCA(
        2, groups=GROUPS, algorithm=discan.Gibbs(**CHAIN), learn=("alpha", "gamma")
    ),
    "conditional-variational": lambda: discan.ConditionalGaP(2, algorithm="variational"),
    "conditional-collapsed": lambda: discan.DCA(2, model="cgp", algorithm=chain(keep_draws=True)),
    "chains": lambda: discan.LDA(2, algorithm=chain(), n_chains=2),
    "process-dm": lambda: discan.DCA("auto", max_components=5, algorithm=chain()),
    "process-gp": lambda: discan.DCA("auto", model="gp", max_components=5, algorithm=chain()),
    "process-cgp": lambda: discan.DCA("auto", model="cgp", max_components=5, algorithm=chain()),
    "levels-dm": lambda: discan.DCA(3, n_parents=2, algorithm=discan.Gibbs(**CHAIN)),
    "levels-gp": lambda: discan.DCA(3, model="gp", n_parents=2, algorithm=discan.Gibbs(**CHAIN)),
    "classes": lambda: discan.LDA(2, class_of_document=CLASSES, algorithm=chain()),
    "seeds": lambda: discan.LDA(2, **SEEDS, algorithm=chain()),
    "fixed": lambda: discan.LDA(2, fixed_components=FIXED, algorithm=chain()),
    "features": lambda: discan.DCAFeatures(2, algorithm="map"),
    "classifier": lambda: discan.DCAClassifier(2, algorithm="map"),
    "stream": lambda: discan.LDA(2, algorithm="map"),
    "folder": lambda: discan.LDA(2, algorithm="map"),
}
RUNS: dict[str, dict[str, Any]] = {
    "ml-accelerated": {"algorithm": "ml"},
    "ml-quasi-newton": {"algorithm": discan.MaximumLikelihood(accelerate="quasi-newton")},
    "ml-tempered-auto": {"algorithm": discan.MaximumLikelihood(tau="auto")},
    "map": {"algorithm": "map"},
    "map-online": {"algorithm": discan.MAP(online=True, batch_entries=50)},
    "cvb0": {"algorithm": "cvb0", "learn": ("gamma",)},
    "variational-cgp": {"model": "cgp", "algorithm": "variational", "learn": ("rho",)},
    "variational-online": {"algorithm": discan.Variational(online=True, batch_entries=50)},
    "gibbs-learn": {"model": "gp", "algorithm": discan.Gibbs(**CHAIN), "learn": ("alpha", "beta")},
    "collapsed-exact": {"algorithm": chain(schedule="exact")},
    "collapsed-blocked": {"algorithm": chain(schedule="blocked")},
    "collapsed-chains": {"algorithm": chain(), "n_chains": 2},
    "process": {"n_components": "auto", "max_components": 5, "algorithm": chain()},
    "process-gibbs": {
        "n_components": "auto", "model": "gp", "max_components": 5,
        "algorithm": discan.Gibbs(**CHAIN),
    },
    "levels": {"n_components": 3, "n_parents": 2, "algorithm": discan.Gibbs(**CHAIN)},
    "classes": {"class_of_document": CLASSES, "algorithm": chain()},
    "seeds": {**SEEDS, "algorithm": chain()},
    "fixed": {"fixed_components": FIXED, "algorithm": "map"},
    "folder-map": {"algorithm": "map"},
    "folder-collapsed": {"algorithm": chain()},
}  # fmt: skip
CORPORA = ("full", "plain", "exposed")


def main(arguments: list[str] | None = None) -> None:
    """Write the files."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("folder", nargs="?", type=Path, default=HERE / "tests" / "golden")
    given.add_argument("--only", nargs="*", help="names of models, runs and corpora")
    options = given.parse_args(arguments)
    release = ".".join(discan.__version__.split(".")[:2])

    def wanted(kind: str, names: Any) -> list[tuple[str, Path]]:
        chosen = [name for name in names if options.only is None or name in options.only]
        places = [(name, options.folder / kind / f"{release}-{name}") for name in chosen]
        for _, place in places:
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.exists() or place.with_suffix(f"{place.suffix}.json").exists():
                sys.exit(f"{place}: exists; golden files are never made again")
        return places

    for name, place in wanted("models", MODELS):
        write_model(MODELS[name](), place)
    for name, place in wanted("runs", RUNS):
        write_run(RUNS[name], place)
    for name, place in wanted("corpora", CORPORA):
        write_data(corpus_of(name), place)
    print(f"golden files of discan {release} are in {options.folder}")


def named() -> Any:
    """The counts with names of the words."""
    return discan.Corpus(W, word_names=list("abcdefgh"))


def write_model(estimator: Any, place: Path) -> None:
    """Write a model, and its answers for its training documents."""
    name = place.name.partition("-")[2]
    cycles = {} if name in ("chains", "lda-auto") else {"max_iter": 8}
    estimator.set_params(random_state=1, **cycles)
    if name == "stream":
        for batch in np.array_split(W, 2):
            estimator.partial_fit(batch, total_documents=len(W))
    elif name == "folder":
        with TemporaryDirectory() as folder:
            write_corpus(named(), Path(folder) / "data")
            estimator.fit(Path(folder) / "data")
        # the file names its folder, which is nobody's
        stored = replace(estimator.fit_.documents, path="data")
        estimator.fit_ = replace(estimator.fit_, documents=stored)
    elif name == "classifier":
        estimator.fit(W, np.arange(len(W)) % 2)
    else:
        estimator.fit(W if name == "grouped-gibbs" else named())
    estimator.save(f"{place}.discan")
    method = "predict_proba" if name == "classifier" else "transform"
    answer = getattr(estimator, method)(W)  # features are sparse
    answers = {"X": W.tolist(), method: getattr(answer, "toarray", lambda: answer)().tolist()}
    if hasattr(estimator, "components_"):
        answers["components"] = estimator.components_.tolist()
    Path(f"{place}.json").write_text(json.dumps(answers))


def write_run(settings: dict[str, Any], place: Path) -> None:
    """Write the folder of a run that was stopped half way, and how the whole run ends.

    A run whose documents are in a folder has them in ``data``, which its settings name so: it is
    resumed from inside the folder of the run.
    """
    settings = {"n_components": 2, "random_state": 1, "max_iter": 8, "tol": 0.0, **settings}
    data: Any = named()
    if "-folder" in place.name:
        place.mkdir()
        write_corpus(data, place / "data")
        data = place / "data"
    whole = discan.DCA(**settings).fit(data)
    stopped = discan.DCA(
        **settings, checkpoint=place, checkpoint_every=1, callback=lambda run: run.cycle == 4
    )
    stopped.fit(data)
    (place / "lock").unlink()
    np.savez(
        place / "expected.npz", components=whole.components_, scores=whole.scores_,
        counts=whole.component_counts_, alpha=whole.alpha_, objective=whole.trace_["objective"],
    )  # fmt: skip
    if "-folder" in place.name:
        header, arrays = read_file(place / "settings.discan", "settings")
        kept = {key: value for key, value in header.items() if key not in HEAD}
        kept["corpus"]["folder"] = "data"
        write_file(place / "settings.discan", "settings", kept, arrays)


def corpus_of(name: str) -> Any:
    """A corpus with names and facts, with counts alone, or with exposures."""
    if name == "plain":
        return discan.Corpus(W * 0.5)
    if name == "exposed":
        return discan.Corpus(W, groups=GROUPS, exposures=1.0 + np.arange(60).reshape(20, 3) % 4)
    return discan.Corpus(
        W, groups=GROUPS, word_names=list("abcdefgh"), group_names=["x", "y", "z"],
        document_names=[f"document {i}" for i in range(len(W))],
        nouns=Nouns("senator", "vote", "bloc"), reading={"format": "csv"},
        metadata={"party": ["R", None] * 10, "age": np.arange(20.0)},
    )  # fmt: skip


def write_data(corpus: Any, place: Path) -> None:
    """Write a corpus as a file and as a folder, and its digest."""
    save_corpus(corpus, f"{place}.discan")
    write_corpus(corpus, place)
    facts = {"digest": corpus.digest, "X": corpus.to_csr().toarray().tolist()}
    Path(f"{place}.json").write_text(json.dumps(facts))


if __name__ == "__main__":
    main()
