# SPDX-License-Identifier: BSD-3-Clause
"""The command line: ``discan``."""

from discan.cli.app import app, main

__all__ = ["app", "main"]
