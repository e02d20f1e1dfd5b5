# SPDX-License-Identifier: BSD-3-Clause
"""Judge fits: likelihoods, evidence, chains, components, comparisons, anomalies."""
