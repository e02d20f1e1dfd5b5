# SPDX-License-Identifier: BSD-3-Clause
"""Compiled loops over arrays, which know nothing of models, corpora or threads.

Arguments are in one order: block, score table, loadings, state, outputs, options, random key. A
kernel writes only to its state and to arguments named ``out_*``; to most outputs it adds. The NumPy
twin of a kernel is in the module of the same name in ``twins``.
"""
