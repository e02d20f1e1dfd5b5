# SPDX-License-Identifier: BSD-3-Clause
"""Fits to streams: ``partial_fit``, and what a file keeps of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from discan.algorithms import ALGORITHMS
from discan.data.corpus import Corpus
from discan.data.rules import MOST, Rule, taken
from discan.engines.threads import Threads
from discan.errors import InputError
from discan.estimators.fitted import Fitted
from discan.estimators.input import check_layout, read_corpus, read_seed, weighted
from discan.estimators.tasks import model_of, settings_of
from discan.fitting.streaming import Stream, begin_stream, streaming
from discan.fitting.task import Task
from discan.models import MODELS, LoadingsPrior
from discan.typing import Array
from discan.validation import whole

__all__ = ["Streams", "restore_stream", "stream_header"]

_NUMBERS = {name: Rule(types="whole", low=0) for name in ("batches", "documents")}
_NUMBERS["total"] = Rule(types="whole", low=1)
_COUNTS = {"counts": Rule(("J", "K"), low=0, high=MOST)}
_FREE = ("n_jobs", "callback", "progress", "random_state", "engine")


class Streams(Fitted):
    """Fits of an estimator to one batch after the other."""

    n_components: Any
    model: Any
    algorithm: Any
    gamma: Any
    init: Any
    learn: Any
    class_of_document: Any
    seed_words: Any
    fixed_components: Any
    n_chains: Any
    checkpoint: Any
    random_state: Any
    _stream: tuple[Stream, str] | None

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        total_documents: int | None = None,
    ) -> Self:
        """Learn from the next batch of a stream; the documents are then forgotten.

        Each call is one round of an online fit. Batch t = 1, 2, ... has the weight
        ``(delay + t) ** -decay`` against all before it, with ``delay`` and ``decay`` (and
        ``visits`` and ``inner``) of the algorithm, e.g. ``MAP(delay=10)``. The same batches give
        the same bits. After ``fit``, the first batch continues from its components, which weigh as
        much as its documents would have weighed in batches of this size.

        Parameters
        ----------
        X : (I, J) counts
            As for ``fit``. All batches have the same columns; of a ``Corpus`` or a data frame with
            names, they are found by name.
        y : ignored
            Part of scikit-learn's interface.
        sample_weight : (I,) array, optional
            As for ``fit``.
        total_documents : int, optional
            Number of documents of the whole stream, if it is known. By default it is taken to end
            with this batch. Give the number if batches are visited several times.

        Returns
        -------
        self : object
            The estimator, fitted to all batches so far.

        Notes
        -----
        The samplers cannot do this; "auto" is "cvb0", or "variational" for the conditional model.
        Hyperparameters keep their first values, and components their order. ``scores_``,
        ``sizes_`` and everything else about documents describe the last batch. ``save`` keeps what
        the next batch needs, so a loaded model continues with the same bits.

        Examples
        --------
        >>> import numpy as np, discan
        >>> X = np.kron(np.eye(2, dtype=int), np.full((5, 4), 3))
        >>> estimator = discan.DCA(2, algorithm="map", random_state=0)
        >>> for batch in np.array_split(X, 5):
        ...     estimator = estimator.partial_fit(batch, total_documents=10)
        >>> estimator.n_iter_
        5
        """
        given = None if total_documents is None else whole("total_documents", total_documents, 1)
        fitted = "fit_" in self.__dict__
        corpus = read_corpus(
            self, X, self.groups, reset=not fitted, fit=self.fit_ if fitted else None
        )
        if fitted:
            check_layout(self, corpus, self.fit_.layout)
        if corpus.on_disk:
            raise InputError(
                "a corpus folder is not a batch", remedy="use fit, which reads it in parts"
            )
        if corpus.n_documents == 0:
            raise InputError("the batch has no documents; leave it out")
        if given is not None and given < corpus.n_documents:
            raise InputError(
                f"total_documents={given} is less than the {corpus.n_documents} documents of the "
                "batch; give the number of documents of the whole stream"
            )
        self._check_streamable()
        corpus = weighted(corpus, sample_weight, MODELS.find(self.model).normalised)
        with self._threads() as engine:
            stream, task = self._current(corpus, engine)
            stream, result = stream.after(task, given, engine)
        self.fit_ = result
        self._stream = stream, settings_of(self, _FREE)
        return self

    def _current(self, corpus: Corpus, engine: Threads) -> tuple[Stream, Task]:
        """Return the stream before a batch, and the task of the batch."""
        n_components = whole("n_components", self.n_components, 1)
        auto = isinstance(self.algorithm, str) and self.algorithm.lower() == "auto"
        chosen = None if auto else ALGORITHMS.find(self.algorithm)
        known = self.__dict__.get("_stream")
        fit = self.__dict__.get("fit_")
        seed = read_seed(self.random_state) if fit is None else fit.settings["seed"]
        if known is not None:
            stream, key = known
            if key != settings_of(self, _FREE):
                raise InputError(
                    "settings have changed since the last batch; set them back, or begin with a "
                    "new estimator"
                )
            algorithm = streaming(chosen, stream.model)
            return stream, Task(corpus, stream.model, algorithm, stream.prior, seed=seed)
        if fit is None:
            model = model_of(self)
            algorithm = streaming(chosen, model)
            prior = LoadingsPrior.of(self.gamma, corpus.layout)
            model, init, before = model.prepare(n_components, corpus), self.init, 0
        else:
            model, prior, init = fit.params.model.fixed(), fit.params.prior, fit.components
            algorithm, before = streaming(chosen, model), fit.settings.get("documents", 0)
            if fit.documents is not None and not before:
                before = len(fit.documents.scores)
        task = Task(corpus, model, algorithm, prior, seed=seed)
        batches = -(-before // corpus.n_documents)
        return begin_stream(task, init, engine, batches, before), task

    def _check_streamable(self) -> None:
        """Refuse settings that make no sense for a stream."""
        if self.checkpoint is not None:
            raise InputError(
                "checkpoint is for fit; a stream is kept by save, after any batch",
                remedy="leave it out",
            )
        if self.n_chains != 1:
            raise InputError("partial_fit follows one chain", use={"n_chains": 1})
        seeded = "fit_" in self.__dict__ and self.fit_.params.prior.seeds is not None
        if seeded or self.seed_words is not None or self.fixed_components is not None:
            raise InputError("partial_fit takes no seeds and no fixed components; use fit")
        if self.class_of_document is not None:
            raise InputError("partial_fit takes no classes of documents; use fit")
        if self.learn not in ("auto", ()):
            raise InputError(
                "partial_fit learns no hyperparameters: one batch tells too little about them",
                remedy="leave learn out",
            )


def stream_header(estimator: Streams, arrays: dict[str, Array]) -> dict[str, Any]:
    """Return what a file keeps of a stream, and put its array aside."""
    known = vars(estimator).get("_stream")
    if known is None:
        return {}
    stream, _ = known
    arrays["stream.counts"] = stream.counts
    return {"stream": {name: getattr(stream, name) for name in _NUMBERS}}


def restore_stream(
    estimator: Streams, header: Mapping[str, Any], arrays: Mapping[str, Array]
) -> None:
    """Continue where a file ends, if it holds a stream; the fit is there already."""
    if "stream" not in header:
        return
    fit = estimator.fit_
    numbers = taken(_NUMBERS, header["stream"], {})
    sizes = {"J": fit.layout.n_words, "K": fit.n_components}
    counts = taken(_COUNTS, arrays, sizes, "stream.")["counts"]
    params = fit.params
    stream = Stream(params.model, params.prior, counts, **numbers, trace=fit.trace)
    estimator._stream = stream, settings_of(estimator, _FREE)
