# The two commands of a fresh clone are `make demo` and `make test`; Python 3.11 or later and make are all they assume.
# PYTHON names the interpreter that the environment is made with, VENV where it is made.

PYTHON ?= python3
VENV ?= .venv
TEST_FLAGS ?= -n auto --maxprocesses=8
BENCH_FLAGS ?=
FUZZ_FLAGS ?=
MATRIX_FLAGS ?=
N ?= 20000

BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check

# One stamp says which interpreter made the environment, so that another PYTHON makes it anew.
ENVIRONMENT = $(VENV)/.made-by-$(subst /,-,$(PYTHON))

# One thread for each BLAS, and freed memory kept by the process: pages given back to the host and faulted in again
# would otherwise be most of what is timed. The same for every contender, since they run in the one process.
BENCH_ENVIRONMENT = OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 \
	MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=20000000000 MALLOC_ARENA_MAX=1 MALLOC_TOP_PAD_=67108864

.PHONY: help demo test check lint layout types layers format bench fuzz matrix clean

help:
	@echo "make demo         a gradient beside its function, then examples/softmax.py"
	@echo "make test         the tests"
	@echo "make check        lint, types and the layers of the package"
	@echo "make format       let ruff lay out the code"
	@echo "make bench        gradients against hand-written ones"
	@echo "make fuzz N=...   compare the gradients of N random programs with finite differences"
	@echo "make matrix N=... the same for N small programs about sharing, writing and names of methods"

demo: $(VENV)/.demo
	$(BIN)/python examples/softmax.py --show

test: $(VENV)/.test
	$(BIN)/python -m pytest $(TEST_FLAGS)

# Apart, so that --keep-going shows all that is wrong.
check: lint layout types layers

lint: $(VENV)/.check
	$(BIN)/ruff check .

layout: $(VENV)/.check
	$(BIN)/ruff format --check .

types: $(VENV)/.check
	$(BIN)/mypy

layers: $(VENV)/.check
	$(BIN)/lint-imports

format: $(VENV)/.check
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.bench
	$(BENCH_ENVIRONMENT) $(BIN)/python -m tests.benchmarks $(BENCH_FLAGS)

# FUZZ_FLAGS="--level 2" for programs that write in place, "--seed 20000" for others than the last time.
fuzz: $(VENV)/.test
	$(BIN)/python -m tests.random_programs --count $(N) --jobs 2 $(FUZZ_FLAGS)

# MATRIX_FLAGS="--only methods --axes" for some families, and for counts by the values of each axis.
matrix: $(VENV)/.test
	$(BIN)/python -m tests.matrix --count $(N) --jobs 2 $(MATRIX_FLAGS)

clean:
	rm -rf $(VENV) .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist
	find s2sad tests examples -name __pycache__ -type d -prune -exec rm -rf {} +

# The pip that comes with Python 3.11 does not know dependency groups; 25.1 was the first that does.
$(ENVIRONMENT):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "s2sad needs Python 3.11 or later: make PYTHON=...")'
	$(PYTHON) -m venv --clear $(VENV)
	$(PIP) --upgrade "pip>=25.1"
	@touch $@

# Editable installs: a changed source file is used at once, a changed pyproject.toml installs again.
$(VENV)/.demo: $(ENVIRONMENT) pyproject.toml
	$(PIP) --editable ".[cli,examples]"
	@touch $@

$(VENV)/.test: $(ENVIRONMENT) pyproject.toml
	$(PIP) --editable ".[cli,examples]" --group test
	@touch $@

$(VENV)/.check: $(ENVIRONMENT) pyproject.toml
	$(PIP) --editable . --group lint
	@touch $@

$(VENV)/.bench: $(ENVIRONMENT) pyproject.toml
	$(PIP) --editable . --group bench
	@touch $@
