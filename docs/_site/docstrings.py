# SPDX-License-Identifier: BSD-3-Clause
"""Tell mkdocstrings what it cannot read in the sources: docstrings that are made at import."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import griffe

_KINDS = {
    inspect.Parameter.POSITIONAL_OR_KEYWORD: griffe.ParameterKind.positional_or_keyword,
    inspect.Parameter.KEYWORD_ONLY: griffe.ParameterKind.keyword_only,
}


class MadeAtImport(griffe.Extension):
    """Classes of discan whose docstring and signature a decorator makes (`estimators.presets`)."""

    def on_class_members(self, *, cls: griffe.Class, **kwargs: Any) -> None:
        """Take the docstring and the signature of the class as it is when it is imported."""
        if not cls.path.startswith("discan.estimators.") or not cls.decorators:
            return
        made = getattr(importlib.import_module(cls.module.path), cls.name)
        written = cls.docstring.value if cls.docstring else ""
        if inspect.getdoc(made) == written:
            return
        cls.docstring = griffe.Docstring(inspect.getdoc(made) or "", parent=cls)
        parameters = griffe.Parameters(
            griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword),
            *(
                griffe.Parameter(name, kind=_KINDS[p.kind], default=_default(p))
                for name, p in inspect.signature(made).parameters.items()
            ),
        )
        cls.set_member("__init__", griffe.Function("__init__", parameters=parameters))


def _default(parameter: inspect.Parameter) -> str | None:
    return None if parameter.default is inspect.Parameter.empty else repr(parameter.default)
