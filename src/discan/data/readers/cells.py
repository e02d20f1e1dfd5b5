# SPDX-License-Identifier: BSD-3-Clause
"""Readers to come."""
