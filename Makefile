PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ESTATE ?= docs
DATA ?= .cogitave-query
PORT ?= 8080
# What is imported is compiled then; compiling all that is installed would take a third of the time.
PIP_INSTALL := $(BIN)/python -m pip --disable-pip-version-check --quiet install --no-compile
PIP := $(PIP_INSTALL) --require-hashes

.PHONY: demo test test-long bench bench-quick setup setup-test lock

# Answer on http://127.0.0.1:PORT until Ctrl-C, and publish ESTATE (one or more folders) into DATA meanwhile.
demo: setup
	$(BIN)/cogitave-query --data $(DATA) serve --port $(PORT) $(foreach estate,$(ESTATE),--publish $(estate))

test: setup-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	test -n "$$COGITAVE_QUERY_TEST_NEO4J_URL" || $(BIN)/cogitave-query stack fetch
	$(BIN)/python -m pytest

# Fuzzing, differential and soak runs of hours.
test-long: setup-test
	$(BIN)/python -m pytest -m long

# What is measured, each figure beside its comparison. The first run embeds some 20,000 texts; later ones find them again.
bench: setup-test
	$(BIN)/python -m bench.relevance
	$(BIN)/python -m bench.evidence
	$(BIN)/python -m bench.prior
	$(BIN)/python -m bench.signals
	$(BIN)/python -m bench.signals --cost
	$(BIN)/python -m bench.suggest
	$(BIN)/python -m bench.publish
	$(BIN)/python -m bench.latency
	$(BIN)/python -m bench.latency --scale
	$(BIN)/python -m bench.guard
	$(BIN)/python -m bench.engines
	$(BIN)/python -m bench.rest_overhead
	$(BIN)/python -m bench.load
	$(BIN)/python -m bench.observing

# The same kinds of figures in two minutes, on less.
bench-quick: setup-test
	$(BIN)/python -m bench.relevance --lexical learn-quiz cranfield
	$(BIN)/python -m bench.publish --quick
	$(BIN)/python -m bench.latency --quick
	$(BIN)/python -m bench.guard --quick

# Makes .venv from the lock and nothing else.
setup: $(VENV)/.installed

$(VENV)/.installed: requirements.lock requirements-tokenizer.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) --requirement requirements.lock
	$(PIP) --no-deps --requirement requirements-tokenizer.lock
	$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	$(BIN)/python -m adapters.embedding.check
	touch $@

setup-test: $(VENV)/.installed-test

$(VENV)/.installed-test: $(VENV)/.installed requirements-test.lock
	$(PIP) --requirement requirements-test.lock
	touch $@

# Needs uv; writes the locks anew from pyproject.toml.
lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		--group build --extra guard-mcp pyproject.toml --output-file requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		--group test --constraint requirements.lock pyproject.toml --output-file requirements-test.lock
