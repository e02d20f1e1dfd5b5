# SPDX-License-Identifier: BSD-3-Clause
"""The examples of docstrings print what they show, and public names document what they take."""

import doctest
import importlib
import inspect
from pathlib import Path

import pytest

import discan
from discan.estimators.docstrings import parameters, sections

SOURCE = Path(discan.__file__).parents[1]
EXAMPLES = [
    ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    for path in sorted(SOURCE.rglob("*.py"))
    if "\n    >>> " in path.read_text("utf-8") or "\n        >>> " in path.read_text("utf-8")
]
# Classes whose methods users call; of models and algorithms they give the options alone.
WITH_METHODS = {"DCA", "DCAClassifier", "DCAFeatures", "Explorer", "Index"}


def public():
    """Every public function, class and method of ours, by its full name."""
    for package in (discan, discan.plot, discan.search):
        for name in package.__all__:
            value = getattr(package, name)
            yield f"{package.__name__}.{name}", value
            for key, method in inspect.getmembers(value, callable) if name in WITH_METHODS else ():
                home = getattr(method, "__module__", None) or ""
                if not key.startswith("_") and home.startswith("discan."):
                    yield f"{package.__name__}.{name}.{key}", method


def documented(value, title):
    text = sections(value.__doc__).get(title, "")
    return {name.lstrip("*") for names in parameters(text) for name in names}


PUBLIC = {
    name: value
    for name, value in public()
    if not (inspect.isclass(value) and issubclass(value, (Exception, tuple)))
}


@pytest.mark.parametrize("module", EXAMPLES)
def test_examples_print_what_they_show(module):
    loaded = importlib.import_module(module)
    found = [test for test in doctest.DocTestFinder().find(loaded) if test.examples]
    assert found
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in found:
        runner.run(test)
    assert runner.failures == 0


@pytest.mark.parametrize("name", PUBLIC)
def test_every_parameter_is_documented(name):
    value = PUBLIC[name]
    taken = set(inspect.signature(value).parameters) - {"self"}
    if inspect.isclass(value):
        assert taken <= documented(value, "Parameters") | documented(value, "Attributes")
    else:
        assert taken <= documented(value, "Parameters")


@pytest.mark.parametrize("name", [n for n, value in PUBLIC.items() if inspect.isroutine(value)])
def test_every_result_is_documented(name):
    value = PUBLIC[name]
    if inspect.signature(value).return_annotation not in (None, "None"):
        assert "Returns" in sections(value.__doc__)
