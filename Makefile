# Each target is a few commands that a person could type; README.md and CONTRIBUTING.md tell them.

# For these every pinned version has its files; pyproject.toml says the same.
FITS := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))
# The first of these that fits. To choose yourself: make run PYTHON=/path/to/python
PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3.14 python3; do \
	$$python -c '$(FITS)' 2>/dev/null && echo $$python && break; done)
PORT ?= 8501
ARGS ?=
TIMES ?= 1

VENV := .venv
BIN := $(VENV)/bin
TOOLS := .venv-tools
SOURCES := $(wildcard app.py) replicalab pages supply tests
INSTALL := -I -m pip install --quiet --disable-pip-version-check

# Empty is as good as unset: what is started a second time is not compiled once more.
export PYTHONDONTWRITEBYTECODE =

.DEFAULT_GOAL := help
.PHONY: help run test test-browser test-wheel test-long golden check format bench bench-short endurance mutants fuzz tour lock audit newest licences clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /make \1\t/p' $(MAKEFILE_LIST)

run: $(VENV)/.app  ## serve the dashboard on http://localhost:8501 (PORT=8502 for another port)
	@$(BIN)/python -m replicalab serve --no-browser --port $(PORT) || { \
		status=$$?; test $$status = 2 && echo 'With make: make run PORT=8502' >&2; exit $$status; }

test: $(VENV)/.dev  ## run the tests (ARGS="-k protocol" for some of them)
	$(BIN)/python -m pytest -n auto $(ARGS)

test-browser: $(VENV)/.dev  ## the tests in a real browser; they need a Chromium
	$(BIN)/python -m pytest -n auto -m "browser and not bench and not wheel" $(ARGS)

test-wheel: $(VENV)/.dev  ## build the wheel, install it elsewhere, and use it there; needs a Chromium
	$(BIN)/python -m pytest -m wheel tests/browser/test_wheel.py $(ARGS)

test-long: $(VENV)/.dev  ## the long searches for counter-examples (TIMES=4 for four times as many)
	REPLICALAB_SEARCH_TIMES=$(TIMES) $(BIN)/python -m pytest -n auto -m "long or hypothesis and not browser" --hypothesis-profile=long $(ARGS)

golden: $(VENV)/.dev  ## write the golden files of tests/golden/ anew; read the diff before you commit
	REPLICALAB_REWRITE_GOLDEN=1 $(BIN)/python -m pytest -q $(ARGS)

check: $(VENV)/.dev  ## formatting, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy $(SOURCES)

format: $(VENV)/.dev  ## put the code into its format, and fix what ruff can fix
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

bench: $(VENV)/.dev  ## run the benchmarks; one that is past its bar fails
	$(BIN)/python -m pytest -m bench tests/bench $(ARGS)

bench-short: $(VENV)/.dev  ## the benchmarks of the core alone, in half a minute
	$(BIN)/python -m pytest -m "bench and not page" tests/bench $(ARGS)

endurance: $(VENV)/.dev  ## thirty scripted people at work for an hour (ARGS="--minutes 10 --people 5")
	$(BIN)/python -m tests.bench.endurance $(ARGS)

mutants: $(VENV)/.dev  ## change the core and see whether the tests notice, every tenth place (ARGS="--every 1 --rooms planner")
	$(BIN)/python -m tests.mutants $(ARGS)

fuzz: $(VENV)/.dev  ## what foreign input breaks, two million cases (ARGS="--count 1000 --seed 2 --only study")
	$(BIN)/python -m tests.fuzz $(ARGS)

tour: $(VENV)/.dev  ## walk the app with a Chromium, and write docs/tour.md and its pictures anew
	$(BIN)/python -m tests.browser.tour

# For every platform that Python runs on but a browser, for which httpx2-jsfetch is.
lock: $(TOOLS)/.done  ## pin and hash what the .in files ask for (ARGS=--upgrade: and the newest of what it brings)
	@for part in "" -pdf -postgres -dask -signin -dev -tools; do \
		$(TOOLS)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
			--only-binary :all: --emit-build-options --no-emit-package httpx2-jsfetch \
			--custom-compile-command "make lock" $(ARGS) requirements$$part.in -o requirements$$part.txt \
			|| exit 1; done

audit: $(TOOLS)/.done  ## ask whether a pinned version has a known vulnerability
	$(TOOLS)/bin/python -m supply.audit $(ARGS)

newest: $(VENV)/.app  ## walk the app with the newest Streamlit of the index (ARGS=1.68.0: with that one)
	$(BIN)/python -m supply.newest $(ARGS)

licences: $(VENV)/.app  ## write docs/licences.md anew
	$(BIN)/python -m supply.licences

clean:  ## remove the environments, the caches and what tests left behind
	rm -rf dist $(VENV) $(TOOLS) .venv-newest $(VENV).kept $(TOOLS).kept .pytest_cache .mypy_cache .ruff_cache .hypothesis test-artifacts
	find app.py pages replicalab supply tests -name __pycache__ -type d -prune -exec rm -rf {} +

# An environment is built anew whenever its pinned versions change. Every file has its hash in the
# list, so pip takes no other, whatever index it is set to; nor does it count as installed what
# PYTHONPATH offers (-I). What a person had put in beside the app is put in again: PDF, PostgreSQL and
# signing in by their lists, Dask as it was, unless the tests' list brought it. It is written down before, so
# that a build which breaks off forgets nothing.
define install
	@echo "Installing what $(1) pins into $(@D): a minute or two, now and after an update." >&2
	@$(@D)/bin/python $(INSTALL) -r $(1) || { \
		echo "Not all of $(1) could be installed. Its files come from the package index that pip is" \
			"set to: is there a network? Then try again." >&2; exit 1; }
endef

define new-environment
	@'$(PYTHON)' -c '$(FITS)' 2>/dev/null || { \
		echo "ReplicaLab needs Python 3.11 to 3.14; found '$(PYTHON)'." \
			"Install it, or name it: make run PYTHON=/path/to/python3.11" >&2; exit 1; }
	@{ cat $(@D).kept; cd $(@D)/lib/python*/site-packages && { \
		test -d weasyprint && echo "-r requirements-pdf.txt"; \
		test -d psycopg && echo "-r requirements-postgres.txt"; \
		test -d authlib && echo "-r requirements-signin.txt"; \
		test -e ../../../.dev || ls -d distributed-*.dist-info | \
			sed 's/^distributed-\(.*\)\.dist-info$$/distributed==\1/'; }; } 2>/dev/null \
		| sort -u > $(@D).kept.new; mv $(@D).kept.new $(@D).kept
	$(PYTHON) -m venv --clear $(@D)
	$(call install,$<)
	@while read -r each; do \
		echo "$(@D)/bin/python $(INSTALL) $$each"; \
		$(@D)/bin/python $(INSTALL) $$each </dev/null || exit 1; \
	done < $(@D).kept
	@rm $(@D).kept
	@touch $@
endef

$(VENV)/.app: requirements.txt
	$(new-environment)

$(VENV)/.dev: requirements-dev.txt $(VENV)/.app
	$(call install,requirements-dev.txt)
	@touch $@

$(TOOLS)/.done: requirements-tools.txt
	$(new-environment)
