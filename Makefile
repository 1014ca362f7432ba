# Every target works alone on a fresh clone: it needs Python 3.10+ with venv, and make.

# Counts when an environment is made; `make clean` first to change it.
PYTHON ?= python3
# One file stays on one worker, so that what a module prepares is prepared once.
PYTEST_ARGS ?= -n 2 --dist loadfile

BIN := .venv/bin
PIP := -m pip --disable-pip-version-check install --quiet --constraint tests/constraints.txt
# Stamps lie inside the environments: removing one of those forgets its stamps too.
PLAIN := .venv/.installed
TEST := .venv/.installed-test
CROSS := .venv-crosscheck/.installed
INPUTS := pyproject.toml tests/constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test bench referee crosscheck clean
# Two targets of one `make -j` would install into the same environment at once.
.NOTPARALLEL:

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

demo: $(PLAIN) ## run the lessons, take the gradients of a recorded layer, write the page to play with
	$(BIN)/python -m npconv
	@mkdir -p .demo
	$(BIN)/python -m npconv grad tests/data/ocr_stem.npz -o .demo/ocr_stem_grad.npz
	$(BIN)/python -m npconv explain i5x5_k3_s2 --html .demo/explain.html

# One thread a worker: two workers with two threads each on two cores were several times slower.
test: $(TEST) ## run the whole suite, with PyTorch as the oracle
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(PYTEST_ARGS)

bench: $(TEST) ## compare the speed with PyTorch's
	$(BIN)/python tests/bench/versus_torch.py

referee: $(PLAIN) ## run the referee on its matrix of candidates
	$(BIN)/python tests/referee/matrix.py

crosscheck: $(CROSS) ## compare with JAX and ONNX Runtime, in an environment of its own
	.venv-crosscheck/bin/python tests/crosscheck/run.py

clean: ## remove the environments and all that was generated
	rm -rf .venv .venv-crosscheck .demo build dist *.egg-info .pytest_cache
	find npconv tests -name __pycache__ -prune -exec rm -rf {} +

# Empty if PYTHON will do; else one line that says why not: the shell's own where there is no such
# command, and the `:` is for that case, since make throws away the text of a command that ends in 127.
fault = $(shell $(PYTHON) -c 'import sys; \
  sys.version_info >= (3, 10) or sys.exit("npconv needs Python 3.10 or newer: $(PYTHON) is %d.%d (make PYTHON=...)" % sys.version_info[:2]); \
  from importlib.util import find_spec; \
  find_spec("venv") and find_spec("ensurepip") or sys.exit("$(PYTHON) has no venv module (Debian, Ubuntu: apt install python3-venv)")' 2>&1; :)

.venv/.made .venv-crosscheck/.made:
	$(if $(fault),$(error $(fault)))
	@$(PYTHON) -m venv $(@D)
	@touch $@

$(PLAIN): $(INPUTS) | .venv/.made
	@echo "installing npconv into .venv ..."
	@$(BIN)/python $(PIP) --editable .
	@touch $@

# A superset of the plain install, hence both stamps.
$(TEST): $(INPUTS) | .venv/.made
	@echo "installing npconv[test] into .venv (PyTorch is large) ..."
	@$(BIN)/python $(PIP) --editable '.[test]'
	@touch $(PLAIN) $@

$(CROSS): $(INPUTS) | .venv-crosscheck/.made
	@echo "installing npconv[crosscheck] into .venv-crosscheck ..."
	@$(@D)/bin/python $(PIP) --editable '.[crosscheck]'
	@touch $@
