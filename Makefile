# make setup    the environment in .venv (again only after pyproject.toml has changed)
# make run      a sample project on this machine: prints one address to open
# make test     what everybody runs before a change: lint and the tests that take seconds; with CI=true all of them
# make test-all the same with the slow tests
# make bench    measurements; make screenshots: pictures of the pages; make clean: remove what these made

PYTHON ?= python3
HOME_FOLDER ?= ./assay-home
PYTEST_OPTIONS ?=
SLOWEST := --durations=25 --durations-min=5

TORCH ?= torch==2.13.0+cpu

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Keyed by what it depends on and not by times, which a checkout changes.
KEY := $(shell cksum < pyproject.toml | tr ' ' '-')
STAMP := $(VENV)/setup-$(KEY)
JS_KEY := $(shell cksum < package.json | tr ' ' '-')
JS_STAMP := node_modules/setup-$(JS_KEY)
BENCHMARKS := $(patsubst tests/bench/%.py,tests.bench.%,$(wildcard tests/bench/bench_*.py))

# The browser's tests come after the others and one by one: they wait for a real clock.
ifeq ($(CI),true)
PLAIN := -m "not e2e"
BROWSER := -m e2e
else
PLAIN := -m "not e2e and not slow"
BROWSER := -m "e2e and not slow"
endif

.PHONY: help setup run test test-all lint lint-js format tests bench screenshots clean

help:
	@sed -n 's/^# //p' Makefile | head -5

setup: $(STAMP)

# torch comes first and alone, as a CPU build where the package index offers one: on Linux a plain `pip install torch`
# takes several GB of CUDA packages for a model of 22 M parameters. Another build: make setup TORCH='torch==2.13.0'.
$(STAMP):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Assay needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) --version 2>&1)." >&2; \
	  echo "Name another one: make setup PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { \
	  echo "The environment could not be made. On Debian and Ubuntu: apt-get install python3-venv" >&2; \
	  rm -rf $(VENV); exit 1; }
	@$(PIP) '$(TORCH)' 2> /dev/null || { \
	  echo "The package index has no CPU build of torch ($(TORCH)); taking its default build, which may be large."; \
	  echo "README.md, 'torch as a CPU build', says how to avoid that."; $(PIP) torch; }
	$(PIP) --editable '.[dev]'
	@rm -f $(VENV)/setup-*
	@touch $(STAMP)

run: setup
	@$(BIN)/assay --home $(HOME_FOLDER) demo --serve

test: lint tests

test-all:
	@$(MAKE) --no-print-directory test CI=true

tests: setup
	$(BIN)/python -m pytest $(PLAIN) $(SLOWEST) -n auto --maxprocesses 4 $(PYTEST_OPTIONS)
	$(BIN)/python -m pytest $(BROWSER) $(SLOWEST) $(PYTEST_OPTIONS)

lint: setup lint-js
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

# A plain machine without npm still runs the tests; CI has to have it.
lint-js:
	@if command -v npm > /dev/null; then $(MAKE) --no-print-directory $(JS_STAMP) && npm run --silent lint; \
	elif [ "$(CI)" = true ]; then echo "npm is missing, which CI must have." >&2; exit 1; \
	else echo "npm is not installed: the JavaScript was not checked."; fi

$(JS_STAMP):
	npm install --no-package-lock --no-audit --no-fund --loglevel=error
	@rm -f node_modules/setup-*
	@touch $(JS_STAMP)

format: setup
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: setup
	@for one in $(BENCHMARKS); do echo "== $$one"; $(BIN)/python -m $$one || exit 1; done

screenshots: setup
	$(BIN)/python -m tests.e2e.screenshots

clean:
	rm -rf build dist *.egg-info node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis tests/artefacts
	rm -rf $(VENV)
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
