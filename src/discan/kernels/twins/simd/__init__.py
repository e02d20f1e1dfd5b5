# SPDX-License-Identifier: BSD-3-Clause
"""Twins of the parts that are written in LLVM's instructions."""
