# `make demo` shows the bot in a browser; `make test` and `make check` are what CI runs.
# Needs Python 3.11 or newer, and nothing else; everything is installed into .venv from the hash-checked locks.

PYTHON ?=
CANDIDATES := $(or $(PYTHON),python3 python3.13 python3.12 python3.11)
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --no-input -qq
UV ?= uv
COMPILE := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header --no-annotate $(if $(UPGRADE),--upgrade)
# Processes that share the tests; ARGS="-n 0" runs them in one, for a debugger.
WORKERS ?= 2
# What follows `make test ARGS=`, for example ARGS="-k fold -x".
ARGS ?=

.DELETE_ON_ERROR:
.PHONY: help setup demo run test check format lock clean

help: ## this list
	@grep -E '^[a-z]+:.*## ' Makefile | sed -E 's/^([a-z]+):.*## /make \1\t/' | expand -t 16

setup: $(VENV)/.dev ## everything a developer needs, in .venv

demo: $(VENV)/.demo ## the demo in a browser, no account needed; RESET=1 starts it over
	@$(PY) -m bot.demo $(if $(RESET),--reset)

run: $(VENV)/.run ## the bot itself, with the settings in .env
	@$(PY) -m bot run

# The tests start many Python processes, which without bytecode would compile everything anew. Their files begin in the order of
# tests/conftest.py, the longest first.
test: $(VENV)/.dev ## all tests; ARGS="..." goes to pytest
	@$(PY) -m bot.demo.model || echo "notice: the small model could not be fetched; the tests that talk to it are skipped"
	@PYTHONDONTWRITEBYTECODE= $(PY) -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

check: $(VENV)/.dev ## style, types and the layers' contracts
	@$(PY) -m ruff check
	@$(PY) -m ruff format --check
	@$(PY) -m mypy
	@$(VENV)/bin/lint-imports

format: $(VENV)/.dev ## rewrite the code in the project's style
	@$(PY) -m ruff check --fix
	@$(PY) -m ruff format

lock: ## solve the locks again; UPGRADE=1 takes newer releases
	@command -v $(UV) >/dev/null || { echo "make lock needs uv: python3 -m pip install uv"; exit 1; }
	@$(COMPILE) pyproject.toml --extra demo --group dev --group build -o requirements/dev.lock
	@$(COMPILE) pyproject.toml --extra demo --group build -c requirements/dev.lock -o requirements/demo.lock
	@$(COMPILE) pyproject.toml --group build -c requirements/dev.lock -o requirements/run.lock

clean: ## remove .venv and the tools' caches
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis *.egg-info build dist

$(VENV)/.python:
	@for python in $(CANDIDATES); do \
		if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			"$$python" -m venv --clear $(VENV) && touch $@ && exit 0; \
			echo "$$python cannot make a virtual environment (on Debian: apt-get install python3-venv)"; exit 1; \
		fi; \
	done; \
	echo "Kataribe needs Python 3.11 or newer; none of these is: $(CANDIDATES)"; \
	echo "Name one: make $(MAKECMDGOALS) PYTHON=/path/to/python3.12"; exit 1

# One stamp for each lock, so that whoever only wants to run the bot does not download the developers' tools.
$(VENV)/.%: requirements/%.lock pyproject.toml | $(VENV)/.python
	@echo "installing requirements/$*.lock into $(VENV)"
	@$(PIP) install --require-hashes -r requirements/$*.lock
	@$(PIP) install --no-deps --no-build-isolation --config-settings editable_mode=compat -e .
	@touch $@
