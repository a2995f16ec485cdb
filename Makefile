# Every target sets up what it needs by itself. `make` alone lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
# Tests wait for servers and deadlines half of their time, so there are more workers than cores; an idle one steals.
JOBS ?= 3
KERNEL := numerics randomness losses laws mechanisms accounting planning ledger

.DEFAULT_GOAL := help
.PHONY: help setup system demo check quick test lint types layers soak bench docs lock clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 16

# Stamps live in the environment and are touched last, so a half-made environment never counts.
$(STAMPS)/venv:
	@echo "== making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || scripts/install-system-packages python3-venv
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/requirements: $(STAMPS)/venv requirements/dev.txt
	@echo "== installing pinned requirements"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

$(STAMPS)/package: $(STAMPS)/requirements pyproject.toml hatch_build.py
	@echo "== installing discreet (editable)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(STAMPS)/spark: $(STAMPS)/package requirements/spark.txt
	@echo "== installing Spark"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-build-isolation --require-hashes -r requirements/spark.txt
	@touch $@

setup: $(STAMPS)/package ## make .venv with everything pinned

system: ## install the Debian packages that tests and pictures need
	@scripts/install-system-packages

demo: setup ## ask a private question of a bundled table
	@$(BIN)/discreet demo

check: setup ## lint, types, layers, quick tests of the kernel: a minute, while you work
	@$(MAKE) --no-print-directory -j lint types layers quick

quick: setup
	@echo "== quick tests of the kernel"
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -p no:schemathesis -m "not soak and not slow" $(KERNEL:%=tests/%)

test: setup $(STAMPS)/spark system lint types layers ## lint, types, layers, doc snippets, tests
	@echo "== tests"
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not soak"

lint: setup
	@echo "== lint"
	@$(BIN)/ruff format --check --quiet . || { echo "run: .venv/bin/ruff format ."; exit 1; }
	@$(BIN)/ruff check --quiet .

types: setup
	@echo "== types"
	@$(BIN)/mypy

layers: setup
	@echo "== layers"
	@$(BIN)/lint-imports --no-cache > .venv/layers.log || { cat .venv/layers.log; exit 1; }

docs: setup system ## draw the pictures of docs/ anew, write its tables and counts; build the site into site/
	@$(BIN)/python scripts/make-pictures
	@$(BIN)/python scripts/make-course-table
	@$(BIN)/python scripts/make-mechanism-table
	@$(BIN)/python scripts/count-lines
	@$(BIN)/python scripts/make-notebook
	@$(BIN)/python -m discreet.apps.cli.documents site

soak: setup $(STAMPS)/spark system ## the full counts: kills, races, generated cases, long audits (an hour or so)
	@$(BIN)/python -m pytest -n $(JOBS) -m soak -v --durations=0 > bench/results/soak.txt; \
	status=$$?; tail -n 40 bench/results/soak.txt; exit $$status

bench: setup $(STAMPS)/spark ## compare with the rivals, as ratios in one run (makes .venv-bench)
	@$(BIN)/python -m bench

lock: setup ## compile requirements/*.txt anew from *.in
	@scripts/compile-requirements

clean: ## remove the environments
	rm -rf .venv .venv-*
