# make demo    blur a photograph; make test    the tests that need no GPU
# Both make their own environment in .venv first. With PY=/path/to/python nothing is installed and that interpreter is used:
#   make test PY=python3
.DELETE_ON_ERROR:
.SUFFIXES:

VENV := .venv
BUILT := pyproject.toml setup.py nvmath/bindings/_seam.c nvmath/_core/arrays/_exchange.c .ci/environment
MAKE_ENVIRONMENT = VENV=$(VENV) PYTHON="$(PYTHON)" sh .ci/environment

ifeq ($(origin PY),command line)
NEEDS_DEMO :=
NEEDS_TEST :=
NEEDS_BENCH :=
NEEDS_DOCS :=
else
PY := $(VENV)/bin/python
NEEDS_DEMO := $(VENV)/.demo
NEEDS_TEST := $(VENV)/.test
NEEDS_BENCH := $(VENV)/.bench
NEEDS_DOCS := $(VENV)/.docs
endif

# The interpreter of `make gpu`: the one that has torch, CuPy and numba-cuda already. Nothing is installed into it.
GPU_PY ?= python3
JOBS ?= 8

.PHONY: help demo env test lint types docs gpu bench clean

help:
	@echo "make demo    blur a photograph, write demo.png and say what ran where"
	@echo "make test    run the tests on the CPU"
	@echo "make lint types docs    ruff, mypy, the documentation"
	@echo "make gpu     run everything that needs a GPU, JOBS=$(JOBS) files at a time, with GPU_PY=$(GPU_PY); installs nothing"
	@echo "make bench   measure against the peers that are installed"
	@echo "make clean   remove the environment and what was built"

demo: $(NEEDS_DEMO)
	$(PY) -m nvmath demo $(if $(PHOTO),"$(PHOTO)")

env: $(NEEDS_TEST)

# The tests over the CUDA libraries skip themselves, by name, where a library is not installed.
test: $(NEEDS_TEST)
	$(PY) -m pytest tests --ignore=tests/gpu $(ARGS)

lint: $(NEEDS_TEST)
	$(PY) -m ruff check .

types: $(NEEDS_TEST)
	$(PY) -m mypy

docs: $(NEEDS_DOCS)
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --quiet

gpu:
	$(GPU_PY) setup.py -q build_ext --inplace
	$(GPU_PY) tests/side_by_side.py --jobs $(JOBS) tests/gpu tests/budget tests/examples -- $(ARGS)

bench: $(NEEDS_BENCH)
	$(PY) -m benchmarks $(ARGS)

$(VENV)/.demo: $(BUILT)
	@$(MAKE_ENVIRONMENT) cpu,jit,demo
	@touch $@

$(VENV)/.test: $(BUILT)
	@$(MAKE_ENVIRONMENT) cpu,jit,demo,dev
	@touch $@ $(VENV)/.demo

$(VENV)/.bench: $(VENV)/.test
	@$(MAKE_ENVIRONMENT) cpu,jit,demo,dev,bench
	@touch $@

$(VENV)/.docs: $(VENV)/.test
	@$(MAKE_ENVIRONMENT) cpu,jit,demo,dev,docs
	@touch $@

clean:
	rm -rf $(VENV) build site demo.png nvmath/bindings/_seam_c*.so nvmath/_core/arrays/_exchange_c*.so *.egg-info
