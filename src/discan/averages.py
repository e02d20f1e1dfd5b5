# SPDX-License-Identifier: BSD-3-Clause
"""Average posterior draws: means and standard deviations of counts, scores and loadings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discan.algorithms import Algorithm
from discan.algorithms.base import Params, Posterior
from discan.data.corpus import Block, Corpus
from discan.fitted import Draws
from discan.typing import Array

__all__ = ["Averages"]


class Averages:
    """Sums over draws.

    Scores and loadings are averaged by their conditional means given the counts of a draw
    (Rao-Blackwell), and their mean squares likewise, so that the standard deviations are those of
    the posterior, not of the means.
    """

    def __init__(self, corpus: Corpus, params: Params, keep_draws: bool) -> None:
        self.n_draws = 0
        self._documents = np.zeros((5, corpus.n_documents, params.n_components))
        self._words = np.zeros((2, corpus.n_words, params.n_components))
        self._hyper: dict[str, Array] = {}
        self.draws = Draws() if keep_draws else None
        self._counts: Array | None = None

    # ---- adding a draw ----

    def begin(self) -> None:
        """Start a draw."""
        self.n_draws += 1
        if self.draws is not None:
            self._counts = np.empty(self._documents.shape[1:])

    def add_block(self, block: Block, posterior: Posterior) -> None:
        """Add what the draw says of a block's documents."""
        here = slice(block.start, block.stop)
        counts = posterior.component_counts
        for total, value in zip(
            self._documents, (*posterior, np.multiply(counts, counts, dtype=float)), strict=True
        ):
            total[here] += value
        if self._counts is not None:
            self._counts[here] = counts

    def end(self, algorithm: Algorithm, params: Params) -> None:
        """Add what the draw says of the loadings and the hyperparameters."""
        loadings = algorithm.mean_loadings(params)
        self._words[0] += loadings
        counts = params.loading_counts
        if counts is not None and algorithm.whole_counts:
            self._words[1] += params.prior.mean_square(counts)
        elif params.loading_shape is not None:
            self._words[1] += params.prior.mean_square(
                params.loading_shape - params.prior.gamma[:, None]
            )
        else:
            self._words[1] = np.nan
        values = {**params.model.values(), "gamma": params.prior.gamma}
        for name, value in values.items():
            self._hyper[name] = self._hyper.get(name, 0.0) + value
        if self.draws is not None and self._counts is not None:
            self.draws.component_counts.append(self._counts)
            self.draws.loadings.append(loadings)
            self.draws.hyperparameters.append(values)

    # ---- writing down and taking up ----

    def arrays(self) -> dict[str, Array]:
        """All sums and kept draws by name."""
        result = {"averages.documents": self._documents, "averages.words": self._words}
        result |= {f"averages.hyper.{name}": value for name, value in self._hyper.items()}
        if self.draws is not None:
            result["draws.component_counts"] = np.array(self.draws.component_counts)
            result["draws.loadings"] = np.array(self.draws.loadings)
            for name in self._hyper:
                values = [draw[name] for draw in self.draws.hyperparameters]
                result[f"draws.{name}"] = np.array(values)
        return result

    def restore(self, n_draws: int, arrays: dict[str, Array]) -> None:
        """Take up sums and draws again."""
        self.n_draws = n_draws
        self._documents[...] = arrays["averages.documents"]
        self._words[...] = arrays["averages.words"]
        prefix = "averages.hyper."
        self._hyper = {
            name.removeprefix(prefix): value
            for name, value in arrays.items()
            if name.startswith(prefix)
        }
        if "draws.loadings" in arrays:
            columns = {name: arrays[f"draws.{name}"] for name in self._hyper}
            self.draws = Draws(
                list(arrays["draws.component_counts"]),
                list(arrays["draws.loadings"]),
                [{name: column[n] for name, column in columns.items()} for n in range(n_draws)],
            )

    # ---- what they say ----

    @property
    def posterior(self) -> Posterior:
        """Means over draws, each (I, K)."""
        return Posterior(*(self._documents[:4] / self.n_draws))

    @property
    def loadings(self) -> Array:
        """Mean loadings, (J, K)."""
        return np.asarray(self._words[0] / self.n_draws)

    @property
    def component_counts_sd(self) -> Array:
        """Standard deviation of the component counts, (I, K)."""
        return _sd(self._documents[0] / self.n_draws, self._documents[4] / self.n_draws)

    @property
    def scores_sd(self) -> Array | None:
        """Posterior standard deviation of the scores, (I, K); None for point estimates."""
        if self.loadings_sd is None:
            return None
        return _sd(self._documents[1] / self.n_draws, self._documents[2] / self.n_draws)

    @property
    def loadings_sd(self) -> Array | None:
        """Posterior standard deviation of the loadings, (J, K); None for point estimates."""
        if np.isnan(self._words[1]).all():
            return None
        return _sd(self._words[0] / self.n_draws, self._words[1] / self.n_draws)

    def inference_params(self, algorithm: Algorithm, params: Params) -> Params:
        """Parameters for new documents: the last ones, or for samplers the posterior means."""
        if not algorithm.whole_counts:
            return params
        hyper = {name: value / self.n_draws for name, value in self._hyper.items()}
        gamma = hyper.pop("gamma")
        return replace(
            params,
            model=replace(params.model, **hyper),  # type: ignore[type-var]
            prior=replace(params.prior, gamma=gamma),
            loadings=np.ascontiguousarray(self.loadings),
        )


def _sd(mean: Array, mean_square: Array) -> Array:
    return np.asarray(np.sqrt(np.maximum(mean_square - mean**2, 0.0)))
