# SPDX-License-Identifier: BSD-3-Clause
"""The command that says whether chains agree and have mixed: chains."""

from __future__ import annotations

import sys
from typing import Any

from discan.cli.options import Listing, ModelFile
from discan.cli.printing import Style, emit, plain, to_json
from discan.cli.reading import load_model
from discan.errors import InputError

__all__ = ["chains"]


def chains(model: ModelFile, *, style: Listing) -> None:
    """Say whether the chains of a fit agree, and whether they have mixed.

    The rows are quantities of the draws: log p, the entropy of the sizes, what was learnt, and the
    sizes of the components, matched between chains. R-hat compares the chains, and the halves of
    each: above 1.05 they tell different things. The effective sample sizes (ess) say how many
    independent draws the dependent ones are worth, for the mean (bulk) and for the 5% and 95%
    quantiles (tail).

    [b]Example:[/b] discan fit votes.csv -k 4 --chains 4 -o m.discan, then discan chains m.discan
    """
    from discan.evaluation.diagnostics import Diagnostic, diagnostics

    fit = load_model(model).fit
    found, several = diagnostics(fit), fit.chains
    if not found and several is None:
        raise InputError(
            "the model has one start and no draws",
            use={"n_chains": 4, "algorithm": ("collapsed", "gibbs")},
        )
    if style.json:
        record: dict[str, Any] = {"quantities": [row._asdict() for row in found]}
        if several is not None:
            record |= {
                "chosen": several.chosen + 1,
                "agree": several.agree,
                "report": list(several.report),
                "value": several.value.tolist(),
                "seeds": [str(seed) for seed in several.seeds],
                "similarity": several.similarity.tolist(),
                "stability": dict(
                    zip(fit.component_names, several.stability.tolist(), strict=True)
                ),
            }
        sys.stdout.write(to_json(record))
        return
    if style.style is Style.TABLE and several is not None:
        sys.stdout.write("".join(f"{plain(line)}\n" for line in several.report) + "\n")
        rows = [
            (name, f"{100 * size:.1f}%", f"{value:.2f}")
            for name, size, value in zip(
                fit.component_names, fit.sizes, several.stability, strict=True
            )
        ]
        emit(style.style, ("component", "size", "stability"), rows)
        sys.stdout.write("\n" if found else "")
    if style.style is not Style.TABLE:
        emit(style.style, Diagnostic._fields, found)
    elif found:
        titles = ("quantity", "mean", "sd", "5%", "95%", "R-hat", "ess bulk", "ess tail")
        emit(style.style, titles, [_shown(row) for row in found])


def _shown(row: Any) -> list[str]:
    numbers = [f"{v:,.0f}" if abs(v) >= 1000 else f"{v:.4g}" for v in row[1:5]]
    return [row.quantity, *numbers, f"{row.rhat:.2f}", f"{row.ess_bulk:.0f}", f"{row.ess_tail:.0f}"]
