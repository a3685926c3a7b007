# Everything runs in .venv, which is made on first use from constraints.txt.
# Its Python is the newest of these that works here; another one: make clean, then make install PYTHON=...
PYTHON ?= $(or $(firstword $(shell for python in python3.13 python3.12 python3.11; do \
	$$python -c 'import ensurepip, venv' 2>/dev/null && echo $$python; done)),python3)
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test lint benchmark install clean help

run: install  ## the whole journey on the embedded default data set
	$(BIN)/kedro run

test: install  ## the tests, and how much of the package they cover; more options in PYTEST_ARGS
	$(BIN)/python -m pytest --cov=figure_kedro --cov-report= $(PYTEST_ARGS)
	@echo "coverage: $$($(BIN)/coverage report --format=total)%"

lint: install  ## style, format, which layer may import which, and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy

benchmark: install  ## timings side by side with peers and bounds, written to benchmarks/results
	$(BIN)/python -m benchmarks

install: $(VENV)/.installed  ## .venv with the packages of constraints.txt

$(VENV)/.installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

clean:  ## remove .venv
	rm -rf $(VENV)

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
