# SPDX-License-Identifier: BSD-3-Clause
"""Set the formulas of the theory, which are plain text in its source, in letters and indices."""

from __future__ import annotations

import re

__all__ = ["typeset"]

_LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "theta": "θ", "Theta": "Θ", "rho": "ρ", "psi": "ψ",
    "lambda": "λ", "eta": "η", "tau": "τ", "pi": "π", "phi": "φ",
}  # fmt: skip
_GREEK = re.compile(
    rf"(?<![A-Za-z])({'|'.join(_LETTERS)})(?![A-Za-z])(?! (?:distribution|density|scores|law))"
)
_SUM = re.compile(r"(?<![A-Za-z])(sum|prod)(?=_)")
_BRACES = re.compile(r"([^\W\d_])_\{([^{}]*)\}")
_INDEX = re.compile(r"([^\W\d_])_([^\W_]+)")
_POWER = re.compile(r"\^(\([^()]*\)|-?[^\W_]+(?:<sub>\w+</sub>)?)")
_TAG = re.compile(r"(<[^>]+>)")
_AS_WRITTEN = ("h1", "h2", "h3", "h4", "a")  # headings and links keep their words


def typeset(html: str) -> str:
    """Return a page with its formulas set; what is code in a sentence stays as it is."""
    parts, open_tags = [], []
    for part in _TAG.split(html):
        if part.startswith("<"):
            name = part.strip("</>").split()[0] if part.strip("</>") else ""
            if part.startswith("</"):
                if name in open_tags:
                    del open_tags[len(open_tags) - 1 - open_tags[::-1].index(name) :]
            elif not part.endswith("/>") and name in ("pre", "code", *_AS_WRITTEN):
                open_tags.append(name)
            parts.append(part)
        elif "code" in open_tags and "pre" not in open_tags:
            parts.append(part)
        elif any(name in open_tags for name in _AS_WRITTEN):
            parts.append(part)
        else:
            parts.append(_set(part))
    return "".join(parts)


def _set(text: str) -> str:
    """Set the formulas of a piece of text."""
    text = re.sub(r"\bGamma(?=_)", "Γ", text)
    text = _GREEK.sub(lambda found: _LETTERS[found[1]], text)
    text = _SUM.sub(lambda found: {"sum": "Σ", "prod": "Π"}[found[1]], text)
    text = _BRACES.sub(lambda found: f"{found[1]}<sub>{_INDEX.sub(_lower, found[2])}</sub>", text)
    text = _INDEX.sub(_lower, text)
    return _POWER.sub(lambda found: f"<sup>{found[1]}</sup>", text)


def _lower(found: re.Match[str]) -> str:
    return f"{found[1]}<sub>{found[2]}</sub>"
