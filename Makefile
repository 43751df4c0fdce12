# make setup    the environment in .venv (again only after pyproject.toml has changed)
# make run      a sample project on this machine: prints one address and opens it; DEMO=--no-open only prints it
# make test     what everybody runs before a change, in minutes: lint and the tests that are not slow; with CI=true all
# make test-all the same with the slow tests; make test-nightly: simulations of how often intervals cover
# make bench    measurements; make screenshots: pictures of the pages; make clean: remove what these made

PYTHON ?= python3
HOME_FOLDER ?= ./assay-home
PYTEST_OPTIONS ?=
DEMO ?=
SLOWEST := --durations=25 --durations-min=5

# Another build of torch: make setup TORCH='torch==2.13.0'.
TORCH ?= torch==2.13.0+cpu

VENV := .venv
BIN := $(VENV)/bin
# Keyed by what it depends on and not by times, which a checkout changes.
KEY := $(shell cksum < pyproject.toml | tr ' ' '-')
RUNNING := $(VENV)/running-$(KEY)
COMPILED := $(VENV)/compiled-$(KEY)
STAMP := $(VENV)/setup-$(KEY)
JS_KEY := $(shell cksum < package.json | tr ' ' '-')
JS_STAMP := node_modules/setup-$(JS_KEY)
BENCHMARKS := $(patsubst tests/bench/%.py,tests.bench.%,$(wildcard tests/bench/bench_*.py))

# Tests of one file come one after the other where that can be, as they share what is made for the file. The browser's come
# after the others, three files at a time: they wait for a real clock, and share a server in a file. Tests wait a good part of
# their time (for disks, other processes, the clock: three workers used some 1.3 of two processors), so that there
# are twice as many workers as processors, up to four.
WORKERS := $(shell n=$$(getconf _NPROCESSORS_ONLN); m=$$((n * 2)); echo $$((m < 4 ? m : 4)))
ifeq ($(CI),true)
PLAIN := --ignore=tests/e2e -m "not nightly"
BROWSER := tests/e2e -m "not nightly"
else
PLAIN := --ignore=tests/e2e -m "not slow and not nightly"
BROWSER := tests/e2e -m "not slow and not nightly"
endif

# What tests write is thrown away, so it goes into memory where there is room: each write waits for a disk otherwise.
# Nothing that is tested depends on it: a killed process loses nothing that it has written either way.
SCRATCH := $(shell test -w /dev/shm && test "$$(df -Pk /dev/shm | awk 'END {print $$4}')" -gt 6000000 && echo /dev/shm \
  || echo "$${TMPDIR:-/tmp}")

.PHONY: help setup run test test-all test-nightly lint lint-js format tests bench screenshots clean

help:
	@sed -n 's/^# //p' Makefile | head -5

setup: $(STAMP) $(COMPILED)

# uv puts the same packages in place in a tenth of pip's time. One on the path is used, else pip brings it into the
# environment; where neither works, or with UV=none, pip does all. uv reads none of pip's settings, so they are handed on.
UV := $(shell command -v uv || echo $(BIN)/uv)
UV_SETTINGS := VIRTUAL_ENV=$(VENV) \
  UV_FIND_LINKS="$${UV_FIND_LINKS-$${PIP_FIND_LINKS-}}" \
  UV_EXTRA_INDEX_URL="$${UV_EXTRA_INDEX_URL-$${PIP_EXTRA_INDEX_URL-}}" \
  UV_DEFAULT_INDEX="$${UV_DEFAULT_INDEX-$${PIP_INDEX_URL-}}" SSL_CERT_FILE="$${SSL_CERT_FILE-$${PIP_CERT-}}"
define install
@if test -x "$(UV)"; then $(UV_SETTINGS) $(UV) pip install --quiet $(1); \
else $(BIN)/python -m pip install --quiet --disable-pip-version-check $(1); fi
endef

# torch comes first and alone, as a CPU build: on Linux a plain install takes several GB of CUDA packages for a model of
# 22 M parameters. First the indexes as they are set, then, with uv, the one of torch's makers, then the default build.
$(VENV)/torch:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Assay needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) --version 2>&1)." >&2; \
	  echo "Name another one: make setup PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { \
	  echo "The environment could not be made. On Debian and Ubuntu: apt-get install python3-venv" >&2; \
	  rm -rf $(VENV); exit 1; }
	@test -x "$(UV)" || test "$(UV)" != "$(BIN)/uv" || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv || \
	  echo "uv cannot be had here; pip installs everything, which takes minutes."
	@if test -x "$(UV)"; then \
	  $(UV_SETTINGS) $(UV) pip install --quiet '$(TORCH)' 2> /dev/null || \
	  UV_HTTP_RETRIES=0 $(UV_SETTINGS) $(UV) pip install --quiet --torch-backend cpu torch 2> /dev/null; \
	else $(BIN)/python -m pip install --quiet '$(TORCH)' 2> /dev/null; fi || { \
	  echo "No package index here has a CPU build of torch ($(TORCH)); taking its default build, which may be large."; \
	  echo "README.md, 'torch as a CPU build', says how to avoid that."; \
	  if test -x "$(UV)"; then $(UV_SETTINGS) $(UV) pip install --quiet torch; \
	  else $(BIN)/python -m pip install --quiet --disable-pip-version-check torch; fi; }
	@touch $@

$(RUNNING): | $(VENV)/torch
	@echo "Installing what running needs ..."
	$(call install,--editable .)
	@rm -f $(VENV)/running-*
	@touch $@

# uv leaves packages uncompiled, and where PYTHONDONTWRITEBYTECODE is set, as in many containers, they stay so: every start
# would compile 1,200 files, which takes longer than all the rest. Importing what the server and the commands load
# compiles just that; all of the environment would take minutes.
$(COMPILED): $(RUNNING)
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -c 'import alembic.command, app.cli, app.server.application; \
	  from app.navigation import load_pages; load_pages()'
	@$(BIN)/python -m compileall -q app annotators db exports
	@rm -f $(VENV)/compiled-*
	@touch $@

$(STAMP): $(RUNNING)
	@echo "Installing what the tests need ..."
	$(call install,--editable '.[dev]')
	@rm -f $(VENV)/setup-*
	@touch $@

run: $(RUNNING) $(COMPILED)
	@$(BIN)/assay --home $(HOME_FOLDER) demo --serve $(DEMO)

test: lint tests

test-all:
	@$(MAKE) --no-print-directory test CI=true

# Simulations of how often intervals cover, the table in docs/statistics.md.
test-nightly: setup
	$(BIN)/python -m pytest -m nightly $(PYTEST_OPTIONS)

# Python keeps what it compiles, also where PYTHONDONTWRITEBYTECODE says otherwise: each process that loads torch would
# compile it anew, for 7 s of a processor, and tests start dozens.
# All that tests start is as low in rank as anything can be: a worker that steps back for people would else wait for all
# other tests, ten times as long, and who works at this machine notices less of them.
# What fails beside others is tried once more by itself, and this is said: among ten thousand tests on a machine whose
# processors have no moment to spare one meets a moment that its author did not think of, another one each time.
define beside
nice -n 19 $(BIN)/python -m pytest $(1) $(SLOWEST) $(PYTEST_OPTIONS) || { test $$? = 1 && \
  echo "== What failed beside other tests is tried by itself." && \
  nice -n 19 $(BIN)/python -m pytest $(2) -n 0 --last-failed --last-failed-no-failures none --maxfail 1 -rA --show-capture no $(PYTEST_OPTIONS); }
endef

tests: export PYTHONDONTWRITEBYTECODE :=
tests: setup
	@scratch=$$(mktemp -d "$(SCRATCH)/assay-tests.XXXXXX") && chmod 711 "$$scratch" && export TMPDIR="$$scratch" && \
	trap 'rm -rf "$$scratch"' EXIT && trap 'exit 130' INT TERM && \
	{ $(call beside,$(PLAIN) -n $(WORKERS) --dist worksteal,$(PLAIN)); } && \
	{ $(call beside,$(BROWSER) -n 3 --dist loadfile,$(BROWSER)); }

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
	rm -rf $(VENV) "$${XDG_CACHE_HOME:-$$HOME/.cache}/assay-tests"
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
