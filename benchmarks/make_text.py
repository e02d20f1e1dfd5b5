# SPDX-License-Identifier: BSD-3-Clause
"""Write text with known topics, of any size, for fits of data larger than memory.

    python benchmarks/make_text.py text.txt --gb 3            one document per line
    python benchmarks/make_text.py parts/ --gb 3 --parts 48   the same text in 48 files
    python benchmarks/make_text.py texts/ --gb 1 --layout files       one document per file
    python benchmarks/make_text.py last.txt --gb 3 --parts 48 --part 47       one of the files
    python benchmarks/make_text.py text.txt --gb 3 --truth truth.npz          and its topics

The same options always give the same bytes, on any number of threads.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from language import MEAN_BYTES, Language

from discan.engines import Threads, pieces
from discan.typing import Array

__all__ = ["chunks", "write_files", "write_lines", "write_truth"]

CHUNK = 2048  # documents that are made at once
PER_FOLDER = 1000


def main() -> None:
    """Write the text that the options ask for."""
    options = _options()
    language = Language(options.seed, options.topics, options.words)
    n_documents = max(1, round(options.gb * 1e9 / MEAN_BYTES))
    parts = pieces(n_documents, options.parts)
    began = time.perf_counter()
    with Threads(options.threads) as engine:
        if options.part is not None:
            size = write_lines(language, options.output, *parts[options.part], engine)
        elif options.layout == "files":
            size = write_files(language, options.output, n_documents, engine)
        elif options.parts == 1:
            size = write_lines(language, options.output, 0, n_documents, engine)
        else:
            options.output.mkdir(parents=True, exist_ok=True)
            paths = [options.output / f"part-{n:05}.txt" for n in range(len(parts))]
            size = sum(
                write_lines(language, path, *part, engine)
                for path, part in zip(paths, parts, strict=True)
            )
    if options.truth:
        write_truth(language, options.truth)
    seconds = time.perf_counter() - began
    print(f"{options.output}: {size / 1e9:.3f} GB in {seconds:.1f} s, {n_documents:,} documents")


def chunks(
    language: Language, first: int, last: int, engine: Threads
) -> Iterator[tuple[Array, Array]]:
    """Iterate over the bytes of documents ``first`` to ``last`` - 1, and where they end."""
    starts = range(first, last, CHUNK)
    language.text(first, 1)  # makes the tables before threads share them

    def make(start: int) -> tuple[Array, Array]:
        return language.text(start, min(CHUNK, last - start))

    at_once = 2 * engine.n_workers
    for n in range(0, len(starts), at_once):
        yield from engine.run(make, starts[n : n + at_once])


def write_lines(language: Language, path: Path, first: int, last: int, engine: Threads) -> int:
    """Write one document per line; return the number of bytes."""
    unfinished = path.with_name(path.name + ".tmp")
    with unfinished.open("wb") as out:
        size = sum(out.write(text) for text, _ in chunks(language, first, last, engine))
    os.replace(unfinished, path)
    return size


def write_files(language: Language, folder: Path, n_documents: int, engine: Threads) -> int:
    """Write one document per file, a thousand files per folder; return the number of bytes."""
    document = size = 0
    for text, ends in chunks(language, 0, n_documents, engine):
        start = 0
        for end in ends:
            path = folder / f"{document // PER_FOLDER:05}" / f"{document:08}.txt"
            if document % PER_FOLDER == 0:
                path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text[start:end])
            start, document = end, document + 1
        size += text.size
    return size


def write_truth(language: Language, path: Path) -> None:
    """Write the words and the true components as arrays of a compressed sparse row matrix."""
    true = language.components
    np.savez(
        path, words=np.array(language.words), shape=true.shape, indptr=true.indptr,
        indices=true.indices, probabilities=true.data,
    )  # fmt: skip


def _options() -> argparse.Namespace:
    description, _, examples = str(__doc__).partition("\n\n")
    parser = argparse.ArgumentParser(
        description=description, epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = parser.add_argument
    add("output", type=Path, help="file, or folder for several files")
    add("--gb", type=float, default=0.1, help="size in GB (10^9 bytes), to a percent")
    add("--layout", choices=("lines", "files"), default="lines", help="one document per ...")
    add("--parts", type=int, default=1, help="number of files of lines")
    add("--part", type=int, help="write only this one of the parts, as a file")
    add("--topics", type=int, default=200)
    add("--words", type=int, default=100_000, help="invented words beside those that occur once")
    add("--seed", type=int, default=0)
    add("--threads", type=int, default=2)
    add("--truth", type=Path, help="file for the true components (.npz)")
    options = parser.parse_args()
    if options.gb <= 0 or min(options.parts, options.topics, options.threads) < 1:
        parser.error("--gb, --parts, --topics and --threads must be positive")
    if options.part is not None and not 0 <= options.part < options.parts:
        parser.error(f"--part must be 0 to {options.parts - 1}")
    if options.layout == "files" and options.parts > 1:
        parser.error("--parts is for --layout lines")
    return options


if __name__ == "__main__":
    main()
