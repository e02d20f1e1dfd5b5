# SPDX-License-Identifier: BSD-3-Clause
"""What is kept of the draws of a chain, and of several chains of one fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discan.data.rules import MOST, ONE, Rule, Sizes, checked_names, taken
from discan.errors import ModelFileError
from discan.fitting.posterior import PER_COMPONENT, Draws
from discan.typing import Array

__all__ = ["LARGE", "Chains", "Record", "read_chains", "write_chains"]

LARGE = 0.001
"""Share of all tokens from which on a component is called large."""
RECORDED = ("alpha", "beta", "rho", "concentration")  # of each draw, beside gamma


@dataclass(frozen=True, eq=False)
class Record:
    """A few numbers of every draw of a chain.

    Attributes
    ----------
    sizes : (D, K) array
        Share of all tokens that each component has.
    hyperparameters : dict of str to array
        Those that were learnt: alpha, beta and rho (D, K); gamma (D, G), or (D, 1), their mean,
        where groups are many.
    used, large : (D,) arrays, optional
        Number of components with tokens, and with at least 0.1 % of all tokens; needed where some
        components are left out of ``sizes``.
    """

    sizes: Array
    hyperparameters: dict[str, Array] = field(default_factory=dict)
    used: Array | None = None
    large: Array | None = None

    @property
    def n_draws(self) -> int:
        """Number of draws, D."""
        return len(self.sizes)

    def permuted(self, order: Array) -> Record:
        """Return the same with the components in another order (K,)."""
        hyper = {
            name: values[:, order] if name in PER_COMPONENT else values
            for name, values in self.hyperparameters.items()
        }
        return replace(self.counted(), sizes=self.sizes[:, order], hyperparameters=hyper)

    def counted(self) -> Record:
        """Return the same with the numbers of components, from the sizes if they are not known."""
        if self.used is not None:
            return self
        used, large = (self.sizes > 0).sum(axis=1), (self.sizes >= LARGE).sum(axis=1)
        return replace(self, used=used, large=large)

    def last(self, n: int) -> Record:
        """Return the last n draws."""
        first = self.n_draws - n
        hyper = {name: values[first:] for name, values in self.hyperparameters.items()}
        known = self.counted()
        assert known.used is not None
        assert known.large is not None
        return Record(self.sizes[first:], hyper, known.used[first:], known.large[first:])


@dataclass(frozen=True, eq=False)
class Chains:
    """Several chains, or starts, of one fit; components in the order of the chosen chain's.

    Attributes
    ----------
    seeds : (C,) tuple of int
    chosen : int
        Number, from 0, of the chain that the fit stands on.
    value : (C,) array
        What it was chosen by, the larger the better. For samplers, the log-likelihood of one half
        of each training document given the other half, in nats per token; for other algorithms,
        what they maximise.
    report : tuple of str
        What the chains have in common, in sentences; the first is the verdict.
    agree : bool
        Whether all chains found the same components.
    similarity : (C, C) array
        Mean similarity (1 - Hellinger distance) of the matched components of two chains.
    stability : (K,) array
        Mean similarity of each component of the chosen chain to its partners in the others.
    sizes : (C, K) array
    components : (C, K, J) array or None
        In single precision; None if they are too many to be kept.
    objective : (C, D) array
        Of the draws; D is the least number of draws of a chain, 0 for algorithms without draws.
    records : list of Record or None
        Numbers of the same draws.
    draws : list of Draws or None
        The draws themselves, if the sampler was told to keep them.
    """

    seeds: tuple[int, ...]
    chosen: int
    value: Array
    report: tuple[str, ...]
    agree: bool
    similarity: Array
    stability: Array
    sizes: Array
    components: Array | None
    objective: Array
    records: list[Record] | None = None
    draws: list[Draws] | None = None

    @property
    def n_chains(self) -> int:
        """Number of chains, C."""
        return len(self.seeds)

    def permuted(self, order: Array) -> Chains:
        """Return the same with the components in another order (K,)."""
        return replace(
            self,
            stability=self.stability[order],
            sizes=self.sizes[:, order],
            components=None if self.components is None else self.components[:, order],
            records=None if self.records is None else [r.permuted(order) for r in self.records],
            draws=None if self.draws is None else [d.permuted(order) for d in self.draws],
        )

    def __repr__(self) -> str:
        """Give the verdict in one line."""
        return f"<Chains: {self.report[0]}>"


# ---- files ----

_FACTS = {
    "chosen": Rule((), "whole", low=0), "agree": Rule((), "flag"), "records": Rule((), "flag"),
    "draws": Rule((), "flag"),
}  # fmt: skip
_ARRAYS = {
    "value": Rule(("C",)),
    "similarity": Rule(("C", "C"), low=0, high=ONE),
    "stability": Rule(("K",), low=0, high=ONE),
    "sizes": Rule(("C", "K"), low=0, high=ONE),
    "components": Rule(("C", "K", "J"), low=0, high=ONE, optional=True),
    "objective": Rule(("C", None)),
}


def write_chains(
    record: Record | None, draws: Draws | None, chains: Chains | None, arrays: dict[str, Array]
) -> dict[str, Any]:
    """Put records, draws and chains among the arrays of a file; return entries of its header."""
    if record is not None:
        _write_record("record", record, arrays)
    if draws is not None and draws.loadings:
        _write_draws("draws", draws, arrays)
    if chains is None:
        return {}
    for name in _ARRAYS:
        value = getattr(chains, name)
        if value is not None:
            arrays[f"chains.{name}"] = value
    for n, each in enumerate(chains.records or ()):
        _write_record(f"chains.{n}.record", each, arrays)
    for n, kept in enumerate(chains.draws or ()):
        if n != chains.chosen:  # those of the chosen chain are in the file already
            _write_draws(f"chains.{n}.draws", kept, arrays)
    return {
        "chains": {
            "seeds": [str(seed) for seed in chains.seeds],
            "chosen": chains.chosen,
            "report": list(chains.report),
            "agree": chains.agree,
            "records": chains.records is not None,
            "draws": chains.draws is not None,
        }
    }


def read_chains(
    header: Mapping[str, Any],
    arrays: Mapping[str, Array],
    sizes: Sizes,
    hyperparameters: Mapping[str, Any],
) -> tuple[Record | None, Draws | None, Chains | None]:
    """Read records, draws and chains of a file, each checked; None if it has none.

    ``sizes`` has I, J and K; ``hyperparameters`` are the sizes of those of the model.
    """
    record = _read_record("record", arrays, sizes)
    draws = _read_draws("draws", arrays, sizes, hyperparameters)
    known = header.get("chains")
    if not known:
        return record, draws, None
    facts = taken(_FACTS, known, {})
    seeds = tuple(int(seed) for seed in checked_names("chains.seeds", known["seeds"]) or ())
    report = checked_names("chains.report", known["report"]) or ()
    n = len(seeds)
    if not report or not 0 <= facts["chosen"] < n:
        raise ModelFileError(f"chains.chosen is {facts['chosen']} of {n} chains")
    sizes = {**sizes, "C": n}
    values = taken(_ARRAYS, arrays, sizes, "chains.")
    records = kept = None
    if facts["records"]:
        of_draws = {**sizes, "draws": values["objective"].shape[1]}
        records = [_needed(_read_record(f"chains.{c}.record", arrays, of_draws)) for c in range(n)]
        learnt = [{k: v.shape for k, v in each.hyperparameters.items()} for each in records]
        if any(each != learnt[0] for each in learnt):
            raise ModelFileError("the chains learnt different hyperparameters")
    if facts["draws"]:
        kept = [
            _needed(
                draws
                if c == facts["chosen"]
                else _read_draws(f"chains.{c}.draws", arrays, sizes, hyperparameters)
            )
            for c in range(n)
        ]
    chains = Chains(
        seeds=seeds, chosen=int(facts["chosen"]), report=report, agree=bool(facts["agree"]),
        records=records, draws=kept, **{"components": None, **values},
    )  # fmt: skip
    return record, draws, chains


def _needed(value: Any) -> Any:
    if value is None:
        raise ModelFileError("a chain has no draws")
    return value


def _write_record(prefix: str, record: Record, arrays: dict[str, Array]) -> None:
    arrays[f"{prefix}.sizes"] = record.sizes
    counted = record.counted()
    for name, values in (("used", counted.used), ("large", counted.large)):
        arrays[f"{prefix}.{name}"] = np.asarray(values, dtype=np.int64)
    for name, values in record.hyperparameters.items():
        arrays[f"{prefix}.{name}"] = values


def _read_record(prefix: str, arrays: Mapping[str, Array], sizes: Sizes) -> Record | None:
    if f"{prefix}.sizes" not in arrays:
        return None
    if "draws" not in sizes:
        sizes = {**sizes, "draws": len(arrays[f"{prefix}.sizes"])}
    rules = {"sizes": Rule(("draws", "K"), low=0, high=ONE)}
    rules |= {name: Rule(("draws", "K"), low=0, optional=True) for name in RECORDED}
    rules["gamma"] = Rule(("draws", None), low=0, optional=True)
    values = taken(rules, arrays, sizes, f"{prefix}.")
    record = Record(values.pop("sizes"), values)
    if f"{prefix}.used" not in arrays:  # as files were before components were left out of them
        return record
    rules = {name: Rule(("draws",), "i8", low=0, high=MOST) for name in ("used", "large")}
    counts = taken(rules, arrays, sizes, f"{prefix}.")
    listed = record.counted()
    for name in ("used", "large"):
        if (counts[name] < getattr(listed, name)).any():
            raise ModelFileError(f"{prefix}.{name} is less than the number of components listed")
    return replace(record, **counts)


def _write_draws(prefix: str, draws: Draws, arrays: dict[str, Array]) -> None:
    if draws.component_counts:
        arrays[f"{prefix}.component_counts"] = np.array(draws.component_counts)
    arrays[f"{prefix}.loadings"] = np.array(draws.loadings)
    for name in draws.hyperparameters[0]:
        arrays[f"{prefix}.{name}"] = np.array([draw[name] for draw in draws.hyperparameters])


def _read_draws(
    prefix: str, arrays: Mapping[str, Array], sizes: Sizes, hyperparameters: Mapping[str, Any]
) -> Draws | None:
    if f"{prefix}.loadings" not in arrays:
        return None
    sizes = {**sizes, "draws": len(arrays[f"{prefix}.loadings"])}
    rules = {
        # those of documents in a folder are not kept
        "component_counts": Rule(("draws", "I", "K"), low=0, high=MOST, optional=sizes["I"] == 0),
        "loadings": Rule(("draws", "J", "K"), low=0, high=ONE),
        "gamma": Rule(("draws", "J"), low=0),
    }
    rules |= {name: Rule(("draws", *size), low=0) for name, size in hyperparameters.items()}
    values = taken(rules, arrays, sizes, f"{prefix}.")
    counts, loadings = values.pop("component_counts", ()), values.pop("loadings")
    rows = range(sizes["draws"])
    hyper = [{name: column[n] for name, column in values.items()} for n in rows]
    return Draws(list(counts), list(loadings), hyper)
