# SPDX-License-Identifier: BSD-3-Clause
"""Peers that read files or run as a command: BigARTM, Vowpal Wabbit and MALLET.

Writing the documents to files is not counted. Vowpal Wabbit and MALLET cannot be asked in the
middle of a run, so each point of their curves is a run of its own with fewer passes.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from curves import Answer, Watch
from tools import Task, Tool, mallet

__all__ = ["bigartm_lda", "mallet_lda", "vowpal_lda"]

RUNGS = (1, 3, 10, 30, 100, 300)  # passes of the runs before the last one
LEARN_EVERY = 10


def bigartm_lda(name: str = "BigARTM LDA", passes: int = 100) -> Tool:
    """Regularised EM by its own class for LDA, pass by pass."""

    def fit(task: Task, watch: Watch) -> None:
        import artm

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "documents.txt"
            _write(path, (f"d{i} {text}" for i, text in enumerate(_counted(task))))
            batches = artm.BatchVectorizer(
                data_path=str(path), data_format="vowpal_wabbit", target_folder=f"{folder}/batches"
            )
            model = artm.LDA(
                num_topics=task.n_components, num_processors=task.threads, alpha=task.alpha,
                beta=task.gamma, seed=task.seed, dictionary=batches.dictionary,
            )  # fmt: skip
            answer, done = Answer(lambda: _in_order(model.phi_, task)), 0
            watch.start()
            while done < passes:
                model.fit_offline(batch_vectorizer=batches, num_collection_passes=1)
                done += 1
                if watch.lap(done, answer):
                    break
            watch.close(done, answer)

    return Tool(name, fit, "bigartm", {"passes": passes})


def vowpal_lda(name: str = "Vowpal Wabbit LDA", passes: int = 30) -> Tool:
    """Online variational Bayes on one thread; reading the text is part of its first pass."""

    def fit(task: Task, watch: Watch) -> None:
        import vowpalwabbit

        n_documents, n_words = task.corpus.train.shape
        with tempfile.TemporaryDirectory() as folder:
            path, model = Path(folder) / "documents.txt", Path(folder) / "model.txt"
            answer = Answer(lambda: _lambdas(model, task))
            _write(path, (f"| {text}" for text in _counted(task)))
            for done in _rungs(passes):
                watch.restart()
                vowpalwabbit.Workspace(
                    f"--quiet --noconstant --lda {task.n_components} --lda_D {n_documents} "
                    f"--lda_alpha {task.alpha} --lda_rho {task.gamma} --minibatch 256 "
                    f"--power_t 0.5 --initial_t 1 --random_seed {task.seed + 1} "
                    f"-b {int(n_words).bit_length()} --passes {done} --cache_file {folder}/cache "
                    f"-k -d {path} --readable_model {model}"
                ).finish()
                if watch.lap(done, answer, due=True):
                    break
            watch.close(done, answer)

    return Tool(name, fit, "vowpalwabbit", {"passes": passes})


def mallet_lda(name: str = "MALLET, alpha learnt", passes: int = 1000) -> Tool:
    """Sparse Gibbs sampling in Java, alpha and beta optimised; the start of Java is not counted."""

    def fit(task: Task, watch: Watch) -> None:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            _write(folder / "documents.txt", _spelt(task))
            _mallet(
                "import-file", "--input", folder / "documents.txt", "--output",
                folder / "documents", "--keep-sequence", "--token-regex", "[0-9]+",
            )  # fmt: skip

            def train(n_passes: int) -> None:
                _mallet(
                    "train-topics", "--input", folder / "documents", "--num-topics",
                    task.n_components, "--num-iterations", n_passes, "--num-threads", task.threads,
                    "--alpha", task.alpha * task.n_components, "--beta", task.gamma,
                    "--optimize-interval", LEARN_EVERY, "--random-seed", task.seed + 1,
                    "--topic-word-weights-file", folder / "weights.txt",
                    "--output-topic-keys", folder / "keys.txt",
                )  # fmt: skip

            watch.restart()
            train(0)  # starts Java, reads the documents, writes the answer
            overhead = watch.split()
            answer = Answer(
                lambda: _weights(folder / "weights.txt", task),
                alpha=lambda: np.loadtxt(folder / "keys.txt", usecols=1, delimiter="\t", ndmin=1),
            )
            for done in _rungs(passes):
                watch.restart(overhead)
                train(done)
                if watch.lap(done, answer, due=True):
                    break
            watch.close(done, answer)

    return Tool(name, fit, "MALLET", {"passes": passes, "optimize-interval": LEARN_EVERY})


def _rungs(passes: int) -> list[int]:
    """Return the lengths of the runs."""
    return [*(rung for rung in RUNGS if rung < passes), passes]


def _mallet(*words: object) -> None:
    """Run a command of MALLET; what it prints is shown only if it fails."""
    done = subprocess.run(
        [str(mallet()), *map(str, words)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"mallet {words[0]}: {done.stderr.strip()[-300:]}")


# ---- files ----


def _counted(task: Task) -> Iterator[str]:
    """Write each document as pairs "word:count", words by number."""
    matrix = task.corpus.train
    for start, stop in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        pairs = zip(matrix.indices[start:stop], matrix.data[start:stop], strict=True)
        yield " ".join(f"{word}:{count}" for word, count in pairs)


def _spelt(task: Task) -> Iterator[str]:
    """Write each document as a name, a label and all its tokens, words by number."""
    matrix = task.corpus.train
    for i, (start, stop) in enumerate(zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)):
        words = np.repeat(matrix.indices[start:stop], matrix.data[start:stop])
        yield f"d{i} none " + " ".join(map(str, words))


def _write(path: Path, lines: Iterator[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def _in_order(table: Any, task: Task) -> Any:
    """Return components from a table of words by components, (K, J)."""
    components = np.zeros((task.n_components, task.corpus.train.shape[1]))
    words = [int(word[1] if isinstance(word, tuple) else word) for word in table.index]
    components[:, words] = np.asarray(table).T
    return components


def _lambdas(path: Path, task: Task) -> Any:
    """Read the components of a readable model of Vowpal Wabbit, (K, J)."""
    n_words = task.corpus.train.shape[1]
    components = np.zeros((task.n_components, n_words))
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            head, *values = line.split()
            if head.isdigit() and len(values) == task.n_components and int(head) < n_words:
                components[:, int(head)] = [float(value) for value in values]
    return components


def _weights(path: Path, task: Task) -> Any:
    """Read the components of MALLET: lines of topic, word and weight, (K, J)."""
    components = np.zeros((task.n_components, task.corpus.train.shape[1]))
    topics, words, weights = np.loadtxt(path, delimiter="\t", ndmin=2).T
    components[topics.astype(int), words.astype(int)] = weights
    return components
