# SPDX-License-Identifier: BSD-3-Clause
"""How kernels are compiled."""

import pytest

from discan.kernels import special


def test_parts_refuse_to_be_called_from_python():
    with pytest.raises(TypeError, match="log_rising is a part of kernels"):
        special.log_rising(1.0, 2)
