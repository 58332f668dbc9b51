# One command each. `make` lists them. Everything honours CARGO_TARGET_DIR.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The same packages and features for lint, Rust tests, Python tests and instruction counts, so that all is built once.
WORKSPACE := --workspace --features mercer/formats,mercer/report,mercer-py/extension-module
# What ruff formats and checks.
SCRIPTS := python bench experiments tools docs/gallery docs/figures $(wildcard docs/*.py)
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
THREADS ?= $(shell nproc 2>/dev/null || echo 2)
# Built once and thrown away: what makes the next build faster only makes this one slower.
ifdef CI
export CARGO_INCREMENTAL = 0
endif

.DEFAULT_GOAL := help
.PHONY: help setup demo fmt lint build test test-rust test-python test-new-user test-gpu test-stand-in kernels gen docs bench instructions papers fuzz check check-all check-browser check-deny check-docs check-faults check-memory check-unsafe clean together apart

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
	@test -d $(TARGET_DIR)/release || echo "building the command line, optimised: several minutes the first time"
	cargo run --release --quiet -p mercer-cli -- demo

fmt: setup ## Format Rust and Python
	cargo fmt --all
	$(BIN)/ruff format $(SCRIPTS)
	$(BIN)/ruff check --fix $(SCRIPTS)

lint: setup ## Check formats, clippy, rustdoc, ruff, mypy, what an editor sees of the estimators, and workflows
	cargo fmt --all --check
	cargo clippy $(WORKSPACE) --all-targets -- -D warnings
	RUSTDOCFLAGS=-Dwarnings cargo doc --no-deps $(WORKSPACE)
	$(BIN)/ruff format --check $(SCRIPTS)
	$(BIN)/ruff check $(SCRIPTS)
	$(BIN)/mypy
	$(BIN)/python tools/check_types.py
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml

test: test-rust test-python test-new-user ## Run all tests: Rust, Python, the examples in the docs, and a new user's files

# With the tests, because what they depend on decides on features of other crates.
build:
	@test -d $(TARGET_DIR)/debug || echo "building library, command line, Python module and tests: several minutes and 6 GB of disk the first time"
	cargo build $(WORKSPACE) --lib --bins --tests --examples

test-rust: build
	cargo test $(WORKSPACE)

test-python: build $(VENV)/.ready
	$(BIN)/python tools/develop.py
	$(BIN)/python -m pytest -q -n $(THREADS)

test-new-user: build # What the program says about messy files, noise, rare classes and the like
	$(PYTHON) tools/new_user.py --program $(TARGET_DIR)/debug/mercer

# One GPU, so one test at a time.
DEVICE_TESTS := cargo test $(WORKSPACE) --test it device:: -- --test-threads=1
# What copies and computing wait for, with one of them as late as may be.
LATE_TESTS := cargo test $(WORKSPACE) --test it in_pieces -- --test-threads=1
GPU_TESTS := $(BIN)/python -m pytest -q python/tests/test_gpu.py

test-gpu: export MERCER_TEST_DEVICE := $(or $(MERCER_TEST_DEVICE),cuda)
test-gpu: build $(VENV)/.ready ## Compare what an NVIDIA GPU computes with the processor (needs a GPU)
	$(DEVICE_TESTS)
	$(BIN)/python tools/develop.py
	$(GPU_TESTS)

# Libraries that answer as CUDA's do, so that the code for GPUs is tested without one.
STAND_IN := $(abspath $(TARGET_DIR))/cuda-stand-in

test-stand-in: export MERCER_TEST_DEVICE := cuda
test-stand-in: export MERCER_CUDA_LIB := $(STAND_IN)
# Where there is a GPU, its driver is not to be found first.
test-stand-in: export LD_LIBRARY_PATH := $(STAND_IN)$(addprefix :,$(LD_LIBRARY_PATH))
test-stand-in: build $(VENV)/.ready ## The same on a slow imitation of a GPU (needs g++)
	@if command -v $${CXX:-g++} >/dev/null; then set -ex; \
	$(PYTHON) tools/cuda_stand_in/build.py $(STAND_IN); \
	$(DEVICE_TESTS); \
	STAND_IN_LATE=computing $(LATE_TESTS); \
	STAND_IN_LATE=copying $(LATE_TESTS); \
	$(BIN)/python tools/develop.py; \
	$(GPU_TESTS); \
	else echo "there is no C++ compiler (g++): the code for GPUs was not tested"; fi

kernels: $(VENV)/.ready ## Compile the kernels for GPUs (needs NVRTC, which `make setup` installs on Linux; no GPU)
	$(BIN)/python tools/compile_kernels.py

gen: build ## Write what is made from the registry: docs/methods/README.md
	$(TARGET_DIR)/debug/mercer methods --format markdown > docs/methods/README.md

# sphinx-gallery runs an example again only if it has changed. The command line is built, because an example uses it.
docs: build $(VENV)/.docs ## Build the documentation site into docs/_build/html (no network is needed, once its tools are installed)
	$(BIN)/python tools/develop.py
	PATH="$(abspath $(TARGET_DIR))/debug:$$PATH" $(BIN)/python -m sphinx -W --keep-going -q -j $(THREADS) -b html docs docs/_build/html
	$(BIN)/python tools/check_site.py --no-browser
	@echo "open docs/_build/html/index.html"

$(VENV)/.docs: $(VENV)/.ready
	$(BIN)/python -c "import tomllib, subprocess, sys; \
	e = tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']; \
	sys.exit(subprocess.call([sys.executable, '-m', 'pip', 'install', '--quiet', *e['docs']]))"
	touch $@

# Both sides on as many threads: THREADS=1 make bench
bench: export OMP_NUM_THREADS = $(THREADS)
bench: export OPENBLAS_NUM_THREADS = $(THREADS)
bench: export RAYON_NUM_THREADS = $(THREADS)
bench: $(VENV)/.ready ## Measure beside the peers (optimised build; takes half an hour)
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --quiet
	$(BIN)/pip install --quiet skrebate
	set -e; for script in basis float32 latency components selection extraction evaluators growth; do $(BIN)/python bench/$$script.py; done
	cargo bench -p mercer --bench basis

instructions: build ## Compare the instructions of small jobs with bench/instructions.json (needs valgrind)
	$(PYTHON) tools/instructions.py --program $(TARGET_DIR)/debug/examples/instructions

papers: $(VENV)/.ready ## Rebuild the papers' tables and figures (QUICK=1: minutes; PAPER=takes; DATA=DIR)
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --quiet
	$(BIN)/python experiments/run.py $(PAPER) $(if $(QUICK),--quick) $(if $(DATA),--data "$(DATA)")

# Coverage needs a nightly toolchain; what was found before is replayed by the tests.
fuzz: ## Fuzz every reader, models, checkpoints and texts (nightly; SECONDS=60 each; EXECUTIONS=10000000 each; TARGETS=csv,npz)
	cd fuzz && cargo +nightly build --release
	$(PYTHON) tools/fuzz.py --program $(or $(CARGO_TARGET_DIR),fuzz/target)/release/targets --seconds $(or $(SECONDS),60) --jobs $(THREADS) $(if $(EXECUTIONS),--executions $(EXECUTIONS)) $(if $(TARGETS),--targets $(TARGETS))

check: together lint test apart ## All that continuous integration runs

# Packages are installed while Rust compiles: the one waits for the network, the other for the processor.
together:
	@$(MAKE) --no-print-directory -j setup build

# Instructions are counted while a GPU is imitated on one thread.
apart:
	@$(MAKE) --no-print-directory -j 2 kernels test-stand-in instructions

# Slow tests that rarely fail are ignored (`#[ignore]`) or marked (`slow`), and run here.
check-all: check check-browser check-deny check-docs check-faults check-memory ## Before a release: also the slow tests, fewer features, the report's pages and the site in a browser, faults, limits on memory
	cargo clippy -p mercer -- -D warnings
	cargo clippy -p mercer-py --features extension-module -- -D warnings
	cargo test $(WORKSPACE) -- --ignored
	$(BIN)/python -m pytest -q -n $(THREADS) -m slow

check-browser: ## Open the report's pages in Chromium (installed if it is missing; Debian)
	command -v chromium || { SUDO=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	$$SUDO apt-get update -qq && $$SUDO apt-get install -y -qq chromium; }
	$(PYTHON) tools/check_browser.py

check-deny: ## Licences, sources and duplicates of the crates we depend on (cargo-deny, where it is installed)
	@if command -v cargo-deny >/dev/null; then cargo deny --all-features check licenses sources bans; \
	else echo "cargo-deny is not installed (cargo install cargo-deny): licences and sources were not checked"; fi

check-docs: docs ## Open every page of the site in Chromium, wide and on a phone, light and dark
	$(BIN)/python tools/check_site.py

check-faults: build ## Kill every command again and again, fill disks, close pipes, change input (SECONDS=120 or KILLS=500; Linux)
	$(PYTHON) tools/check_faults.py --program $(TARGET_DIR)/debug/mercer --seconds $(or $(SECONDS),120) --kills $(or $(KILLS),0)

check-memory: build $(VENV)/.ready ## Run every command and estimator under limits on memory (Linux)
	$(PYTHON) tools/check_memory.py --program $(TARGET_DIR)/debug/mercer
	$(BIN)/python tools/develop.py
	$(BIN)/python tools/check_memory.py --estimators

# Miri cannot run the system's calls; AddressSanitizer can. What needs a GPU is tested by `make test-stand-in`.
UNSAFE_PARTS := linalg::large data::store whole_file allocator limits
HOST = $(shell rustc -vV | sed -n 's/^host: //p')

check-unsafe: export RUSTFLAGS := -Zsanitizer=address
# Tests ask for more memory than there is.
check-unsafe: export ASAN_OPTIONS := allocator_may_return_null=1
check-unsafe: ## Run the unsafe code that needs no GPU under AddressSanitizer (needs nightly Rust; Linux)
	cargo +nightly test -p mercer --lib --target $(HOST) --target-dir $(TARGET_DIR)/sanitizer -- $(UNSAFE_PARTS)

clean: ## Remove what was built
	cargo clean
	rm -rf $(VENV) docs/_build docs/api/examples docs/api/generated docs/examples docs/papers docs/pictures
