# Every target makes the environment it needs. Python >= 3.11, pip and make are enough.

PYTHON ?= python3
JOBS ?= 2

VENV := .venv
DEMO := .venv-demo
BENCH := .venv-bench
ENGINES := .venv-engines
PEERS := .venv-peers
STAMP := $(VENV)/.installed
PAPER := intro running cases study_1 study_2 settings california_data california_effects \
	california_bins run_time disagreements page
ACCURACY := random_problems two_looks oracle additive california_subsets curves audit trees spreads \
	tree_regions jumps intervals regions pairs refits comparisons page
DEMO_STAMP := $(DEMO)/.installed
BENCH_STAMP := $(BENCH)/.installed
ENGINES_STAMP := $(ENGINES)/.installed
PEERS_STAMP := $(PEERS)/.installed
LOWEST := .venv-lowest
LOWEST_STAMP := $(LOWEST)/.installed
RELEASE := .venv-release
RELEASE_STAMP := $(RELEASE)/.installed
VERSION = $$($(RELEASE)/bin/python -m hatchling version)

.DEFAULT_GOAL := help
.PHONY: help demo docs figures paper accuracy test test-all test-engines test-peers golden fuzz lint bench clean
.PHONY: changelog release test-lowest

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Light: no compiler, no torch, nothing for GPUs. Modules that run once need not be kept compiled.
demo: export PYTHONDONTWRITEBYTECODE := 1
demo: $(DEMO_STAMP) ## Explain a small model; tables on screen, pictures and a page in demo/
	$(DEMO)/bin/rhale demo

figures: $(STAMP) ## Draw the pictures of the README anew: those of the demo, its trees walked
	$(VENV)/bin/rhale demo --no-open
	cp demo/all_features.png demo/one_feature.png demo/three_inks.png docs/images/

# Every page and every example of the gallery is run; then links are followed and pages are opened.
docs: export OMP_NUM_THREADS := 1
docs: export NUMBA_NUM_THREADS := 1
docs: $(STAMP) ## Build the site into site/, from pages that are run, and check it
	$(VENV)/bin/python -m sphinx -q -W --keep-going -j $(JOBS) -b html docs site
	$(VENV)/bin/python -m pytest tests/site -q

# DATA=file.csv names a local copy of California Housing; without it scikit-learn fetches one.
paper: $(STAMP) ## Reproduce every experiment of the paper; writes docs/paper/
	@for name in $(PAPER); do \
		echo "paper/$$name.py"; \
		$(if $(DATA),RHALE_CALIFORNIA_CSV="$(DATA)") PYTHONPATH=. $(VENV)/bin/python paper/$$name.py || exit 1; \
	done

# The scripts share the nets and the tables of the paper's scripts. FULL=1 measures the jumps and the
# regions of all tree models (half an hour of one core each), in JOBS processes.
accuracy: $(STAMP) ## Measure bins, curves and intervals against known truths; writes docs/accuracy.md
	@for name in $(ACCURACY); do \
		echo "accuracy/$$name.py"; \
		$(if $(DATA),RHALE_CALIFORNIA_CSV="$(DATA)") PYTHONPATH=.:paper OMP_NUM_THREADS=1 \
			$(VENV)/bin/python accuracy/$$name.py \
			$$(case $$name in (jumps|regions|pairs|refits) echo "--jobs $(JOBS) $(if $(FULL),--full)";; esac) || exit 1; \
	done

# One thread for each test process: the processes already fill the cores.
test test-all test-engines test-peers: export OMP_NUM_THREADS := 1
test test-all test-engines test-peers: export NUMBA_NUM_THREADS := 1

test: $(STAMP) ## Run the tests, except the slow ones
	$(VENV)/bin/python -m pytest -m "not slow" -n $(JOBS)

test-all: $(STAMP) ## Run all tests
	$(VENV)/bin/python -m pytest -n $(JOBS)

# Spark and Ray bring worker processes of their own: one process of tests, two cores for theirs.
test-engines: $(ENGINES_STAMP) ## Run the tests on Spark and Ray, in an environment of their own
	$(ENGINES)/bin/python -m pytest tests/engines

# Every block must run there, and print what the page says that it prints.
test-peers: $(PEERS_STAMP) ## Run the pages for those who come from other programs, beside these programs
	RHALE_ALL_BLOCKS=1 $(PEERS)/bin/python -m pytest tests/end_to_end/test_pages.py -k coming-from

# Old libraries warn of new ones beside them, so warnings are no errors here. Units and contracts meet
# every call into a library; tests/properties are laws of numbers, which `make test` tries.
test-lowest: export OMP_NUM_THREADS := 1
test-lowest: export NUMBA_NUM_THREADS := 1
# An older numba beside the package would throw away what the newer one has compiled, and the reverse.
test-lowest: export NUMBA_CACHE_DIR := $(CURDIR)/$(LOWEST)/compiled
test-lowest: $(LOWEST_STAMP) ## Run units and contracts with the lowest versions that pyproject.toml allows
	$(LOWEST)/bin/python release/bounds.py --check
	$(LOWEST)/bin/python -m pytest tests/unit tests/contracts -n $(JOBS) \
		-m "not slow and not browser" -W default --disable-warnings

# AGAINST=commit names the other one; results of many calls must agree to the bit.
golden: $(STAMP) ## Compare what users see of two commits: this tree and AGAINST, HEAD by default
	rm -rf .golden && mkdir .golden && git worktree prune
	git worktree add --quiet --detach .golden/tree $(or $(AGAINST),HEAD)
	rm -rf .golden/tree/tests/golden && cp -r tests/golden .golden/tree/tests/golden
	cd .golden/tree && PYTHONPATH=src OMP_NUM_THREADS=1 ../../$(VENV)/bin/python -m tests.golden save ../before
	OMP_NUM_THREADS=1 $(VENV)/bin/python -m tests.golden save .golden/after
	git worktree remove --force .golden/tree
	$(VENV)/bin/python -m tests.golden compare .golden/before .golden/after

# READER=name, SEED=n and CASES=n choose, NAME=word keeps the numbers under another word than "now";
# CASE=n runs one case, and KEEP=folder leaves its file there.
fuzz: $(STAMP) ## Give each reader thousands of damaged files; writes docs/fuzzing.md
	$(VENV)/bin/python -m tests.fuzz --seed $(or $(SEED),0) --cases $(or $(CASES),2000) --jobs $(JOBS) \
		$(if $(READER),--reader $(READER)) $(if $(CASE),--case $(CASE),--write $(or $(NAME),now)) \
		$(if $(KEEP),--keep $(KEEP))

lint: $(STAMP) ## Check style and types
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/mypy

bench: $(BENCH_STAMP) ## Measure rhale against other programs, in an environment of its own
	$(BENCH)/bin/python -m pytest benchmarks -p no:xdist -q -s --override-ini addopts=

# DATE=2026-11-17 is today's by default. Pieces are removed: look at `git diff`, then commit.
changelog: $(RELEASE_STAMP) ## Make a section of CHANGELOG.md of the pieces in changelog.d/
	$(RELEASE)/bin/towncrier build --yes --version $(VERSION) $(if $(DATE),--date $(DATE))

# NEWEST=1 tries the newest dependencies instead of the pinned ones. Nothing is published.
release: $(RELEASE_STAMP) ## Build sdist and wheel into dist/, and check them in clean environments
	rm -rf dist
	$(RELEASE)/bin/validate-pyproject pyproject.toml
	$(RELEASE)/bin/python -m build --no-isolation
	$(RELEASE)/bin/twine check --strict dist/*
	$(RELEASE)/bin/check-wheel-contents dist
	$(RELEASE)/bin/python release/check.py --python $(PYTHON) $(if $(NEWEST),--newest)

clean: ## Remove environments, caches and everything that was made
	rm -rf $(VENV) $(DEMO) $(BENCH) $(ENGINES) $(PEERS) $(LOWEST) $(RELEASE) demo site dist build \
		docs/_live docs/gallery docs/sg_execution_times.rst docs/reference/generated paper/.parts accuracy/.parts \
		htmlcov .coverage .coverage.* .benchmarks \
		.golden .hypothesis benchmarks/.pytest_cache .mypy_cache .pytest_cache .ruff_cache
	find src problems tests benchmarks examples paper accuracy -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# $(call install,FOLDER,REQUIREMENTS,CONSTRAINTS[,OPTIONS OF PIP]): hatchling comes from the pinned
# environment itself, so that the build is pinned too.
define install
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo "rhale needs Python 3.11 or newer: name one with make PYTHON=/path/to/python3." >&2; exit 1; }
$(PYTHON) -m venv $(1)
$(1)/bin/python -m pip install --quiet --disable-pip-version-check $(4) -c $(3) -r $(2)
$(1)/bin/python -m pip install --quiet --disable-pip-version-check $(4) -c $(3) --no-build-isolation -e .
@touch $@
endef

$(STAMP): pyproject.toml constraints.txt requirements/dev.txt
	$(call install,$(VENV),requirements/dev.txt,constraints.txt)

# What only installs is taken away again: 30 MB.
$(DEMO_STAMP): pyproject.toml constraints.txt requirements/demo.txt
	$(call install,$(DEMO),requirements/demo.txt,constraints.txt,--no-compile)
	@$(DEMO)/bin/python -m pip uninstall --quiet --yes hatchling editables trove-classifiers \
		tomlkit pathspec pluggy setuptools pip 2>/dev/null

$(BENCH_STAMP): pyproject.toml constraints-bench.txt requirements/bench.txt
	$(call install,$(BENCH),requirements/bench.txt,constraints-bench.txt)

$(ENGINES_STAMP): pyproject.toml constraints-engines.txt requirements/engines.txt
	$(call install,$(ENGINES),requirements/engines.txt,constraints-engines.txt)

$(PEERS_STAMP): pyproject.toml constraints-peers.txt requirements/peers.txt
	$(call install,$(PEERS),requirements/peers.txt,constraints-peers.txt)

$(LOWEST_STAMP): pyproject.toml constraints-lowest.txt requirements/lowest.txt
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check \
		-c constraints-lowest.txt -r requirements/lowest.txt
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check \
		-c constraints-lowest.txt --no-build-isolation -e ".[trees,jax,onnx,files,report,cli,dask]"
	@touch $@

# Tools only: what is checked is installed into environments that check.py makes.
$(RELEASE_STAMP): constraints-release.txt requirements/release.txt
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check \
		-c constraints-release.txt -r requirements/release.txt
	@touch $@
