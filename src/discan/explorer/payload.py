# SPDX-License-Identifier: BSD-3-Clause
"""Put what a page shows into arrays, in as much detail as its size allows."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from discan import __version__
from discan.explorer.detail import Detail, entries_kept, kept, left_out, reads_as_text, typical
from discan.explorer.listing import list_words, top_of
from discan.explorer.material import Material
from discan.explorer.packing import ascii_of, log_codes, one_line, pack, share_codes
from discan.fitting.summary import fields_of
from discan.reporting import sentences
from discan.reporting.sentences import Wording
from discan.typing import Array

__all__ = ["payload"]

PER_WORD = 12  # components of a word
MOST_WORDS = 60_000  # of a vocabulary
NEAREST = 8  # neighbours of a component
LONG_TRACE = 600  # points
WORD, CELL = 80, 60  # characters


def payload(material: Material, detail: Detail, limit: int, worded: Wording) -> tuple[str, str]:
    """Return the packed data of a page of at most ``limit`` bytes, and what it leaves out."""
    maker = _Maker(material, worded)
    packed, missing = "", ""
    before = None
    for now in detail.lessened():
        if now == before:
            continue
        missing = left_out(material, detail, now)
        packed, before = ascii_of(maker.pack(now, missing)), now
        if len(packed) <= limit:
            break
    return packed, missing


class _Maker:
    """Makes arrays of a page; what does not depend on the detail is made once."""

    def __init__(self, material: Material, worded: Wording) -> None:
        self.material = material
        self.typical = typical(material)
        self.top = top_of(material.shares, 20)
        self.header = self._header(worded)
        self.words, self.arrays = self._words()
        self.arrays |= self._components() | self._labels()

    # ---- what all details share ----

    def _header(self, worded: Wording) -> dict[str, Any]:
        material, facts = self.material, self.material.facts
        found, fit = material.components, material.facts.fit
        nouns = found.nouns
        shares = material.shares
        main = np.bincount(shares.argmax(axis=1), minlength=len(found.names))
        settings, colours, judged = sentences.settings(facts), found.colours, material.quality
        return {
            "version": __version__,
            "key": hashlib.sha256(found.loadings.tobytes()).hexdigest()[:16],
            "about": sentences.about(facts),
            "explained": sentences.explained(facts),
            "nouns": {
                "document": nouns.document, "documents": nouns.documents, "word": nouns.word,
                "words": nouns.words, "component": nouns.component, "components": nouns.components,
                "counts": found.counts, "groups": found.groups,
                "tokens": found.counts
                if found.grouped
                else ("words" if nouns.word == "word" else "counts"),
            },
            "grouped": found.grouped,
            "components": [
                {
                    "number": found.parts[k] + 1, "name": one_line(found.names[k]),
                    "size": float(found.sizes[k]), "colour": colours[k],
                    "main": int(main[k]), **(_judged(judged[k]) if judged else {}),
                }
                for k in range(len(found.names))
            ],
            "documents": facts.n_documents,
            "warnings": self._warnings(worded),
            "score": _score(facts),
            "settings": {name: one_line(value, 400) for name, value in settings.items()},
            "learnt": fit.learnt,
            "trace": _trace(fit),
            "map": {"distance": material.distance, "kept": round(material.plane[1], 4)},
            "seen": not facts.new,
        }  # fmt: skip

    def _warnings(self, worded: Wording) -> list[str]:
        """Say what readers should know before they trust the page."""
        material, facts = self.material, self.material.facts
        told = []
        if facts.fit.documents is not None and not facts.fit.converged:
            verdict = worded(facts.fit.verdict())
            told.append(verdict[:1].upper() + verdict[1:] + ".")
        if facts.empty:
            some = ", ".join(facts.empty[:8]) + (", ..." if len(facts.empty) > 8 else "")
            told.append(f"Nearly empty: {some}.")
        twins = {
            tuple(sorted((q.component, q.nearest)))
            for q in material.quality or ()
            if q.flags == "twin"
        }
        told += [f"Nearly the same: {a} and {b}." for a, b in sorted(twins)[:5]]
        if len(twins) > 5:
            told.append(f"{len(twins) - 5} more pairs are nearly the same.")
        return [one_line(text, 400) for text in told]

    def _words(self) -> tuple[Array, dict[str, Any]]:
        """Return the words that are kept, and their names and probabilities."""
        found, facts = self.material.components, self.material.facts
        totals = facts.amounts.sum(axis=0)
        if not facts.new and facts.fit.documents is not None:
            totals = np.asarray(facts.fit.documents.totals)[found.parts]
        listed = list_words(found, totals, facts.fit.group_totals)
        kept = np.arange(found.layout.n_words)
        if len(kept) > MOST_WORDS:
            usual = np.argsort(-found.overall, kind="stable")[:MOST_WORDS]
            kept = np.union1d(usual, listed.word)
        place = np.full(found.layout.n_words, -1)
        place[kept] = np.arange(len(kept))
        loadings = np.ascontiguousarray(found.loadings.T[kept])
        top = top_of(loadings * found.sizes, PER_WORD)
        component = np.repeat(np.arange(len(found.names)), np.diff(listed.start))
        groups = found.layout.group_of_word[kept]
        fields = fields_of(found.layout, facts.fit.group_totals)[0]
        is_text = np.zeros(found.layout.n_groups, dtype=np.uint8)
        for _, columns in fields:
            is_text[found.layout.group_of_word[columns]] = 1
        several = found.layout.n_groups > 1
        arrays = {
            "words": [
                one_line(found.answer(int(j)) if several else found.word(int(j)), WORD)
                for j in kept
            ],
            "groupOfWord": _small(groups),
            "groups": [one_line(found.group(g), 160) for g in range(found.layout.n_groups)]
            if several
            else [""],
            "groupIsText": is_text,
            "overall": log_codes(found.overall[kept]),
            "wordComponents": _small(top, len(found.names)),
            "wordChances": log_codes(np.take_along_axis(loadings, top, axis=1)),
            "listStart": listed.start.astype(np.uint32),
            "listWord": place[listed.word].astype(np.uint32),
            "listChance": found.loadings[component, listed.word].astype(np.float32),
        }  # fmt: skip
        sd = None if facts.fit.documents is None else facts.fit.components_sd
        if sd is not None:
            parts = np.array(found.parts)[component]
            arrays["listSd"] = sd[parts, listed.word].astype(np.float32)
        return place, arrays

    def _components(self) -> dict[str, Any]:
        """Places of the components, and their neighbours."""
        apart = self.material.apart
        nearest = np.argsort(apart + 2.0 * np.eye(len(apart)), axis=1, kind="stable")
        nearest = nearest[:, : min(NEAREST, len(apart) - 1)]
        return {
            "place": self.material.plane[0].astype(np.float32),
            "nearest": _small(nearest, len(apart)),
            "nearestDistance": np.take_along_axis(apart, nearest, axis=1).astype(np.float32),
        }

    def _labels(self) -> dict[str, Any]:
        """Mean shares by label and by time, over all documents."""
        arrays: dict[str, Any] = {}
        columns = []
        for n, column in enumerate(self.material.columns):
            sizes, means, errors = column.moments(self.material.shares)
            columns.append({"name": one_line(column.name, CELL), "time": column.is_time,
                            "sizes": sizes.tolist()})  # fmt: skip
            arrays[f"label{n}"] = [one_line(value, CELL) for value in column.values]
            arrays[f"labelMean{n}"] = means.astype(np.float32)
            arrays[f"labelError{n}"] = errors.astype(np.float32)
        self.header["columns"] = columns
        self.header["facts"] = [one_line(name, CELL) for name in self.material.others]
        return arrays

    # ---- documents, in some detail ----

    def pack(self, detail: Detail, missing: str) -> bytes:
        """Pack everything at one level of detail."""
        rows = kept(self.material, detail.part)
        header = {**self.header, "leftOut": missing, "shown": len(rows), "bits": detail.bits}
        arrays = {**self.arrays, **self._documents(rows, detail), **self._texts(rows, detail)}
        entries, complete = self._entries(rows, detail)
        header |= {"perDocument": int(arrays["top"].shape[1]), "complete": complete}
        return pack(header, {**arrays, **entries})

    def _documents(self, rows: Array, detail: Detail) -> dict[str, Any]:
        material = self.material
        top = self.top[rows, : detail.components]
        names = material.facts.documents.names

        def of_top(values: Array) -> Array:
            return share_codes(np.take_along_axis(values[rows], top, axis=1), detail.bits)

        arrays = {
            "names": [one_line(names[i], detail.title) for i in rows],
            "top": _small(top, material.shares.shape[1]),
            "share": of_top(material.shares),
            "length": material.lengths[rows].astype(np.float32),
            **{
                f"code{n}": (column.code[rows] + 1).astype(np.uint16)
                for n, column in enumerate(material.columns)
            },
            **{
                f"fact{n}": [one_line(values[i], CELL) for i in rows]
                for n, values in enumerate(material.others.values())
            },
        }  # fmt: skip
        if material.deviations is not None:
            arrays["sd"] = of_top(material.deviations)
        if material.absent is not None:
            arrays["absent"] = of_top(material.absent)
        if material.likelihoods is not None:
            arrays["likelihood"] = material.likelihoods[rows].astype(np.float32)
        if material.places is not None:
            arrays["own"] = material.places[rows].astype(np.float32)
        return arrays

    def _texts(self, rows: Array, detail: Detail) -> dict[str, Any]:
        texts = self.material.texts
        if texts is None or not detail.text:
            return {}
        shown = set(self.typical.tolist()) if detail.typical else None
        return {
            "texts": [
                _paragraphs(texts[i], detail.text) if shown is None or i in shown else ""
                for i in rows.tolist()
            ]
        }

    def _entries(self, rows: Array, detail: Detail) -> tuple[dict[str, Any], bool]:
        """Words of each document: all, or those that say most."""
        material, corpus = self.material, self.material.facts.corpus
        most = entries_kept(material, detail)
        if corpus is None or most == 0 or reads_as_text(material, detail):
            return {}, False
        chances = material.chances
        assert chances is not None
        overall = material.components.overall
        starts, words, counts = [0], [], []
        for i in rows.tolist():
            piece = slice(corpus.indptr[i], corpus.indptr[i + 1])
            word, count = corpus.words[piece], corpus.counts[piece]
            chosen = np.flatnonzero(self.words[word] >= 0)
            if most is not None and len(chosen) > most:
                if material.components.grouped:  # against the odds
                    value = -chances[piece][chosen]
                else:
                    usual = np.maximum(overall[word[chosen]] * count.sum(), 1e-300)
                    value = count[chosen] * np.log(count[chosen] / usual)
                chosen = np.sort(chosen[np.argsort(-value, kind="stable")[:most]])
            words.append(self.words[word[chosen]])
            counts.append(count[chosen])
            starts.append(starts[-1] + len(chosen))
        arrays = {
            "entryStart": np.array(starts, dtype=np.uint32),
            "entryWord": _small(np.concatenate(words), int(self.words.max()) + 1),
            "entryCount": _counts(np.concatenate(counts)),
        }
        return arrays, most is None and bool((self.words >= 0).all())


# ---- details ----


def _paragraphs(text: str, longest: int) -> str:
    """Return the beginning of a text in one line; U+000B stands for the end of a line in it."""
    lines = (one_line(line) for line in text[: 4 * longest].splitlines())
    joined = "\v".join(line for line in lines if line)
    if len(joined) <= longest and len(text) <= 4 * longest:
        return joined
    return joined[:longest].rsplit(" ", 1)[0].rstrip() + "…"


def _judged(found: Any) -> dict[str, float]:
    """Return the quality of a component, as far as it is known."""
    told = {"exclusivity": found.exclusivity, "coherence": found.npmi}
    return {name: round(value, 4) for name, value in told.items() if value is not None}


def _score(facts: Any) -> dict[str, float] | None:
    """Return the log-likelihood per held-out token, of the model and of the unigram."""
    if facts.corpus is None or not facts.new or facts.fit.documents is None:
        return None
    return {
        "model": float(facts.fit.score(facts.corpus)),
        "unigram": float(facts.fit.unigram_score(facts.corpus)),
    }


def _trace(fit: Any) -> list[list[float]]:
    """Return (cycle, objective per token) of some hundreds of cycles, with the first and last."""
    if len(fit.trace) < 2:
        return []
    n_tokens = float(fit.settings.get("tokens", fit.documents.totals.sum()))
    values = fit.trace["objective"] / max(n_tokens, 1.0)
    at = np.unique(np.linspace(0, len(values) - 1, LONG_TRACE).round().astype(np.int64))
    return [[int(n) + 1, float(values[n])] for n in at if np.isfinite(values[n])]


def _small(numbers: Array, n: int | None = None) -> Array:
    """Return whole numbers below n in the smallest type that JavaScript has."""
    n = int(numbers.max(initial=0)) + 1 if n is None else n
    return numbers.astype(np.uint8 if n <= 2**8 else np.uint16 if n <= 2**16 else np.uint32)


def _counts(counts: Array) -> Array:
    whole = counts.dtype.kind == "i"
    return _small(counts) if whole else counts.astype(np.float32)
