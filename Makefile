# make lab opens the course, make my copies its exercises, make site builds its pages, make test
# proves it all. README says how to do the same without make.
#   ARGS    handed on to the program:  make lab ARGS="--no-browser --port 8899"
#   PYTHON  the Python to build with:  make lab PYTHON=python3.13
#   EXTRAS  what joins the core:       make lab EXTRAS=    (NumPy alone, where torch has no wheel)
# Written for GNU make 3.81 (macOS has it) and later.

PYTHON ?= python3
EXTRAS ?= torch,numba,pair
ARGS ?=

comma := ,
PY := .venv/bin/python
# Stamps: an environment newer than the lock is not installed again.
LAB := .venv/.lab-$(or $(EXTRAS),core)
TEST := .venv/.test-$(or $(EXTRAS),core)
SITE := .venv/.site
# A page, not a file: given a file, Jupyter would shut the rest of this folder, my/ included, away.
START := --LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb
# Jupyter refuses to start as root, which is who you are in many containers, unless told.
ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

.PHONY: lab my test test-fast test-site mutate bench exercises site lite clean

lab: $(LAB)
	$(PY) -m jupyterlab $(ROOT) $(START) $(ARGS)

# any Python will do, and nothing need be installed
my:
	@$(or $(wildcard $(PY)),$(PYTHON)) -m course.mine $(ARGS)

test: $(TEST)
	$(PY) tools/testall.py $(ARGS)

test-fast: $(TEST)
	$(PY) tools/testall.py --fast $(ARGS)

# the site in a browser: needs npm and Chromium, and says so where they are missing
test-site: $(TEST)
	$(PY) tools/testall.py --site $(ARGS)

mutate: $(TEST)
	$(PY) tools/mutate.py $(ARGS)

bench: $(TEST)
	$(PY) benchmarks/bench.py $(ARGS)

exercises: $(TEST)
	$(PY) -m course.release

site: $(SITE)
	$(PY) tools/website.py $(ARGS)

# the lab in the page, beside the site
lite: $(SITE)
	$(PY) tools/lite.py $(ARGS)

clean:
	rm -rf .venv _site build docs/node_modules *.egg-info .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

# .venv/.home holds this folder's path when the environment is whole, and "unfinished" while pip
# is at work. Broken off half-way, moved, or its Python gone: such an environment is built anew.
HERE = [ "$$(cat .venv/.home 2>/dev/null)" = "$$(pwd -P)" ]
ifneq ($(shell [ -x $(PY) ] && $(HERE) && echo whole),whole)
.PHONY: $(LAB) $(TEST) $(SITE)
endif

OLD := This course needs Python 3.11.5 or later, and $(PYTHON) is %d.%d.%d.
OLD += Install a newer one, or name one you have: make lab PYTHON=python3.13
define install
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON). Install Python 3.11.5 or later."; exit 1; }
	@$(PYTHON) -c 'import sys; v = sys.version_info[:3]; sys.exit("$(OLD)" % v if v < (3, 11, 5) else 0)'
	@if [ -d .venv ] && { [ ! -x $(PY) ] || { [ -e .venv/.home ] && ! $(HERE); }; }; then \
	  echo "The environment in .venv is not whole: building it anew."; \
	  find .venv -mindepth 1 ! -name .home -delete; fi
	@mkdir -p .venv && echo unfinished > .venv/.home
	@[ -x $(PY) ] || $(PYTHON) -m venv .venv
	@echo "Installing into .venv: some minutes the first time, nothing the next."
	@$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.$(1)' || { \
	  echo "The installation failed: pip says why above. Run the same command to try again."; \
	  echo "If one of $(EXTRAS) has no wheel for this computer, add EXTRAS= to do without."; exit 1; }
endef

$(LAB): constraints.txt pyproject.toml
	$(call install,$(if $(EXTRAS),[$(EXTRAS)]))
	@touch $(LAB) && pwd -P > .venv/.home

$(SITE): constraints.txt pyproject.toml
	$(call install,[site])
	@touch $(SITE) && pwd -P > .venv/.home

$(TEST): constraints.txt pyproject.toml
	$(call install,[$(if $(EXTRAS),$(EXTRAS)$(comma)peers$(comma))site$(comma)test])
	@touch $(LAB) $(SITE) $(TEST) && pwd -P > .venv/.home
