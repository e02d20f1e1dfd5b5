# SPDX-License-Identifier: BSD-3-Clause
"""What every kernel computes, in plain NumPy: slow, short, and the specification of the kernels.

The twin of ``kernels.<module>.<name>`` is ``twins.<module>.<name>``. A twin takes the kernel's
arguments without the ``out_*`` ones, and returns new arrays instead of writing to any. Where a
kernel draws, its twin draws the same numbers in the same order; the parts of ``kernels.random`` and
``kernels.draws`` are methods of ``twins.random.Stream``.
"""
