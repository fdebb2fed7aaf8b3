# Python 3.11 to 3.14. To choose one: make run PYTHON=/path/to/python
FITS := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))
PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3.14 python3; do \
	$$python -c '$(FITS)' 2>/dev/null && echo $$python && break; done)
PORT ?= 8501
TIMES ?= 1
RUN := .venv/bin/python -m
LOCK := .venv-uv/bin/uv pip compile -q pyproject.toml --universal --python-version 3.11 \
	--fork-strategy fewest --generate-hashes --only-binary :all: --emit-build-options \
	--no-emit-package httpx2-jsfetch --custom-compile-command "make lock"
export PYTHONDONTWRITEBYTECODE =
.PHONY: help run test test-browser test-long check format golden tour bench lock clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /make \1\t/p' Makefile
run: .venv/.app  ## serve the dashboard on http://localhost:8501 (PORT=8502 for another port)
	@$(RUN) replicalab serve --no-browser --port $(PORT)
test: .venv/.dev  ## run the tests (ARGS="-k protocol" for some of them)
	$(RUN) pytest -n auto $(ARGS)
test-browser: .venv/.dev  ## run the tests in Chromium and of the built wheel; again if Chromium crashes
	$(RUN) pytest -n auto -m "(browser or wheel) and not bench" \
		--reruns 1 --only-rerun "Target crashed" $(ARGS)
test-long: .venv/.dev  ## run the long searches (TIMES=4 for four times as many cases)
	REPLICALAB_SEARCH_TIMES=$(TIMES) $(RUN) pytest -n auto --hypothesis-profile=long \
		-m "(long or hypothesis) and not browser" $(ARGS)
check: .venv/.dev  ## check format, lint and types
	$(RUN) ruff format --check . && $(RUN) ruff check . && $(RUN) mypy app.py replicalab pages tests
format: .venv/.dev  ## format the code
	$(RUN) ruff check --fix-only --quiet . && $(RUN) ruff format .
golden: .venv/.dev  ## rewrite tests/golden; read the diff before you commit
	REPLICALAB_REWRITE_GOLDEN=1 $(RUN) pytest -q $(ARGS)
tour: .venv/.dev  ## rewrite docs/tour.md and its pictures; needs Chromium
	$(RUN) tests.browser.tour
bench: .venv/.dev  ## measure speed and memory on an idle machine
	$(RUN) pytest -m bench tests/bench $(ARGS)
lock:  ## pin the dependencies of pyproject.toml (ARGS=--upgrade for newer versions)
	$(PYTHON) -m venv .venv-uv && .venv-uv/bin/pip install -q uv
	$(LOCK) --extra pdf --extra postgres --extra signin -o requirements.txt $(ARGS)
	$(LOCK) --all-extras --group dev -c requirements.txt -o requirements-dev.txt $(ARGS)
clean:  ## delete the environment, caches and test results
	rm -rf .venv .venv-uv dist .pytest_cache .mypy_cache .ruff_cache .hypothesis test-artifacts
	find app.py pages replicalab tests -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.app: requirements.txt
	@'$(PYTHON)' -c '$(FITS)' 2>/dev/null || { echo "ReplicaLab needs Python 3.11 to 3.14; found '$(PYTHON)'." \
		"Install it, or name it: make run PYTHON=/path/to/python3.11" >&2; exit 1; }
	'$(PYTHON)' -m venv .venv
	$(INSTALL)
.venv/.dev: requirements-dev.txt .venv/.app
	$(INSTALL)
define INSTALL
@echo "Installing $< into .venv: a minute or two, now and after an update." >&2
@$(RUN) pip install --quiet --disable-pip-version-check -r $< || { echo "Could not install $<." \
	"The files come from the package index that pip uses: is there a network? Then try again." >&2; exit 1; }
@touch $@
endef
