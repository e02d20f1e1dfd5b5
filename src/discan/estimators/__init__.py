# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn estimators."""

from discan.estimators.classifier import DCAClassifier
from discan.estimators.dca import DCA
from discan.estimators.features import DCAFeatures
from discan.estimators.files import load, resume
from discan.estimators.presets import LDA, MPCA, NMF, PLSI, ConditionalGaP, GaP

__all__ = [
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
]
