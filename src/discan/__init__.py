# SPDX-License-Identifier: BSD-3-Clause
"""Discrete component analysis: explain a table of counts by a few non-negative components."""

from __future__ import annotations

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
    "discan.data.corpus": ("Corpus",),
    "discan.engines.dask": ("Dask",),
    "discan.evaluation.evidence": ("log_evidence",),
    "discan.readers": ("convert", "read"),
    "discan.data.splits": ("split_documents", "split_entries", "split_tokens", "thin"),
    "discan.evaluation.comparison": ("compare",),
    "discan.errors": ("DiscanError", "InputError", "LimitError", "ModelFileError", "StorageError"),
    "discan.explorer": ("Explorer", "explore"),
    "discan.estimators": (
        "DCA",
        "LDA",
        "MPCA",
        "NMF",
        "PLSI",
        "ConditionalGaP",
        "DCAClassifier",
        "DCAFeatures",
        "GaP",
        "load",
        "resume",
    ),
    "discan.estimators.importing": (
        "from_admixture",
        "from_gensim",
        "from_mallet",
        "from_sklearn",
        "from_structure",
        "from_tomotopy",
    ),
    "discan.estimators.seeding": ("label_seeds",),
    "discan.models.hyperparameters": ("Hyperprior",),
    "discan.reporting": ("report",),
    "discan.selection": ("compare_models", "select_components"),
    "discan.models": ("ConditionalGammaPoisson", "DirichletMultinomial", "GammaPoisson"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_PARTS = ("plot", "search")  # modules to be reached as ``discan.plot``

__all__ = sorted(_HOME_OF)
__version__ = "1.0.0"


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for, so that the import stays light."""
    if name in _PARTS:
        return importlib.import_module(f"discan.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'discan' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List what is public."""
    return sorted([*__all__, *_PARTS, "__doc__", "__version__"])
