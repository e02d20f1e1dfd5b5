# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn estimators."""

from discan.estimators.dca import DCA, LDA, MPCA, NMF, PLSI, ConditionalGaP, GaP

__all__ = ["DCA", "LDA", "MPCA", "NMF", "PLSI", "ConditionalGaP", "GaP"]
