# Everything a person or a CI does with a clone. Needs Python 3.11 or newer and make; the rest is fetched.
.DEFAULT_GOAL := help
SHELL := /bin/sh
.DELETE_ON_ERROR:
.PHONY: help setup demo test test-fast test-oldest tried matrix check format bench fuzz soak soak-real faults tables shape cluster binaries chart transcripts image release image-lock lock pictures screenshots site clean

# The first interpreter that runs and is new enough; PYTHON=... overrides.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready
SITE := .venv-site
CODE := $(wildcard src tests testbed bench tools)
STORY ?=
ARGS ?=
# Tests on a real control plane mostly wait: a worker uses a fifth of a core. Each starts control planes of its own.
JOBS ?= 4
# A wait that ran out on a busy machine proves nothing: such a test, and only such a one, is run once more.
AGAIN := -raR --reruns 1 --reruns-delay 5 --only-rerun TookTooLong
SEEDS ?= 100
# The minor version of Kubernetes that control planes have: 1.33, oldest, newest; nothing means the usual one.
KUBERNETES ?=
export KUBERNETES
# Some environments forbid to keep compiled code; every test run would then compile all anew.
export PYTHONDONTWRITEBYTECODE :=

help:  ## this text
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

setup: $(READY)  ## create .venv from the pinned requirements (only if they changed)

# Talk goes to stderr: `make binaries` promises a clean stdout.
$(READY): requirements/dev.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "headroom needs Python 3.11 or newer: install it, or make PYTHON=/path/to/python" >&2; exit 1; }
	@echo "setting up $(VENV) with $$($(PYTHON) --version)" >&2
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV) >&2
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt >&2
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . >&2
	@touch $@

demo: $(READY)  ## run a demonstration on the embedded cluster (STORY=name)
	@$(VENV)/bin/headroom demo $(STORY) $(ARGS)

test: $(READY)  ## all tests, also on a real control plane (KUBERNETES=1.33: on that version)
	@$(PY) -m testbed.binaries >&2 || echo "no control plane: the tests that need one will be skipped" >&2
	@$(PY) -m testbed.binaries karpenter >&2 || echo "no Karpenter: the tests that need one will be skipped" >&2
	@$(PY) -m testbed.binaries helm >&2 || echo "no Helm: the tests that need it will be skipped" >&2
	$(PY) -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder --durations=15 $(AGAIN) $(ARGS)
	@test -n "$(KUBERNETES)$(ARGS)" || $(MAKE) --no-print-directory test-oldest

test-oldest: $(READY)  ## a short pass on the oldest supported Kubernetes; part of `make test`
	@KUBERNETES=oldest $(PY) -m testbed.binaries >&2 || echo "no control plane: the tests that need one will be skipped" >&2
	KUBERNETES=oldest NODES=4 ROUNDS=10 $(PY) -m pytest -m "every_version and e2e" -n $(JOBS) --dist loadfile --durations=5 $(AGAIN)

matrix: $(READY)  ## all tests on all supported versions of Kubernetes (hours)
	@for version in $$($(PY) -m testbed.recipes); do \
		echo "Kubernetes $$version" >&2; \
		$(MAKE) --no-print-directory test KUBERNETES=$$version || exit 1; \
	done

tried: $(READY)  ## the tests for every version on KUBERNETES=1.37, recorded in docs/reference/versions.md
	@test -n "$(KUBERNETES)" || { echo "which version? make tried KUBERNETES=1.37" >&2; exit 1; }
	@$(PY) -m testbed.binaries >&2
	@$(PY) -m testbed.binaries helm >&2
	NODES=4 ROUNDS=10 $(PY) -m tools.tried $(KUBERNETES) -m "every_version and e2e" $(ARGS)
	@$(PY) -m tools.versions

test-fast: $(READY)  ## fast tests without a real control plane; tests/tidy is part of `make check`
	SAMPLES=few $(PY) -m pytest -m "not e2e and not slow" --ignore=tests/tidy --ignore=tests/e2e -n auto --dist worksteal --durations=5 $(ARGS)

check: $(READY)  ## format, lint, types, layers, dependencies, tidiness: the first part of CI
	$(VENV)/bin/ruff format --check $(CODE)
	$(VENV)/bin/ruff check $(CODE)
	$(VENV)/bin/mypy --strict $(CODE)
	$(VENV)/bin/lint-imports
	$(PY) -m tools.audit
	$(PY) -m pytest -q tests/tidy

format: $(READY)  ## format the code and apply the fixes of the linter
	$(VENV)/bin/ruff format $(CODE)
	$(VENV)/bin/ruff check --fix $(CODE)

bench: $(READY)  ## one page of measurements and targets (ARGS=--quick: in minutes); ARGS=compare: two pages; ARGS="handover --help": one benchmark
	@$(PY) -m bench $(ARGS)

fuzz: $(READY)  ## decode a million malformed objects; ARGS="--count 1000 --seed 7", "--case 123" repeats one
	@$(PY) -m tests.fuzz $(ARGS)

soak: $(READY)  ## seven simulated days with faults and hostile tenants (SEEDS=100)
	SOAK_DAYS=7 SEEDS=$(SEEDS) $(PY) -m pytest -q -n auto tests/simulation/test_soak.py $(ARGS)

soak-real: $(READY)  ## half an hour of churn and a hostile tenant on a real control plane
	@$(PY) -m bench soak $(ARGS)

shape: $(READY)  ## size and coupling of the engine, with targets; ARGS=--names: what was counted
	@$(PY) -m tools.shape $(ARGS)

tables: $(READY)  ## generate docs/reference/behaviours from tests/behaviours and the tests
	@$(PY) -m tools.tables

faults: $(READY)  ## an API server that refuses writes for five minutes (REFUSED_SECONDS=300), and other faults
	REFUSED_SECONDS=$(or $(REFUSED_SECONDS),300) $(PY) -m pytest -q tests/e2e/attacks/test_too_many_requests.py tests/e2e/attacks/test_faults.py tests/e2e/attacks/test_pods_hidden.py $(ARGS)

cluster: $(READY)  ## run a real control plane until Ctrl-C (KUBERNETES=1.33)
	@$(PY) -m testbed.play $(ARGS)

binaries: $(READY)  ## find or build the control plane's programs; prints their directory last
	@$(PY) -m testbed.binaries

chart: $(READY)  ## generate the Helm chart, CRDs and Kustomize base in deploy/
	@$(PY) -m tools.manifests
	@$(PY) -m tools.chart

transcripts: $(READY)  ## generate docs/operating/transcripts.md: commands and answers on a real control plane
	$(PY) -m pytest -q tests/e2e/test_transcripts.py --update-golden

image: $(READY)  ## an OCI image in build/image, without a container engine (ARGS="--arch arm64"); prints its digest
	@$(PY) -m tools.image $(ARGS)

release: $(READY)  ## build a release in build/release: packages, image, chart, install.yaml, SBOM, provenance, checksums
	@$(PY) -m tools.release $(ARGS)

image-lock: $(READY)  ## pin the image's Debian packages again, at the newest versions
	@$(PY) -m tools.image --lock --arch amd64 --arch arm64

pictures: $(READY)  ## generate the pictures of the guides with the commands of the guides
	@$(PY) -m tools.pictures

screenshots: $(READY)  ## generate the pictures of the dashboard in docs/images
	@$(PY) -m tools.screenshots

site: $(SITE)/.ready  ## the documentation as a web site in build/site; a dead link is an error
	@$(SITE)/bin/python -m sphinx -q -W --keep-going -n -c tools/site -d build/site-cache . build/site >&2
	@echo "open build/site/docs/index.html" >&2

$(SITE)/.ready: requirements/site.txt
	@test -n "$(PYTHON)" || { echo "headroom needs Python 3.11 or newer: install it, or make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(SITE) >&2
	@$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/site.txt >&2
	@touch $@

lock:  ## pin the requirements again (needs uv)
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header \
		--quiet --upgrade -o requirements/runtime.txt pyproject.toml
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header \
		--quiet --upgrade -c requirements/runtime.txt -o requirements/dev.txt pyproject.toml --group dev
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header \
		--quiet --upgrade -o requirements/site.txt --group site

clean:  ## remove the environment and all generated files
	rm -rf $(VENV) $(SITE) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests testbed bench -name __pycache__ -type d -prune -exec rm -rf {} +
