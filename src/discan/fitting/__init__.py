# SPDX-License-Identifier: BSD-3-Clause
"""Fit a model: the one loop, its result, and what keeps both on disk."""
