# SPDX-License-Identifier: BSD-3-Clause
"""The command line: ``discan``."""

from discan.cli.commands import app, main

__all__ = ["app", "main"]
