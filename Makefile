# `make demo` and `make test` work from a fresh clone: they set up what they need first.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-browser test-cluster test-packages test-oldest faults mutants mutants-sample lint docs links bench clean

demo: .venv/ready
	$(BIN)/unbraid demo

test: .venv/ready lint
	OMP_NUM_THREADS=1 $(BIN)/pytest -q -n 2 --dist worksteal

# The explorer in a real browser: Debian's Chromium (as root, apt brings it) driven by Playwright.
test-browser: .venv/ready
	command -v chromium > /dev/null || (apt-get -q update && apt-get -q install -y --no-install-recommends chromium)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[browser]'
	OMP_NUM_THREADS=1 $(BIN)/pytest -q tests/browser

# Kills processes and machines of a search: joblib's, and those of a Ray cluster that is started on this machine.
test-cluster: .venv/ready
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[ray]'
	OMP_NUM_THREADS=1 UNBRAID_CLUSTER=1 $(BIN)/pytest -q tests/cluster

# Breaks runs on purpose, at every point where they change their folder: some ten minutes.
faults: .venv/ready
	OMP_NUM_THREADS=1 UNBRAID_KILL_EVERY=1 $(BIN)/pytest -q tests/faults

# Changes equations, one at a time, and runs the tests of each: hours, and it goes on where it was stopped.
mutants: .venv/ready
	OMP_NUM_THREADS=1 PYTHONPATH=tests nice -n 15 $(BIN)/python -m mutants --wrong
	OMP_NUM_THREADS=1 PYTHONPATH=tests nice -n 15 $(BIN)/python -m mutants $(MUTANTS)

# Thirty of them, always the same: about a minute.
mutants-sample: .venv/ready
	OMP_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python -m mutants --sample 30

lint: .venv/ready
	$(BIN)/ruff check src tests benchmarks docs hatch_build.py
	$(BIN)/ruff format --check --quiet src tests benchmarks docs/conf.py docs/generate.py docs/metric_costs.py hatch_build.py
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy

# The documentation site, warnings as errors; notebooks are executed with a few steps each.
docs: .venv/ready
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	OMP_NUM_THREADS=1 UNBRAID_NOTEBOOK_STEPS=$${UNBRAID_NOTEBOOK_STEPS:-40} $(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

# Addresses of other sites on the pages; needs a network.
links: .venv/ready
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	$(BIN)/sphinx-build -q -D nb_execution_mode=off -b linkcheck docs docs/_build/links

# sdist and wheel, built, checked, and used in an empty environment.
test-packages:
	PYTHON=$(PYTHON) bash tests/packages.sh

# The oldest versions that pyproject.toml allows (torch comes in one version only).
test-oldest:
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/pip install --quiet --disable-pip-version-check torch==2.13.0
	$(PYTHON) tests/oldest.py > .venv-oldest/pins.txt
	.venv-oldest/bin/pip install --quiet --disable-pip-version-check -c .venv-oldest/pins.txt -e '.[dev]'
	# scikit-learn 1.6 runs its checks of estimators with SciPy's array API only.
	SCIPY_ARRAY_API=1 OMP_NUM_THREADS=1 .venv-oldest/bin/pytest -q -n 2 --dist worksteal

bench: .venv/ready
	$(BIN)/python benchmarks/train_overhead.py
	$(BIN)/python benchmarks/memory.py
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/metrics.py

# torch first and by its exact version: any later step would otherwise be free to choose another build.
.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

clean:
	rm -rf .venv .venv-oldest docs/_build docs/reference .pytest_cache .mypy_cache .ruff_cache
