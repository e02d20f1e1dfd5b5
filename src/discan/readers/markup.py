# SPDX-License-Identifier: BSD-3-Clause
"""Tell whether texts hold HTML, and leave its tags out."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

__all__ = ["first_tag", "without_tags"]

LEAST_SHARE = 0.05  # of the texts that hold a tag of `_KNOWN`
_KNOWN = re.compile(
    r"</?(?:br|p|div|span|a|b|i|u|em|strong|li|ul|ol|h[1-6]|img|td|tr|table|blockquote)"
    r"(?:\s[^<>]{0,500})?/?>",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[a-z][^<>]{0,2000}>|<!--", re.IGNORECASE)


def first_tag(texts: Sequence[str]) -> str:
    """Return the first tag of texts that plainly are HTML; "" if they are not."""
    found = [match[0] for match in map(_KNOWN.search, texts) if match is not None]
    return found[0] if found and len(found) >= LEAST_SHARE * len(texts) else ""


def without_tags(text: str) -> str:
    """Put a space in the place of each tag, and a character in that of each entity (``&amp;``)."""
    if "<" in text:
        text = _TAG.sub(" ", text)
    return html.unescape(text) if "&" in text else text
