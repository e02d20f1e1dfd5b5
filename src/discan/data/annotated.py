# SPDX-License-Identifier: BSD-3-Clause
"""Read AnnData and MuData objects: cells by genes, and cells by features of several modalities."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from discan.data.corpus import Corpus
from discan.data.metadata import read_metadata
from discan.data.nouns import CELLS, Nouns
from discan.errors import Argument, InputError, shown
from discan.typing import Array

__all__ = [
    "Place", "choose_place", "is_annotated", "join_modalities", "read_annotated", "unique_names",
]  # fmt: skip

log = logging.getLogger("discan")

USUAL = ("counts", "raw_counts", "raw", "umi", "umis")
"""Layers that usually hold raw counts."""

FEATURES = Nouns("cell", "feature", "component")


class Place(NamedTuple):
    """Where the counts are: in a layer, in ``raw``, or in ``X`` if neither."""

    layer: str | None = None
    raw: bool = False

    def __str__(self) -> str:
        """Name the place as AnnData does."""
        return "raw.X" if self.raw else "X" if self.layer is None else f"layers[{self.layer!r}]"


def is_annotated(data: Any) -> bool:
    """Tell whether this is an AnnData or a MuData, or an object like one."""
    return all(hasattr(type(data), name) for name in ("obs", "var", "obs_names", "var_names"))


def read_annotated(
    data: Any, like: Any = None, layer: str | None = None, raw: bool = False
) -> Corpus:
    """Make a corpus of an AnnData or a MuData; modalities become groups.

    Parameters
    ----------
    data : AnnData or MuData
    like : a Fit, optional
        Counts are taken from where those of its data were.
    layer : str, optional
        Layer that holds the counts; "X" for X. By default X, or if that holds no whole numbers the
        layer "counts" or raw.
    raw : bool, default=False
        Whether to read ``raw``.
    """
    place = Place(None if layer == "X" else layer, raw) if raw or layer is not None else None
    if not hasattr(type(data), "mod"):
        return _read_one(data, like, "", place)
    parts = {str(name): _read_one(part, like, str(name), place) for name, part in data.mod.items()}
    return join_modalities(parts, [str(n) for n in data.obs_names], _obs(data))


def _read_one(data: Any, like: Any, modality: str, place: Place | None) -> Corpus:
    layers = [str(name) for name in data.layers]
    raw = data.raw

    def load(place: Place) -> Any:
        if place.raw:
            return _in_memory(raw.X)
        return _in_memory(data.X if place.layer is None else data.layers[place.layer])

    before = _remembered(like, modality) if place is None else place
    if before is not None and before.layer in (None, *layers) and (raw is not None) >= before.raw:
        place, counts = before, load(before)
    elif place is not None:
        raise InputError(f"the AnnData has no {place} (layers: {', '.join(layers) or 'none'})")
    else:
        origin = f"modality {modality}" if modality else "AnnData"
        place, counts = choose_place(load, layers, raw is not None, data.X is not None, origin)
    names = (raw if place.raw else data).var_names
    return Corpus(
        counts,
        document_names=[str(name) for name in data.obs_names],
        word_names=unique_names([str(name) for name in names], "AnnData"),
        metadata=_obs(data),
        nouns=CELLS,
        reading={"format": "h5ad", "places": {modality: list(place)}},
    )


def choose_place(
    load: Callable[[Place], Any], layers: Sequence[str], raw: bool, x: bool, origin: str
) -> tuple[Place, Any]:
    """Return where the raw counts are, and the counts: X, or a place whose numbers are whole.

    Parameters
    ----------
    load : return the table at a place
    layers : names of the layers
    raw, x : whether there is a table in raw, and in X
    origin : where the data come from, for remarks
    """
    usual = [Place(name) for wanted in USUAL for name in layers if name.lower() == wanted]
    places = [Place()] * x + usual + [Place(raw=True)] * raw
    if not places:
        raise InputError("the AnnData has no X; name a layer", use={"layer": ...})
    first: Any = None
    for place in places:
        counts = load(place)
        if _are_whole(counts):
            if place != places[0]:
                remark = "%s: X holds no whole counts, so %s is read; to read X use %s"
                log.info(remark, origin, place, Argument("layer", "X"))
            return place, counts
        first = counts if first is None else first
    others = ", ".join(map(shown, layers)) or "none"
    log.warning(
        "%s: %s holds fractions, so it may be normalised; fit to raw counts, if there are any "
        "(layers: %s)",
        origin, places[0], others,
    )  # fmt: skip
    return places[0], first


def _remembered(like: Any, modality: str) -> Place | None:
    """Return where the counts of a model's data were."""
    found = {} if like is None else like.reading.get("places", {})
    return Place(*found[modality]) if modality in found else None


def _in_memory(table: Any) -> Any:
    """Return a table whose values are in memory, not in a file."""
    for verb in ("to_memory", "compute"):
        if hasattr(table, verb):
            table = getattr(table, verb)()
    return table if sparse.issparse(table) else np.asarray(table)


def _are_whole(counts: Any) -> bool:
    if hasattr(counts, "are_whole"):  # a table that stays in its file
        return bool(counts.are_whole())
    values = counts.data if sparse.issparse(counts) else counts
    if values.dtype.kind in "biu":
        return True
    values = values.ravel()
    step = 2**22
    parts = (values[n : n + step] for n in range(0, values.size, step))
    return values.dtype.kind == "f" and all(bool((np.rint(p) == p).all()) for p in parts)


def _obs(data: Any) -> dict[str, Array]:
    """Return the columns of ``obs`` that hold one value per cell."""
    frame = data.obs
    result: dict[str, Array] = {}
    for name in frame.columns:
        try:
            result |= read_metadata({str(name): frame[name]}, len(data.obs_names))
        except InputError:
            log.info("column %s of obs is left out: it has neither numbers nor text", name)
    return result


def unique_names(names: Sequence[str], origin: str = "") -> list[str]:
    """Return names of genes; those that repeat get a number, GENE-1, which is remarked on."""
    if len(set(names)) == len(names):
        return list(names)
    seen: Counter[str] = Counter()
    taken = set(names)
    result = []
    for name in names:
        found = name
        while seen[name] and (found := f"{name}-{seen[name]}") in taken:
            seen[name] += 1
        seen[name] += 1
        result.append(found)
    twice = [name for name, times in Counter(names).items() if times > 1]
    if origin:
        remark = "%s: names of genes that repeat (%d) were made unique, e.g. %s"
        log.warning(remark, origin, len(twice), shown(f"{twice[0]}-1"))
    return result


def join_modalities(
    parts: Mapping[str, Corpus], cells: Sequence[str], metadata: Mapping[str, Any]
) -> Corpus:
    """Put modalities side by side, each a group; a cell that lacks one has exposure 0 to it.

    Parameters
    ----------
    parts : corpus of each modality, by its name
    cells : (I,) names of all cells
    metadata : of all cells
    """
    if not parts:
        raise InputError("no modality to read")
    row_of = {name: i for i, name in enumerate(cells)}
    exposures = np.zeros((len(cells), len(parts)))
    tables, words, sizes = [], [], []
    places: dict[str, Any] = {}
    for g, (modality, part) in enumerate(parts.items()):
        rows = np.array([row_of[name] for name in part.document_names or ()], dtype=np.int64)
        exposures[rows, g] = 1.0
        triples = part.to_csr().tocoo()
        found, columns = triples.coords
        shape = (len(cells), part.n_words)
        tables.append(sparse.coo_array((triples.data, (rows[found], columns)), shape=shape))
        names = part.layout.word_names or [str(j) for j in range(part.n_words)]
        words.append((modality, names))
        sizes.append(part.n_words)
        places |= part.reading.get("places", {})
    flat = [name for _, names in words for name in names]
    if len(set(flat)) < len(flat):
        flat = [f"{modality}:{name}" for modality, names in words for name in names]
    return Corpus(
        sparse.hstack(tables, format="csr"),
        groups=np.repeat(np.arange(len(parts)), sizes),
        group_names=list(parts),
        exposures=None if (exposures == 1.0).all() else exposures,
        document_names=cells,
        word_names=flat,
        metadata=metadata,
        nouns=FEATURES if len(parts) > 1 else CELLS,
        reading={"format": "h5ad", "places": places},
    )
