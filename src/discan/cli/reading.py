# SPDX-License-Identifier: BSD-3-Clause
"""How commands read data and models."""

from __future__ import annotations

import contextlib
import logging
import re
import time
from pathlib import Path
from typing import Any

import typer

from discan.cli.options import checked
from discan.cli.saying import say
from discan.errors import InputError

__all__ = ["describe", "load_dca", "model_and_data", "named_group", "read_data", "reader_settings"]

log = logging.getLogger("discan")


def read_data(data: str, format: str | None, quiet: bool, settings: dict[str, Any]) -> Any:
    """Read data; options come as text, and what they are depends on the format."""
    began = time.perf_counter()
    if data.startswith("dataset:"):
        corpus = _load_dataset(data.removeprefix("dataset:"), settings)
    else:
        from discan.readers import READERS, read

        if format is None:
            format = guess_format(data, settings)
            log.info("%s: read as %s", data, format)
        options = READERS[checked("--format", format, list(READERS))].options
        values = {
            name: options[name].parse(value) if name in options else value
            for name, value in settings.items()
        }
        if "max_unpacked" in settings:
            values["max_unpacked"] = settings["max_unpacked"]
        corpus = read(data, format, **values)
    say(quiet, f"{str(corpus)[9:-1]}, read in {time.perf_counter() - began:.1f} s")
    if corpus.layout.word_names is None:
        say(quiet, "the words have no names and are numbered from 0 (see --option vocabulary=...)")
    return corpus


def _load_dataset(name: str, settings: dict[str, Any]) -> Any:
    import inspect

    from discan.readers.datasets import DATASETS

    loader = DATASETS[checked("DATA", name, list(DATASETS))].loader
    known = inspect.signature(loader).parameters
    takes_any = any(p.kind is p.VAR_KEYWORD for p in known.values())
    for option in settings:
        if option not in known and not takes_any:
            has = ", ".join(known) or "none"
            raise InputError(f"dataset:{name} has no option {option!r}; it has {has}")
    values = {
        option: _value(value, str(known[option].annotation) if option in known else "Any")
        for option, value in settings.items()
    }
    return loader(**values).corpus


def guess_format(data: str, settings: dict[str, Any]) -> str:
    from discan.readers import MAX_UNPACKED, Source, guess

    return guess(Source(data, settings.get("max_unpacked", MAX_UNPACKED)))


def model_and_data(
    model: Path, data: str, format: str | None, settings: dict[str, Any], quiet: bool,
    threads: int, max_unseen: float,
) -> tuple[Any, Any]:  # fmt: skip
    """Load a model, and data laid out in its columns."""
    from discan.data.align import align
    from discan.readers import READERS

    estimator = load_dca(model)
    estimator.set_params(n_jobs=threads, groups=None)
    layout = estimator._layout
    if not data.startswith("dataset:") and layout.word_names is not None:
        if format is None:
            format = guess_format(data, settings)
            log.info("%s: read as %s", data, format)
        if format in READERS and READERS[format].is_text:
            settings = _as_fitted(layout.word_names, max_unseen) | settings
    corpus = read_data(data, format, quiet, settings)
    return estimator, align(corpus, layout, max_unseen)


def load_dca(model: Path) -> Any:
    """Load a model; of one that has a DCA inside, such as a classifier, take that."""
    from discan.fitting.modelfile import load

    estimator = load(model)
    return getattr(estimator, "dca_", estimator)


def named_group(estimator: Any, group: str) -> str | int:
    """A group as given on the command line: its name or, if no group has it, its number."""
    names = estimator._layout.group_names or ()
    return int(group) if group not in names and group.isdecimal() else group


def _as_fitted(words: tuple[str, ...], max_unseen: float) -> dict[str, Any]:
    """Text is counted by the model's own words, whatever their number in the new documents."""
    longest = max((word.count(" ") for word in words), default=0) + 1
    capitals = any(word != word.lower() for word in words)
    options = {"ngrams": (1, longest), "lowercase": not capitals}
    if max_unseen < 1:  # all words are needed, to tell the share of the unknown
        return options | {"min_df": 1, "max_df": 1.0}
    return options | {"vocabulary": list(words)}


def reader_settings(
    stop_words: str | None, min_df: str | None, max_df: str | None, field: str | None,
    max_unpacked: str | None, option: list[str] | None,
) -> dict[str, Any]:  # fmt: skip
    """Collect the reader's options; those not given are left to the reader."""
    given = {
        "stop_words": stop_words,
        "min_df": None if min_df is None else _number("--min-df", min_df),
        "max_df": None if max_df is None else _number("--max-df", max_df),
        "field": field,
        "max_unpacked": None if max_unpacked is None else _size(max_unpacked),
    }
    result = {name: value for name, value in given.items() if value is not None}
    for item in option or []:
        name, equals, value = item.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"{item!r} is not KEY=VALUE", param_hint="--option")
        result[name.replace("-", "_")] = value
    return result


def _number(name: str, text: str) -> int | float:
    value = _scalar(text)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise typer.BadParameter(f"{text!r} is not a number", param_hint=name)
    return value


def _size(text: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text.strip().lower())
    if found is None or float(found[1]) > 2**40:
        raise typer.BadParameter(f"{text!r} is not a size, e.g. 4G", param_hint="--max-unpacked")
    return int(float(found[1]) * 2 ** (10 * " kmgt".index(found[2] or " ")))


def _value(text: Any, kind: str) -> Any:
    """Turn the text of an option into what the reader's signature says."""
    if not isinstance(text, str):
        return text
    text = text.replace("\\t", "\t")
    names = set(re.findall(r"\w+", kind)) - {"None", "Path", "StrPath", "PathLike", "os"}
    if "Iterable" in names:
        many = "," in text or kind == "Iterable[str]"
        return tuple(text.split(",")) if many else text
    if names <= {"str"}:
        return text
    if "," in text and len(text) > 1:
        return tuple(_scalar(part) for part in text.split(","))
    return _scalar(text)


def _scalar(text: str) -> Any:
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return {"true": True, "false": False}.get(text.lower(), text)


def describe(path: str, format: str | None, settings: dict[str, Any]) -> dict[str, Any]:
    """Say what a model file, a run folder or a data file holds."""
    from discan.data.storage import read_file
    from discan.fitting.modelfile import model_path
    from discan.fitting.summary import describe_corpus, describe_model

    if not path.startswith("dataset:"):
        folder, file = Path(path), model_path(path)
        if (folder / "settings.discan").is_file() and not file.is_file():
            header, _ = read_file(folder / "settings.discan", "settings")
            state = folder / "state.discan"
            cycles = read_file(state, "state")[0]["cycle"] if state.is_file() else 0
            settings = header["settings"]
            algorithm = settings.get("algorithm")
            if isinstance(algorithm, dict):
                algorithm = algorithm["object"]
            return {
                "holds": "a run", "class": header["class"], "cycles": cycles,
                "components": settings.get("n_components"), "model": settings.get("model"),
                "algorithm": algorithm, "seed": str(settings.get("random_state")),
            }  # fmt: skip
        if _is_model(file):
            return describe_model(load_dca(file))
        if format is None:
            format = guess_format(path, settings)
    record = describe_corpus(read_data(path, format, True, settings))
    return {"format": format, **record} if format else record


def _is_model(file: Path) -> bool:
    """Tell a file of discan's that is not a corpus; a damaged one is told by its name."""
    try:
        with file.open("rb") as stream:
            head = stream.read(2**16)
    except OSError:
        return False
    if rb"\"kind\": \"corpus\"" in head:
        return False
    return head[8:24] == b'{"__metadata__":' or file.name.endswith(".discan")
