# SPDX-License-Identifier: BSD-3-Clause
"""Search over settings: how many components, and which model, by held-out prediction."""

from discan.selection.components import select_components
from discan.selection.models import compare_models
from discan.selection.result import ModelComparison, Selection

__all__ = ["ModelComparison", "Selection", "compare_models", "select_components"]
