# SPDX-License-Identifier: BSD-3-Clause
"""Joint tests of the samplers (Geweke, 2004): two ways to draw (parameters, data) must agree.

Simulator A draws hyperparameters, loadings, scores and counts from the prior, independently.
Simulator B alternates one cycle of the package's own sampler, given the counts, with new counts
given the parameters. If the sampler leaves the posterior invariant, both draw from the same joint
distribution, whatever the data; if it does not, some statistic differs. The cycle is that of
`Run.advance_one` on a run whose corpus, state and parameters are replaced each time, so the test
covers the loop, the algorithm, the model and the kernels together.

Within simulator B the split of the counts over components is drawn twice for the same counts: with
them, and by the sampler. Both have the same distribution, so the *difference* of any statistic has
mean zero. What the counts contribute cancels, which makes these the sharpest statistics where the
totals are random. The sampler makes `N_CYCLES` cycles in between, for errors to add up (one when
hyperparameters are learnt, which are compared with the prior).

Arrays: draws n, documents I, words J, components K; counts ``V`` (..., I, J, K).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from discan.algorithms import Collapsed, Gibbs
from discan.algorithms.collapsed import Assignments
from discan.algorithms.gibbs import SplitState
from discan.data.corpus import Corpus
from discan.data.layout import Layout
from discan.fitting.starting import begin
from discan.fitting.task import Task
from discan.fitting.visit import MemoryStates
from discan.models import MODELS, LoadingsPrior
from discan.models.classes import Classed
from discan.models.hyperparameters import Hyperprior
from discan.models.seeds import Seeds

N_BATCHES = 50
N_CYCLES = 3
K = 2
RUNAWAY = 1e5  # a mean count that no sound chain comes to

FIXED = {
    "alpha": np.array([0.5, 2.0]),
    "beta": np.array([0.2, 1.6]),
    "rho": np.array([0.35, 0.15]),
    "gamma": np.array([0.4, 0.8, 1.3, 0.6]),
    "concentration": np.array([1.2, 1.2]),
}
# The same of the two documents, (2, K), in cells whose documents have classes of their own.
CLASSED = {
    "alpha": np.array([[0.5, 2.0], [1.4, 0.3]]),
    "beta": np.array([[0.2, 1.6], [0.9, 0.5]]),
    "rho": np.array([[0.35, 0.15], [0.1, 0.6]]),
}
# Tokens of words and components that were seen beforehand, (J, K), in seeded cells.
SEEDS = np.array([[3, 0], [0, 0], [0, 2], [1, 1]])
# Of the shapes: beta above 2, so that counts have a mean and do not fill the memory; the others
# away from 0, where the logarithms of a draw have long tails.
HYPERPRIOR = Hyperprior(
    alpha=(2.0, 2.0), beta=(4.0, 3.0), rho=(2.0, 3.0), gamma=(2.0, 2.0), concentration=(6.0, 3.0)
)
# The process models, by the model whose scores and counts they have.
PROCESSES = {"dmp": "dm", "gpp": "gp", "cgpp": "cgp"}


@dataclass(frozen=True)
class Cell:
    """What is tested: model, sampler, plain or grouped, hyperparameters to learn.

    ``symmetric``: gamma is one number for all words. ``seeded``: the loadings have seeds.
    ``classed``: each document has a class, and so a prior, of its own.
    """

    model: str
    sampler: str
    grouped: bool
    learn: tuple[str, ...] = ()
    symmetric: bool = False
    seeded: bool = False
    classed: bool = False

    @cached_property
    def fixed(self):
        """Values of the hyperparameters, each (size,), or (2, K) by document."""
        return FIXED | CLASSED if self.classed else FIXED

    def by_document(self, value):
        """Hyperparameters (..., K), or (..., I, K), as (..., I or 1, K)."""
        return value if self.classed else value[..., None, :]

    @property
    def seeds(self):
        """Tokens that were seen beforehand, (J, K)."""
        return SEEDS * self.seeded

    @cached_property
    def groups(self):
        """Group of each word, (J,)."""
        return np.array([0, 1, 0, 1] if self.grouped else [0, 0, 0, 0], dtype=np.int32)

    @cached_property
    def indicator(self):
        """(J, G) table with a one where the group owns the word."""
        return np.eye(2, dtype=int)[:, : 1 + self.grouped][self.groups]

    @cached_property
    def together(self):
        """(J, J) table with a one where two words are of one group."""
        return self.indicator @ self.indicator.T

    @cached_property
    def exposures(self):
        """Exposures (I, G); one group of one document is missing."""
        return np.array([[0.7, 0.0], [0.6, 2.4]] if self.grouped else [[1.0], [1.0]])

    @cached_property
    def lengths(self):
        """Totals (I, G), for "dm"; one is 0."""
        return np.array([[5, 0], [3, 4]] if self.grouped else [[7], [4]])

    @property
    def shared(self):
        """Hyperparameters that are one number for all components or words."""
        of_process = {"beta", "concentration"} if self.model in PROCESSES else set()
        return of_process | ({"gamma"} if self.symmetric else set())

    @property
    def family(self):
        """The model whose scores and counts are drawn."""
        return PROCESSES.get(self.model, self.model)

    @property
    def hyperparameters(self):
        """Names of all hyperparameters of the model."""
        return (*MODELS.find(self.model).hyperparameters, "gamma")

    def __str__(self):
        """Name of the test."""
        parts = [self.model, self.sampler, "groups" if self.grouped else "plain", *self.learn]
        flags = [name for name in ("symmetric", "seeded", "classed") if getattr(self, name)]
        return "-".join([*parts, *flags])


# ------------------------------------------------------------------------------ simulation


def draw_loadings(cell, shape, rng):
    """Draw theta (..., J, K), Dirichlet in each group with parameters ``shape``.

    In logarithms, because all gamma draws of a group can underflow: if G has shape a + 1 and U is
    uniform, then G U^(1/a) has shape a.
    """
    logs = np.log(rng.standard_gamma(shape + 1.0)) + np.log1p(-rng.random(shape.shape)) / shape
    highest = np.where(cell.together[:, :, None] > 0, logs[..., None, :, :], -np.inf).max(axis=-2)
    draws = np.exp(logs - highest)
    return draws / (cell.together @ draws)


def draw_scores(cell, values, c, exposure, rng):
    """Draw scores (..., I, K) given counts of that shape and total exposures (I,) (theory 3)."""
    alpha = cell.by_document(values["alpha"])
    draws = rng.standard_gamma(c + alpha)
    if cell.family == "dm":
        lost = draws.sum(axis=-1) == 0.0  # all below the smallest number: once more, in logarithms
        if lost.any():
            shape = np.broadcast_to(c + alpha, draws.shape)[lost]
            logs = (
                np.log(rng.standard_gamma(shape + 1.0)) + np.log1p(-rng.random(shape.shape)) / shape
            )
            draws[lost] = np.exp(logs - logs.max(axis=-1, keepdims=True))
        return draws / draws.sum(axis=-1, keepdims=True)
    prior_rate = cell.by_document(values["beta"])
    rate = prior_rate + exposure[:, None]
    if cell.family == "cgp":
        rho = cell.by_document(values["rho"])
        unseen = (1 - rho) * (prior_rate / rate) ** alpha
        spike = rng.random(draws.shape) < rho / (rho + unseen)
        draws[spike & (c == 0)] = 0.0
    return draws / rate


def draw_counts(cell, theta, scores, rng):
    """Draw V (..., I, J, K) given loadings (..., J, K) and scores (..., I, K)."""
    rates = theta[..., None, :, :] * scores[..., :, None, :]
    groups = cell.groups
    if cell.family != "dm":
        return rng.poisson(cell.exposures[:, groups, None] * rates)
    V = np.zeros(rates.shape, int)
    for g, lengths in enumerate(cell.lengths.T):
        p = rates[..., groups == g, :]
        flat = p.reshape(*p.shape[:-2], -1)
        draws = rng.multinomial(lengths, flat / flat.sum(axis=-1, keepdims=True))
        V[..., groups == g, :] = draws.reshape(p.shape)
    return V


def draw_hyperparameters(cell, n, rng):
    """Draw those that are learnt from the hyperprior; the others are fixed: name -> (n, size)."""
    values = {}
    for name in cell.hyperparameters:
        shape = (n, *cell.fixed[name].shape)
        x, y = getattr(HYPERPRIOR, name)
        if name not in cell.learn:
            values[name] = np.broadcast_to(cell.fixed[name], shape)
        elif name == "rho":
            values[name] = rng.beta(x, y, shape)
        elif name == "alpha" and cell.model in PROCESSES:
            continue
        elif name in cell.shared:
            values[name] = np.repeat(rng.gamma(x, 1 / y, (n, 1)), shape[1], axis=1)
        else:
            values[name] = rng.gamma(x, 1 / y, shape)
    if "alpha" not in values:
        values["alpha"] = draw_process(cell, values["concentration"], rng)
    return values


def draw_process(cell, concentration, rng):
    """Draw alpha (n, K) of a truncated process with concentrations (n, K) of equal columns."""
    draws = rng.gamma(concentration / K)
    shape, rate = HYPERPRIOR.alpha
    if cell.family != "dm":
        return draws / rate
    total = rng.gamma(shape, 1 / rate, (len(draws), 1))
    return total * draws / draws.sum(axis=1, keepdims=True)


def simulate_prior(cell, n, rng):
    """Draw n times from the prior: everything of a record, and the counts V (n, I, J, K)."""
    values = draw_hyperparameters(cell, n, rng)
    shape = np.repeat(values["gamma"][..., None], K, axis=-1) + cell.seeds
    theta = draw_loadings(cell, shape, rng)
    nothing = np.zeros(len(cell.exposures))
    scores = draw_scores(cell, values, np.zeros((n, len(nothing), K)), nothing, rng)
    V = draw_counts(cell, theta, scores, rng)
    record = {"theta": theta, "scores": scores, "c": V.sum(axis=-2), "n": V.sum(axis=-3), **values}
    # what the package reports as posterior moments has the prior's moments for its mean
    record |= {
        "mean_scores": scores, "mean_squares": scores**2, "absent": scores == 0.0,
        "mean_theta": theta, "mean_theta_squares": theta**2,
    }  # fmt: skip
    return record, V


class RunawayError(Exception):
    """The chain went off to infinity."""


class Chain:
    """Simulator B.

    Parameters
    ----------
    cell : Cell
    seed : int
    shuffle : bool
        Put the tokens of each cell of the table into random order, as the theory asks; without it
        they come sorted by component.
    """

    def __init__(self, cell, seed, shuffle=True):
        self.cell, self.shuffle = cell, shuffle
        self.rng = np.random.default_rng([seed, *str(cell).encode()])
        self.layout = Layout(len(cell.groups), cell.groups, cell.exposures.shape[1])
        self.total_exposures = cell.exposures.sum(axis=1)
        self.levels = {"exposure_levels": np.unique(self.total_exposures)}
        self.levels["levels"] = np.searchsorted(
            self.levels["exposure_levels"], self.total_exposures
        ).astype(np.int32)
        start, V = simulate_prior(cell, 1, self.rng)
        values = {name: start[name][0] for name in cell.hyperparameters}
        gamma = values.pop("gamma")
        model = self._model(values)
        prior = LoadingsPrior.of(float(gamma[0]) if cell.symmetric else gamma, self.layout)
        task = Task(
            self._corpus(V[0].sum(axis=-1)),
            model,
            Gibbs() if cell.sampler == "gibbs" else Collapsed(schedule="exact"),
            replace(prior, seeds=Seeds.of(cell.seeds)),
            learn=frozenset(cell.learn),
            hyperprior=HYPERPRIOR,
            seed=seed,
        )
        self.run = begin(task)
        self._condition_on(V[0], start["theta"][0], start["scores"][0])

    def _model(self, values):
        """Return the prepared model; with classes, one for each document."""
        kind = MODELS.find(self.cell.model)
        if not self.cell.classed:
            return replace(kind, **values).prepare(K)
        rows = [{name: value[i] for name, value in values.items()} for i in (0, 0, 1)]
        return Classed(tuple(replace(kind, **row).prepare(K) for row in rows), ("a", "b"))

    def record(self, n):
        """Run n cycles; name -> (n, ...) array."""
        rows = [self._iterate() for _ in range(n)]
        record = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        if not self.cell.learn:
            record |= self._reports(record["c"], record["n"])
        return record

    def _reports(self, c, n):
        """Posterior moments of all draws as the package reports them, side by side."""
        params, levels = self.run.params, np.tile(self.run.training.levels, len(c))
        moments = params.model.moments(c.reshape(-1, K), params.table.rows(levels))
        mean, square, absent = (np.reshape(moment, c.shape) for moment in moments)
        columns = np.moveaxis(n + self.cell.seeds, 0, 1)  # columns of the loadings are independent
        theta, theta_square = (
            np.moveaxis(moment(columns.reshape(len(columns), -1)).reshape(columns.shape), 0, 1)
            for moment in (params.prior.mean, params.prior.mean_square)
        )
        return {
            "mean_scores": mean, "mean_squares": square, "absent": absent,
            "mean_theta": theta, "mean_theta_squares": theta_square,
        }  # fmt: skip

    def _iterate(self):
        """One cycle of the sampler, then new counts given what it drew."""
        before = self.before
        drawn = self.draw(1 if self.cell.learn else N_CYCLES)
        theta, scores = drawn["theta"], drawn["scores"]
        self._condition_on(draw_counts(self.cell, theta, scores, self.rng), theta, scores)
        return {**drawn, **before}

    def draw(self, n_cycles):
        """Run some cycles and return what they drew, by name."""
        cell, run, rng = self.cell, self.run, self.rng
        for _ in range(n_cycles):
            run.advance_one()
        params, states = run.params, [run.states.get(block) for block in run.schedule.blocks]
        blocks = zip(run.schedule.blocks, states, strict=True)
        c = np.concatenate([state.counts(block, K) for block, state in blocks])
        n = np.array(params.loading_counts) - cell.seeds
        known = params.model.values()
        if cell.classed:
            known = {name: params.model.by_class(name) for name in known if "." not in name}
        values = {**cell.fixed, **known, "gamma": params.prior.gamma}
        values |= {name: value for name, value in cell.fixed.items() if name not in cell.learn}
        if cell.sampler == "gibbs" and "gamma" not in cell.learn:
            theta = params.loadings
        else:  # a move of gamma leaves the sampler's own loadings behind
            theta = draw_loadings(cell, values["gamma"][:, None] + cell.seeds + n, rng)
        if cell.sampler == "gibbs" and not params.learns_scores:
            scores = np.concatenate([state.scores for state in states])
            if cell.family == "dm":
                scores = scores / scores.sum(axis=1, keepdims=True)
        else:  # a move of their hyperparameters leaves the sampler's own scores behind
            scores = draw_scores(cell, values, c, self.total_exposures, rng)
        if not np.all(scores < RUNAWAY):
            raise RunawayError
        return {"theta": theta, "scores": scores, "c": c, "n": n, **values}

    def start_from(self, W):
        """Condition on counts W (I, J), from a split that says nothing of where they came from."""
        V = self.rng.multinomial(W, np.full(K, 1.0 / K))
        self._condition_on(V, None, None)

    def _corpus(self, W):
        """Make a corpus of counts (I, J); grouped cells get a block for each document."""
        documents, words = np.nonzero(W)
        indptr = np.searchsorted(documents, np.arange(len(W) + 1))
        corpus = Corpus.assemble(
            indptr.astype(np.int64), words.astype(np.int32), W[documents, words].astype(np.int32),
            self.layout, self.cell.exposures,
        )  # fmt: skip
        if self.cell.classed:
            corpus.classes = np.array([1, 2], dtype=np.int32)
        else:
            vars(corpus).update(self.levels)  # they stay the same: not worth finding again
        if self.cell.grouped:
            corpus.blocks = corpus.blocks_of(1)
        return corpus

    def _condition_on(self, V, theta, scores):
        """Replace data and state of the run: a split V (I, J, K), and what it was drawn from."""
        run = self.run
        corpus = self._corpus(V.sum(axis=-1))
        run.task = replace(run.task, corpus=corpus)
        run.schedule = replace(run.schedule, corpus=corpus, rounds=[corpus.blocks])
        blocks = corpus.blocks
        c, n = V.sum(axis=1), V.sum(axis=0)
        self.before = {"c before": c, "n before": n, "s before": scores, "theta before": theta}
        counts = (n + self.cell.seeds).astype(np.int32)
        totals = self.cell.indicator.T @ counts
        run.params = replace(run.params, loading_counts=counts, totals=totals)
        if self.cell.sampler == "gibbs":
            states = {
                b.index: SplitState(c[b.start : b.stop].copy(), np.empty((b.stop - b.start, K)))
                for b in blocks
            }
            run.states = MemoryStates(states)
            return
        tokens = np.repeat(np.tile(np.arange(K, dtype=np.uint16), V.size // K), V.ravel())
        if self.shuffle:
            cells = np.repeat(np.arange(V.size // K), V.sum(axis=-1).ravel())
            tokens = tokens[np.argsort(cells + self.rng.random(len(cells)))]
        run.states = MemoryStates(
            {b.index: Assignments(tokens[b.token_start : b.token_stop].copy()) for b in blocks}
        )


# ------------------------------------------------------------------------------- statistics


def statistics(cell, record):
    """Statistics of a record: name -> (n,) array.

    With hyperparameters drawn the scores and counts have long tails: their logarithms are taken,
    and the reported moments are left out.
    """
    theta, s, c, n = (record[name] for name in ("theta", "scores", "c", "n"))
    total = s.sum(axis=-1, keepdims=True)
    m = s / np.where(total > 0, total, 1.0)
    p = np.einsum("njk,nik->nij", theta, s)
    bounded = {
        "sum theta^2": (theta**2).sum((1, 2)),
        "sum log theta": np.log(theta + 1e-12).sum((1, 2)),
        "theta_00": theta[:, 0, 0],
        "sum m^2": (m**2).sum((1, 2)),
        "m_00": m[:, 0, 0],
        "zero scores": (s == 0).sum((1, 2)),
    }
    tailed = {
        "(Theta s)_00": p[:, 0, 0],
        "(Theta s)_last^2": p[:, -1, -1] ** 2,
        "<Theta s_0, Theta s_last>": (p[:, 0] * p[:, -1]).sum(1),
        "sum c^2": (c**2).sum((1, 2)),
        "sum n^2": (n**2).sum((1, 2)),
        "tokens": c.sum((1, 2)),
        "word 0": n[:, 0].sum(1),
        "sum n theta": (n * theta).sum((1, 2)),
        "sum c s": (c * s).sum((1, 2)),
        "sum c^2 by component": (c.sum(1) ** 2 * [1.0, 2.0]).sum(1),
    }
    if not cell.learn:
        tailed |= {
            "reported scores": record["mean_scores"] @ [1.0, 2.0] @ [1.0, 3.0],
            "reported squares": record["mean_squares"] @ [1.0, 2.0] @ [1.0, 3.0],
            "reported absence": record["absent"].sum((1, 2)),
            "reported theta_00": record["mean_theta"][:, 0, 0],
            "reported theta^2": record["mean_theta_squares"].sum((1, 2)),
        }
        return bounded | tailed
    hyper = {}
    for name in cell.learn:
        values = record[name].reshape(len(record[name]), -1)
        for k in range(1 if name in cell.shared else values.shape[1]):
            value = values[:, k]
            hyper |= {f"{name}_{k}": value, f"{name}_{k}^2": value**2}
            hyper[f"log {name}_{k}"] = np.log(value)
    logs = {f"log(1 + {name})": np.log1p(value) for name, value in tailed.items()}
    return bounded | logs | hyper


@cache
def prior_statistics(cell, n, seed):
    """Statistics of simulator A; those of both samplers are the same."""
    rng = np.random.default_rng([seed, *str(cell).encode()])
    return statistics(cell, simulate_prior(cell, n, rng)[0])


def differences(record):
    """Statistics of a split by the sampler, less those of the split the counts came with."""

    def of(c, n, s, theta):
        return {
            "sum c^2": (c**2).sum((1, 2)),
            "sum n^2": (n**2).sum((1, 2)),
            "empty": (c == 0).sum((1, 2)),
            "c_00": c[:, 0, 0],
            "c_last,0": c[:, -1, 0],
            "c_00^2": c[:, 0, 0] ** 2,
            "n_00": n[:, 0, 0],
            "n_last,last": n[:, -1, -1],
            "sum n theta": (n * theta).sum((1, 2)),
            "sum c s": (c * s).sum((1, 2)),
        }

    before = of(*(record[f"{name} before"] for name in ("c", "n", "s", "theta")))
    after = of(*(record[name] for name in ("c", "n", "scores", "theta")))
    return {f"change of {name}": after[name] - before[name] for name in after}


def z_scores(a, b):
    """Compare independent draws with a chain, by batch means: name -> z.

    Names that only the chain has are differences, of mean zero.
    """
    z = {}
    for name, values in b.items():
        x, y = np.asarray(a.get(name, 0.0), float), np.asarray(values, float)
        known = name not in a
        if not known and np.ptp(x) < 1e-9 * max(1.0, abs(x[0])):  # the chain must keep to it
            known, x = True, x[0]
        if known and np.allclose(y, x, rtol=1e-9, atol=1e-12):
            z[name] = 0.0
            continue
        means = y[: len(y) // N_BATCHES * N_BATCHES].reshape(N_BATCHES, -1).mean(axis=1)
        variance = x.var() / x.size + means.var(ddof=1) / N_BATCHES
        z[name] = (x.mean() - means.mean()) / np.sqrt(variance)
    return z


def joint_test(cell, n, seed, shuffle=True):
    """Z of every statistic: n draws of each simulator."""
    a = prior_statistics(replace(cell, sampler="either"), n, seed)
    try:
        record = Chain(cell, seed, shuffle).record(n)
    except RunawayError:
        return {"runaway": np.inf}
    return z_scores(a, statistics(cell, record) | differences(record))


def worst(z):
    """Name and value of the largest |z|; not a number counts as infinite."""
    sizes = {name: abs(value) if np.isfinite(value) else np.inf for name, value in z.items()}
    name = max(sizes, key=sizes.get)
    return name, sizes[name]
