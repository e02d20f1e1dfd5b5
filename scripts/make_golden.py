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
from pathlib import Path
from typing import Any

import numpy as np

import discan
from discan.data.folders.writer import write_corpus
from discan.data.nouns import Nouns
from discan.data.store import save_corpus

HERE = Path(__file__).parents[1]
rng = np.random.default_rng(0)
W = rng.poisson(1.0, (20, 8))
GROUPS = np.array([0, 0, 0, 1, 1, 2, 2, 2])
CHAIN: dict[str, Any] = {"burn_in": 4, "n_draws": 4}

MODELS: dict[str, Callable[[], Any]] = {
    "lda-map": lambda: discan.LDA(3, algorithm="map"),
    "lda-variational": lambda: discan.LDA(3, algorithm="variational"),
    "cvb0": lambda: discan.LDA(3, algorithm="cvb0", learn=("gamma",)),
    "nmf": lambda: discan.NMF(3),
    "plsi-tempered": lambda: discan.PLSI(2, algorithm=discan.MaximumLikelihood(tau=0.8)),
    "grouped-gibbs": lambda: discan.MPCA(
        2, groups=GROUPS, algorithm=discan.Gibbs(**CHAIN), learn=("alpha", "gamma")
    ),
    "conditional-collapsed": lambda: discan.DCA(
        2, model="cgp", algorithm=discan.Collapsed(**CHAIN, keep_draws=True)
    ),
    "chains": lambda: discan.LDA(2, algorithm=discan.Collapsed(**CHAIN), n_chains=2),
}
RUNS: dict[str, dict[str, Any]] = {
    "ml-accelerated": {"algorithm": "ml"},
    "ml-quasi-newton": {"algorithm": discan.MaximumLikelihood(accelerate="quasi-newton")},
    "ml-tempered-auto": {"algorithm": discan.MaximumLikelihood(tau="auto")},
    "map": {"algorithm": "map"},
    "cvb0": {"algorithm": "cvb0", "learn": ("gamma",)},
    "variational-cgp": {"model": "cgp", "algorithm": "variational", "learn": ("rho",)},
    "variational-online": {"algorithm": discan.Variational(online=True, batch_entries=50)},
    "gibbs-learn": {"model": "gp", "algorithm": discan.Gibbs(**CHAIN), "learn": ("alpha", "beta")},
    "collapsed-exact": {"algorithm": discan.Collapsed(**CHAIN, schedule="exact")},
    "collapsed-blocked": {"algorithm": discan.Collapsed(**CHAIN, schedule="blocked")},
}
CORPORA = ("full", "plain")


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


def write_model(estimator: Any, place: Path) -> None:
    """Write a model, and its answers for its training documents."""
    estimator.set_params(random_state=1, max_iter=None if "chain" in place.name else 8)
    estimator.fit(W).save(f"{place}.discan")
    answers = {
        "X": W.tolist(),
        "transform": estimator.transform(W).tolist(),
        "components": estimator.components_.tolist(),
    }
    Path(f"{place}.json").write_text(json.dumps(answers))


def write_run(settings: dict[str, Any], place: Path) -> None:
    """Write the folder of a run that was stopped half way, and how the whole run ends."""
    settings = {"n_components": 2, "random_state": 1, "max_iter": 8, "tol": 0.0, **settings}
    whole = discan.DCA(**settings).fit(W)
    stopped = discan.DCA(
        **settings, checkpoint=place, checkpoint_every=1, callback=lambda run: run.cycle == 4
    )
    stopped.fit(W)
    (place / "lock").unlink()
    np.savez(
        place / "expected.npz", components=whole.components_, scores=whole.scores_,
        counts=whole.component_counts_, alpha=whole.alpha_, objective=whole.trace_["objective"],
    )  # fmt: skip


def corpus_of(name: str) -> Any:
    """A corpus with all that it may hold, or with counts alone."""
    if name == "plain":
        return discan.Corpus(W * 0.5)
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
