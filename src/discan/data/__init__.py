# SPDX-License-Identifier: BSD-3-Clause
"""Read, check, hold and split tables of counts."""
