# Everything runs in .venv, which is made on first use from constraints.txt.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test lint benchmark install clean

run: install  ## the whole journey on the embedded default data set
	$(BIN)/kedro run

test: install  ## the tests
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: install  ## style, format, and which layer may import which
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

benchmark: install  ## timings side by side with peers and bounds, written to benchmarks/results
	$(BIN)/python -m benchmarks

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV)
