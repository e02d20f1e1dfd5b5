# SPDX-License-Identifier: BSD-3-Clause
"""Write a run to a folder while it advances, so that it can be continued with the same bits.

A run folder holds ``corpus.discan``, ``settings.discan`` (the estimator's arguments) and
``state.discan`` (the run at its last checkpoint). If the corpus is a folder, the settings name it,
and the states of its blocks are in ``states/``. Each file is written all or nothing. A state is
tied to the data and settings of its folder, and checked in every part before it is continued.
The states of further chains are in folders of their own, ``chain-2/state.discan`` and so on.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from discan.data.corpus import Corpus
from discan.data.folders.corpus import FolderCorpus
from discan.data.rules import MOST, ONE, Rule, checked_names, faults_of, rule_of
from discan.data.storage import read_file, write_file
from discan.data.store import load_corpus, save_corpus
from discan.errors import InputError, ModelFileError, StorageError
from discan.fitting.run import Run
from discan.fitting.states import STATES, DiskStates
from discan.typing import Array
from discan.validation import LEAST

__all__ = ["LATER", "PARAMS", "RunFolder", "memory_rules", "present"]

LONGEST_WAIT = 60.0  # seconds from one writing of a run to the next, if its documents are on disk
# Every array of the parameters. Sizes: J words, K components, G groups.
PARAMS = {
    "loadings": Rule(("J", "K"), low=0, high=ONE),
    "loading_shape": Rule(("J", "K"), low=LEAST / 2, high=MOST),  # gamma and expected counts
    "loading_counts": Rule(("J", "K"), low=0, high=MOST),
    "totals": Rule(("G", "K"), low=0, high=MOST),
}
LATER = "later."  # of the names of the averages over the draws that stay


@dataclass(frozen=True)
class RunFolder:
    """The folder of a run, or of one of its chains; call it with the run after each cycle."""

    path: Path
    every: int = 10
    chain: int = 0
    written: dict[str, float] = field(default_factory=dict, compare=False)  # when it was, last

    @property
    def has_settings(self) -> bool:
        """Whether a run was begun here."""
        return (self.path / "settings.discan").exists()

    @property
    def has_state(self) -> bool:
        """Whether a run was written here."""
        return self.state.exists()

    @property
    def state(self) -> Path:
        """The file of the state; chains after the first have folders of their own."""
        own = self.path / f"chain-{self.chain + 1}" if self.chain else self.path
        return own / "state.discan"

    @property
    def place(self) -> Path:
        """The folder for states of documents that are in a folder themselves."""
        return self.state.parent

    def of_chain(self, chain: int) -> RunFolder:
        """Return the folder as that of another chain, numbered from 0."""
        return replace(self, chain=chain, written={})

    def begin(self, header: dict[str, Any], arrays: dict[str, Array], corpus: Corpus) -> None:
        """Write the data and the settings, before anything is computed."""
        self._check_links()
        if self.has_state:
            raise InputError(
                f"{self.path}: holds a run already; continue it with discan.resume, or choose "
                "another folder"
            )
        header = {**header, "every": self.every}
        if isinstance(corpus, FolderCorpus):  # it stays where it is
            header["corpus"] = {"folder": os.path.abspath(corpus.path), "digest": corpus.digest}
        else:
            save_corpus(corpus, self.path / "corpus.discan", follow=False)
        write_file(self.path / "settings.discan", "settings", header, arrays, follow=False)

    def settings(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Read the settings."""
        if not self.has_settings:
            raise InputError(f"{self.path}: no run was begun here; begin one with checkpoint=...")
        self._check_links()
        return read_file(self.path / "settings.discan", "settings")

    def _check_links(self) -> None:
        """Refuse to write to a folder whose parts are links, which may lead anywhere."""
        chains = list(self.path.glob("chain-*"))
        states = [folder / STATES for folder in (self.path, *chains)]
        for part in (*chains, *states, *(inner for folder in states for inner in folder.glob("*"))):
            if part.is_symlink():
                raise StorageError(f"{part}: a link, not followed; remove it")

    def corpus(self) -> Corpus:
        """Read the data, or open the folder that they are in."""
        known = self.settings()[0].get("corpus")
        if known is None:
            return load_corpus(self.path / "corpus.discan")
        with faults_of(self.path / "settings.discan"):
            folder, digest = (checked_names("corpus", [known["folder"], known["digest"]], 2)) or ()
        corpus = FolderCorpus(folder)
        if corpus.digest != digest:
            raise ModelFileError(f"{folder}: holds other data than when the run was begun")
        return corpus

    def identity(self, corpus: Corpus) -> str:
        """Return a digest of the settings in the folder and of the data, names aside."""
        header, arrays = self.settings()
        result = hashlib.sha256(corpus.digest.encode())
        if self.chain:
            result.update(f"chain {self.chain} ".encode())
        kept = {name: header.get(name) for name in ("class", "settings")}
        result.update(json.dumps(kept, sort_keys=True).encode())
        for name, value in sorted(arrays.items()):
            result.update(f"{name} {value.dtype.str} {value.shape} ".encode())
            result.update(np.ascontiguousarray(value).tobytes())
        return result.hexdigest()

    def __call__(self, run: Run, last: bool) -> None:
        """Write the run if it is time to."""
        if not (last or run.cycle % self.every == 0 or self._is_late(run)):
            return
        header, arrays = _snapshot(run)
        header["run"] = self.identity(run.task.corpus)
        write_file(self.state, "state", header, arrays, follow=False)
        if isinstance(run.states, DiskStates):
            run.states.checkpointed()
        self.written["seconds"] = time.monotonic()

    def _is_late(self, run: Run) -> bool:
        """Whether a run whose cycles are long was written a while ago."""
        since = time.monotonic() - self.written.setdefault("seconds", time.monotonic())
        return run.on_disk and since >= LONGEST_WAIT


def _snapshot(run: Run) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return everything that a run needs to continue."""
    params, draws = run.params, run.draws
    arrays = {"gamma": params.prior.gamma, "trace": run.trace.table()}
    arrays |= {f"model.{name}": value for name, value in params.model.values().items()}
    arrays |= {f"params.{name}": value for name, value in present(params, PARAMS).items()}
    notes: dict[str, Any] = {"tau": params.power, "over": run.over}
    for name in memory_rules(type(params.memory)):
        value = getattr(params.memory, name)
        if isinstance(value, np.ndarray):
            arrays[f"note.{name}"] = value
        elif value is None or not isinstance(value, float) or math.isfinite(value):
            notes[name] = value  # what is not finite begins with its default again
    if isinstance(run.states, DiskStates):
        arrays |= run.states.synchronise(len(run.schedule.blocks))
    for block in () if run.on_disk else run.schedule.blocks:
        state = run.states.get(block)
        for name, value in present(state, [f.name for f in dataclasses.fields(state)]).items():
            arrays[f"state.{block.index}.{name}"] = value
    header = {
        "cycle": run.cycle, "converged": run.converged, "notes": notes,
        "n_draws": 0 if draws is None else draws.n_draws,
        "n_later": 0 if run.later is None else run.later.n_draws,
    }  # fmt: skip
    if draws is not None:
        arrays |= draws.arrays()
    if run.later is not None:
        arrays |= {f"{LATER}{name}": value for name, value in run.later.arrays().items()}
    return header, arrays


def present(owner: Any, names: Any) -> dict[str, Array]:
    """Return the attributes that are not None."""
    values = {name: getattr(owner, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def memory_rules(kind: Any) -> dict[str, Rule]:
    """Return the rules of the fields of a memory that outlast a visit."""
    if kind is type(None):
        return {}
    rules = {
        field.name: rule_of(field)
        for field in dataclasses.fields(kind)
        if not field.metadata.get("transient")
    }
    for name, rule in rules.items():
        assert rule is not None, f"declare {kind.__name__}.{name} with stored(...), or as transient"
    return rules  # type: ignore[return-value]
