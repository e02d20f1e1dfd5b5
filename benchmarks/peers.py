# SPDX-License-Identifier: BSD-3-Clause
"""The packages for comparison, each in its fastest form through its own functions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from curves import Answer, Watch
from threadpoolctl import threadpool_limits
from tools import ENDLESS, Task, Tool

__all__ = [
    "enstop_plsa",
    "gensim_lda",
    "sklearn_lda",
    "sklearn_nmf",
    "tomotopy_components",
    "tomotopy_lda",
    "tomotopy_model",
    "tomotopy_scheme",
]


def tomotopy_lda(
    name: str = "tomotopy", scheme: str = "DEFAULT", learn_alpha: int = 0, passes: int = ENDLESS
) -> Tool:
    """Collapsed Gibbs sampling in C++; the transfer of the documents is not counted."""

    def fit(task: Task, watch: Watch) -> None:
        model, kind = tomotopy_model(task, learn_alpha), tomotopy_scheme(scheme)
        answer = Answer(
            lambda: tomotopy_components(model, task.corpus.train.shape[1]),
            alpha=(lambda: np.asarray(model.alpha)) if learn_alpha else None,
        )
        done, over = 0, False
        watch.start()
        while not over and done < passes:
            step = min(max(1, done // 10), passes - done)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # several workers draw differently each time
                model.train(step, workers=task.threads, parallel=kind)
            done += step
            over = watch.lap(done, answer)
        watch.close(done, answer)

    return Tool(name, fit, "tomotopy", {"scheme": scheme, "optim_interval": learn_alpha})


def tomotopy_model(task: Task, learn_alpha: int = 0) -> Any:
    """Return a model with its documents, not yet trained."""
    import tomotopy

    model = tomotopy.LDAModel(
        k=task.n_components, alpha=task.alpha, eta=task.gamma, seed=task.seed + 1
    )
    model.optim_interval = learn_alpha
    matrix = task.corpus.train
    names = np.array([str(j) for j in range(matrix.shape[1])], dtype=object)
    for start, stop in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        words = np.repeat(names[matrix.indices[start:stop]], matrix.data[start:stop])
        model.add_doc(words.tolist())
    return model


def tomotopy_components(model: Any, n_words: int) -> Any:
    """Return the components with the columns in our order."""
    rows = np.array([model.get_topic_word_dist(k) for k in range(model.k)])
    components = np.zeros((model.k, n_words))
    components[:, [int(name) for name in model.used_vocabs]] = rows
    return components


def tomotopy_scheme(name: str) -> Any:
    """Return a parallel scheme: "DEFAULT", "PARTITION" or "COPY_MERGE"."""
    import tomotopy

    return getattr(tomotopy.ParallelScheme, name)


def sklearn_lda(
    name: str, method: str = "batch", jobs: int | None = None, passes: int = ENDLESS
) -> Tool:
    """Variational Bayes; "batch" is evaluated after each pass, "online" after each batch.

    ``jobs`` sets another number of processes than threads, where that is faster.
    """

    def fit(task: Task, watch: Watch) -> None:
        from sklearn.decomposition import LatentDirichletAllocation
        from sklearn.utils.parallel import Parallel

        n_jobs = jobs or task.threads
        model = LatentDirichletAllocation(
            task.n_components, doc_topic_prior=task.alpha, topic_word_prior=task.gamma,
            learning_method=method, random_state=task.seed, n_jobs=n_jobs,
            total_samples=task.corpus.train.shape[0],
        )  # fmt: skip
        answer = Answer(lambda: model.components_)
        matrix = task.corpus.train.astype(np.float64)
        n_documents, n_words = matrix.shape
        size = n_documents if method == "batch" else model.batch_size
        with threadpool_limits(task.threads), Parallel(n_jobs=n_jobs) as pool:
            # the steps of model.fit, without its bound at the end
            watch.start()
            model._init_latent_vars(n_words, dtype=matrix.dtype)
            done = 0.0
            for step in range(passes * -(-n_documents // size)):
                start = step * size % (-(-n_documents // size) * size)
                model._em_step(matrix[start : start + size], n_documents, method == "batch", pool)
                done = (step + 1) * size / n_documents
                if watch.lap(done, answer):
                    break
            watch.close(done, answer)

    return Tool(name, fit, "scikit-learn", {"method": method, "n_jobs": jobs})


def gensim_lda(name: str, multicore: bool = False, passes: int = ENDLESS) -> Tool:
    """Online variational Bayes, pass by pass; the conversion of the counts is not counted."""

    def fit(task: Task, watch: Watch) -> None:
        from gensim.matutils import Sparse2Corpus
        from gensim.models import LdaModel, LdaMulticore
        from gensim.utils import FakeDict

        documents = list(Sparse2Corpus(task.corpus.train, documents_columns=False))
        options: dict[str, Any] = {
            "id2word": FakeDict(task.corpus.train.shape[1]), "num_topics": task.n_components,
            "alpha": [task.alpha] * task.n_components, "eta": task.gamma, "eval_every": None,
            "random_state": task.seed,
        }  # fmt: skip
        with threadpool_limits(task.threads):
            watch.start()
            if multicore:
                model = LdaMulticore(workers=task.threads, **options)
            else:
                model = LdaModel(**options)
            answer, done = Answer(lambda: model.get_topics()), 0
            while done < passes:
                model.update(documents)
                done += 1
                if watch.lap(done, answer):
                    break
            watch.close(done, answer)

    return Tool(name, fit, "gensim", {"multicore": multicore})


def sklearn_nmf(name: str = "scikit-learn NMF", step: int = 5) -> Tool:
    """Multiplicative updates for the KL divergence, restarted every few passes."""

    def fit(task: Task, watch: Watch) -> None:
        from sklearn.decomposition import non_negative_factorization
        from sklearn.exceptions import ConvergenceWarning

        matrix = task.corpus.train.astype(np.float64)
        scores, components, start = None, None, "random"
        with threadpool_limits(task.threads), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            watch.start()
            for done in range(step, ENDLESS, step):
                scores, components, _ = non_negative_factorization(
                    matrix, W=scores, H=components, n_components=task.n_components, init=start,
                    solver="mu", beta_loss="kullback-leibler", max_iter=step, tol=0.0,
                    random_state=task.seed,
                )  # fmt: skip
                start = "custom"
                if watch.lap(done, Answer(lambda h=components: h, lambda w=scores: w)):
                    break
            watch.stop()

    return Tool(name, fit, "scikit-learn", {"passes per step": step})


def enstop_plsa(name: str = "enstop PLSA") -> Tool:
    """EM for PLSI by its own steps, without the likelihood that its loop computes."""

    def fit(task: Task, watch: Watch) -> None:
        from enstop.plsa import plsa_e_step, plsa_init, plsa_m_step

        matrix = task.corpus.train.astype(np.float32)
        lengths = np.asarray(matrix.sum(axis=1)).reshape(-1, 1)
        watch.start()
        rng = np.random.RandomState(task.seed)
        documents, words = plsa_init(matrix, task.n_components, init="random", rng=rng)
        documents = documents.astype(np.float32, order="C")
        words = words.astype(np.float32, order="C")
        table = matrix.tocoo()
        shares = np.zeros((table.nnz, task.n_components), dtype=np.float32)
        totals = np.zeros(words.shape[0], np.float32), np.zeros(documents.shape[0], np.float32)
        head = (table.row, table.col, table.data, words, documents, shares)
        answer = Answer(lambda: words, lambda: documents * lengths)
        for done in range(1, ENDLESS):
            plsa_e_step(*head, 1e-32)
            plsa_m_step(*head, *totals)
            if watch.lap(done, answer):
                break
        watch.stop()

    return Tool(name, fit, "enstop")
