# SPDX-License-Identifier: BSD-3-Clause
"""Run the command line with ``python -m discan``."""

from discan.cli import main

main()
