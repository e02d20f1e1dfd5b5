# SPDX-License-Identifier: BSD-3-Clause
"""Describe a fitted model on a page of HTML, in figures and plain words."""

from discan.reporting.report import report

__all__ = ["report"]
