# SPDX-License-Identifier: BSD-3-Clause
"""Time discan and scikit-learn side by side on one corpus, with one judge.

Fits are interleaved (every tool once, then every tool again) and medians are taken, so that a busy
machine disturbs all alike; read the ratios, not the seconds. A pass of scikit-learn's LDA iterates
up to 100 times on each document, a pass of the others once, so those make five times as many. What
a pass does still differs from tool to tool: seconds and perplexity belong together.

    python benchmarks/run.py [--data 20news-bydate.tar.gz] [--components 20] [--passes 10]
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import inspect
import os
import pkgutil
import platform
import statistics
import sys
import tarfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import sklearn
from judge import perplexity, unigram
from sklearn.decomposition import NMF as SklearnNMF
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer

import discan

ALPHA, GAMMA = 0.1, 0.01
ARCHIVE = "20news-bydate.tar.gz"
LIGHT = 5  # light passes for each heavy one
LONGEST_WORD = 40  # a line with a longer one is an encoded attachment


def main() -> None:
    """Run the comparison and print the table."""
    options = _options()
    name, texts = _texts(options.data)
    train, test = _counts(texts, options.documents)
    print(
        f"{name}: {train.shape[0]:,} documents to fit, {test.shape[0]:,} held out, "
        f"{train.shape[1]:,} words, {int(train.sum()):,} tokens\n"
        f"{options.components} components, alpha {ALPHA}, gamma {GAMMA}, "
        f"{options.passes} heavy or {LIGHT * options.passes} light passes, "
        f"{options.threads} thread(s), median of {options.repeats}\n{_machine()}\n",
        flush=True,
    )
    tools = _tools(options.components, options.passes, options.threads)
    for fit in tools.values():  # compile and warm up
        fit(train[:50], 0)
    seconds: dict[str, list[float]] = {tool: [] for tool in tools}
    quality: dict[str, list[float]] = {tool: [] for tool in tools}
    for seed in range(options.repeats):
        for tool, fit in tools.items():
            began = time.perf_counter()
            components = fit(train, seed)
            seconds[tool].append(time.perf_counter() - began)
            quality[tool].append(perplexity(components, test, ALPHA))
    _print_table(seconds, quality, unigram(train, test))


# ---- the tools ----


def _tools(n_components: int, passes: int, threads: int) -> dict[str, Callable[..., Any]]:
    """Functions of (counts, seed) that return components (K, J); peers first in each family."""

    def ours(estimator: Any, **options: Any) -> Callable[..., Any]:
        def fit(counts: Any, seed: int) -> Any:
            model = estimator(
                n_components, max_iter=LIGHT * passes, tol=0.0, n_jobs=threads, random_state=seed,
                progress=False, **options,
            )  # fmt: skip
            return model.fit(counts).components_

        return fit

    def sklearn_lda(counts: Any, seed: int) -> Any:
        model = LatentDirichletAllocation(
            n_components, doc_topic_prior=ALPHA, topic_word_prior=GAMMA, max_iter=passes,
            learning_method="batch", n_jobs=threads, random_state=seed,
        )  # fmt: skip
        return model.fit(counts).components_

    def sklearn_nmf(counts: Any, seed: int) -> Any:
        model = SklearnNMF(
            n_components, beta_loss="kullback-leibler", solver="mu", init="random",
            max_iter=LIGHT * passes, tol=0.0, random_state=seed,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sklearn.exceptions.ConvergenceWarning)
            return model.fit(counts.astype(np.float64)).components_

    priors = {"alpha": ALPHA, "gamma": GAMMA}
    return {
        "scikit-learn LDA, batch variational": sklearn_lda,
        "discan LDA, variational": ours(discan.LDA, **priors),
        "discan LDA, map": ours(discan.LDA, algorithm="map", **priors),
        "discan LDA, collapsed": ours(discan.LDA, algorithm="collapsed", **priors),
        "scikit-learn NMF, KL, mu": sklearn_nmf,
        "discan NMF": ours(discan.NMF),
    }


def _print_table(
    seconds: dict[str, list[float]], quality: dict[str, list[float]], baseline: float
) -> None:
    """One line a tool; ratios are to the scikit-learn line above it, above 1 is faster."""
    print(f"{'':<38}{'seconds':>9}{'times faster':>14}{'perplexity':>12}{'ratio':>8}")
    peer_seconds = peer_quality = float("nan")
    for tool in seconds:
        took, judged = statistics.median(seconds[tool]), statistics.median(quality[tool])
        if tool.startswith("scikit-learn"):
            peer_seconds, peer_quality = took, judged
        print(
            f"{tool:<38}{took:>9.2f}{peer_seconds / took:>14.1f}{judged:>12.0f}"
            f"{judged / peer_quality:>8.3f}"
        )
    print(f"{'unigram':<38}{'':>9}{'':>14}{baseline:>12.0f}")
    print(
        "\nTimes faster and ratio of perplexity: against the scikit-learn line above, in this run."
    )


# ---- the corpus ----


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--data", type=Path, help=f"path of {ARCHIVE}")
    parser.add_argument("--components", type=int, default=20)
    parser.add_argument("--passes", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--documents", type=int, default=3000, help="at most; 0 takes all")
    return parser.parse_args()


def _texts(data: Path | None) -> tuple[str, list[str]]:
    """Read 20 newsgroups if it is there, else the standard library's docstrings."""
    if data is not None and not data.is_file():
        sys.exit(f"--data {data}: no such file; give the path of {ARCHIVE}")
    archive = data or _find_archive()
    if archive is None:
        return "Docstrings of the Python standard library", list(_docstrings())
    return "20 newsgroups", list(_messages(archive))


def _find_archive() -> Path | None:
    """Look in $DISCAN_DATA, then beside the repository."""
    shared = Path(__file__).resolve().parents[2] / "shared" / "data"
    given = os.environ.get("DISCAN_DATA")
    for root in ([Path(given)] if given else []) + [shared]:
        for path in (root, root / ARCHIVE, root / "20news-bydate" / ARCHIVE):
            if path.is_file():
                return path
    return None


def _messages(archive: Path) -> Iterator[str]:
    """Yield the text of each message, without its headers."""
    with tarfile.open(archive) as tar:
        for member in tar:  # in the order of the archive: it cannot be read backwards
            stream = tar.extractfile(member)
            if stream is not None:
                body = stream.read().decode("latin-1").partition("\n\n")[2]
                yield "\n".join(line for line in body.splitlines() if not _encoded(line))


def _encoded(line: str) -> bool:
    return max(map(len, line.split()), default=0) > LONGEST_WORD


def _docstrings() -> Iterator[str]:
    """Yield docstrings of modules, classes and functions, each once, in order of name."""
    seen: set[str] = set()
    for module in sorted(pkgutil.iter_modules(), key=lambda module: module.name):
        if module.name not in sys.stdlib_module_names or module.name in ("antigravity", "this"):
            continue
        try:
            loaded = importlib.import_module(module.name)
        except Exception:  # a module of another platform
            continue
        things = [loaded]
        for _, value in sorted(vars(loaded).items()):
            if inspect.isclass(value) or inspect.isroutine(value):
                things.append(value)
            if inspect.isclass(value):
                things += [member for _, member in sorted(vars(value).items())]
        for thing in things:
            text = getattr(thing, "__doc__", None)
            if isinstance(text, str) and len(text) > 80 and text not in seen:
                seen.add(text)
                yield text


def _counts(texts: list[str], n_documents: int) -> tuple[Any, Any]:
    """Shuffle the documents, count their words, hold out a tenth."""
    order = np.random.default_rng(0).permutation(len(texts))
    if n_documents:
        order = order[:n_documents]
    vectorizer = CountVectorizer(
        min_df=3, max_df=0.5, stop_words="english", token_pattern=r"(?u)\b[^\W\d_]{2,}\b"
    )
    n_test = len(order) // 10
    test, train = order[:n_test], order[n_test:]
    fitted = vectorizer.fit_transform([texts[i] for i in train])
    held_out = vectorizer.transform([texts[i] for i in test])
    return fitted[fitted.sum(axis=1).A1 > 0], held_out


def _machine() -> str:
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].partition(":")[2].strip() if lines else model
    versions = (
        f"discan {discan.__version__}, scikit-learn {sklearn.__version__}, "
        f"numpy {np.__version__}, numba {numba.__version__}"
    )
    return (
        f"{datetime.date.today()}, {model}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}\n{versions}"
    )


if __name__ == "__main__":
    main()
