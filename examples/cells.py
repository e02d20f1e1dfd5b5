# SPDX-License-Identifier: BSD-3-Clause
"""Compare components of single cells with the cell types sorted in the laboratory."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from common import Report, needed
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import discan
from discan import plot

KNOWN = {  # genes that commonly mark these cells
    "B cell": ("MS4A1", "CD79A", "TCL1A"), "CD14+": ("S100A8", "S100A9", "LYZ", "FCN1"),
    "CD34+": ("CYTL1", "CRHBP", "EGFL7"), "NK cell": ("KLRD1", "GZMB", "FGFBP2"),
    "T cell": ("CD3D", "CD3E", "IL7R"),
}  # fmt: skip


def main() -> None:
    """Fit components to the counts alone, then compare them with the sorted cell types."""
    report = Report(
        "cells",
        "Single cells: do components recover the sorted cell types?",
        "Blood cells were sorted into types by antibodies. Do components of their gene "
        "counts, which do not know the types, recover them?",
    )
    cells, genes, kinds = read(needed("pbmc_facs", "counts.npz", "genes.csv", "samples.csv"))
    if report.quick:
        cells, kinds = cells[::10], kinds[::10]
    seeds = range(1 if report.quick else 3)
    settings: dict[str, Any] = {
        "algorithm": "map", "alpha": 0.1, "max_iter": 5 if report.quick else 100,
    }  # fmt: skip
    corpus = discan.Corpus(cells, word_names=genes)
    names, sizes = np.unique(kinds, return_counts=True)
    report.say(
        f"{corpus.n_documents:,} blood cells, sorted by antibodies into {len(names)} types ("
        + ", ".join(f"{name} {size:,}" for name, size in zip(names, sizes, strict=True))
        + f"), {corpus.n_words:,} genes, {corpus.n_tokens:,} molecules. The fit does not know "
        "the types. The adjusted Rand index (ARI) and the normalised mutual information (NMI) with "
        "the types are 1 for a perfect match and about 0 for a random one."
    )

    rows, best, scores = [], {}, {}
    for n_components in (5, 6, 8):
        fits = [
            discan.DCA(n_components, random_state=seed, n_jobs=2, **settings).fit(corpus)
            for seed in seeds
        ]
        # the objective chooses the seed, not the types
        chosen = int(np.argmax([fit.trace_["objective"][-1] for fit in fits]))
        best[n_components] = fits[chosen]
        largest = [agreement(kinds, fit.proportions_.argmax(axis=1)) for fit in fits]
        rows.append((f"{n_components} components, the largest", *described(largest, chosen)))
        near = [agreement(kinds, clusters(fit.proportions_, len(names))[0]) for fit in fits]
        rows.append((f"{n_components} components, k-means", *described(near, chosen)))
        scores[n_components] = near[chosen][0], np.ptp([ari for ari, _ in near])
    usual = [clusters(logarithms(cells, seed), len(names), seed) for seed in seeds]
    chosen = int(np.argmin([inertia for _, inertia in usual]))
    plain = [agreement(kinds, found) for found, _ in usual]
    rows.append(("no components, k-means", *described(plain, chosen)))
    scores["none"] = plain[chosen][0], 0.0
    report.say("## Agreement with the sorted types")
    report.table(["", "ARI, best fit", "ARI, all seeds", "NMI, best fit", "NMI, all seeds"], rows)
    report.say(
        f"Best fit: the highest objective of {len(seeds)} seeds. *The largest*: a cell is given to "
        f"its largest component. *K-means*: cells are put into {len(names)} clusters by their "
        "shares of all components. *No components* is the usual method: counts of each cell scaled "
        "to 10,000, log(1 + x), 20 principal directions, k-means."
    )

    model = best[6]
    report.say("## The six components")
    rows = described_components(model, corpus, kinds, names)
    report.table(["component", "share of molecules", *names, "genes of the highest lift"], rows)
    report.say("Columns of types: mean share of the component in cells of the type.")
    order = np.argsort(kinds, kind="stable")
    figure = plot.structure(
        model.proportions_[order],
        kinds[order],
        component_names=[f"{row[0]}: {', '.join(row[-1].split(', ')[:3])}" for row in rows],
        title="Six components of sorted blood cells",
        subtitle=f"A column is a cell, {corpus.n_documents:,} in the {len(names)} types they were "
        "sorted into",
    )
    report.figure(figure, "structure", "Shares of six components in every cell, type by type")
    report.say(reading(model, kinds, names, rows, scores))
    report.write(
        model="Dirichlet-multinomial, gamma 0.5",
        **settings,
        seeds=f"{len(seeds)}, from 0",
    )


def read(folder: Path) -> tuple[Any, list[str], Any]:
    """Read counts, names of genes, and the sorted type of each cell."""
    with open(folder / "genes.csv", newline="") as file:
        genes = [row["symbol"] for row in csv.DictReader(file)]
    with open(folder / "samples.csv", newline="") as file:
        kinds = np.array([row["subpop"] for row in csv.DictReader(file)])
    return sparse.csr_array(sparse.load_npz(folder / "counts.npz")), genes, kinds


def agreement(kinds: Any, clusters: Any) -> tuple[float, float]:
    """Adjusted Rand index and normalised mutual information."""
    return adjusted_rand_score(kinds, clusters), normalized_mutual_info_score(kinds, clusters)


def described(agreed: list[tuple[float, float]], chosen: int) -> list[str]:
    """Return the value of the chosen seed, and the range over all seeds."""
    cells = []
    for values in zip(*agreed, strict=True):
        cells += [f"{values[chosen]:.2f}", f"{min(values):.2f} to {max(values):.2f}"]
    return cells


def clusters(table: Any, n_clusters: int, seed: int = 0) -> tuple[Any, float]:
    """Cluster of each row by k-means, and the sum of squares inside them."""
    fit = KMeans(n_clusters, n_init=10, random_state=seed).fit(table)
    return fit.labels_, fit.inertia_


def logarithms(cells: Any, seed: int) -> Any:
    """Scale the cells, take logarithms, and return the principal directions."""
    scale = 1e4 / np.asarray(cells.sum(axis=1)).ravel()
    table = sparse.csr_array(sparse.diags_array(scale) @ cells).log1p()
    return TruncatedSVD(20, random_state=seed).fit_transform(table)


def described_components(model: Any, corpus: Any, kinds: Any, names: Any) -> list[list[str]]:
    """Return one row per component: its size, its share of each type, and its genes."""
    overall = np.asarray(corpus.to_csr().sum(axis=0)).ravel() / corpus.n_tokens
    common = overall > 5e-5  # the lift of a rare gene is not reliable
    weight = model.component_counts_.sum(axis=0) / corpus.n_tokens
    rows = []
    for k, loadings in enumerate(model.components_):
        lift = np.where(common, loadings / np.maximum(overall, 1e-12), 0.0)
        top = [corpus.layout.word_names[j] for j in np.argsort(-lift)[:6]]
        shares = [f"{model.proportions_[kinds == name, k].mean():.0%}" for name in names]
        rows.append([str(k + 1), f"{weight[k]:.0%}", *shares, ", ".join(top)])
    return rows


def reading(model: Any, kinds: Any, names: Any, rows: Any, scores: Any) -> str:
    """Say which component leads in which type, and answer the question.

    ``scores`` has the adjusted Rand index of k-means, and its range over seeds, by n_components.
    """
    means = np.array([model.proportions_[kinds == name].mean(axis=0) for name in names])
    leads = means.argmax(axis=1)
    parts = []
    for name, k, mean in zip(names, leads, means, strict=True):
        seen = [gene for gene in KNOWN.get(name, ()) if gene in rows[k][-1].split(", ")]
        parts.append(f"{name} {k + 1} ({mean[k]:.0%}; {', '.join(seen) or 'no gene known for it'})")
    largest = model.proportions_.argmax(axis=1)
    others = [k for k in range(len(rows)) if k not in leads]
    own = np.mean(largest == leads[np.searchsorted(names, kinds)])
    yes = len(set(leads)) == len(names)
    lines = [
        f"- **{'Yes' if yes else 'Not all'}.** {len(set(leads))} of the {len(rows)} components "
        f"lead in the {len(names)} types, by mean share: {'; '.join(parts)}. In brackets: the "
        "share, and the known genes of the type among those of the highest lift."
    ]
    lines += [
        f"- Component {k + 1} leads in no type ({rows[k][-1]}); it is the largest of "
        f"{np.sum(largest == k)} cells, so the largest component does not always give the type."
        for k in others
    ]
    ours, usual = scores[len(rows)][0], scores["none"][0]
    how = "better than" if ours > usual else "less well than"
    if abs(ours - usual) < 0.02:
        how = "as well as"
    lines.append(
        f"- **Shares.** {own:.0%} of the cells have the component of their type as the largest; "
        f"k-means of the shares matches the types {how} the usual method without components."
    )
    spread = max(spread for _, spread in scores.values())
    lines.append(
        "- **Seeds** matter: some starts end in worse optima; the objective shows which."
        if spread > 0.05
        else "- **Seeds** hardly matter here."
    )
    return "\n".join(["## What it says\n", *lines])


if __name__ == "__main__":
    main()
