# SPDX-License-Identifier: BSD-3-Clause
"""Run the command line with ``python -m discan.cli``."""

from discan.cli import main

main()
