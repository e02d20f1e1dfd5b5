# SPDX-License-Identifier: BSD-3-Clause
"""The commands that look at a model: show and info."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from discan.cli.options import DATASET, Listing, ModelFile, Printing, TextReading
from discan.cli.options import printing as printed
from discan.cli.printing import emit, emit_record, listing, terminal_width, to_json
from discan.cli.reading import find_data, load_model, read_found

__all__ = ["info", "show"]

log = logging.getLogger("discan")

APART = "sets it apart"  # the list of telling answers
MOST_CLASSES = 10  # classes of documents that are listed, those with the largest alpha


def show(
    model: ModelFile,
    *,
    words: Annotated[int, printed("Words per component.", min=0)] = 8,
    documents: Annotated[int, printed("Typical documents per component.", min=0)] = 3,
    sd: Annotated[bool, printed("Add standard deviations: how sure each number is.")] = False,
    interval: Annotated[
        float | None,
        printed("Add intervals at this level, e.g. 0.9, instead.", min=0.001, max=0.999),
    ] = None,
    style: Listing,
) -> None:
    """Show the components: their sizes, words and most typical documents, largest first.

    Text: words by probability and by lift. The lift is how many times likelier a word is in the
    component than in all the data: it shows what is special about the component. Votes, answers,
    alleles: what sets the component apart, with its share here and in the other components. Parents
    of components, if there are any, come first.

    [b]Example:[/b] discan show model/ --words 12
    """
    if interval is not None and (style.json or style.csv):
        raise typer.BadParameter("--json and --csv have --sd; discan.load(...).intervals() has all")
    fit = load_model(model).fit
    sd = sd or interval is not None
    if sd and fit.documents is not None:  # without documents there is no summary
        fit.known_sd("components")  # an algorithm without says so
    found = fit.summary(words, documents, sd)
    two_levels = fit.params.model.levels > 1
    parents = fit.describe_parents(n_words=words) if two_levels else []
    if style.json:
        records = [component.as_dict() for component in found]
        sys.stdout.write(to_json(records + [parent.as_dict() for parent in parents]))
    elif style.csv:
        columns = ("component", "size", "list", "field", "rank", "name", "value", "sd")
        rows = [row for component in found for row in _rows(component)]
        emit(style.style, columns, rows + [row for parent in parents for row in _of_parent(parent)])
    else:
        texts = []
        if fit.counted:
            texts.append(f"{fit.counted}; concentration {fit.concentration:.3g}\n")
        texts += [_parent(parent, fit) for parent in parents]
        texts += [_paragraph(component, fit, sd, interval) for component in found]
        sys.stdout.write("\n".join(texts))


def info(
    path: Annotated[str, typer.Argument(help="Model, run folder, or any data that can be read.")],
    *,
    verify: Annotated[
        bool,
        printed("Corpus folder: read every file and check it. Other files are always checked."),
    ] = False,
    reading: TextReading,
    printing: Printing,
) -> None:
    """Describe a model file, a run folder, a corpus folder or data.

    With any option that says how to read the data, the path is taken for data.

    [b]Example:[/b] discan info model/
    """
    from discan.data.folders.format import is_corpus_folder
    from discan.fitting.modelfile import model_path
    from discan.fitting.summary import describe_corpus

    folder, file = Path(path), model_path(path)
    verdict = None
    if path.startswith(DATASET) or reading != TextReading():
        record = None
    elif is_corpus_folder(folder):
        record = _describe_corpus_folder(folder, verify)
    elif (folder / "settings.discan").is_file() and not file.is_file():
        record = _describe_run(folder)
    elif _is_model(file):
        loaded = load_model(file)
        record, verdict = loaded.describe(), loaded.fit.verdict()
    else:
        record = None
    if record is None:
        found = find_data(path, reading)
        record = {"format": found.format} if found.format else {}
        record |= describe_corpus(read_found(found, reading))
    emit_record(printing.style, record)
    if verdict is not None:
        log.info(verdict)


def _describe_corpus_folder(folder: Path, verify: bool) -> dict[str, Any]:
    from discan.data.folders.shards import FolderReader

    reader = FolderReader(folder)
    record = reader.manifest.describe()
    if verify:
        reader.verify()
        record["verified"] = True
    return record


def _paragraph(component: Any, fit: Any, sd: bool, level: float | None = None) -> str:
    """Describe one component for people."""
    questions = not component.words  # votes, answers, alleles: all are listed together
    several = len({word.field for word in component.words}) > 1
    entries: dict[str, list[str]] = {}
    for kind, words in (("by probability", component.words), ("by lift", component.distinctive)):
        for word in words:
            if not word.field and (questions or several):
                name, text = APART, _answer(word, sd, level)
            else:
                name = f"{word.field}, {kind}" if several else kind
                text = _word(word, several or sd, sd, level)
            entries.setdefault(name, []).append(text)
    if questions and not component.distinctive:
        entries[APART] = [f"nothing: no {fit.nouns.word} is likelier than elsewhere"]
    if fit.class_names:
        values = fit.hyperparameter("alpha")[:, component.number - 1]
        largest = sorted(range(len(values)), key=lambda c: -values[c])[:MOST_CLASSES]
        entries["alpha by class"] = [f"{fit.class_names[c]} ({values[c]:.2g})" for c in largest]
    entries[f"typical {fit.nouns.documents}"] = [
        f"{d.name} ({_with_sd(d.share, d.sd, level)})" if sd and d.sd is not None else d.name
        for d in component.documents
    ]
    title = f"{component.name}: {100 * component.size:.1f} % of all counts"
    return listing(title, entries, terminal_width(), by_line=(APART,))


def _parent(parent: Any, fit: Any) -> str:
    """Describe one parent for people."""
    listed = [f"{name} ({_percent(share)})" for name, share in parent.components]
    title = f"{parent.name}: {100 * parent.size:.1f} % of a {fit.nouns.document} on average"
    entries = {fit.nouns.components: listed, fit.nouns.words: parent.words}
    return listing(title, entries, terminal_width())


def _of_parent(parent: Any) -> Iterator[tuple[Any, ...]]:
    """Iterate over the rows of one parent in a table."""
    for rank, (name, share) in enumerate(parent.components, 1):
        yield parent.name, parent.size, "components", "", rank, name, share, None
    for rank, word in enumerate(parent.words, 1):
        yield parent.name, parent.size, "words", "", rank, word, None, None


def _word(word: Any, shares: bool, sd: bool, level: float | None) -> str:
    """Return a word, perhaps with its share in the component and in all the data."""
    if not shares:
        return str(word.name)
    here = _with_sd(word.probability, word.sd if sd else None, level)
    return f"{word.name} ({here}, all {_percent(word.overall)})"


def _answer(word: Any, sd: bool, level: float | None) -> str:
    """Return an answer with its share in the component and in the others."""
    here = _with_sd(word.probability, word.sd if sd else None, level)
    return f"{word.name} ({here}, others {_percent(word.others)})"


def _with_sd(share: float, sd: float | None, level: float | None) -> str:
    """Return a share with its standard deviation, or with limits at a level."""
    if sd is None:
        return _percent(share)
    if level is None:
        return f"{_percent(share)} \u00b1{_percent(sd)}"
    import numpy as np

    from discan.evaluation.intervals import share_quantile

    edges = np.array([0.5 - level / 2, 0.5 + level / 2])
    low, high = share_quantile(np.array([share]), np.array([sd]), edges)[:, 0]
    return f"{_percent(share)} [{_percent(low)} to {_percent(high)}]"


def _percent(share: float) -> str:
    """Return a share with two digits, or as many as it takes to tell it from 0 and 100."""
    percent = 100 * share
    text = f"{percent:.2g}" if percent < 9.95 else f"{percent:.{int(99.5 <= percent < 99.95)}f}"
    return f"{float(text):g}%"  # no space, where a line could break


def _rows(component: Any) -> Iterator[tuple[Any, ...]]:
    """Iterate over the rows of one component in a table."""
    lists = {
        "probability": [(w.field, w.name, w.probability, w.sd) for w in component.words],
        "lift": [(w.field, w.name, w.lift, None) for w in component.distinctive],
        "documents": [("", d.name, d.share, d.sd) for d in component.documents],
    }
    for kind, items in lists.items():
        ranks: Counter[str] = Counter()
        for field, *rest in items:
            ranks[field] += 1
            yield component.name, component.size, kind, field, ranks[field], *rest


def _describe_run(folder: Path) -> dict[str, Any]:
    """Describe the run that a folder holds."""
    from discan.data.rules import faults_of
    from discan.data.storage import read_file

    header, _ = read_file(folder / "settings.discan", "settings")
    state = folder / "state.discan"
    with faults_of(folder):
        settings = header["settings"]
        algorithm = settings.get("algorithm")
        return {
            "holds": "a run",
            "class": header["class"],
            "cycles": read_file(state, "state")[0]["cycle"] if state.is_file() else 0,
            "components": settings.get("n_components"),
            "model": settings.get("model"),
            "algorithm": algorithm["object"] if isinstance(algorithm, dict) else algorithm,
            "seed": str(settings.get("random_state")),
        }


def _is_model(file: Path) -> bool:
    """Tell whether a file is discan's and no corpus; the name tells it of a damaged file."""
    try:
        with file.open("rb") as stream:
            head = stream.read(2**16)
    except OSError:
        return False
    if rb"\"kind\": \"corpus\"" in head:
        return False
    return head[8:24] == b'{"__metadata__":' or file.name.endswith(".discan")
