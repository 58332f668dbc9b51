# One command each. `make` lists them. Everything honours CARGO_TARGET_DIR.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The command line has a binary only with the readers; the Python module is built by maturin.
RUST := -p mercer -p mercer-cli --features mercer/formats

.DEFAULT_GOAL := help
.PHONY: help setup demo fmt lint test test-rust test-python gen bench instructions papers check check-browser clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 24

setup: $(VENV)/.ready ## Create .venv with everything that lint and tests need

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet maturin
	$(BIN)/python -c "import tomllib, subprocess, sys; \
	p = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
	e = p['optional-dependencies']; \
	sys.exit(subprocess.call([sys.executable, '-m', 'pip', 'install', '--quiet', *p['dependencies'], *e['test'], *e['lint']]))"
	touch $@

demo: ## Build the command line and run its main job on built-in data
	cargo run --release --quiet -p mercer-cli -- demo

fmt: setup ## Format Rust and Python
	cargo fmt --all
	$(BIN)/ruff format python bench experiments tools
	$(BIN)/ruff check --fix python bench experiments tools

lint: setup ## Check formats, clippy, ruff and mypy
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --features mercer/formats -- -D warnings
	$(BIN)/ruff format --check python bench experiments tools
	$(BIN)/ruff check python bench experiments tools
	$(BIN)/mypy

test: test-rust test-python ## Run all tests: Rust, Python, and the examples in the docs

test-rust:
	cargo test $(RUST)

test-python: $(VENV)/.ready
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --quiet
	$(BIN)/python -m pytest -q

gen: ## Write again what is made from the catalogue: docs/methods/README.md
	cargo run --quiet -p mercer-cli -- methods --format markdown > docs/methods/README.md

# Both sides on as many threads: THREADS=1 make bench
THREADS ?= $(shell nproc 2>/dev/null || echo 2)
bench: export OMP_NUM_THREADS = $(THREADS)
bench: export OPENBLAS_NUM_THREADS = $(THREADS)
bench: export RAYON_NUM_THREADS = $(THREADS)
bench: $(VENV)/.ready ## Measure beside the peers (optimised build; takes half an hour)
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --quiet
	$(BIN)/pip install --quiet skrebate
	set -e; for script in basis single components selection extraction judges growth; do $(BIN)/python bench/$$script.py; done
	cargo bench -p mercer --bench basis

instructions: ## Hold the instructions of small jobs against bench/instructions.json (needs valgrind)
	$(PYTHON) tools/instructions.py

papers: $(VENV)/.ready ## Rebuild the papers' tables and figures (QUICK=1: minutes; PAPER=takes; DATA=DIR)
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --quiet
	$(BIN)/python experiments/run.py $(PAPER) $(if $(QUICK),--quick) $(if $(DATA),--data "$(DATA)")

check: lint test instructions ## All that continuous integration runs

check-browser: ## Open the report's pages in Chromium (installed if it is missing; Debian)
	command -v chromium || { SUDO=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	$$SUDO apt-get update -qq && $$SUDO apt-get install -y -qq chromium; }
	$(PYTHON) tools/check_browser.py

clean: ## Remove what was built
	cargo clean
	rm -rf $(VENV)
