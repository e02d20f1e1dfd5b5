# SPDX-License-Identifier: BSD-3-Clause
"""Discrete component analysis: explain a table of counts by a few non-negative components."""

from __future__ import annotations

import gc
import importlib
from typing import Any

_HOMES = {
    "discan.algorithms": (
        "Collapsed",
        "CollapsedVariational",
        "Gibbs",
        "MAP",
        "MaximumLikelihood",
        "Variational",
    ),
    "discan.estimators.classifier": ("DCAClassifier",),
    "discan.data.corpus": ("Corpus",),
    "discan.fitting.checkpoint": ("resume",),
    "discan.fitting.modelfile": ("load",),
    "discan.readers": ("read",),
    "discan.data.splits": ("split_documents", "split_entries", "split_tokens", "thin"),
    "discan.errors": ("DiscanError", "InputError", "LimitError", "ModelFileError", "StorageError"),
    "discan.estimators": ("DCA", "LDA", "MPCA", "NMF", "PLSI", "ConditionalGaP", "GaP"),
    "discan.estimators.features": ("DCAFeatures",),
    "discan.models.hyperparameters": ("Hyperprior",),
    "discan.models": ("ConditionalGammaPoisson", "DirichletMultinomial", "GammaPoisson"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_PARTS = ("plot",)  # modules to be reached as ``discan.plot``

__all__ = sorted(_HOME_OF)
__version__ = "0.1.0.dev0"


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for, so that the import stays light."""
    if name in _PARTS:
        return _load(f"discan.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'discan' has no attribute {name!r}")
    value = getattr(_load(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__, *_PARTS]


def _load(module: str) -> Any:
    """Import a module while the garbage collector rests.

    What is imported stays: walks through it, again and again as it grows, find nothing and take an
    eighth of the time to a first fit. To freeze and unfreeze puts it into the oldest generation,
    where those walks would have brought it. What others froze or turned off is left as it is.
    """
    rests = gc.isenabled() and not gc.get_freeze_count()
    if rests:
        gc.disable()
    try:
        return importlib.import_module(module)
    finally:
        if rests:
            gc.freeze()
            gc.unfreeze()
            gc.enable()
