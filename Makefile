# All set-up is done by the first target that needs it; nothing but Python 3.11+ and make must be there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN_READY := $(VENV)/.ready-run
TEST_READY := $(VENV)/.ready-test
TOOLS_READY := .tools/.ready
PROTOS := $(shell find protos -name '*.proto')
WORKERS ?= 4
# The program and its tests start many processes: without bytecode on disk each would compile everything anew.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install --no-input --only-binary :all: --require-hashes

.PHONY: run test setup tools lint type fmt protos test-fast bench faults hostile senders image lock clean

run: $(RUN_READY)
	$(BIN)/tocsin up --demo

# Tests wait more than they compute: four workers for two cores. On a shared machine a test may lose a race for the
# processor: it gets a second try, and the closing lines name it.
test: $(TEST_READY)
	$(BIN)/python -m pytest -n $(WORKERS) --reruns 1 -r aR $(PYTEST_ARGS)

setup: $(TEST_READY)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; name one with make PYTHON=..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(RUN_READY): locks/run.txt pyproject.toml setup.py protos/build.py $(PROTOS) | $(BIN)/python
	$(PIP) -r locks/run.txt
	$(BIN)/python protos/build.py
	$(BIN)/python -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation --editable .
	@touch $@

$(TEST_READY): locks/test.txt $(RUN_READY)
	$(PIP) -r locks/test.txt
	@touch $@

protos: $(RUN_READY)
	$(BIN)/python protos/build.py

# A real EVM node and a Solidity compiler for the tests of Web3 monitors, 52 MB; needs npm. Without them those skip.
tools: $(TOOLS_READY)

$(TOOLS_READY): Makefile
	npm install --prefix .tools --no-save --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel=error @foundry-rs/anvil@1.7.1 solc@0.8.37
	@touch $@

lint: $(TEST_READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports

type: $(TEST_READY)
	$(BIN)/mypy

fmt: $(TEST_READY)
	$(BIN)/ruff check --fix --exit-zero
	$(BIN)/ruff format

test-fast: $(TEST_READY)
	$(BIN)/python -m pytest -m "not database and not slow" $(PYTEST_ARGS)

bench: $(TEST_READY)
	$(BIN)/python -m tests.bench

faults: $(TEST_READY)
	TOCSIN_TEST_KILLS=$${TOCSIN_TEST_KILLS:-50} $(BIN)/python -m pytest tests/faults $(PYTEST_ARGS)

hostile: $(TEST_READY)
	TOCSIN_TEST_EXAMPLES=$${TOCSIN_TEST_EXAMPLES:-25} $(BIN)/python -m pytest tests/e2e/test_hostile_api.py tests/api/test_fuzz.py tests/probe/net/test_fuzz.py $(PYTEST_ARGS)

# Real Prometheus, vmagent and OpenTelemetry for Node, of Debian and npm: some 450 MB below var/senders.
senders: $(TEST_READY)
	$(BIN)/python -m tests.senders.fetch
	$(BIN)/python -m pytest tests/senders $(PYTEST_ARGS)

# With docker or podman, whichever is there; IMAGE names the result, BASE another image of Python to begin with.
IMAGE ?= tocsin
ENGINE ?= $(shell command -v docker || command -v podman)

image:
	@test -n "$(ENGINE)" || { echo "docker or podman is needed; name one with make image ENGINE=..."; exit 1; }
	$(ENGINE) build --file deploy/Containerfile --tag $(IMAGE) $(if $(BASE),--build-arg BASE=$(BASE)) .

# The lock is made anew only here, by hand, when a dependency changes; needs uv.
lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --extra up --extra build pyproject.toml -o locks/run.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --extra test -c locks/run.txt pyproject.toml -o locks/test.txt

clean:
	rm -rf build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache
