# Every target sets up .venv by itself; a stamp inside it remembers what was installed.

PYTHON ?= python3
WORKERS ?= 2
PEERS := tomotopy gensim enstop
# Only for the race to the final quality. BigARTM's messages need an old protobuf.
MORE_PEERS := vowpalwabbit "bigartm six protobuf<3.21"
BIN := .venv/bin
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable

.PHONY: test test-slow demo docs examples lint audit dist bench bench-short clean

# Tests start hundreds of processes, which load compiled modules even where the environment says not
# to write them.
test test-slow: export PYTHONDONTWRITEBYTECODE =

test: .venv/.installed-test
	$(BIN)/python -m pytest -n $(WORKERS)

# The long forms of tests, about an hour on 2 cores.
test-slow: .venv/.installed-test
	$(BIN)/python -m pytest -n $(WORKERS) -m slow

demo: .venv/.installed
	$(BIN)/discan demo

# The site, in build/site: open build/site/index.html. Needs no network.
docs: .venv/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "the site is in build/site: open build/site/index.html"

# Each writes docs/results/<name>.md; one whose data are absent says so and is no failure.
examples: .venv/.installed-test
	@for script in $(filter-out examples/common.py examples/_%,$(wildcard examples/*.py)); do \
		echo "== $$script"; $(BIN)/python $$script || exit 1; done

lint: .venv/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell

# Known vulnerabilities of what is installed; without a network there is nothing to ask.
audit: .venv/.installed
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check pip-audit 2>/dev/null \
		|| { echo "no audit: pip-audit cannot be installed here"; exit 0; }; \
	$(BIN)/python -m pip_audit --local --skip-editable 2>&1 | tee .venv/audit.txt; \
	if grep -q "^Found [0-9]* known" .venv/audit.txt; then exit 1; fi; \
	left_out=$$(grep -c "could not be audited" .venv/audit.txt); \
	if [ $$left_out -gt 0 ]; then \
		echo "no audit of $$left_out packages: the index that pip uses tells nothing about them"; \
	elif ! grep -q "^No known" .venv/audit.txt; then \
		echo "no audit: the database cannot be reached"; fi

# Wheel and source distribution; `tests/test_packages.py` looks into them.
dist: $(BIN)/python
	rm -rf dist
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build
	$(BIN)/python -m build --outdir dist .
	ls -l dist

bench: .venv/.installed-bench
	$(BIN)/python benchmarks/run.py

bench-short: .venv/.installed-bench
	$(BIN)/python benchmarks/run.py --short

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

.venv/.installed-docs: pyproject.toml | $(BIN)/python
	$(INSTALL) '.[docs]'
	touch .venv/.installed $@

# A peer that cannot be installed here is left out of the benchmark, which says so.
.venv/.installed-bench: pyproject.toml | $(BIN)/python
	$(INSTALL) '.[bench]' || { $(INSTALL) . && for peer in $(PEERS); do \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check $$peer || echo "without $$peer"; done; }
	for peer in $(MORE_PEERS); do \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check $$peer || echo "without $$peer"; done
	touch .venv/.installed $@
