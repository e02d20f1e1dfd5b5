# SPDX-License-Identifier: BSD-3-Clause
"""Search texts: words, BM25, components alone, and words mixed with components."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from _bm25 import bm25
from _search_speed import speed
from _titled_texts import Text, dispatches, messages, stories
from common import Report, data_folder, mean_and_error, needed

import discan
from discan.engines.threads import Threads
from discan.errors import InputError
from discan.readers.words import corpus_from_texts
from discan.search import Index, learn_weights
from discan.search.learning import average_precision, discounted_gain
from discan.search.query import read_query

MUS = (None, 300.0, 1000.0)
WEIGHTS = (0.3, 0.5, 0.7, 0.9)
MEASURES = ("known item", "ad hoc MAP", "ad hoc nDCG@10")


class Question(NamedTuple):
    """A query: tokens, the document that it is the title of, and the documents that are right."""

    tokens: Any
    source: int
    relevant: Any


def main() -> None:
    """Measure the rankings on both collections."""
    report = Report(
        "search",
        "Search: words, BM25, components, and words with components",
        "Do components help to find texts? Four ways to rank texts for a query are compared, "
        "where one known text is wanted and where all texts on a subject are.",
    )
    archives = {"20 newsgroups": ("20news-bydate", "20news-bydate.tar.gz", messages),
                "Reuters-21578": ("reuters21578", "reuters21578.tar.gz", stories)}  # fmt: skip
    found = {name: needed(folder, file) / file for name, (folder, file, _) in archives.items()}
    n_queries, n_learnt = (6, 4) if report.quick else (250, 50)
    sizes = (5,) if report.quick else (50, 200)
    report.say(
        'A query is the title of a document: the subject of a message, without "Re:", or the '
        "headline of a story. Titles are not among the searched words. **Known item**: only the "
        "document itself is right; the figure is the mean of 1 / rank. **Ad hoc**: right are the "
        "other documents with the same label (newsgroup; at least one topic in common), and the "
        "document itself is left out; the figures are mean average precision (MAP) and nDCG of "
        "the first ten. Weights (mu, lambda) were learnt by MAP on other queries than those "
        "judged. Each figure is a mean over queries with its standard error. The dispatches of "
        "AP (TREC's sample of 2,246) have neither titles nor labels, and the queries of TREC are "
        "not among the data. There a query is the first sentence, only the known item is judged, "
        "and weights are learnt for it."
    )
    for name, path in found.items():
        texts = list(archives[name][2](path))
        # archives are sorted by label: without a shuffle, equal values would be in a lucky order
        texts = [texts[i] for i in np.random.default_rng(1).permutation(len(texts))]
        measure(report, name, texts[:: 40 if report.quick else 1], sizes, n_queries, n_learnt)
    folder = data_folder("ap", "ap/ap.txt")
    if folder is not None:
        texts = list(dispatches(folder / "ap" / "ap.txt"))
        measure(report, "Associated Press", texts[:: 20 if report.quick else 1], sizes, n_queries,
                n_learnt)  # fmt: skip
    report.say(
        "## What it says\n\nBM25 and query likelihood match words; components match what the words "
        "are about. MAP counts all documents of a label, most of which hold no word of the query: "
        "only components can put these in order, hence the large differences there. nDCG judges "
        "the first ten: there the gain over BM25 is small. Components alone are poor for a known "
        "item, because they cannot tell two documents of one subject apart. Weights learnt for "
        "one task are not the best for the other. Titles as queries and labels as judgements "
        "stand in for queries and judgements of users, and they favour methods that find subjects. "
        "Dense retrieval by a pretrained language model is another league: it knows from other "
        "texts which words mean the same. This page does not compare with it."
    )
    speed(report)
    report.write(algorithm="map, 40 cycles", seed=0, queries=n_queries, learnt_on=n_learnt)


def measure(
    report: Report, name: str, texts: list[Text], sizes: Any, n_queries: int, n_learnt: int
) -> None:
    """Add the table of one collection; without labels, only the known item is judged."""
    labelled = any(text.labels for text in texts)
    measures = MEASURES if labelled else MEASURES[:1]
    corpus = corpus_from_texts([text.body for text in texts])
    rankers: dict[str, Callable[[Any], Any]] = {}
    asked: list[Question] = []
    judged: list[Question] = []
    settings = []
    for k in sizes:
        model = discan.LDA(
            k, algorithm="map", max_iter=5 if report.quick else 40, random_state=0, n_jobs=2
        ).fit(corpus)
        index = model.search_index(corpus, precision="float32")
        if not asked:
            questions = choose(model.fit_, texts, n_queries + n_learnt)
            asked, judged = questions[:n_learnt], questions[n_learnt:]
            words = learnt(index, asked, (1.0,))
            rankers["query likelihood (lambda 1)"] = ranker(index, words)
            if importlib.util.find_spec("bm25s") is not None:
                rankers["BM25 (bm25s)"] = bm25(corpus)
            settings.append(f"query likelihood mu {shown(words.mu)}")
        mixed = learnt(index, asked, WEIGHTS)
        rankers[f"{k} components alone (lambda 0)"] = ranker(index, mixed._replace(word_weight=0.0))
        rankers[f"words and {k} components, default"] = ranker(index, None)
        rankers[f"words and {k} components, learnt"] = ranker(index, mixed)
        settings.append(f"{k} components lambda {mixed.word_weight:g}, mu {shown(mixed.mu)}")
    report.say(
        f"## {name}\n\n{corpus.n_documents:,} documents, {corpus.n_words:,} words; "
        f'{len(judged)} queries. Learnt: {"; ".join(settings)}. "Default" is lambda 0.7 and mu '
        "the mean length of a document."
    )
    rows = []
    figures: dict[str, Any] = {}
    for title, rank in rankers.items():
        known, precision, gain = [], [], []
        for question in judged:
            values = rank(question.tokens)
            only = np.zeros(len(texts), dtype=bool)
            only[question.source] = True
            known.append(average_precision(values, only))
            if labelled:
                precision.append(average_precision(values, question.relevant, question.source))
                gain.append(discounted_gain(values, question.relevant, 10, question.source))
        figures[title] = np.array([known, precision, gain] if labelled else [known])
        rows.append((title, *map(figure, figures[title])))
    report.table(["ranking", *measures], rows)
    others = [title for title in figures if title.startswith(("query", "BM25"))]
    report.say(
        f"Mean difference over queries from the mixture of words and {sizes[0]} components with "
        "the default weights; above 0, the mixture is better:"
    )
    best = figures[f"words and {sizes[0]} components, default"]
    report.table(
        ["mixture minus", *measures],
        [(title, *(figure(d, "+") for d in best - figures[title])) for title in others],
    )


def choose(fit: Any, texts: list[Text], n: int) -> list[Question]:
    """Choose titles of two or more known words, at random, as queries."""
    found: list[Question] = []
    for i in np.random.default_rng(0).permutation(len(texts)):
        try:
            tokens = read_query(texts[i].title, fit)
        except InputError:
            continue
        labels = texts[i].labels
        relevant = np.array([bool(labels & text.labels) for text in texts])
        relevant[i] |= not labels
        if len(tokens) >= 2 and relevant.sum() > bool(labels):
            counts = np.bincount(tokens, minlength=fit.layout.n_words)
            found.append(Question(counts, int(i), relevant))
        if len(found) == n:
            break
    return found


def learnt(index: Index, asked: list[Question], weights: Any) -> Any:
    """Learn mu and lambda for the task ad hoc; for the known item if nothing else is right."""
    single = all(q.relevant.sum() == 1 for q in asked)
    without = None if single else [q.source for q in asked]
    with Threads(2) as engine:
        return learn_weights(
            index, [q.tokens for q in asked], [q.relevant for q in asked], mus=MUS,
            weights=weights, without=without, engine=engine,
        )  # fmt: skip


def ranker(index: Index, weights: Any) -> Callable[[Any], Any]:
    """Rank by the probability of the query."""
    given = {} if weights is None else {"mu": weights.mu, "word_weight": weights.word_weight}
    return lambda tokens: index.log_probability(tokens, **given)


def figure(values: Any, sign: str = "") -> str:
    """Mean and standard error."""
    return mean_and_error(values, sign, 3)


def shown(mu: float | None) -> str:
    """A value of mu in words."""
    return "of the mean length" if mu is None else f"{mu:g}"


if __name__ == "__main__":
    main()
