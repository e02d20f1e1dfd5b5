# SPDX-License-Identifier: BSD-3-Clause
"""Search texts: words, BM25, components alone, and words mixed with components."""

from __future__ import annotations

import importlib.util
import re
import tarfile
import time
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from common import Report, mean_and_error, needed
from scipy import sparse

import discan
from discan.engines.threads import Threads
from discan.errors import InputError
from discan.readers.words import corpus_from_texts
from discan.search import Index, learn_weights
from discan.search.learning import average_precision, discounted_gain
from discan.search.own_words import OwnWords
from discan.search.query import read_query
from discan.search.shares import AllShares, TopShares
from discan.search.views import View

MUS = (None, 300.0, 1000.0)
WEIGHTS = (0.3, 0.5, 0.7, 0.9)
MEASURES = ("known item", "ad hoc MAP", "ad hoc nDCG@10")


class Text(NamedTuple):
    """A text: its title, which is not searched, its body, and its labels."""

    title: str
    body: str
    labels: frozenset[str]


class Question(NamedTuple):
    """A query: tokens, the document that it is the title of, and the documents that are right."""

    tokens: Any
    source: int
    relevant: Any


def main() -> None:
    """Measure the rankings on both collections."""
    report = Report("search", "Search: words, BM25, components, and words with components")
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
        "judged. Each figure is a mean over queries with its standard error."
    )
    for name, path in found.items():
        texts = list(archives[name][2](path))
        # archives are sorted by label: without a shuffle, equal values would be in a lucky order
        texts = [texts[i] for i in np.random.default_rng(1).permutation(len(texts))]
        measure(report, name, texts[:: 40 if report.quick else 1], sizes, n_queries, n_learnt)
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


def messages(path: Path) -> Iterator[Text]:
    """Iterate over the messages of 20 newsgroups."""
    with tarfile.open(path) as members:
        for member in members:
            content = members.extractfile(member) if member.isreg() else None
            if content is not None:
                head, _, body = content.read().decode("latin-1").partition("\n\n")
                subject = re.search(r"^Subject:(.*)$", head, re.MULTILINE)
                title = re.sub(r"(?i)\b(re|fwd)\s*:", " ", subject[1] if subject else "")
                yield Text(title, body, frozenset([member.name.split("/")[-2]]))


def stories(path: Path) -> Iterator[Text]:
    """Iterate over the stories of Reuters that have topics, a title and a body."""
    with tarfile.open(path) as members:
        for member in sorted(members.getmembers(), key=lambda m: m.name):
            content = members.extractfile(member) if member.name.endswith(".sgm") else None
            page = "" if content is None else content.read().decode("latin-1")
            for story in re.findall(r"<REUTERS .*?</REUTERS>", page, re.DOTALL):
                parts = [re.search(rf"<{t}>(.*?)</{t}>", story, re.DOTALL)
                         for t in ("TITLE", "BODY", "TOPICS")]  # fmt: skip
                title, body, topics = (unescape(p[1]) if p else "" for p in parts)
                labels = frozenset(re.findall(r"<D>(.*?)</D>", topics))
                if title and body and labels:
                    yield Text(title, body, labels)


def measure(
    report: Report, name: str, texts: list[Text], sizes: Any, n_queries: int, n_learnt: int
) -> None:
    """Add the table of one collection."""
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
            precision.append(average_precision(values, question.relevant, question.source))
            gain.append(discounted_gain(values, question.relevant, 10, question.source))
        figures[title] = np.array([known, precision, gain])
        rows.append((title, *map(figure, figures[title])))
    report.table(["ranking", *MEASURES], rows)
    others = [title for title in figures if title.startswith(("query", "BM25"))]
    report.say(
        f"Mean difference over queries from the mixture of words and {sizes[0]} components with "
        "the default weights; above 0, the mixture is better:"
    )
    best = figures[f"words and {sizes[0]} components, default"]
    report.table(
        ["mixture minus", *MEASURES],
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
        relevant = np.array([bool(texts[i].labels & text.labels) for text in texts])
        if len(tokens) >= 2 and relevant.sum() > 1:
            counts = np.bincount(tokens, minlength=fit.layout.n_words)
            found.append(Question(counts, int(i), relevant))
        if len(found) == n:
            break
    return found


def learnt(index: Index, asked: list[Question], weights: Any) -> Any:
    """Learn mu and lambda for the task ad hoc."""
    with Threads(2) as engine:
        return learn_weights(
            index, [q.tokens for q in asked], [q.relevant for q in asked], mus=MUS,
            weights=weights, without=[q.source for q in asked], engine=engine,
        )  # fmt: skip


def ranker(index: Index, weights: Any) -> Callable[[Any], Any]:
    """Rank by the probability of the query."""
    given = {} if weights is None else {"mu": weights.mu, "word_weight": weights.word_weight}
    return lambda tokens: index.log_probability(tokens, **given)


def bm25(corpus: Any) -> Callable[[Any], Any]:
    """Rank by BM25 of a library, on the same words."""
    import bm25s

    words = corpus.layout.word_names
    table = corpus.to_csr()
    documents = [
        np.repeat(table.indices[a:b], table.data[a:b]).tolist()
        for a, b in zip(table.indptr[:-1], table.indptr[1:], strict=True)
    ]
    library = bm25s.BM25()
    library.index([[words[j] for j in row] for row in documents], show_progress=False)
    return lambda counts: library.get_scores(
        [words[j] for j in np.repeat(np.arange(len(counts)), counts)]
    )


def speed(report: Report) -> None:
    """Time queries to a large index of random documents."""
    n_documents = 5_000 if report.quick else 1_000_000
    n_components, n_words, n_kept, length = 300, 20_000, 20, 30
    rng = np.random.default_rng(0)
    fit = discan.DCA.from_components(rng.dirichlet([0.01] * n_words, n_components)).fit_
    steps = rng.integers(1, n_components // n_kept, (n_documents, n_kept), dtype=np.uint16)
    values = rng.random((n_documents, n_kept), dtype=np.float32)
    values *= (0.95 / values.sum(axis=1))[:, None]
    rest = (1.0 - values.sum(axis=1)).astype(np.float32)
    background = np.full(n_components, 1.0 / n_components)
    numbers = np.cumsum(steps, axis=1, dtype=np.uint16) - np.uint16(1)
    top = TopShares(numbers, values, rest, background)
    weight = np.full(n_documents, 1.0 / (length + 5.0), np.float32)
    tokens = rng.integers(0, n_words, (n_documents, length), dtype=np.int32)
    ends = np.arange(0, tokens.size + 1, length)
    table = sparse.csr_array((np.ones(tokens.size, np.int32), tokens.ravel(), ends),
                             shape=(n_documents, n_words))  # fmt: skip
    table.sum_duplicates()
    own = OwnWords.of(discan.Corpus(table))
    kinds = {
        f"{n_kept} largest shares": Index(fit, (View(top, weight),)),
        f"{n_kept} largest shares, and words": Index(fit, (View(top, weight),), own),
    }
    whole = AllShares(top.rows(slice(None), np.float32))
    kinds["all shares, float32"] = Index(fit, (View(whole, weight),))
    rows = []
    with Threads(2) as engine:
        for title, index in kinds.items():
            arrays = [weight, *vars(index.views[0].shares).values()]
            if index.words is not None:
                arrays += [own.indptr, own.documents, own.counts]
            size = sum(array.nbytes for array in arrays if hasattr(array, "nbytes"))
            times = []
            for n in (1, 3, 5, 10):
                query = np.bincount(rng.integers(0, n_words, n), minlength=n_words)
                taken = []
                for _ in range(2):
                    began = time.perf_counter()
                    index.search(query, 10, engine=engine)
                    taken.append(time.perf_counter() - began)
                times.append(f"{min(taken):.2f}")
            rows.append((title, f"{size / 1e6:,.0f}", *times))
    report.say(
        f"## Speed\n\nSeconds of a query of 1, 3, 5 and 10 tokens to an index of {n_documents:,} "
        f"random documents of {length} tokens and {n_components} components, on two threads, and "
        "megabytes of the index in memory."
    )
    report.table(["index", "MB", "1", "3", "5", "10"], rows)


def figure(values: Any, sign: str = "") -> str:
    """Mean and standard error."""
    return mean_and_error(values, sign, 3)


def shown(mu: float | None) -> str:
    """A value of mu in words."""
    return "of the mean length" if mu is None else f"{mu:g}"


if __name__ == "__main__":
    main()
