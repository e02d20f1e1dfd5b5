# SPDX-License-Identifier: BSD-3-Clause
"""Pages of HTML with figures: they fit the window, fetch nothing, and need no library.

A figure is an SVG element with its title, subtitle and legend as text of the page. A short script
shows details under the pointer, and one component at a time. The page tells the browser to run
no other script and to load nothing.
"""

from __future__ import annotations

import base64
import hashlib
import html
import os
from pathlib import Path
from typing import Any

from discan.data.storage import write_whole
from discan.errors import StorageError
from discan.plot.drawing import draw
from discan.plot.lettering import clean
from discan.plot.scene import Key, Scene
from discan.plot.svg import scene_svg

__all__ = ["escape", "figure_page", "figure_part", "whole_page", "write_page"]

SMALLEST = 0.68  # of its own width: a narrower window scrolls
LARGEST = 1.5  # if there is nothing else on the page
LARGER = 1.12  # among other things


def figure_page(figure: Any) -> str:
    """Return a page that holds one figure."""
    scene = draw(figure, plot_only=True)
    head = f"<h1>{escape(scene.title)}</h1>" if scene.title else ""
    return whole_page(scene.title or "Figure", f"<main>{_part(scene, 'f', head)}</main>")


def figure_part(figure: Any, identity: str, caption: str = "", legend: bool = True) -> str:
    """Return a figure for a page that has its own headings.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
    identity : str
        A short word that no other figure of the page has.
    caption : str
        Text below the figure, by default its subtitle.
    legend : bool
        False if the page says elsewhere which colour is which component.
    """
    scene = draw(figure, plot_only=True)
    return _part(scene, identity, "", caption or scene.subtitle, legend, LARGER)


def whole_page(title: str, body: str, style: str = "") -> str:
    """Return a page: body and more style sheets are HTML and CSS, the title is any text."""
    digest = base64.b64encode(hashlib.sha256(_SCRIPT.encode("utf-8")).digest()).decode("ascii")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        f"style-src 'unsafe-inline'; script-src 'sha256-{digest}'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}{style}</style>\n</head>\n<body>\n"
        f'{body}\n<div id="tip" aria-hidden="true" hidden></div>\n<script>{_SCRIPT}</script>\n'
        "</body>\n</html>\n"
    )


def escape(value: object) -> str:
    """Make any value safe as text or as a quoted attribute."""
    return html.escape(clean(value), quote=True)


def write_page(path: str | os.PathLike[str], text: str) -> Path:
    """Write a page; at any moment the file is either the old page or the whole new one."""
    path = Path(path)
    if not path.parent.is_dir():
        raise StorageError(f"{path}: no such folder")
    write_whole(path, text)
    return path


# ---- parts ----


def _part(
    scene: Scene, identity: str, head: str, caption: str = "", legend: bool = True,
    largest: float = LARGEST,
) -> str:  # fmt: skip
    told = f'<p class="subtitle">{escape(scene.subtitle)}</p>' if head and scene.subtitle else ""
    keys = _legend(scene.legend) if legend and len(scene.legend) > 1 else ""
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    wide, tall = scene.width, scene.height
    size = (
        f"min-width:{SMALLEST * wide:.0f}px;max-width:max({wide:.0f}px,"
        f"min({largest * wide:.0f}px,(100vh - 10rem)*{wide / tall:.3f}))"
    )
    return (
        f'<figure class="drawn">{head}{told}{keys}<div class="plot">'
        f'<div style="{size}">{scene_svg(scene, identity)}</div></div>{below}</figure>'
    )


def _legend(keys: Any) -> str:
    return f'<p class="legend">{"".join(map(_entry, keys))}</p>'


def _entry(key: Key) -> str:
    inner = f'<i style="background:{key.colour}"></i>{escape(key.name)}'
    if key.part is None:
        return f'<span class="key">{inner}</span>'
    return (
        f'<button type="button" class="key" data-key="{key.part}" aria-pressed="false">'
        f"{inner}</button>"
    )


_STYLE = """
:root{color-scheme:light}
*{box-sizing:border-box}
body{margin:0;background:#fff;color:#222;font:16px/1.45 "Segoe UI","Helvetica Neue",Helvetica,
Arial,"Liberation Sans",sans-serif}
main{padding:1.2rem 1.4rem 1.6rem}
figure{margin:0}
.drawn h1{font-size:1.35rem;line-height:1.25;margin:0 0 .2rem;font-weight:600}
.subtitle{margin:0 0 .5rem;color:#555;max-width:110ch}
figcaption{font-size:.9rem;color:#444;max-width:110ch;margin-top:.4rem}
.legend{display:flex;flex-wrap:wrap;gap:.15rem .9rem;margin:.5rem 0 .6rem;font-size:.88rem}
.key{font:inherit;color:inherit;background:none;border:0;border-radius:3px;padding:.1rem .2rem;
text-align:left}
button.key{cursor:pointer}
button.key:hover{background:#f0f0f0}
button.key[aria-pressed=true]{background:#e4e9f0}
button.key:focus-visible{outline:2px solid #174f8c}
.key i{display:inline-block;width:.9em;height:.9em;margin-right:.4em;vertical-align:-.08em;
border-radius:2px}
.plot{overflow-x:auto}
.plot>div{margin:0 auto}
.plot svg{display:block;width:100%;height:auto;
font-family:"Helvetica Neue",Helvetica,Arial,"Liberation Sans",sans-serif}
svg [data-part],svg .bar,svg .scatter{transition:opacity .12s}
svg .faint{opacity:.12}
#tip{position:fixed;z-index:9;left:0;top:0;max-width:26rem;padding:.35rem .55rem;background:#fff;
color:#222;border:1px solid #999;border-radius:4px;box-shadow:0 2px 8px rgba(0,0,0,.18);
font-size:.85rem;line-height:1.35;white-space:pre-line;pointer-events:none;overflow-wrap:anywhere}
#tip[hidden]{display:none}
@media (prefers-reduced-motion:reduce){svg *{transition:none!important}}
@media print{#tip{display:none}main{padding:0}.plot{overflow:visible}
.plot>div{min-width:0!important}}
"""

_SCRIPT = """
"use strict";
(() => {
  const tip = document.getElementById("tip");
  const told = new Map();
  for (const title of document.querySelectorAll(".plot svg title")) {
    told.set(title.parentNode, title.textContent);
    title.remove();
  }
  const strips = new Map();
  for (const strip of document.querySelectorAll(".plot svg .columns")) {
    strips.set(strip, {
      edges: strip.dataset.edges.split(" ").map(Number),
      tips: strip.dataset.tips.split("\\n\\n"),
      left: Number(strip.getAttribute("x")),
      width: Number(strip.getAttribute("width")),
    });
    strip.removeAttribute("data-tips");
  }
  const words = (node, x) => {
    if (told.has(node)) return told.get(node);
    const strip = strips.get(node);
    if (!strip) return "";
    const box = node.getBoundingClientRect();
    const at = strip.left + (x - box.left) / box.width * strip.width;
    let low = 0, high = strip.tips.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (strip.edges[middle + 1] < at) low = middle + 1; else high = middle;
    }
    return strip.tips[low];
  };
  const hide = () => { tip.hidden = true; };
  const point = (event) => {
    const text = words(event.target, event.clientX);
    if (!text) return hide();
    tip.textContent = text;
    tip.hidden = false;
    const wide = document.documentElement.clientWidth;
    const tall = document.documentElement.clientHeight;
    let x = event.clientX + 14, y = event.clientY + 16;
    if (x + tip.offsetWidth > wide - 4) x = Math.max(4, event.clientX - tip.offsetWidth - 10);
    if (y + tip.offsetHeight > tall - 4) y = Math.max(4, event.clientY - tip.offsetHeight - 10);
    tip.style.left = x + "px";
    tip.style.top = y + "px";
  };
  document.addEventListener("pointermove", point);
  document.addEventListener("pointerdown", point);
  document.addEventListener("scroll", hide, true);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  document.addEventListener("pointerleave", hide);
  for (const figure of document.querySelectorAll("figure.drawn")) {
    const keys = [...figure.querySelectorAll("button.key")];
    const parts = [...figure.querySelectorAll("svg [data-part]")];
    let kept = null;
    const light = (part) => {
      for (const node of parts)
        node.classList.toggle("faint", part !== null && node.dataset.part !== part);
    };
    for (const key of keys) {
      const part = key.dataset.key;
      key.addEventListener("pointerenter", () => light(part));
      key.addEventListener("pointerleave", () => light(kept));
      key.addEventListener("focus", () => light(part));
      key.addEventListener("blur", () => light(kept));
      key.addEventListener("click", () => {
        kept = kept === part ? null : part;
        for (const other of keys)
          other.setAttribute("aria-pressed", String(other.dataset.key === kept));
        light(kept);
      });
    }
  }
})();
"""
