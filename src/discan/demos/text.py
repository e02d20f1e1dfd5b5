# SPDX-License-Identifier: BSD-3-Clause
"""Components of the standard library's docstrings."""

from __future__ import annotations

import time
from typing import TextIO

import numpy as np
from rich.table import Table
from rich.text import Text

from discan.algorithms import Collapsed
from discan.data.corpus import Corpus
from discan.demos.terminal import Terminal
from discan.estimators.dca import DCA
from discan.plot.lettering import clean
from discan.readers.datasets import load_docstrings

__all__ = ["text"]


def text(
    *,
    n_components: int = 12,
    n_words: int = 10,
    seed: int = 0,
    stream: TextIO | None = None,
    width: int | None = None,
) -> DCA:
    """Fit components to the docstrings of Python's standard library, and print them.

    Parameters
    ----------
    n_components, n_words, seed : int
        Number of components, number of words printed per component, seed.
    stream : text stream, default stdout
    width : int, optional
        Columns of the terminal.

    Returns
    -------
    DCA
        The fitted estimator.
    """
    console = Terminal(stream, width)
    data = load_docstrings()
    corpus = data.corpus
    console.print(
        f"{data.description} {corpus.n_documents:,} documents, {corpus.n_words:,} words, "
        f"{corpus.n_tokens:,} tokens. What are they about?"
    )
    began = time.perf_counter()
    estimator = DCA(
        n_components,
        algorithm=Collapsed(burn_in=150, n_draws=50),
        alpha=0.1,
        gamma=0.05,
        random_state=seed,
        progress=False,
    ).fit(corpus)
    console.print(
        f"Dirichlet-multinomial (LDA), {n_components} components, collapsed Gibbs sampling, "
        f"{estimator.n_iter_} sweeps, {time.perf_counter() - began:.1f} s.\n"
    )
    _print_components(console, estimator, corpus, n_words)
    return estimator


def _print_components(console: Terminal, estimator: DCA, corpus: Corpus, n_words: int) -> None:
    words, documents = corpus.layout.word_names or (), corpus.document_names or ()
    sizes = estimator.component_counts_.sum(axis=0)
    lift = estimator.components_ / (corpus.word_totals / corpus.word_totals.sum())
    lift[estimator.components_ * sizes[:, None] < 10] = 0.0  # too few tokens for a reliable lift
    share = np.where(corpus.lengths[:, None] >= 100, estimator.proportions_, 0.0)
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(ratio=1)
    for rank, k in enumerate(np.argsort(-sizes, kind="stable"), start=1):
        likely = np.argsort(-estimator.components_[k], kind="stable")[:n_words]
        lifted = [j for j in np.argsort(-lift[k], kind="stable")[:n_words] if lift[k, j] > 0]
        typical = [i for i in np.argsort(-share[:, k], kind="stable")[:6] if share[i, k] >= 0.1]
        title = f"{rank}.  {sizes[k] / sizes.sum():.0%} of the tokens"
        grid.add_row("", Text(title, style="bold"))
        grid.add_row("words", Text(" ".join(clean(words[j]) for j in likely)))
        grid.add_row("by lift", Text(" ".join(clean(words[j]) for j in lifted)))
        modules = (f"{clean(documents[i])} {share[i, k]:.0%}" for i in typical)
        grid.add_row("modules", Text(", ".join(modules)), end_section=True)
        grid.add_row("", "")
    console.print(grid)
    console.print(
        "Words: the likeliest of a component. By lift: the words whose probability is highest "
        "relative to all the text. Modules: the share of their tokens, among modules of at least "
        "100 tokens."
    )
