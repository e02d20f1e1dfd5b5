# Every target sets up .venv by itself; a stamp inside it remembers what was installed.

PYTHON ?= python3
WORKERS ?= 2
BIN := .venv/bin
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable

.PHONY: test demo lint bench clean

test: .venv/.installed-test
	$(BIN)/python -m pytest -n $(WORKERS)

demo: .venv/.installed
	$(BIN)/discan demo

lint: .venv/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell

bench: .venv/.installed
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(BIN)/python:
	$(PYTHON) -m venv .venv

.venv/.installed: pyproject.toml | $(BIN)/python
	$(INSTALL) .
	touch $@

.venv/.installed-test: pyproject.toml | $(BIN)/python
	$(INSTALL) '.[test]'
	touch .venv/.installed $@

.venv/.installed-dev: pyproject.toml | $(BIN)/python
	$(INSTALL) '.[dev]'
	touch .venv/.installed .venv/.installed-test $@
