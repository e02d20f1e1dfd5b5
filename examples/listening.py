# SPDX-License-Identifier: BSD-3-Clause
"""Predict what people will listen to, and how much: Gamma-Poisson against Dirichlet-multinomial."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from common import Report, needed
from scipy import sparse
from scipy.optimize import minimize
from scipy.stats import nbinom, poisson

import discan
from discan import plot

MODELS = {
    "Dirichlet-multinomial": {"model": "dm", "learn": ("alpha",)},
    "Gamma-Poisson": {"model": "gp", "learn": ("alpha", "beta")},
    "Gamma-Poisson, alpha as set": {"model": "gp", "learn": ("beta",)},
}
DM, GP, GP_AS_SET = MODELS


def main() -> None:
    """Fit to a thinned part of the plays, and predict another part of the same size."""
    report = Report("listening", "Last.fm: which artists, and how many plays?")
    plays = read(needed("lastfm"))
    if report.quick:
        plays = plays.select(np.arange(plays.n_documents) % 10 == 0)
    shares = (0.001,) if report.quick else (0.001, 0.01)
    sizes = (2, 4) if report.quick else (10, 20, 40, 80)
    middle = sizes[1]
    seeds = range(2 if report.quick else 3)
    settings: dict[str, Any] = {
        "algorithm": "variational", "max_iter": 5 if report.quick else 60, "gamma": 0.1,
        "n_jobs": 2,
    }  # fmt: skip

    artists: dict[Any, list[float]] = {}  # log-likelihood a play, by share, K and model
    totals: dict[Any, list[float]] = {}  # log-likelihood of a user's total, by share and model
    for share in shares:
        for seed in seeds:
            train, test = two_samples(plays, share, seed)
            popular = np.asarray(train.to_csr().sum(axis=0)).ravel() + 0.1
            even = np.ones((train.n_documents, 1))
            score = which(test, even, popular[None, :] / popular.sum())
            artists.setdefault((share, 1, "all alike"), []).append(score)
            for name, score in totals_without_components(train.lengths, test.lengths).items():
                totals.setdefault((share, name), []).append(score)
            for n_components in sizes:
                for name, model in MODELS.items():
                    if name == GP_AS_SET and n_components != middle:
                        continue
                    fit = discan.DCA(n_components, random_state=seed, **model, **settings)
                    fit.fit(train)
                    score = which(test, fit.proportions_, fit.components_)
                    artists.setdefault((share, n_components, name), []).append(score)
                    if model["model"] == "gp" and n_components == middle:
                        score = how_many(fit, test, share)
                        totals.setdefault((share, name), []).append(score)

    report.say(
        f"{plays.n_documents:,} users, {plays.n_words:,} artists, {plays.n_tokens:,} plays. Two "
        "independent samples of the plays are drawn by thinning, a thousandth or a hundredth each: "
        "one is fitted, the other predicted. (Of half the plays each, the two would be all but the "
        "same table: the median artist of a user has 260 plays.) Means and standard errors of "
        f"{len(seeds)} seeds, which draw samples and start fits."
    )
    report.say(
        "## Which artists\n\nLog-likelihood of a held-out play's artist, in nats a play, given the "
        "user's scores. The total is taken as known: all models answer the same question."
    )
    report.table(
        ["sample", "components", DM, GP],
        [
            (f"{share:.1%}", k, mean(artists[share, k, DM]), mean(artists[share, k, GP]))
            if k > 1
            else (f"{share:.1%}", "none", *[mean(artists[share, 1, "all alike"])] * 2)
            for share in shares
            for k in (1, *sizes)
        ],
    )
    report.say(
        f"## How many plays\n\nLog-likelihood of each user's second total given the first, in "
        f"nats a user ({middle} components). The Dirichlet-multinomial model takes totals as "
        "given and says nothing about them: the first two lines are what one may add to it."
    )
    report.table(
        ["law of the totals", *(f"sample {share:.1%}" for share in shares)],
        [
            (name, *(mean(totals[share, name]) for share in shares))
            for name in dict.fromkeys(name for _, name in totals)
        ],
    )
    scores = {k: artists[shares[0], k, GP] for k in sizes}
    figure = plot.quality(scores, title="How many tastes? Gamma-Poisson, a thousandth of the plays")
    report.figure(figure, "quality", "Held-out log-likelihood against the number of components")
    tastes(report, plays, middle, settings)
    if not report.quick:
        report.say(WHY)
    report.write(
        **settings, learnt="alpha; beta of the Gamma-Poisson model", seeds=f"{len(seeds)}, from 0"
    )


def read(folder: Path) -> discan.Corpus:
    """Read plays, users by artists."""
    lines = (folder / "artists.dat").read_text("utf-8").split("\n")
    name_of = dict(line.split("\t")[:2] for line in lines if line)
    lines = (folder / "user_artists.dat").read_text("utf-8").split("\n")
    rows = [line.split() for line in lines if line[:1].isdigit()]  # some copies have a header
    users, artists, counts = np.array(rows).T
    row = np.unique(users, return_inverse=True)[1]
    ids, column = np.unique(artists, return_inverse=True)
    table = sparse.csr_array((counts.astype(np.int64), (row, column)))
    return discan.Corpus(table, word_names=[name_of[i] for i in ids])


def two_samples(plays: Any, share: float, seed: int) -> tuple[Any, Any]:
    """Draw two independent Poisson samples of the plays, each with this share as its exposure."""
    rng = np.random.default_rng(seed)
    return discan.thin(discan.thin(plays, 2 * share, rng)[1], 0.5, rng)


def which(test: Any, proportions: Any, components: Any) -> float:
    """Mean log-probability of the artist of a held-out play."""
    entries = test.to_csr().tocoo()
    chances = np.einsum("nk,nk->n", proportions[entries.row], components.T[entries.col])
    return float(entries.data @ np.log(chances) / entries.data.sum())


def how_many(fit: Any, test: Any, share: float) -> float:
    """Mean log-probability of a user's held-out total, rates being gamma a posteriori."""
    rate = fit.scores_.sum(axis=1)
    precision = rate / (fit.scores_sd_**2).sum(axis=1)  # of the gamma law with these moments
    return float(
        nbinom.logpmf(test.lengths, rate * precision, precision / (precision + share)).mean()
    )


def totals_without_components(train: Any, test: Any) -> dict[str, float]:
    """Mean log-probability of held-out totals: as many plays as before, or a gamma law of rates."""

    def loss(logs: Any) -> float:
        shape, rate = np.exp(logs)
        return -float(nbinom.logpmf(train, shape, rate / (rate + 1.0)).sum())

    start = np.log([1.0, 1.0 / train.mean()])
    shape, rate = np.exp(minimize(loss, start, method="Nelder-Mead").x)
    gamma = nbinom.logpmf(test, shape + train, (rate + 1.0) / (rate + 2.0))
    return {
        "the same number again, Poisson": float(poisson.logpmf(test, train + 0.5).mean()),
        "a gamma law of its own (negative binomial)": float(gamma.mean()),
    }


def mean(values: list[float]) -> str:
    """Write a mean and its standard error."""
    return f"{np.mean(values):.3f} ± {np.std(values, ddof=1) / np.sqrt(len(values)):.3f}"


def tastes(report: Report, plays: Any, n_components: int, settings: Any) -> None:
    """Fit to a hundredth of the plays; list and draw the components."""
    sample, _ = two_samples(plays, 0.01, 0)
    fit = discan.DCA(n_components, random_state=0, **MODELS[GP], **settings).fit(sample)
    largest = fit.proportions_.argmax(axis=1)
    rows, names = [], [""] * n_components
    for number, k in enumerate(np.argsort(-fit.scores_.sum(axis=0)), start=1):
        users = largest == k
        heard = np.median(plays.lengths[users]) if users.any() else 0
        top = [plays.layout.word_names[j] for j in np.argsort(-fit.components_[k])[:4]]
        mean_plays = fit.scores_[:, k].mean()
        names[k] = f"taste {number}"
        rows.append((number, users.sum(), f"{heard:,.0f}", f"{mean_plays:,.0f}", ", ".join(top)))
    report.say(
        "## The tastes\n\nUsers whose largest component it is, and the median of all their plays; "
        "the mean number of plays that any user owes to it; its first artists."
    )
    report.table(["taste", "users", "their plays", "plays a user", "artists"], rows)
    figure = plot.component_map(fit, components=names, n_words=2, title="Tastes of Last.fm")
    report.figure(figure, "map", "Map of the components, the alike ones near each other")


WHY = """## What it says

- **Which artists.** The two models are equally good. They nearly have to be: with one rate beta for
  all components the Gamma-Poisson model *is* the Dirichlet-multinomial, with a gamma law of the
  totals beside it. Rates learnt for each component differ two- to fourfold, and change little.
- **How many plays.** Only the Gamma-Poisson model says. With alpha learnt (it sums to 0.8) it is as
  good as a gamma law fitted to the totals alone (of shape 0.8). As set, alpha sums to 5: users are
  thought to be more alike than they are, which costs more than it brings when little was heard.
  Where totals matter, learn alpha.
- **Components.** The more is heard, the more of them pay."""


if __name__ == "__main__":
    main()
