# SPDX-License-Identifier: BSD-3-Clause
"""Write figures to files: HTML pages, SVG and PNG."""

from __future__ import annotations

import base64
import html
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from discan.data.storage import write_whole
from discan.errors import InputError
from discan.plot.svg import to_svg
from discan.validation import number

__all__ = ["ENDINGS", "browser", "check_ending", "save"]

ENDINGS = (".html", ".svg", ".png")
TIMEOUT = 120  # seconds, of a browser
BROWSERS = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge",
    "microsoft-edge", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)  # fmt: skip
NO_PNG = (
    "a PNG needs Chrome or Chromium (name it in $BROWSER_PATH if it is not found), or the package "
    "cairosvg; .svg and .html need neither"
)


def save(figure: Any, path: str | os.PathLike[str], *, scale: float = 2.0) -> Path:
    """Write a figure to a file; the ending of its name selects the format.

    At any moment the file is either the old one or the whole new one.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
    path : path that ends in .html, .svg or .png
        An interactive page that needs no network; SVG, made without a browser; or a PNG of that
        SVG, which needs Chrome, Chromium or the package cairosvg.
    scale : float
        Pixels of the PNG per pixel of the figure.

    Returns
    -------
    Path
    """
    path = Path(path)
    ending = check_ending(path)
    scale = number("scale", scale, "a number from 0.1 to 10", 0.1, 10.0)
    text = to_svg(figure) if ending != ".html" else _page(figure)
    data = _png(text, scale) if ending == ".png" else text.encode("utf-8")
    write_whole(path, data)
    return path


def check_ending(path: Path) -> str:
    """Return the ending of a figure's file name; refuse unknown ones."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"{path}: the name of a figure must end in {', '.join(ENDINGS)}")
    return ending


def browser() -> str | None:
    """Find Chrome, Chromium or Edge."""
    names = filter(None, (os.environ.get("BROWSER_PATH"), *BROWSERS))
    return next(filter(None, map(shutil.which, names)), None)


def _page(figure: Any) -> str:
    """Return a page of HTML that includes Plotly's script: nothing is fetched."""
    if not hasattr(figure, "to_html"):
        raise InputError("give a Plotly figure, as the functions of discan.plot return")
    body = figure.to_html(
        full_html=False, include_plotlyjs=True, div_id="figure", config={"displaylogo": False}
    )
    title = re.sub(r"<[^>]*>", " ", figure.layout.title.text or "Figure")
    meta = figure.layout.meta
    words = meta.get("description", "") if isinstance(meta, dict) else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{html.escape(html.unescape(title))}</title>\n</head>\n<body>\n"
        f'<div role="figure" aria-label="{html.escape(html.unescape(words))}">{body}</div>\n'
        "</body>\n</html>\n"
    )


def _png(text: str, scale: float) -> bytes:
    """Draw an SVG text as a PNG."""
    found = browser()
    if found is not None:
        return _by_browser(found, text, scale)
    try:
        import cairosvg  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except (ImportError, OSError):  # OSError: the library cairo is absent
        raise InputError(NO_PNG) from None
    return bytes(cairosvg.svg2png(bytestring=text.encode("utf-8"), scale=scale))


def _by_browser(program: str, text: str, scale: float) -> bytes:
    """Let a browser draw the SVG on a canvas, whose size does not depend on the screen."""
    source = base64.b64encode(text.encode("utf-8")).decode("ascii")
    with tempfile.TemporaryDirectory(prefix="discan-") as folder:
        file = Path(folder, "figure.html")
        file.write_text(_CANVAS.replace("SOURCE", source).replace("SCALE", repr(scale)), "utf-8")
        command = [
            program, "--headless", "--disable-gpu", "--no-first-run", "--disable-sync",
            "--disable-background-networking", "--disable-component-update", "--disable-quic",
            "--disable-extensions", f"--user-data-dir={folder}/profile",
            "--virtual-time-budget=10000", "--dump-dom", file.as_uri(),
        ]  # fmt: skip
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # Chrome refuses root otherwise
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=TIMEOUT, check=False,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InputError(f"{program} drew nothing ({type(error).__name__}); {NO_PNG}") from None
    found = re.search(r"data:image/png;base64,([A-Za-z0-9+/=]+)", done.stdout)
    if found is None:
        raise InputError(f"{program} drew nothing (exit code {done.returncode}); {NO_PNG}")
    return base64.b64decode(found[1])


_CANVAS = """<!DOCTYPE html><html><body><script>
const picture = new Image();
picture.onload = () => {
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(picture.naturalWidth * SCALE);
  canvas.height = Math.round(picture.naturalHeight * SCALE);
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  document.body.textContent = canvas.toDataURL("image/png");
};
picture.src = "data:image/svg+xml;base64,SOURCE";
</script></body></html>
"""
