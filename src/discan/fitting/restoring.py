# SPDX-License-Identifier: BSD-3-Clause
"""Read the run of a folder at its last checkpoint, and check every part of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from discan.algorithms.base import Params, Start, States
from discan.algorithms.em import PointEstimate
from discan.algorithms.schedule import Schedule
from discan.algorithms.score_states import block_lengths
from discan.data.blocks import Block, BlockRef
from discan.data.rules import Rule, Sizes, faults_of, rule_of, taken
from discan.data.storage import read_file
from discan.engines import Engine, Threads
from discan.errors import ModelFileError
from discan.fitting.checkpoint import LATER, PARAMS, RunFolder, memory_rules, present
from discan.fitting.draws import DrawAverages
from discan.fitting.memory import check_memory
from discan.fitting.posterior import checked_loadings
from discan.fitting.run import Run
from discan.fitting.states import DiskStates
from discan.fitting.task import Task
from discan.fitting.trace import Trace
from discan.fitting.visit import MemoryStates
from discan.kernels.variational import expect
from discan.typing import Array

__all__ = ["restored"]

# The header; ``notes`` hold the rest of it.
_HEADER = {
    "cycle": Rule(types="whole", low=1),
    "converged": Rule(types="flag"),
    "n_draws": Rule(types="whole", low=0),
    "n_later": Rule(types="whole", low=0, optional=True),  # not in those of version 0.1
}
_NOTES = {
    "tau": Rule(types="number", low=0, above=True, high=1, optional=True),
    "over": Rule(types="text", optional=True),
}


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
    """Return the same run before its first cycle; if documents are on disk, one block of it."""
    if schedule.corpus.on_disk:
        schedule, engine = replace(schedule, rounds=[schedule.blocks[:1]]), Threads(1)
    return Run.begin(task, schedule, Start(), engine)


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
    n_draws, n_later = values["n_draws"], values.get("n_later") or 0
    if n_draws > (run.cycle if schedule.thin else 0):
        raise ModelFileError(f"{n_draws} draws of {run.cycle} cycles")
    if n_later > (n_draws if schedule.forget else 0):
        raise ModelFileError(f"{n_later} later draws of {n_draws} draws")
    if n_draws:
        run.draws = DrawAverages(schedule, params)
        run.draws.restore(n_draws, params, arrays)
    if n_later:
        later = {
            name.removeprefix(LATER): value
            for name, value in arrays.items()
            if name.startswith(LATER)
        }
        run.later = DrawAverages(schedule, params)
        run.later.restore(n_later, params, later)
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
        name: replace(PARAMS[name], types=kind.types) for name, kind in blueprint.params.items()
    }
    values = taken(rules, arrays, sizes, "params.")
    if "loadings" in values:
        checked_loadings("params.loadings", values["loadings"], prior.layout, exactly=False)
    power = float(taken(_NOTES, notes, {}).get("tau", 1.0))
    memory = _memory(blueprint.memory, notes, arrays, sizes)
    values |= dict.fromkeys(set(PARAMS) - set(values))
    return replace(params.with_model(model), prior=prior, power=power, memory=memory, **values)


def _memory(first: Any, notes: Mapping[str, Any], arrays: Mapping[str, Array], sizes: Sizes) -> Any:
    """Return the memory of an algorithm; fields that were not saved have their defaults."""
    if first is None:
        return None
    rules = memory_rules(type(first))
    found = {name: arrays.get(f"note.{name}", notes.get(name)) for name in rules}
    memory = type(first)(**taken(rules, found, sizes))
    for name, rule in rules.items():
        if rule.fixed and getattr(memory, name) != getattr(first, name):
            raise ModelFileError(f"{name} is not that of this run")
    problem = getattr(memory, "problem", None)
    if problem:
        raise ModelFileError(problem)
    return memory


# ---- states ----


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
            return {name: _Kind.of(value) for name, value in present(owner, names).items()}

        states = {}
        for block in run.schedule.blocks:
            state = run.states.get(block)
            states[block.index] = kinds(state, [f.name for f in dataclasses.fields(state)])
        return cls(kinds(run.params, PARAMS), states, run.params.memory)


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
        found = present(state, declared)
        if set(found) != set(expected):
            raise ModelFileError("its arrays are not those of a state of this run")
        taken(_rules_of(declared, expected), found, sizes)
        problem = state.problem(params) if hasattr(state, "problem") else None
        if problem:
            raise ModelFileError(problem)

    states = DiskStates.of(kind, place, durable=True)
    states.restore(arrays, len(schedule.blocks), check)
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


# ---- checks ----


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


def _block_counts(state: Any, block: Block, n_components: int) -> Array:
    counts = np.asarray(state.counts(block, n_components))
    if not np.array_equal(counts.sum(axis=1), block_lengths(block)):
        raise ModelFileError(f"the counts of block {block.index} are not those of its documents")
    return counts


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
