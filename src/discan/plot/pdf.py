# SPDX-License-Identifier: BSD-3-Clause
"""Write a scene as a PDF of one page, without a browser: vectors, and text that stays text.

Text is set in Helvetica, which every viewer has. It covers the languages of Western Europe only.
"""

from __future__ import annotations

import math
import re
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Iterator

from discan.plot.lettering import plain_width
from discan.plot.marks import refused
from discan.plot.palette import blend
from discan.plot.scene import Box, Columns, Curve, Disc, Layer, Line, Pen, Ramp, Scene, Shape, Text

__all__ = ["foreign_letters", "scene_pdf"]

POINTS = 0.75  # per pixel
STEPS = 64  # colours of a ramp
NAMES = {"white": "#ffffff", "black": "#000000"}
ROUND = 0.5522847498  # control points of a quarter circle
SIMILAR = {"−": "–", "\ufffd": "?"}


def scene_pdf(scene: Scene) -> bytes:
    """Write a scene; letters that Helvetica lacks lose their accents or become question marks."""
    page = _Page()
    wide, tall = scene.width * POINTS, scene.height * POINTS
    page.put(f"{_n(POINTS)} 0 0 -{_n(POINTS)} 0 {_n(tall)} cm")
    page.draw([Box((0.0, 0.0, scene.width, scene.height), scene.paper), *scene.shapes])
    opacities = "".join(f"/O{n} <</ca {_n(value)}>> " for n, value in enumerate(page.opacities))
    resources = f"<</Font <</F0 5 0 R /F1 6 0 R>> /ExtGState <<{opacities}>>>>"
    content = zlib.compress("\n".join(page.lines).encode("latin-1"), 9)
    font = "<</Type /Font /Subtype /Type1 /BaseFont /{} /Encoding /WinAnsiEncoding>>"
    return _file([
        b"<</Type /Catalog /Pages 2 0 R>>",
        b"<</Type /Pages /Kids [3 0 R] /Count 1>>",
        (f"<</Type /Page /Parent 2 0 R /MediaBox [0 0 {_n(wide)} {_n(tall)}] /Contents 4 0 R "
         f"/Resources {resources}>>").encode("ascii"),
        b"<</Filter /FlateDecode /Length %d>>\nstream\n%s\nendstream" % (len(content), content),
        font.format("Helvetica").encode("ascii"),
        font.format("Helvetica-Bold").encode("ascii"),
        f"<</Title {_unicode(scene.title)} /Subject {_unicode(scene.description)} "
        "/Producer (discan)>>".encode("ascii"),
    ])  # fmt: skip


def foreign_letters(scene: Scene) -> str:
    """Return the letters of a scene that Helvetica lacks, each once."""
    letters = {letter for text in _texts(scene.shapes) for letter in text}
    return "".join(sorted(letter for letter in letters if _byte(letter) is None))


class _Page:
    """The operators of a page."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.opacities: list[float] = []
        self.drawn: dict[type, Callable[..., None]] = {
            Box: self.box, Line: self.line, Curve: self.curve, Disc: self.disc, Text: self.text,
            Ramp: self.ramp, Layer: self.layer, Columns: lambda columns: None,
        }  # fmt: skip

    def put(self, *lines: str) -> None:
        """Add operators."""
        self.lines += lines

    def draw(self, shapes: Iterable[Shape]) -> None:
        """Draw shapes, one after the other."""
        for shape in shapes:
            self.drawn[type(shape)](shape)

    def layer(self, layer: Layer) -> None:
        """Draw a group, cut at its window if it has one."""
        self.put("q")
        if layer.window is not None:
            self.put(f"{_all(layer.window)} re W n")
        self.draw(layer.shapes)
        self.put("Q")

    def box(self, box: Box) -> None:
        """Draw a rectangle."""
        self.painted(f"{_all(box.frame)} re", box.fill, box.pen)

    def line(self, line: Line) -> None:
        """Draw a straight line."""
        x0, y0, x1, y1 = line.ends
        self.painted(f"{_all((x0, y0))} m {_all((x1, y1))} l", None, line.pen)

    def curve(self, curve: Curve) -> None:
        """Draw a line through points, or an area."""
        first, *others = (_all(point) for point in curve.points)
        path = " ".join([f"{first} m", *(f"{point} l" for point in others)])
        self.painted(path, curve.fill, curve.pen, curve.opacity)

    def disc(self, disc: Disc) -> None:
        """Draw a circle."""
        x, y, r, c = disc.x, disc.y, disc.radius, disc.radius * ROUND
        quarters = (
            (x + r, y + c, x + c, y + r, x, y + r), (x - c, y + r, x - r, y + c, x - r, y),
            (x - r, y - c, x - c, y - r, x, y - r), (x + c, y - r, x + r, y - c, x + r, y),
        )  # fmt: skip
        path = f"{_all((x + r, y))} m " + " ".join(f"{_all(quarter)} c" for quarter in quarters)
        self.painted(path, disc.fill, disc.pen, disc.opacity)

    def ramp(self, ramp: Ramp) -> None:
        """Draw a rectangle in steps of colour, from the top to the foot."""
        x, y, wide, tall = ramp.frame
        for n in range(STEPS):
            step = (x, y + tall * n / STEPS, wide, tall * (1 - n / STEPS))
            self.box(Box(step, blend(ramp.scale, 1 - (n + 0.5) / STEPS)))
        self.painted(f"{_all(ramp.frame)} re", None, ramp.pen)

    def text(self, text: Text) -> None:
        """Draw a line of text."""
        bold = text.weight == "bold"
        part = {"start": 0.0, "middle": 0.5, "end": 1.0}[text.anchor]
        back = part * plain_width(text.text, text.size, bold)
        turn = math.radians(text.turn)
        c, s = math.cos(turn), math.sin(turn)
        place = _all((c, s, s, -c, text.x - back * c, text.y - back * s))
        self.put(
            f"BT /F{int(bold)} {_n(text.size)} Tf {_colour(text.colour)} rg {place} Tm "
            f"{_string(text.text)} Tj ET"
        )

    def painted(self, path: str, fill: str | None, pen: Pen | None, opacity: float = 1.0) -> None:
        """Fill a path, draw its outline, or both."""
        before, paint = [], "n"
        if fill is not None and fill != "none":
            before.append(f"{_colour(fill)} rg")
            paint = "f"
        if pen is not None:
            before.append(f"{_colour(pen.colour)} RG {_n(pen.width)} w [{pen.dash}] 0 d")
            paint = "B" if paint == "f" else "S"
        if opacity != 1:
            if opacity not in self.opacities:
                self.opacities.append(opacity)
            before.insert(0, f"q /O{self.opacities.index(opacity)} gs")
        self.put(*before, f"{path} {paint}" + (" Q" if opacity != 1 else ""))


# ---- the file ----


def _file(objects: list[bytes]) -> bytes:
    """Join numbered objects, the last of which describes the file."""
    data = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    n = len(objects)
    return data + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<</Size %d /Root 1 0 R /Info %d 0 R>>\n"
        b"startxref\n%d\n%%%%EOF\n" % (n + 1, table, n + 1, n, len(data))
    )


def _string(text: str) -> str:
    """Write a text in the encoding of the fonts."""
    data = bytes(_byte(letter) or _base(letter) for letter in text)
    return "(" + "".join(f"\\{b:03o}" if b > 126 or b in b"()\\" else chr(b) for b in data) + ")"


def _byte(letter: str) -> int | None:
    """Return the number of a letter in Windows-1252; None if it has none."""
    try:
        (found,) = SIMILAR.get(letter, letter).encode("cp1252")
    except UnicodeEncodeError:
        return None
    return int(found) if found >= 32 else None


def _base(letter: str) -> int:
    """Return the number of a letter without its accent, or of a question mark."""
    return _byte(unicodedata.normalize("NFKD", letter)[0]) or ord("?")


def _unicode(text: str) -> str:
    return f"<FEFF{text.encode('utf-16-be', 'replace').hex()}>"


def _colour(colour: str) -> str:
    """Write a colour as three numbers from 0 to 1."""
    text = NAMES.get(colour.lower(), colour)
    if re.fullmatch(r"#[0-9a-fA-F]{3}", text):
        text = "#" + "".join(2 * digit for digit in text[1:])
    if re.fullmatch(r"#[0-9a-fA-F]{6}", text):
        return _all(int(text[at : at + 2], 16) / 255 for at in (1, 3, 5))
    numbers = re.fullmatch(r"rgb\((\d+), ?(\d+), ?(\d+)\)", text)
    if numbers is None:
        raise refused(f"{colour!r} is not a colour of the form #rrggbb, which a PDF needs")
    return _all(min(int(number), 255) / 255 for number in numbers.groups())


def _texts(shapes: Iterable[Shape]) -> Iterator[str]:
    for shape in shapes:
        if isinstance(shape, Text):
            yield shape.text
        elif isinstance(shape, Layer):
            yield from _texts(shape.shapes)


def _all(values: Iterable[float]) -> str:
    return " ".join(map(_n, values))


def _n(value: float) -> str:
    """Write a number in few characters."""
    text = f"{float(value):.3f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
