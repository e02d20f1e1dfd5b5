# SPDX-License-Identifier: BSD-3-Clause
"""Write a fitted estimator to a model file: its fit, class and settings."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from discan.data.layout import Layout
from discan.estimators.classes import kept_labels
from discan.estimators.seeding import fixed_rows
from discan.estimators.streaming import Streams, stream_header
from discan.fitting.encoding import encode_settings
from discan.fitting.memory import enough_memory
from discan.fitting.modelfile import write_fit
from discan.typing import Array

__all__ = ["Saves", "file_header", "settings_header"]


class Saves(Streams):
    """A fitted estimator, or a stream of batches, as a file."""

    def save(self, path: Any) -> None:
        """Write the fitted estimator to a file, all or nothing; ``discan.load`` reads it.

        Parameters
        ----------
        path : path
            File to write. A name that ends in a slash is a folder: the file is ``model.discan``.
        """
        check_is_fitted(self)
        with enough_memory("the tables of the model file"):
            write_fit(path, self.fit_, *file_header(self))


def file_header(estimator: Saves) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return what an estimator adds to a model file: its class, settings and stream."""
    seed = estimator.settings_.get("seed")
    header, arrays = settings_header(estimator, seed, estimator.fit_.layout)
    return {**header, **stream_header(estimator, arrays)}, arrays


def settings_header(
    estimator: Any, seed: Any, layout: Layout
) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the class and settings as a header, and the arrays among the settings."""
    arrays: dict[str, Array] = {}
    settings = {**estimator.get_params(deep=False), "random_state": seed}
    settings["fixed_components"] = fixed_rows(estimator.fixed_components, layout)
    settings["class_of_document"] = kept_labels(estimator.class_of_document)
    return {
        "class": type(estimator).__name__,
        "settings": encode_settings("settings", settings, arrays),
        "feature_names": [str(name) for name in getattr(estimator, "feature_names_in_", [])],
    }, arrays
