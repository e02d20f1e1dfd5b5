# SPDX-License-Identifier: BSD-3-Clause
"""Predict plays of artists, and totals: Gamma-Poisson against Dirichlet-multinomial."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from _plays import read, totals_without_components, two_samples
from common import Report, mean_and_error, needed
from scipy.stats import nbinom

import discan
from discan import plot

MODELS = {
    "Dirichlet-multinomial": {"model": "dm", "learn": ("alpha",)},
    "Gamma-Poisson": {"model": "gp", "learn": ("alpha", "beta")},
    "Gamma-Poisson, alpha as set": {"model": "gp", "learn": ("beta",)},
}
DM, GP, GP_AS_SET = MODELS
short = partial(mean_and_error, digits=3)


def main() -> None:
    """Fit to a thinned part of the plays, and predict another part of the same size."""
    report = Report(
        "listening",
        "Last.fm: which artists, and how many plays?",
        "Who listens to which artists, and how much? Two models are compared by plays that "
        "were held out: one of proportions, one of amounts.",
    )
    plays = read(needed("lastfm", "artists.dat", "user_artists.dat"))
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

    artists: dict[Any, list[float]] = {}  # log-likelihood per play, by share, K and model
    totals: dict[Any, list[float]] = {}  # log-likelihood of a user's total, by share and model
    learnt: dict[str, list[float]] = {}  # sum of alpha by model
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
                        learnt.setdefault(name, []).append(float(np.sum(fit.alpha_)))

    report.say(
        f"{plays.n_documents:,} users, {plays.n_words:,} artists, {plays.n_tokens:,} plays. Two "
        "independent samples of the plays are drawn by thinning, a thousandth or a hundredth each: "
        "one is fitted, the other predicted. (With half of the plays each, the two would be nearly "
        "equal: the median artist of a user has 260 plays.) Means and standard errors over "
        f"{len(seeds)} seeds, both of the samples and of the fits."
    )
    report.say(
        "## Which artists\n\nLog-likelihood of a held-out play's artist, in nats per play, given "
        "the user's scores. The total is given: all models answer the same question."
    )
    report.table(
        ["sample", "components", DM, GP],
        [
            (f"{share:.1%}", k, short(artists[share, k, DM]), short(artists[share, k, GP]))
            if k > 1
            else (f"{share:.1%}", "none", *[short(artists[share, 1, "all alike"])] * 2)
            for share in shares
            for k in (1, *sizes)
        ],
    )
    report.say(
        f"## How many plays\n\nLog-likelihood of each user's second total given the first, in "
        f"nats per user ({middle} components). The Dirichlet-multinomial model does not describe "
        "totals: the first two lines are laws that can be added to it."
    )
    report.table(
        ["law of the totals", *(f"sample {share:.1%}" for share in shares)],
        [
            (name, *(short(totals[share, name]) for share in shares))
            for name in dict.fromkeys(name for _, name in totals)
        ],
    )
    scores = {k: artists[shares[0], k, GP] for k in sizes}
    figure = plot.quality(scores, title="How many tastes? Gamma-Poisson, a thousandth of the plays")
    report.figure(figure, "quality", "Held-out log-likelihood against the number of components")
    tastes(report, plays, middle, settings)
    report.say(reading(artists, totals, learnt, shares, sizes))
    report.write(
        **settings, learnt="alpha; beta of the Gamma-Poisson model", seeds=f"{len(seeds)}, from 0"
    )


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
        "## The tastes\n\nUsers for whom it is the largest component, and the median of all their "
        "plays; its mean number of plays per user; its likeliest artists."
    )
    report.table(["taste", "users", "their plays", "plays per user", "artists"], rows)
    figure = plot.component_map(fit, component_names=names, n_words=2, title="Tastes of Last.fm")
    report.figure(figure, "map", "Map of the components: similar ones are near each other")


def reading(artists: Any, totals: Any, learnt: Any, shares: Any, sizes: Any) -> str:
    """Describe what the tables show."""
    gaps = {
        (share, k): np.mean(artists[share, k, GP]) - np.mean(artists[share, k, DM])
        for share in shares for k in sizes
    }  # fmt: skip
    own = "a gamma law of its own (negative binomial)"
    gains = [np.mean(totals[share, GP]) - np.mean(totals[share, own]) for share in shares]
    losses = [np.mean(totals[share, GP_AS_SET]) - np.mean(totals[share, GP]) for share in shares]
    alphas = {name: f"{np.mean(sums):.1f}" for name, sums in learnt.items()}
    best = {
        share: max(sizes, key=lambda k, s=share: np.mean(artists[s, k, GP])) for share in shares
    }
    return f"""## What it says

- **Which artists.** The Gamma-Poisson model is between {min(gaps.values()):+.3f} and
  {max(gaps.values()):+.3f} nats per play from the Dirichlet-multinomial. They must be close: with
  one rate beta for all components the former *is* the latter, with a gamma law of the totals
  added.
- **How many plays.** Only the Gamma-Poisson model describes totals. With alpha learnt (sums to
  {alphas[GP]}) it is {", ".join(f"{gain:+.3f}" for gain in gains)} nats per user from a gamma law
  fitted to the totals alone; with alpha as set (sums to {alphas[GP_AS_SET]}),
  {", ".join(f"{loss:+.3f}" for loss in losses)} nats from alpha learnt.
- **Components.** Of the numbers tried the best is
  {", ".join(f"{best[share]} for {share:.1%} of the plays" for share in shares)}."""


if __name__ == "__main__":
    main()
