# SPDX-License-Identifier: BSD-3-Clause
"""Estimators that carry well-known names: DCA with the model fixed."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from discan.estimators.dca import DCA
from discan.estimators.docstrings import joined, parameters, sections
from discan.estimators.signatures import set_init
from discan.models import MODELS

__all__ = ["LDA", "MPCA", "NMF", "PLSI", "ConditionalGaP", "GaP"]


def _preset(model: str, algorithm: str) -> Callable[[type[DCA]], type[DCA]]:
    """Fix the model of DCA and set its default algorithm; the docstring tells all parameters."""

    def decorate(cls: type[DCA]) -> type[DCA]:
        inherited = inspect.signature(DCA.__init__).parameters.values()
        signature = inspect.Signature(
            [
                p.replace(default=algorithm) if p.name == "algorithm" else p
                for p in inherited
                if p.name != "model"
            ]
        )
        set_init(cls, signature, lambda self, given: DCA.__init__(self, model=model, **given))
        cls.__doc__ = _docstring(cls, model, algorithm)
        return cls

    return decorate


def _docstring(cls: type[DCA], model: str, algorithm: str) -> str | None:
    """Return the docstring of a preset: its own words, and the parameters of DCA that it has."""
    if not DCA.__doc__:  # python -OO leaves docstrings out
        return None
    own, shared = sections(cls.__doc__), sections(DCA.__doc__)
    found = MODELS.find(model)
    entries = []
    for names, entry in parameters(shared["Parameters"]).items():
        if "model" in names:
            continue
        if "algorithm" in names:
            entry += f'\n    Here the default is "{algorithm}".'
        if "alpha" in names and len(found.hyperparameters) < len(names):
            has = " and ".join(found.hyperparameters)
            entry += f"\n    This model, {found.name}, has {has}; leave out the others."
        entries.append(entry)
    return joined(
        {
            "": own.pop(""),
            "Parameters": entries,
            "Attributes": shared["Attributes"],
            **own,
            "Examples": shared["Examples"].replace("discan.DCA(", f"discan.{cls.__name__}("),
        }
    )


@_preset("gp", "ml")
class NMF(DCA):
    """Non-negative matrix factorisation with the Kullback-Leibler divergence.

    A table of counts (I, J) is explained as scores (I, K) times components (K, J), all of them
    non-negative: each count is Poisson with that mean, and the likelihood is as large as possible.
    There are no priors, so rare words and short documents are fitted closely; ``GaP`` is the same
    model with priors. ``transform`` gives amounts: their sum is the length of the document.

    See Also
    --------
    GaP : The same model with priors.
    PLSI : The same for proportions.
    """


@_preset("dm", "ml")
class PLSI(DCA):
    """Probabilistic latent semantic indexing.

    Each document is a mix of components, which are distributions over words; the likelihood is as
    large as possible. There are no priors; ``LDA`` is the same model with priors.
    ``algorithm=MaximumLikelihood(tau=...)`` tempers the fit, which guards against overfitting.

    See Also
    --------
    LDA : The same model with priors.
    NMF : The same for amounts.
    """


@_preset("dm", "auto")
class LDA(DCA):
    """Latent Dirichlet allocation.

    Each document is a mix of components (topics), which are distributions over words. The
    proportions of the mix have a Dirichlet prior with parameter ``alpha``, and the words of a
    component one with parameter ``gamma``. The lengths of the documents are taken as given.

    See Also
    --------
    MPCA : The same model, under the name it has for votes, surveys and genotypes.
    PLSI : The same model without priors.
    GaP : Amounts instead of proportions.

    Notes
    -----
    In the notation of the literature, ``alpha`` is alpha, ``gamma`` is eta or beta, ``components_``
    is phi or beta, and ``scores_`` is theta.
    """


@_preset("dm", "auto")
class MPCA(DCA):
    """Multinomial PCA: the same model as LDA, under the name it has for grouped columns.

    Each document (a voter, a person, a respondent) is a mix of components. A component has a
    distribution over the answers of each question, the alleles of each locus, or the words of each
    field: ``groups`` says which columns belong together. A question without an answer is missing.

    See Also
    --------
    LDA : The same model.
    """


@_preset("gp", "auto")
class GaP(DCA):
    """Gamma-Poisson: independent amounts of the components, and document lengths that matter.

    Each count is Poisson with a mean that is a sum over components: the amount (score) of the
    component in the document times the probability of the word. The amounts have gamma priors with
    shape ``alpha`` and rate ``beta``; the words of a component have a Dirichlet prior with
    parameter ``gamma``. Documents that were observed unequally have exposures (see ``Corpus``).

    See Also
    --------
    NMF : The same model without priors.
    ConditionalGaP : Components can be truly absent.
    LDA : Proportions instead of amounts.
    """


@_preset("cgp", "auto")
class ConditionalGaP(DCA):
    """Conditional Gamma-Poisson: components may be truly absent from a document.

    As ``GaP``, but a component is absent from a document with prior probability ``rho``; its amount
    is then exactly zero. ``prob_absent`` and ``absent_`` say how sure that is. There is no point
    estimate, so the algorithms are "variational", "gibbs" and "collapsed".

    See Also
    --------
    GaP : No component is ever quite absent.
    """
