# SPDX-License-Identifier: BSD-3-Clause
"""Answers that are written to a file, because there may be more than memory holds."""

from __future__ import annotations

from typing import Any

from discan.estimators.fitted import Fitted
from discan.fitting.written import write_filled, write_predictions, write_scores

__all__ = ["Writes"]


class Writes(Fitted):
    """Answers of a fitted estimator as tables in files."""

    def transform_to(
        self, path: Any, X: Any, *, fold_in: str | None = None, counts: bool = False,
        sd: bool = False,
    ) -> None:  # fmt: skip
        """Write what ``transform`` returns to a file, block by block, with the same bits.

        A row per document: its name, its metadata, its scores. A few blocks are in memory at once.
        The file appears when it is whole: after an error or an interruption there is none, or the
        one that was there before.

        Parameters
        ----------
        path : file that ends in .csv, .parquet or .npy
            A .npy file holds the scores alone, (I, K).
        X : (I, J) counts, Corpus, or path of a corpus folder
            New documents.
        fold_in : {"fast", "gibbs"}, optional
            As for ``transform``.
        counts : bool, default=False
            Whether to write the expected tokens of each component instead.
        sd : bool, default=False
            Whether to add the columns of ``transform_sd``.
        """
        corpus = self._corpus(X)
        with self._threads() as engine:
            write_scores(path, self.fit_.folding_in(fold_in), corpus, engine, counts, sd)

    def predict_group_to(
        self, path: Any, X: Any, group: Any, *, probabilities: bool = False
    ) -> None:
        """Write what ``predict_group`` returns to a file, as ``transform_to`` does.

        Parameters
        ----------
        path : file that ends in .csv or .parquet
            File to write.
        X : (I, J) counts, Corpus, or path of a corpus folder
            New documents.
        group : int or str
            Its number, or its name.
        probabilities : bool, default=False
            Whether to write a column per word of the group instead, as ``predict_group_proba``.
        """
        corpus = self._corpus(X)
        with self._threads() as engine:
            write_predictions(path, self.fit_, corpus, group, engine, probabilities)

    def impute_to(self, path: Any, X: Any, totals: Any = None) -> None:
        """Write the counts that ``impute`` fills in to a file, as ``transform_to`` does.

        A row per filled count: document, group, word, expected count.

        Parameters
        ----------
        path : file that ends in .csv or .parquet
            File to write.
        X : (I, J) counts, Corpus, or path of a corpus folder
            New documents.
        totals : float or (G,) array, optional
            As for ``impute``.
        """
        corpus = self._corpus(X)
        with self._threads() as engine:
            write_filled(path, self.fit_, corpus, engine, totals)
