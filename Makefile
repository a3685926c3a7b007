# Everything runs in .venv, which is made on first use from constraints.txt.
# Its Python is the newest of these that works here; another one: make clean, then make install PYTHON=...
PYTHON ?= $(or $(firstword $(shell for python in python3.13 python3.12 python3.11; do \
	$$python -c 'import ensurepip, venv' 2>/dev/null && echo $$python; done)),python3)
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2
AUDIT := .audit

.PHONY: run test test-faults audit lint benchmark docs install clean help

run: install  ## the whole journey on the embedded default data set
	$(BIN)/kedro run

test: install  ## the tests on WORKERS cores, and how much of the package they cover; more options in PYTEST_ARGS
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --cov=figure_kedro --cov-report= $(PYTEST_ARGS)
	@echo "coverage: $$($(BIN)/coverage report --format=total)%"

test-faults: install  ## a hundred kills, every artefact damaged, mutated inputs: an hour or so; FAULT_SEED=1 for other kills
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/faults -m "slow or not slow" -s $(PYTEST_ARGS)

audit:  ## known weaknesses of the packages in constraints.txt, if the database of them can be reached
	@test -x $(AUDIT)/bin/pip-audit || { $(PYTHON) -m venv $(AUDIT) \
		&& $(AUDIT)/bin/python -m pip install --quiet --disable-pip-version-check pip-audit; } \
		|| { echo "pip-audit cannot be installed here: nothing was audited"; exit 3; }
	@$(AUDIT)/bin/pip-audit --requirement constraints.txt --no-deps --disable-pip --progress-spinner off \
		> $(AUDIT)/said 2>&1; code=$$?; \
		if grep -q "^Traceback" $(AUDIT)/said; then tail -n 1 $(AUDIT)/said; \
			echo "the database of weaknesses cannot be reached: nothing was audited"; exit 3; fi; \
		sed '/^WARNING/d; /^Name  *Skip Reason/,$$d' $(AUDIT)/said; \
		skipped=$$(grep -c "could not be audited" $(AUDIT)/said); \
		if [ $$skipped -gt 0 ]; then echo "the database of weaknesses cannot be reached for $$skipped of" \
			"$$(grep -c "==" constraints.txt) packages, which were not audited: $(AUDIT)/said"; exit 3; fi; \
		exit $$code

lint: install  ## style, format, which layer may import which, and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy

benchmark: install  ## timings side by side with peers and bounds, written to benchmarks/results
	$(BIN)/python -m benchmarks

docs: install  ## the documentation site, written to site; open site/index.html
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "open site/index.html"

install: $(VENV)/.installed  ## .venv with the packages of constraints.txt

$(VENV)/.installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

clean:  ## remove .venv and .audit
	rm -rf $(VENV) $(AUDIT)

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
