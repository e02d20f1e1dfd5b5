# SPDX-License-Identifier: BSD-3-Clause
"""The modules in docs/_site that build the documentation site; they belong to no package."""

import importlib.util
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "docs" / "_site"


def part(name):
    """Load one of the modules."""
    spec = importlib.util.spec_from_file_location(f"docs_site_{name}", FOLDER / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
