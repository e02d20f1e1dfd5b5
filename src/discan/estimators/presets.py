# SPDX-License-Identifier: BSD-3-Clause
"""Estimators that carry well-known names: DCA with the model fixed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from discan.estimators.dca import DCA

__all__ = ["LDA", "MPCA", "NMF", "PLSI", "ConditionalGaP", "GaP"]


def _preset(model: str, algorithm: str) -> Callable[[type[DCA]], type[DCA]]:
    """Fix the model of DCA and set its default algorithm."""

    def decorate(cls: type[DCA]) -> type[DCA]:
        def __init__(self: DCA, n_components: int = 10, **params: Any) -> None:
            DCA.__init__(self, n_components, model=model, **{"algorithm": algorithm, **params})

        inherited = inspect.signature(DCA.__init__).parameters.values()
        __init__.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                p.replace(default=algorithm) if p.name == "algorithm" else p
                for p in inherited
                if p.name != "model"
            ]
        )
        __init__.__doc__ = "Store the parameters; see DCA."
        cls.__init__ = __init__  # type: ignore[method-assign]
        return cls

    return decorate


@_preset("gp", "ml")
class NMF(DCA):
    """Non-negative matrix factorisation with the Kullback-Leibler divergence."""


@_preset("dm", "ml")
class PLSI(DCA):
    """Probabilistic latent semantic indexing; ``algorithm=MaximumLikelihood(tau=...)`` tempers."""


@_preset("dm", "auto")
class LDA(DCA):
    """Latent Dirichlet allocation."""


@_preset("dm", "auto")
class MPCA(DCA):
    """Multinomial PCA: the same model as LDA, under the name it has for grouped columns."""


@_preset("gp", "auto")
class GaP(DCA):
    """Gamma-Poisson: independent scores, and document lengths that matter."""


@_preset("cgp", "auto")
class ConditionalGaP(DCA):
    """Conditional Gamma-Poisson: sparse, components may be truly absent from a document."""
