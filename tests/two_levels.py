# SPDX-License-Identifier: BSD-3-Clause
"""Joint test and exact posterior of the sampler of two levels, in plain NumPy (theory 13).

Simulator A draws from the prior: parents Phi (K, R), their scores h (I, R), scores l (I, K) with
shapes s = Phi h, loadings theta (J, K) and counts V (I, J, K). Simulator B alternates cycles of the
package's sampler with new counts; see geweke.py. The tables y of the sampler's state are drawn here
when the counts are new, by other code than the package's.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
from scipy.integrate import quad
from scipy.special import gammaln

from discan.algorithms import Gibbs
from discan.algorithms.levels import LevelState, ParentCounts
from discan.data.corpus import Corpus
from discan.data.layout import Layout
from discan.fitting.starting import begin
from discan.fitting.task import Task
from discan.fitting.visit import MemoryStates
from discan.models import MODELS, LoadingsPrior
from discan.models.hyperparameters import Hyperprior

K, R = 3, 2
N_CYCLES = 3
FIXED = {
    "parent_alpha": np.array([0.6, 1.4]),
    "parent_beta": np.array([0.5, 1.2]),
    "parent_gamma": np.array([0.7]),
    "beta": np.full(K, 0.6),
    "gamma": np.array([0.4, 0.8, 1.3, 0.6]),
}
HYPERPRIOR = Hyperprior(alpha=(3.0, 3.0), beta=(6.0, 5.0), gamma=(3.0, 4.0))
# Names of the arrays, and the entry of the hyperprior, by what is learnt.
LEARNT = {
    "alpha": {"parent_alpha": "alpha", "parent_beta": "beta", "parent_gamma": "gamma"},
    "beta": {"beta": "beta"},
    "gamma": {"gamma": "gamma"},
}


@dataclass(frozen=True)
class Cell:
    """What is tested: model, plain or grouped, hyperparameters to learn."""

    model: str
    grouped: bool
    learn: tuple[str, ...] = ()

    @property
    def normalised(self):
        """Whether scores sum to one."""
        return self.model == "dm2"

    @cached_property
    def groups(self):
        """Group of each word, (J,)."""
        return np.array([0, 1, 0, 1] if self.grouped else [0, 0, 0, 0], dtype=np.int32)

    @cached_property
    def exposures(self):
        """Exposures (I, G); one group of one document is missing."""
        return np.array([[0.7, 0.0], [0.6, 2.4]] if self.grouped else [[1.0], [2.0]])

    @cached_property
    def lengths(self):
        """Totals (I, G) where they are given; one is 0."""
        return np.array([[5, 0], [3, 4]] if self.grouped else [[7], [4]])

    @property
    def drawn(self):
        """Hyperprior of every array that is learnt."""
        found = {}
        for name in self.learn:
            found |= LEARNT[name]
        return found

    def __str__(self):
        """Name of the test."""
        return "-".join([self.model, "groups" if self.grouped else "plain", *self.learn])


# ------------------------------------------------------------------------------ simulation


def dirichlet(shape, groups, rng):
    """Draw Dirichlet columns in each group of rows, with parameters ``shape`` (J, K)."""
    logs = np.log(rng.standard_gamma(shape + 1.0)) + np.log1p(-rng.random(shape.shape)) / shape
    result = np.empty(shape.shape)
    for g in np.unique(groups):
        own = np.exp(logs[groups == g] - logs[groups == g].max(axis=0))
        result[groups == g] = own / own.sum(axis=0)
    return result


def gamma_draws(shape, rate, rng):
    """Gamma variables that are never exactly zero."""
    return np.maximum(rng.standard_gamma(shape), 1e-300) / rate


def draw_hyperparameters(cell, rng):
    values = {name: value.copy() for name, value in FIXED.items()}
    for name, prior in cell.drawn.items():
        shape, rate = getattr(HYPERPRIOR, prior)
        size = 1 if name == "beta" else len(FIXED[name])
        values[name] = np.ones(len(FIXED[name])) * rng.gamma(shape, 1 / rate, size)
    return values


def draw_scores(cell, shape, c, rate, rng):
    """Draw scores (I, K) given shapes, counts and rate (I, 1); proportions if they are."""
    scores = gamma_draws(shape + c, rate, rng)
    return scores / scores.sum(axis=1, keepdims=True) if cell.normalised else scores


def draw_counts(cell, theta, scores, rng):
    """Draw V (I, J, K) given loadings and scores."""
    rates = theta[None] * scores[:, None, :]
    if not cell.normalised:
        return rng.poisson(cell.exposures[:, cell.groups, None] * rates)
    V = np.zeros(rates.shape, int)
    for g, lengths in enumerate(cell.lengths.T):
        p = rates[:, cell.groups == g]
        flat = p.reshape(len(p), -1)
        draws = rng.multinomial(lengths, flat / flat.sum(axis=1, keepdims=True))
        V[:, cell.groups == g] = draws.reshape(p.shape)
    return V


def draw_tables(c, shape, parents, h, rng):
    """Draw tables and split them: y (I, K, R); and -log u (I,)."""
    y = np.zeros((*c.shape, R), int)
    for i, k in zip(*np.nonzero(c), strict=True):
        seats = np.arange(c[i, k])
        n_tables = (rng.random(len(seats)) * (shape[i, k] + seats) < shape[i, k]).sum()
        weights = parents[k] * h[i]
        y[i, k] = rng.multinomial(n_tables, weights / weights.sum())
    total, lengths = shape.sum(axis=1), c.sum(axis=1)
    u = rng.beta(total, np.maximum(lengths, 1))
    return y, np.where(lengths > 0, -np.log(np.maximum(u, 1e-300)), 0.0)


def simulate(cell, rng):
    """Draw everything once from the prior."""
    values = draw_hyperparameters(cell, rng)
    theta = dirichlet(np.tile(values["gamma"][:, None], (1, K)), cell.groups, rng)
    prior = np.full((K, R), values["parent_gamma"][0])
    parents = dirichlet(prior, np.zeros(K), rng)
    n_documents = len(cell.exposures)
    h = gamma_draws(np.tile(values["parent_alpha"], (n_documents, 1)), values["parent_beta"], rng)
    shape = h @ parents.T
    scores = draw_scores(cell, shape, 0, values["beta"][0], rng)
    V = draw_counts(cell, theta, scores, rng)
    found = {"theta": theta, "parents": parents, "h": h, "s": shape, "scores": scores, "V": V}
    return found | values


class Chain:
    """Simulator B."""

    def __init__(self, cell, seed):
        self.cell = cell
        self.rng = np.random.default_rng([seed, *str(cell).encode()])
        self.layout = Layout(len(cell.groups), cell.groups, cell.exposures.shape[1])
        self.totals = cell.exposures.sum(axis=1)
        start = simulate(cell, self.rng)
        names = ("parent_alpha", "parent_beta", "parent_gamma")
        fields = {name: start[name] for name in names}
        if not cell.normalised:
            fields["beta"] = start["beta"][0]
        model = replace(MODELS.find(cell.model), n_parents=R, **fields).prepare(K)
        task = Task(
            self._corpus(start["V"].sum(axis=-1)), model, Gibbs(),
            LoadingsPrior.of(start["gamma"], self.layout), learn=frozenset(cell.learn),
            hyperprior=HYPERPRIOR, seed=seed,
        )  # fmt: skip
        self.run = begin(task, "random")
        self._condition_on(start)

    def record(self, n):
        """Run n cycles; name -> (n, ...) array."""
        rows = [self._iterate() for _ in range(n)]
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}

    def _iterate(self):
        """Run the sampler, then draw new counts given what it drew."""
        before = {f"{name} before": self.given[name] for name in ("c", "n", "y")}
        for _ in range(1 if self.cell.learn else N_CYCLES):
            self.run.advance_one()
        drawn = self._drawn()
        V = draw_counts(self.cell, drawn["theta"], drawn["scores"], self.rng)
        self._condition_on({**drawn, "V": V})
        return {**drawn, **before}

    def _drawn(self):
        """What the sampler drew; what a move of hyperparameters left behind is drawn anew."""
        cell, run, rng = self.cell, self.run, self.rng
        params, model, algorithm = run.params, run.params.model, run.algorithm
        blocks = run.schedule.blocks
        states = [run.states.get(block) for block in blocks]

        def joined(name):
            return np.concatenate([getattr(state, name) for state in states])

        c, n, y = (
            joined("component_counts"),
            np.array(params.loading_counts),
            joined("parent_counts"),
        )
        values = {**FIXED, **model.values(), "gamma": params.prior.gamma}
        theta, parents, h = params.loadings, model.parents, joined("parent_scores")
        scores = joined("scores")
        rate = 1.0 if cell.normalised else (values["beta"][0] + self.totals)[:, None]
        if cell.learn:
            exposure = joined("parent_exposures")
            if not cell.normalised:
                exposure = np.log1p(self.totals / values["beta"][0])
            theta = dirichlet(values["gamma"][:, None] + n, cell.groups, rng)
            counts = params.memory.counts
            parents = dirichlet(values["parent_gamma"][0] + counts, np.zeros(K), rng)
            rates = values["parent_beta"] + exposure[:, None]
            h = gamma_draws(values["parent_alpha"] + y, rates, rng)
            scores = draw_scores(cell, h @ parents.T, c, rate, rng)
        elif cell.normalised:
            scores = scores / scores.sum(axis=1, keepdims=True)
        pairs = list(zip(blocks, states, strict=True))
        read = [algorithm.read(params, *pair) for pair in pairs]
        found = {
            "theta": np.array(theta), "parents": parents.copy(), "h": h, "s": h @ parents.T,
            "scores": scores, "c": c, "n": n, "y": y,
            "Y": params.memory.counts.copy(),
            "mean_scores": np.concatenate([found.scores for found in read]),
            "mean_squares": np.concatenate([found.squares for found in read]),
            "mean_h": np.concatenate([algorithm.read_parents(params, *pair) for pair in pairs]),
        }  # fmt: skip
        return found | {name: np.array(values[name]) for name in FIXED}

    def _corpus(self, W):
        documents, words = np.nonzero(W)
        indptr = np.searchsorted(documents, np.arange(len(W) + 1))
        corpus = Corpus.assemble(
            indptr.astype(np.int64), words.astype(np.int32), W[documents, words].astype(np.int32),
            self.layout, self.cell.exposures,
        )  # fmt: skip
        if self.cell.grouped:
            corpus.blocks = corpus.blocks_of(1)
        return corpus

    def _condition_on(self, drawn):
        """Replace data and state of the run."""
        run, V = self.run, drawn["V"]
        corpus = self._corpus(V.sum(axis=-1))
        run.task = replace(run.task, corpus=corpus)
        run.schedule = replace(run.schedule, corpus=corpus, rounds=[corpus.blocks])
        c, n = V.sum(axis=1), V.sum(axis=0)
        y, exposures = draw_tables(c, drawn["s"], drawn["parents"], drawn["h"], self.rng)
        self.given = {"c": c, "n": n, "y": y.sum(axis=1)}
        totals = self.layout.group_sums(n)
        run.params = replace(
            run.params, loading_counts=n.astype(np.int32), totals=totals,
            memory=ParentCounts(y.sum(axis=0)),
        )  # fmt: skip
        run.states = MemoryStates(
            {
                b.index: LevelState(
                    c[b.start : b.stop].copy(), np.empty((b.stop - b.start, K)),
                    y[b.start : b.stop].sum(axis=1), np.empty((b.stop - b.start, R)),
                    exposures[b.start : b.stop].copy(),
                )
                for b in corpus.blocks
            }
        )  # fmt: skip


# ------------------------------------------------------------------------------- statistics


def statistics(cell, record):
    """Statistics of a record: name -> (n,) array; those with long tails in logarithms."""
    theta, parents, h, s, scores, c, n, y, Y = (
        record[name] for name in ("theta", "parents", "h", "s", "scores", "c", "n", "y", "Y")
    )
    share = s / s.sum(axis=2, keepdims=True)
    bounded = {
        "sum theta^2": (theta**2).sum((1, 2)),
        "theta_00": theta[:, 0, 0],
        "sum parents^2": (parents**2).sum((1, 2)),
        "parents_00": parents[:, 0, 0],
        "parents_00^2": parents[:, 0, 0] ** 2,
        "sum share^2": (share**2).sum((1, 2)),
        "share_00 share_10": share[:, 0, 0] * share[:, 1, 0],
        "log h_00": np.log(h[:, 0, 0] + 1e-3),
        "log h_11": np.log(h[:, 1, 1] + 1e-3),
        "log l_00": np.log(scores[:, 0, 0] + 1e-3),
        "empty": (c == 0).sum((1, 2)),
        "parents without tables": (y == 0).sum((1, 2)),
    }
    tailed = {
        "h_00": h[:, 0, 0],
        "h_11": h[:, 1, 1],
        "sum h^2": (h**2).sum((1, 2)),
        "sum l^2": (scores**2).sum((1, 2)),
        "sum s l": (s * scores).sum((1, 2)),
        "sum c^2": (c**2).sum((1, 2)),
        "sum c s": (c * s).sum((1, 2)),
        "sum c l": (c * scores).sum((1, 2)),
        "sum n theta": (n * theta).sum((1, 2)),
        "sum y h": (y * h).sum((1, 2)),
        "sum y^2": (y**2).sum((1, 2)),
        "y_00": y[:, 0, 0],
        "y_10": y[:, 1, 0],
        "sum Y parents": (Y * parents).sum((1, 2)),
        "sum Y^2": (Y**2).sum((1, 2)),
    }
    logs = {f"log(1 + {name})": np.log1p(value) for name, value in tailed.items()}
    if cell.learn:
        hyper = {}
        for name in cell.drawn:
            for k in range(1 if name == "beta" else record[name].shape[1]):
                value = record[name][:, k]
                hyper |= {f"{name}_{k}": value, f"log {name}_{k}": np.log(value)}
        return bounded | logs | hyper
    reported = {
        "reported scores": record["mean_scores"] @ np.array([1.0, 2.0, 4.0]) @ [1.0, 3.0],
        "reported squares": record["mean_squares"].sum((1, 2)),
        "reported h": record["mean_h"] @ [1.0, 2.0] @ [1.0, 3.0],
    }
    return bounded | logs | reported


def differences(record):
    """Statistics of what the sampler drew, less those of what the counts came with."""

    def of(c, n, y):
        return {
            "sum c^2": (c**2).sum((1, 2)),
            "sum n^2": (n**2).sum((1, 2)),
            "c_00 c_10": c[:, 0, 0] * c[:, 1, 0],
            "sum y": y.sum((1, 2)),
            "y_00": y[:, 0, 0],
            "y_11": y[:, 1, 1],
        }

    before = of(*(record[f"{name} before"] for name in ("c", "n", "y")))
    after = of(*(record[name] for name in ("c", "n", "y")))
    return {f"change of {name}": after[name] - before[name] for name in after}


@cache
def prior_statistics(cell, n, seed):
    """Statistics of simulator A."""
    rng = np.random.default_rng([seed, 1, *str(cell).encode()])
    rows = [simulate(cell, rng) for _ in range(n)]
    record = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    V = record.pop("V")
    record |= {"c": V.sum(axis=2), "n": V.sum(axis=1)}
    tables = [
        draw_tables(c, row["s"], row["parents"], row["h"], rng)[0]
        for c, row in zip(record["c"], rows, strict=True)
    ]
    record |= {"y": np.sum(tables, axis=2), "Y": np.sum(tables, axis=1)}
    record |= {"mean_scores": record["scores"], "mean_squares": record["scores"] ** 2}
    return statistics(cell, record | {"mean_h": record["h"]})


# ---------------------------------------------------------------------------- exact posterior


def stirling(n, k):
    """Unsigned Stirling numbers of the first kind."""
    if n == k == 0:
        return 1
    return 0 if n == 0 or k == 0 else stirling(n - 1, k - 1) + (n - 1) * stirling(n - 1, k)


@dataclass(frozen=True, eq=False)
class Tiny:
    """A corpus whose posterior can be summed: words of each document, and hyperparameters."""

    documents: tuple[tuple[int, ...], ...]
    n_words: int
    n_components: int
    model: str
    exposures: tuple[float, ...]
    parent_alpha: tuple[float, ...]
    parent_beta: tuple[float, ...]
    parent_gamma: float
    beta: float
    gamma: float

    @property
    def table(self):
        """Counts (I, J)."""
        return np.array([np.bincount(w, minlength=self.n_words) for w in self.documents])

    def ways(self, i):
        """All components z of the tokens and splits y (K, R) of a document, with log weights."""
        tokens, n_parents = self.documents[i], len(self.parent_alpha)
        found = []
        for z in itertools.product(range(self.n_components), repeat=len(tokens)):
            c = np.bincount(z, minlength=self.n_components)
            rows = [[y for y in _splits(n, n_parents)] for n in c]
            for y in itertools.product(*rows):
                y = np.array(y)
                t = y.sum(axis=1)
                log_weight = sum(math.log(stirling(n, m)) for n, m in zip(c, t, strict=True))
                log_weight += gammaln(t + 1).sum() - gammaln(y + 1).sum()
                log_weight += self.log_scores(i, tuple(y.sum(axis=0)))[0]
                found.append((z, c, y, log_weight))
        return found

    @cache  # noqa: B019
    def log_scores(self, i, y):
        """Log of E[prod_r h_r^y_r exp(-e h_r)], and E[h] given y, e integrated out if it is."""
        a, b, y = np.array(self.parent_alpha), np.array(self.parent_beta), np.array(y)
        length = len(self.documents[i])
        constant = gammaln(a + y).sum() - gammaln(a).sum() + (a * np.log(b)).sum()

        def term(exposure):
            return np.exp(constant - ((a + y) * np.log(b + exposure)).sum())

        if self.model == "gp2":
            exposure = math.log1p(self.exposures[i] / self.beta)
            return math.log(term(exposure)), (a + y) / (b + exposure)
        if length == 0:
            return math.log(term(0.0)), (a + y) / b

        # G(S) / G(S + L) = 1 / G(L) times the integral of exp(-e S) (1 - exp(-e))^(L - 1) over e
        def integral(power):
            return quad(
                lambda e: term(e) * (1.0 - math.exp(-e)) ** (length - 1) * power(e),
                0.0, np.inf, limit=500, epsabs=0.0, epsrel=1e-10,
            )[0]  # fmt: skip

        total = integral(lambda e: 1.0)
        means = [integral(lambda e, r=r: (a[r] + y[r]) / (b[r] + e)) / total for r in range(len(a))]
        return math.log(total) - gammaln(length), np.array(means)

    def posterior(self):
        """Posterior means of statistics that do not change if components change their names."""
        J, K = self.n_words, self.n_components
        ways = [self.ways(i) for i in range(len(self.documents))]
        weights, values = [], []
        for choice in itertools.product(*ways):
            n = np.zeros((J, K))
            for tokens, (z, *_) in zip(self.documents, choice, strict=True):
                np.add.at(n, (list(tokens), list(z)), 1)
            Y = sum(y for _, _, y, _ in choice)
            log_weight = sum(weight for *_, weight in choice)
            log_weight += (gammaln(self.gamma + n) - gammaln(self.gamma)).sum()
            log_weight += (gammaln(J * self.gamma) - gammaln(J * self.gamma + n.sum(axis=0))).sum()
            phi = self.parent_gamma
            log_weight += (gammaln(phi + Y) - gammaln(phi)).sum()
            log_weight += (gammaln(K * phi) - gammaln(K * phi + Y.sum(axis=0))).sum()
            h = np.array(
                [self.log_scores(i, tuple(way[2].sum(axis=0)))[1] for i, way in enumerate(choice)]
            )
            c = np.array([way[1] for way in choice])
            y = np.array([way[2].sum(axis=0) for way in choice])
            weights.append(log_weight)
            values.append(invariants(c, n, y, Y, h))
        weights = np.exp(np.array(weights) - max(weights))
        weights /= weights.sum()
        return {name: weights @ np.array([v[name] for v in values]) for name in values[0]}


def invariants(c, n, y, Y, h):
    """Statistics of one state that do not change if components change their names."""
    return {
        "sum c_0^2": (c[0] ** 2).sum(),
        "sum c_0 c_1": (c[0] * c[1]).sum(),
        "sum n_0 n_1": (n[0] * n[1]).sum(),
        "empty": (c == 0).sum(),
        "sum Y_0^2": (Y[:, 0] ** 2).sum(),
        "sum Y_0 Y_1": (Y[:, 0] * Y[:, 1]).sum(),
        **{f"y_{i}{r}": y[i, r] for i in range(len(y)) for r in range(y.shape[1])},
        **{f"h_{i}{r}": h[i, r] for i in range(len(h)) for r in range(h.shape[1])},
    }


def _splits(count, n_parents):
    """All splits over the parents of all possible numbers of tables."""
    for t in range(1, count + 1) if count else (0,):
        for y in itertools.product(range(t + 1), repeat=n_parents):
            if sum(y) == t:
                yield y


def sampled(tiny, n_sweeps, burn_in=200, seed=5):
    """Statistics of every state of a chain, name -> (n_sweeps,) array."""
    corpus = Corpus(tiny.table, exposures=np.array(tiny.exposures)[:, None])
    fields = {
        "parent_alpha": np.array(tiny.parent_alpha),
        "parent_beta": np.array(tiny.parent_beta),
    }
    if tiny.model == "gp2":
        fields["beta"] = tiny.beta
    model = replace(
        MODELS.find(tiny.model), n_parents=len(tiny.parent_alpha), parent_gamma=tiny.parent_gamma,
        **fields,
    ).prepare(tiny.n_components, corpus)  # fmt: skip
    prior = LoadingsPrior.of(tiny.gamma, corpus.layout)
    run = begin(Task(corpus, model, Gibbs(), prior, seed=seed), "random")
    rows = []
    for sweep in range(burn_in + n_sweeps):
        run.advance_one()
        if sweep >= burn_in:
            (block,) = run.schedule.blocks
            state = run.states.get(block)
            h = run.algorithm.read_parents(run.params, block, state)
            counts = np.asarray(run.params.loading_counts)
            rows.append(
                invariants(
                    state.component_counts, counts, state.parent_counts,
                    run.params.memory.counts, h,
                )
            )  # fmt: skip
    return {name: np.array([row[name] for row in rows], float) for name in rows[0]}
