# SPDX-License-Identifier: BSD-3-Clause
"""The page around the data: one script, one style sheet, and nothing that can be fetched."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

from discan.plot.page import escape

__all__ = ["SCRIPTS", "page", "size_without_data"]

SCRIPTS = (
    "data", "elements", "state", "parts", "components", "documents", "map", "labels", "search",
    "diagnostics", "start",
)  # fmt: skip
"""Files of the script, in the order in which they are joined."""


def page(title: str, data: str) -> str:
    """Return the page; the title is any text, the data are ASCII without markup."""
    script, style = _script(), _asset("explorer.css")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<header><h1>{escape(title)}</h1><div id="about"></div></header>\n'
        '<main id="main"><p id="wait" role="status">Reading the data …</p></main>\n'
        "<noscript><p>This page needs JavaScript, which runs inside the page alone.</p></noscript>"
        f'\n<script type="text/plain" id="data">{data}</script>\n<script>{script}</script>\n'
        "</body>\n</html>\n"
    )


def size_without_data(title: str) -> int:
    """Return the number of bytes of a page that has no data."""
    return len(page(title, "").encode("utf-8"))


@cache
def _script() -> str:
    parts = "".join(_asset(f"script/{name}.js") for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


@cache
def _asset(name: str) -> str:
    return files("discan.explorer").joinpath(name).read_text("utf-8")


def _digest(text: str) -> str:
    found = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(found).decode('ascii')}"
