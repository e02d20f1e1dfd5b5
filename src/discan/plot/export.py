# SPDX-License-Identifier: BSD-3-Clause
"""Write figures to files: HTML pages, SVG, PDF and PNG."""

from __future__ import annotations

import base64
import logging
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from discan.data.storage import write_whole
from discan.errors import InputError
from discan.plot.drawing import draw
from discan.plot.page import figure_page
from discan.plot.pdf import foreign_letters, scene_pdf
from discan.plot.svg import to_svg
from discan.validation import number

__all__ = ["ENDINGS", "browser", "check_ending", "save"]

ENDINGS = (".html", ".svg", ".pdf", ".png")
TIMEOUT = 120  # seconds, of a browser
BROWSERS = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge",
    "microsoft-edge", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)  # fmt: skip
NO_PNG = (
    "a PNG needs Chrome or Chromium (name it in $BROWSER_PATH if it is not found), or the package "
    "cairosvg; .svg, .pdf and .html need neither"
)

log = logging.getLogger("discan")


def save(figure: Any, path: str | os.PathLike[str], *, scale: float = 2.0) -> Path:
    """Write a figure to a file; the ending of its name selects the format.

    At any moment the file is either the old one or the whole new one.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
        A figure of `discan.plot`.
    path : path that ends in .html, .svg, .pdf or .png
        A page that fits the window, shows details under the pointer and needs no network; SVG or
        PDF, made without a browser; or a PNG of the SVG, which needs Chrome, Chromium or the
        package cairosvg. Plotly's own page, which can be zoomed and holds 4.8 MB of script, is
        written by ``figure.write_html(path)``.
    scale : float
        Pixels of the PNG per pixel of the figure.

    Returns
    -------
    Path
    """
    path = Path(path)
    ending = check_ending(path)
    scale = number("scale", scale, "a number from 0.1 to 10", 0.1, 10.0)
    if ending == ".html":
        data = figure_page(figure).encode("utf-8")
    elif ending == ".pdf":
        data = _pdf(figure)
    else:
        text = to_svg(figure)
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


def _pdf(figure: Any) -> bytes:
    """Draw a figure as a PDF; a browser does it if Helvetica lacks letters of it."""
    scene = draw(figure)
    foreign = foreign_letters(scene)
    found = browser() if foreign else None
    if found is not None:
        return _printed(found, to_svg(figure), scene.width, scene.height)
    if foreign:
        log.warning(
            "%d letters (%s) are not in the font of the PDF and were replaced; with Chrome or "
            "Chromium installed they are shown, as in .svg and .html",
            len(foreign), " ".join(foreign[:5]),
        )  # fmt: skip
    return scene_pdf(scene)


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
    page = _CANVAS.replace("SOURCE", source).replace("SCALE", repr(scale))
    with tempfile.TemporaryDirectory(prefix="discan-") as folder:
        options = ["--virtual-time-budget=10000", "--dump-dom"]
        done = _run(program, Path(folder), page, options, NO_PNG)
    found = re.search(r"data:image/png;base64,([A-Za-z0-9+/=]+)", done.stdout)
    if found is None:
        raise InputError(f"{program} drew nothing (exit code {done.returncode}); {NO_PNG}")
    return base64.b64decode(found[1])


def _printed(program: str, text: str, width: float, height: float) -> bytes:
    """Let a browser print the SVG as a PDF, with the fonts that it needs."""
    wide, tall = f"{width:.0f}px", f"{height:.0f}px"
    page = _PAPER.replace("WIDE", wide).replace("TALL", tall).replace("DRAWING", text)
    with tempfile.TemporaryDirectory(prefix="discan-") as folder:
        file = Path(folder, "figure.pdf")
        options = ["--no-pdf-header-footer", f"--print-to-pdf={file}"]
        done = _run(program, Path(folder), page, options, "")
        if not file.is_file():
            raise InputError(f"{program} printed nothing (exit code {done.returncode})")
        return file.read_bytes()


def _run(
    program: str, folder: Path, page: str, options: list[str], remedy: str
) -> subprocess.CompletedProcess[str]:
    """Open a page of our own in a browser without a window."""
    file = folder / "figure.html"
    file.write_text(page, "utf-8")
    command = [
        program, "--headless", "--disable-gpu", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", "--disable-quic",
        "--disable-extensions", f"--user-data-dir={folder}/profile", *options, file.as_uri(),
    ]  # fmt: skip
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.insert(1, "--no-sandbox")  # Chrome refuses root otherwise
    try:
        return subprocess.run(  # noqa: S603 - a browser of this machine, and a file of ours
            command, capture_output=True, text=True, timeout=TIMEOUT, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        told = f"{program} drew nothing ({type(error).__name__})"
        raise InputError(f"{told}; {remedy}" if remedy else told) from None


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
_PAPER = """<!DOCTYPE html><html><head><meta charset="utf-8"><style>
@page{size:WIDE TALL;margin:0}html,body{margin:0}svg{display:block;width:WIDE;height:TALL}
</style></head><body>DRAWING</body></html>
"""
