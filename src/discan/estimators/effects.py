# SPDX-License-Identifier: BSD-3-Clause
"""How the mean shares of components differ between labels, as a data frame."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discan.errors import InputError
from discan.estimators.fitted import Fitted
from discan.estimators.frames import frame
from discan.evaluation.effects import effects

__all__ = ["LabelEffects"]

log = logging.getLogger("discan")


class LabelEffects(Fitted):
    """Effects of labels on the shares of a fitted estimator's training documents."""

    def effects(
        self, labels: Any = None, *, time: Any = None, contrast: Any = None, level: float = 0.9,
        of: str = "population", library: str | None = None,
    ) -> Any:  # fmt: skip
        """Mean share of each component by label or over time, as a data frame with intervals.

        The interval covers the sampling of documents, and the posterior if the sampler kept its
        draws (``Collapsed(keep_draws=True)``). Without draws it covers the sampling of documents
        only: their shares are taken as known. A remark says which. The labels played no part in the
        fit, and a difference does not show a cause.

        Parameters
        ----------
        labels : name of a column of the metadata, or (I,) labels
            E.g. the party of each training document. Documents without a label are left out.
        time : name of a column of the metadata, or (I,) dates or numbers
            Instead of labels; it is cut into at most about sixty periods.
        contrast : pair of labels, optional
            Return differences of the mean shares, the first label minus the second.
        level : float, default=0.9
            Probability of each interval. Of many intervals, some miss by chance.
        of : {"population", "documents"}, default="population"
            "population": the mean of all documents of the kind, of which these are a sample.
            "documents": of these documents alone; needs draws that were kept.
        library : {"pandas", "polars"}, optional
            As for ``components_frame``.

        Returns
        -------
        data frame
            A row per label and component: columns "component", "documents", "mean", "low", "high".
            With ``contrast`` a row per component: "difference", "low", "high".

        Examples
        --------
        >>> import numpy as np, discan
        >>> X = np.kron(np.eye(2, dtype=int), np.full((5, 4), 3))
        >>> estimator = discan.LDA(2, algorithm="map", random_state=0).fit(X)
        >>> table = estimator.effects(["a"] * 5 + ["b"] * 5)
        >>> len(table)
        4
        """
        check_is_fitted(self, "fit_")
        found = effects(self.fit_, labels, time=time, level=level, of=of)
        log.info("intervals of %g %% cover %s", 100 * level, found.covers)
        names = self.fit_.component_names
        if contrast is None:
            rows = [label for label in found.labels for _ in names]
            columns = {
                "component": np.array(list(names) * len(found.labels), dtype=object),
                "documents": np.repeat(found.n_documents, len(names)),
                **{name: getattr(found, name).ravel() for name in ("mean", "low", "high")},
            }
            return frame(library, found.by, rows, columns)
        if isinstance(contrast, str) or not hasattr(contrast, "__len__") or len(contrast) != 2:
            raise InputError("{}; give two labels", argument="contrast", value=contrast)
        pair = found.contrast(*contrast)
        columns = {name: getattr(pair, name) for name in ("difference", "low", "high")}
        return frame(library, self.fit_.nouns.component, list(names), columns)
