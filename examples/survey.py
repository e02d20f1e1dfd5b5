# SPDX-License-Identifier: BSD-3-Clause
"""Grade-of-membership profiles of the National Long Term Care Survey: 16 items, yes or no."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from common import Report, mean_and_error, needed, standard_error
from scipy.special import logsumexp

import discan
from discan import plot
from discan.typing import Array

PRIOR = {"alpha": 0.1, "gamma": 0.5}
SHOWN = 4  # profiles in the figure
N_DRAWS, AT_ONCE = 200_000, 20_000  # memberships drawn from the prior


def main() -> None:
    """Fit profiles for K = 2 to 9, and score people who were not fitted."""
    folder = needed("nltcs", "nltcs.train.data", "nltcs.test.data")
    report = Report(
        "survey",
        "Profiles of disability: the National Long Term Care Survey",
        "Which profiles of disability are there in a survey of the elderly, and how many of "
        "them can be told from the answers? Profiles are judged by how well they predict "
        "people who were not fitted.",
    )
    train, test = (read(folder / f"nltcs.{part}.data") for part in ("train", "test"))
    sizes, n_chains = ((2, 3), 1) if report.quick else (range(2, 10), 3)
    if report.quick:
        train, test = train[:1000], test[:200]
    report.say(
        f"{len(train):,} people to fit and {len(test):,} others to score, 16 items on "
        "disability in daily life, yes or no; the file does not name them. A person is a document, "
        "an item a group of two words, an answer a count of 1. Each person is a mixture of K "
        "profiles (grade of membership)."
    )
    scores: dict[int, Array] = {1: independent(train, test)}
    means, models = {}, {}
    patterns, pattern = np.unique(test, axis=0, return_inverse=True)
    for n_components in sizes:
        chains = [fit(train, n_components, seed, report.quick) for seed in range(n_chains)]
        logs = [log_likelihood(chain, patterns)[pattern.ravel()] for chain in chains]
        best_chain = int(np.argmax([chain.score(table(train)) for chain in chains]))
        models[n_components], scores[n_components] = chains[best_chain], logs[best_chain]
        means[n_components] = [part.mean() for part in logs]
    rows = []
    for n_components, logs in scores.items():
        more = mean_and_error(logs - scores[n_components - 1], "+") if n_components > 1 else "-"
        bits = f"{-logs.mean() / 16 / math.log(2):.4f}"
        rows.append([n_components, mean_and_error(logs), more, bits])
    report.table(
        ["K", "log-likelihood per person, nats", "gain over K - 1", "bits per answer"],
        rows,
    )
    best = max(scores, key=lambda k: scores[k].mean())
    behind = {k: logs - scores[best] for k, logs in scores.items()}
    level = [k for k, less in behind.items() if less.mean() >= -2 * standard_error(less)]
    report.say(
        "Log-likelihood of people who were not fitted: the mean over "
        f"{N_DRAWS:,} memberships drawn from the prior. Profiles and alpha are means over the "
        f"draws of one of {n_chains} chains, the one that best predicts one half of each fitted "
        "person's answers from the other half. Standard errors are over people. K = 1: the items "
        "are independent. The "
        f"best K is {best}; within two standard errors of it, person by person: "
        f"{', '.join(map(str, level))}."
    )
    shown_model = models[SHOWN if SHOWN in models else sizes[-1]]
    report.figure(
        plot.quality(
            means, measure="held-out log-likelihood per person, nats", title="How many profiles?",
            subtitle="Higher is better; a repeat is a chain, bars are standard errors over chains",
        ),
        "held-out", "Held-out log-likelihood per person by the number of profiles",
    )  # fmt: skip
    show_profiles(report, shown_model)
    report.write(
        K=f"{sizes[0]} to {sizes[-1]}", alpha="learnt, from 0.1", gamma=0.5, threads=2,
        algorithm="collapsed Gibbs sampling, 200 + 50 sweeps", chains=n_chains,
    )  # fmt: skip


def read(path: Path) -> Array:
    """Answers of each person to the 16 items, 0 or 1."""
    return np.loadtxt(path, delimiter=",", dtype=np.int64)


def table(answers: Array) -> discan.Corpus:
    """Each item a group of two words: yes, no."""
    counts = np.stack([answers, 1 - answers], axis=2).reshape(len(answers), -1)
    return discan.Corpus(counts, groups=np.repeat(np.arange(answers.shape[1]), 2))


def fit(answers: Array, n_components: int, seed: int, quick: bool) -> discan.MPCA:
    """Sample profiles and memberships; alpha is learnt: it says how mixed people are."""
    sampler = discan.Collapsed(burn_in=5, n_draws=5) if quick else discan.Collapsed(200, 50)
    return discan.MPCA(
        n_components, algorithm=sampler, init="map", learn=("alpha",), n_jobs=2,
        random_state=seed, progress=False, **PRIOR,
    ).fit(table(answers))  # fmt: skip


def independent(train: Array, test: Array) -> Array:
    """Log-likelihood of each person if the items are independent."""
    yes = (train.sum(axis=0) + 0.5) / (len(train) + 1)
    return np.asarray(np.log(np.where(test == 1, yes, 1 - yes)).sum(axis=1))


def log_likelihood(model: discan.MPCA, answers: Array) -> Array:
    """Log-likelihood of each person, memberships integrated out by draws from their prior, (I,).

    Sixteen answers tell so little that no draw dominates. Chib's estimator is lower by 0.05 to 0.2
    nats here, and by more the more components there are: with an alpha as small as this, its chain
    seldom goes from one profile to another.
    """
    rng = np.random.default_rng(0)
    parts = []
    for _ in range(N_DRAWS // AT_ONCE):
        # gamma variables of small shape underflow, so they are drawn as logarithms
        shape = (AT_ONCE, len(model.alpha_))
        logs = np.log(rng.gamma(model.alpha_ + 1.0, size=shape))
        logs += np.log(rng.random(shape)) / model.alpha_
        shares = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
        yes = np.clip(shares @ model.components_[:, 0::2], 1e-12, 1 - 1e-12)
        each = answers @ np.log(yes).T + (1 - answers) @ np.log1p(-yes).T
        parts.append(logsumexp(each, axis=1) - math.log(N_DRAWS))
    return np.asarray(logsumexp(parts, axis=0))


def show_profiles(report: Report, model: discan.MPCA) -> None:
    """Show the probability of a yes by item and profile, the least disabled profile first."""
    order = np.argsort(model.components_[:, 0::2].sum(axis=1))
    yes = model.components_[order, 0::2]
    names = [f"profile {k + 1}" for k in range(len(yes))]
    shares = model.proportions_.mean(axis=0)[order]
    report.say(f"## {len(yes)} profiles: probability of a yes, in per cent")
    rows = [["share of all people", *(f"{100 * share:.0f}" for share in shares)]]
    rows += [[f"item {j + 1}", *(f"{100 * p:.0f}" for p in yes[:, j])] for j in range(yes.shape[1])]
    report.table(["", *names], rows)
    report.figure(
        plot.heatmap(
            model.components_[order], groups=np.repeat([f"item {j + 1}" for j in range(16)], 2),
            words=[f"item {j + 1}: {word}" for j in range(16) for word in ("yes", "no")],
            component_names=names, title="Profiles of disability",
            subtitle="Probability of a yes; items on which profiles differ most come first",
        ),
        "profiles",
        "Probability of each answer by item and profile",
    )  # fmt: skip


if __name__ == "__main__":
    main()
