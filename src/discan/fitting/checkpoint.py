# SPDX-License-Identifier: BSD-3-Clause
"""Write a run to a folder while it advances, and continue it after any end with the same bits.

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
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from discan.algorithms.base import Params, Start, States
from discan.algorithms.em import PointEstimate
from discan.algorithms.expectation import block_lengths
from discan.algorithms.schedule import Schedule
from discan.data.blocks import Block, BlockRef
from discan.data.corpus import Corpus
from discan.data.folders.corpus import FolderCorpus
from discan.data.rules import MOST, ONE, Rule, Sizes, checked_names, faults_of, rule_of, taken
from discan.data.storage import read_file, write_file
from discan.data.store import load_corpus, save_corpus
from discan.engines import Engine, Threads
from discan.errors import InputError, ModelFileError
from discan.fitting.draws import DrawAverages
from discan.fitting.memory import check_memory
from discan.fitting.posterior import checked_loadings
from discan.fitting.run import Run, Task
from discan.fitting.states import DiskStates
from discan.fitting.trace import Trace
from discan.fitting.visit import MemoryStates
from discan.kernels.variational import expect
from discan.typing import Array
from discan.validation import LEAST

__all__ = ["RunFolder", "restored"]

LONGEST_WAIT = 60.0  # seconds from one writing of a run to the next, if its documents are on disk
# Every array of the parameters. Sizes: J words, K components, G groups.
_PARAMS = {
    "loadings": Rule(("J", "K"), low=0, high=ONE),
    "loading_shape": Rule(("J", "K"), low=LEAST / 2, high=MOST),  # gamma and expected counts
    "loading_counts": Rule(("J", "K"), low=0, high=MOST),
    "totals": Rule(("G", "K"), low=0, high=MOST),
}
# The header; ``notes`` hold the rest of it.
_HEADER = {
    "cycle": Rule(types="whole", low=1),
    "converged": Rule(types="flag"),
    "n_draws": Rule(types="whole", low=0),
}
_NOTES = {
    "tau": Rule(types="number", low=0, above=True, high=1, optional=True),
    "over": Rule(types="text", optional=True),
}


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
        return read_file(self.path / "settings.discan", "settings")

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


def restored(folder: RunFolder, task: Task, engine: Engine) -> Run:
    """Return the run of a folder at its last checkpoint; it must have one."""
    path = folder.state
    header, arrays = read_file(path, "state")
    task = _as_begun(task, header.get("notes"))
    schedule = task.plan()
    check_memory(task.needed_bytes(schedule, engine.n_workers))
    blueprint = _Blueprint.of(_first_run(task, schedule, engine))
    # version 0.1 wrote states without the digest
    if header.get("run", identity := folder.identity(task.corpus)) != identity:
        raise ModelFileError(
            f"{path}: the state of another run, of other data or settings; restore the folder as "
            "it was, or begin a new run"
        )
    with faults_of(path):
        return _restored(task, schedule, engine, blueprint, header, arrays, path.parent)


def _first_run(task: Task, schedule: Schedule, engine: Engine) -> Run:
    """Return the same run before its first cycle; of documents in a folder, one block of it."""
    if schedule.corpus.on_disk:
        schedule, engine = replace(schedule, rounds=[schedule.blocks[:1]]), Threads(1)
    return Run.begin(task, schedule, Start(), engine)


# ---- writing ----


def _snapshot(run: Run) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return everything that a run needs to continue."""
    params, draws = run.params, run.draws
    arrays = {"gamma": params.prior.gamma, "trace": run.trace.table()}
    arrays |= {f"model.{name}": value for name, value in params.model.values().items()}
    arrays |= {f"params.{name}": value for name, value in _arrays(params, _PARAMS).items()}
    notes: dict[str, Any] = {"tau": params.power, "over": run.over}
    for name in _rules(type(params.memory)):
        value = getattr(params.memory, name)
        if isinstance(value, np.ndarray):
            arrays[f"note.{name}"] = value
        elif value is None or not isinstance(value, float) or math.isfinite(value):
            notes[name] = value  # what is not finite begins with its default again
    if isinstance(run.states, DiskStates):
        arrays |= run.states.synchronise(len(run.schedule.blocks))
    for block in () if run.on_disk else run.schedule.blocks:
        state = run.states.get(block)
        for name, value in _arrays(state, [f.name for f in dataclasses.fields(state)]).items():
            arrays[f"state.{block.index}.{name}"] = value
    header = {
        "cycle": run.cycle, "converged": run.converged, "notes": notes,
        "n_draws": 0 if draws is None else draws.n_draws,
    }  # fmt: skip
    if draws is not None:
        arrays |= draws.arrays()
    return header, arrays


def _arrays(owner: Any, names: Any) -> dict[str, Array]:
    """Return the attributes that are not None."""
    values = {name: getattr(owner, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _rules(kind: Any) -> dict[str, Rule]:
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


# ---- reading ----


def _as_begun(task: Task, notes: Any) -> Task:
    """Return the task with the acceleration of EM that began the run.

    Version 0.1 had no quasi-Newton steps. What its runs remember tells how they were accelerated.
    """
    algorithm = task.algorithm
    if not isinstance(algorithm, PointEstimate) or not isinstance(notes, dict) or "move" in notes:
        return task
    if algorithm.accelerate != "quasi-newton":
        return task
    accelerate = "squarem" if "stride" in notes else False
    return replace(task, algorithm=replace(algorithm, accelerate=accelerate))


class _Kind(NamedTuple):
    """Shape and type of an array."""

    shape: tuple[int, ...]
    types: str

    @classmethod
    def of(cls, value: Array) -> _Kind:
        """Return those of an array; floating point may have either precision."""
        return cls(value.shape, "f" if value.dtype.kind == "f" else value.dtype.str[1:])


class _Blueprint(NamedTuple):
    """What the arrays of a run are, as those of the same run before its first cycle tell.

    params : kinds by name; states : kinds by block and name; memory : that of the algorithm.
    """

    params: dict[str, _Kind]
    states: dict[int, dict[str, _Kind]]
    memory: Any

    @classmethod
    def of(cls, run: Run) -> _Blueprint:
        """Keep the kinds alone, so that the arrays can go."""

        def kinds(owner: Any, names: Any) -> dict[str, _Kind]:
            return {name: _Kind.of(value) for name, value in _arrays(owner, names).items()}

        states = {}
        for block in run.schedule.blocks:
            state = run.states.get(block)
            states[block.index] = kinds(state, [f.name for f in dataclasses.fields(state)])
        return cls(kinds(run.params, _PARAMS), states, run.params.memory)


def _restored(
    task: Task,
    schedule: Schedule,
    engine: Engine,
    blueprint: _Blueprint,
    header: Mapping[str, Any],
    arrays: dict[str, Array],
    place: Path,
) -> Run:
    """Return the run of a state; anything that is wrong with it raises an exception."""
    values = taken(_HEADER, header, {})
    notes = header["notes"] if isinstance(header["notes"], dict) else {}
    corpus = schedule.corpus
    sizes = {
        "I": corpus.n_documents, "J": corpus.n_words, "G": corpus.n_groups,
        "K": len(task.model.alpha), "cycles": values["cycle"],
    }  # fmt: skip
    params = _params(task, schedule, blueprint, notes, arrays, sizes)
    states: States
    if schedule.corpus.on_disk:
        states = _disk_states(schedule, blueprint, params, arrays, sizes, place)
    else:
        states = _states(schedule, blueprint, params, arrays, sizes)
    run = Run(task, schedule, params, states, engine)
    run.trace = _trace(arrays, sizes)
    run.cycle, run.converged = values["cycle"], values["converged"]
    run.over = taken(_NOTES, notes, {}).get("over")
    if task.algorithm.whole_counts:
        _check_counts(run)
    if not task.algorithm.uses_prior:
        _check_possible(run)
    n_draws = values["n_draws"]
    if n_draws > (run.cycle if schedule.thin else 0):
        raise ModelFileError(f"{n_draws} draws of {run.cycle} cycles")
    if n_draws:
        run.draws = DrawAverages(schedule, params)
        run.draws.restore(n_draws, params, arrays)
    return run


def _trace(arrays: Mapping[str, Array], sizes: Sizes) -> Trace:
    rule = Rule(("cycles", len(Trace.columns)), "f8", finite=False)
    table = taken({"trace": rule}, arrays, sizes)["trace"]
    if (table[:, 0] != np.arange(1, len(table) + 1)).any():
        raise ModelFileError("the cycles of the trace are not 1, 2, 3, ...")
    return Trace.of(table)


def _params(
    task: Task,
    schedule: Schedule,
    blueprint: _Blueprint,
    notes: Mapping[str, Any],
    arrays: Mapping[str, Array],
    sizes: Sizes,
) -> Params:
    """Return the parameters of a state, with hyperparameters that a user could have given."""
    params, flat = task.first_params(schedule), not task.algorithm.uses_prior
    rules = {name: Rule(size, "f8") for name, size in params.model.axes.items()}
    hyper = taken(rules, arrays, sizes, "model.")
    model = params.model.with_values(hyper, sizes["K"], flat)
    gamma = taken({"gamma": Rule(("J",), "f8", low=0)}, arrays, sizes)["gamma"]
    prior = params.prior.with_gamma(gamma, flat)
    rules = {
        name: replace(_PARAMS[name], types=kind.types) for name, kind in blueprint.params.items()
    }
    values = taken(rules, arrays, sizes, "params.")
    if "loadings" in values:
        checked_loadings("params.loadings", values["loadings"], prior.layout, exactly=False)
    power = float(taken(_NOTES, notes, {}).get("tau", 1.0))
    memory = _memory(blueprint.memory, notes, arrays, sizes)
    values |= dict.fromkeys(set(_PARAMS) - set(values))
    return replace(params.with_model(model), prior=prior, power=power, memory=memory, **values)


def _memory(first: Any, notes: Mapping[str, Any], arrays: Mapping[str, Array], sizes: Sizes) -> Any:
    """Return the memory of an algorithm; fields that were not saved have their defaults."""
    if first is None:
        return None
    rules = _rules(type(first))
    found = {name: arrays.get(f"note.{name}", notes.get(name)) for name in rules}
    memory = type(first)(**taken(rules, found, sizes))
    for name, rule in rules.items():
        if rule.fixed and getattr(memory, name) != getattr(first, name):
            raise ModelFileError(f"{name} is not that of this run")
    problem = getattr(memory, "problem", None)
    if problem:
        raise ModelFileError(problem)
    return memory


def _states(
    schedule: Schedule,
    blueprint: _Blueprint,
    params: Params,
    arrays: Mapping[str, Array],
    sizes: Sizes,
) -> MemoryStates:
    """Return the states of all blocks."""
    kind = schedule.state_type
    declared = {field.name: rule_of(field) or Rule() for field in dataclasses.fields(kind)}
    states = MemoryStates()
    for block in schedule.blocks:
        prefix = f"state.{block.index}."
        expected = blueprint.states[block.index]
        rules = _rules_of(declared, expected)
        if f"{prefix}all" in arrays:  # a state of one array, as version 0.1 wrote it
            first = next(iter(expected))
            arrays = {**arrays, prefix + first: arrays[f"{prefix}all"]}
        state = kind(**taken(rules, arrays, sizes, prefix))
        problem = state.problem(params) if hasattr(state, "problem") else None
        if problem:
            raise ModelFileError(f"{prefix[:-1]}: {problem}")
        states.put(block, state)
    return states


def _rules_of(declared: Mapping[str, Rule], expected: Mapping[str, _Kind]) -> dict[str, Rule]:
    """Return the rules of the arrays of a state."""
    return {
        name: replace(declared[name], shape=shape, types=types, optional=False)
        for name, (shape, types) in expected.items()
    }


def _shape(rule: Rule, own: Sizes, first: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of an array of a block's state, given that of the first block."""
    return tuple(
        size if name is None else own[name] if isinstance(name, str) else name
        for name, size in zip(rule.shape, first, strict=True)
    )


def _disk_states(
    schedule: Schedule,
    blueprint: _Blueprint,
    params: Params,
    arrays: Mapping[str, Array],
    sizes: Sizes,
    place: Path,
) -> DiskStates:
    """Return the states of a run folder; each is checked when it is first read."""
    kind = schedule.state_type
    declared = {field.name: rule_of(field) or Rule() for field in dataclasses.fields(kind)}
    (first,) = blueprint.states.values()

    def check(block: BlockRef, state: Any) -> None:
        own = {
            "n": block.stop - block.start, "tokens": block.token_stop - block.token_start, **sizes,
        }  # fmt: skip
        expected = {
            name: _Kind(_shape(declared[name], own, known.shape), known.types)
            for name, known in first.items()
        }
        found = _arrays(state, declared)
        if set(found) != set(expected):
            raise ModelFileError("its arrays are not those of a state of this run")
        taken(_rules_of(declared, expected), found, sizes)
        problem = state.problem(params) if hasattr(state, "problem") else None
        if problem:
            raise ModelFileError(problem)

    states = DiskStates.of(kind, place, durable=True)
    states.restore(arrays, len(schedule.blocks), check)
    return states


def _check_counts(run: Run) -> None:
    """Refuse counts of a chain that are not those of its tokens."""
    params, corpus = run.params, run.training
    counts = np.asarray(params.loading_counts)
    by_component = np.zeros(params.n_components, dtype=np.int64)
    recount = np.zeros_like(counts)
    counted = True
    for ref in run.schedule.blocks:
        block, state = corpus.read(ref), run.states.get(ref)
        counted &= hasattr(state, "add_tokens")
        if counted:
            state.add_tokens(block, recount)
        by_component += _block_counts(state, block, params.n_components).sum(axis=0)
    whole = counts.astype(np.int64) if counts.dtype == np.uint64 else counts
    totals = params.prior.layout.group_sums(whole)
    if params.prior.seeds is not None:
        whole = whole - params.prior.seeds.table(*whole.shape)
        params.prior.add_seeds(recount)
    same = (
        np.array_equal(whole.sum(axis=1, dtype=np.int64), corpus.word_totals.astype(np.int64))
        and np.array_equal(whole.sum(axis=0, dtype=np.int64), by_component)
        and np.array_equal(totals, np.asarray(params.totals))
        and bool((whole >= 0).all())
        and (not counted or np.array_equal(counts, recount))
    )
    if not same:
        raise ModelFileError("the counts are not those of the tokens")


def _check_possible(run: Run) -> None:
    """Refuse scores and loadings, zeros among them, by which the documents cannot be.

    A pass of EM leaves a word possible that was so before: the objective was finite then.
    """
    if not np.isfinite(run.trace.last("objective")):
        return
    table, loadings = run.params.table, np.asarray(run.params.loadings)
    for ref in run.schedule.blocks:
        block = run.training.read(ref)
        objective = np.empty(block.stop - block.start)
        expect(
            block.indptr, block.words, block.counts, block.levels, table.shape, table.rate,
            loadings, run.states.get(block).score_shape.copy(), loadings[:0], objective,
            False, run.params.power, 1, 0.0, False,
        )  # fmt: skip
        if not np.isfinite(objective).all():
            raise ModelFileError(
                f"state.{block.index}: the scores give a word of a document probability 0"
            )


def _block_counts(state: Any, block: Block, n_components: int) -> Array:
    counts = np.asarray(state.counts(block, n_components))
    if not np.array_equal(counts.sum(axis=1), block_lengths(block)):
        raise ModelFileError(f"the counts of block {block.index} are not those of its documents")
    return counts
