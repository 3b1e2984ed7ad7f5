# The one way to build, test, lint, measure and validate; CI calls only these targets.
#
#   make demo       build all that is needed and run the first experiment (under a minute after the build)
#   make test       build and pass all tests (installs the Debian packages chromium and tshark if they are missing)
#   make build      what .venv/bin/manetlab needs
#   make lint       formatting, clippy, ruff, mypy
#   make fmt        format all sources
#   make reproduce-quick  run the papers' experiments in small and judge their claims: a check of the machinery
#   make papers-pages  write the pages of papers and studies to out/pages, and those that are stored to papers/pages
#                   and docs/papers.md, from what is kept, without a run of the papers' experiments
#   make validate   compare with ns-2.35, theory and published figures; renews the results on docs/validation.md
#   make bench      measure speed, growth, throughput and start-up, beside ns-2 and ns-3 (installs their Debian
#                   packages if they are missing); writes out/performance.md
#   make golden     renew the golden results
#   make docs       renew docs/parameters.md, the outputs of docs/tutorial.ipynb and the picture of the architecture
#   make viewer     check, test and build the page that plays runs, from viewer (needs Node 20 and npm; users need neither)
#   make engine     build the core as a WebAssembly module, and test it in Node and Chromium beside the native one
#   make aarch64    compare the goldens' results on an emulated aarch64 with the native ones (needs Debian's packages
#                   qemu-user-static, gcc-aarch64-linux-gnu and libc6-dev-arm64-cross)
#   make lock       renew requirements.lock, and that of the site
#   make man        write the man pages to out/man/man1; MANPATH=out/man man manetlab-run
#   make site       build the documentation as a site, with the reference of the Python interface, in out/site/html
#   make wheel      write a source distribution, and the abi3 wheel that is built from it, to dist
#   make release    install a release into out/release/site, beside the build of developers; benches measure it
#   make wheels     write wheels for glibc 2.28 to dist, for x86-64 and aarch64, and run the goldens with both (installs
#                   zig from PyPI; needs rustup, and apt and Debian's qemu-user-static for aarch64)
#   make slurm      run a campaign on a SLURM brought up for it (as root, with Debian's munge and slurm-wlm)
#   make sumo       run SUMO 1.28 (150 MB from PyPI) and compare the movement that is read with its positions
#   make fuzz       run the property tests with a new seed (or FUZZ_SEED); fuzz readers, state machines, stores and a
#                   failing disk: FUZZ_SECONDS, or FUZZ_RUNS inputs, each
#   make mutants    change statistics, MAC, routing and transport a little, and see which changes no test notices (hours)
#   make harness    try what routing protocols promise on TOPOLOGIES random topologies for each parameter set; renews
#                   the table of docs/promises.md
#   make audit      look up known advisories on all lock files (needs GitHub, PyPI and npm)
#   make torture    run random scenarios with every assertion on, for SECONDS, in WORKERS processes, and hold every
#                   routing protocol against static routes in NETWORKS light networks

PYTHON ?= python3
SECONDS ?= 60
WORKERS ?= 1
# Light networks that every routing protocol must serve.
NETWORKS ?= 20
# Topologies on which each parameter set of each routing protocol is tried: 100,000 in all.
TOPOLOGIES ?= 2942
FUZZ_SECONDS ?= 60
# Tools that are no part of any lock file.
CARGO_DENY := 0.20.2
CARGO_FUZZ := 0.13.2
PIP_AUDIT := 2.10.1
PIP_TOOLS := 7.6.2
ZIG := 0.17.1
PYTHON_LOCKS := requirements.lock packaging/site/requirements.lock
# Inputs of each target, instead of the time.
FUZZ_RUNS ?=
FUZZ_TARGETS := movement traffic tracks script bytes adp arp flow mac queue recording routing rtp stage tcp
FUZZ_READERS := scenario campaign sessions trace store
# Of the file system's calls, every how many-th fails once.
FUZZ_FAULTS_EVERY ?= 5
# Mutants of the core, of several thousand; and when no further one is begun, for each language.
MUTANTS_SAMPLE ?= 150
MUTANTS_SECONDS ?= 14400
VENV := .venv
BIN := $(VENV)/bin
DEPENDENCIES := $(VENV)/.dependencies
BUILT := $(VENV)/.built
NODE_MODULES := viewer/node_modules/.package-lock.json
# Many times what they take on a slow machine.
RUST_TESTS_END_S := 3600
TORTURE := out/torture/.built
SITE := target/tools/site
# Where the pages of papers and studies are made, arranged as the repository is.
PAGES := out/pages
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

.DELETE_ON_ERROR:
.PHONY: rust mutants viewer-tests engine aarch64 sumo build test rust-tests wasm lint fmt demo release bench validate reproduce reproduce-quick papers-pages golden docs viewer lock man site wheel wheels slurm audit fuzz torture harness clean

build: $(BUILT)

# Before anything is installed.
rust:
	@packaging/rust.sh

$(BIN)/python: | rust
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "manetlab needs Python 3.11 or newer, not $$($(PYTHON) --version)." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "This Python cannot make virtual environments; on Debian: apt install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(DEPENDENCIES): requirements.lock | rust $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

$(BUILT): $(DEPENDENCIES) pyproject.toml papers/pyproject.toml $(RUST_SOURCES) | rust
# Where the wheel's man pages are: maturin wants the folder for every build.
	@mkdir -p out/wheel-data
	MAKEFLAGS= PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps \
		--no-build-isolation --config-settings=build-args=--locked --editable .
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable papers
# pip makes byte code of what it installs, but not of a checkout.
	$(BIN)/python -m compileall -q python papers
	@touch $@

demo: build
	$(BIN)/manetlab demo

# Builds go side by side, because much of each keeps one core only busy. Tests that hang are ended: Rust's names those that
# run for more than a minute, and pytest has a limit for each (pyproject.toml).
test:
	@$(MAKE) --no-print-directory --jobs=2 build rust-tests wasm
	tests/install_chromium.sh
	tests/install_tshark.sh
	@$(MAKE) --no-print-directory viewer-tests
	timeout --kill-after=10 $(RUST_TESTS_END_S) cargo test --workspace --locked --quiet
	$(BIN)/pytest --numprocesses=auto --dist=loadfile

# The installation of Node's packages leaves this file.
$(NODE_MODULES): viewer/package-lock.json
	cd viewer && npm ci --no-audit --no-fund --silent
	@touch $@

ifeq ($(shell command -v node),)
viewer-tests:
	@echo "Skipped: the tests of viewer (viewer/test); they need Node 20 and npm." >&2
else
viewer-tests: $(NODE_MODULES)
	cd viewer && npm test --silent
endif

# Cargo counts its own jobs: those of make are not handed to it.
rust-tests:
	MAKEFLAGS= cargo test --workspace --locked --quiet --no-run

wasm:
	MAKEFLAGS= packaging/engine.sh

lint: build
	cargo fmt --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	$(BIN)/ruff format --check --quiet python tests benches validation papers torture packaging
	$(BIN)/ruff check --quiet python tests benches validation papers torture packaging
	$(BIN)/mypy

fmt: $(DEPENDENCIES)
	cargo fmt
	$(BIN)/ruff format --quiet python tests benches validation papers torture packaging
	$(BIN)/ruff check --quiet --fix python tests benches validation papers torture packaging

validate: build
	@mkdir -p out
	$(BIN)/python -m validation --markdown out/validation.md --page docs/validation.md

# Everything at the papers' own size; the same command continues. PRIORITY=1: only the headlines.
reproduce: build
	$(BIN)/manetlab papers plan all --full $(if $(PRIORITY),--priority $(PRIORITY))
	$(BIN)/manetlab papers reproduce all --full --keep $(if $(PRIORITY),--priority $(PRIORITY))
	$(BIN)/manetlab papers pack
	$(BIN)/manetlab papers pages --output $(PAGES)

# Fewer and shorter runs: a check of the machinery, whose verdicts are labelled as quick.
reproduce-quick: build
	$(BIN)/manetlab papers reproduce all --quick

papers-pages: build
	$(BIN)/manetlab papers pages --output $(PAGES)
	$(BIN)/python -m studies.horizon --pages $(PAGES)/papers/studies
	$(BIN)/python -m studies.remedies --pages $(PAGES)/papers/studies
	$(BIN)/python -m studies.real_radios
	$(BIN)/python -m studies.hellos
	$(BIN)/python -m studies.which_protocol
	$(BIN)/python -m studies.movement
	$(BIN)/python -m studies.quoted
	$(BIN)/python -m studies.last_hop
	$(BIN)/python -m studies.fairness
	$(BIN)/python -m studies.loss_causes

# What benches measure is a release, beside the build of developers: PYTHONPATH=out/release/site for single ones.
release: build
	@rm -rf out/release
	packaging/engine.sh
	packaging/wheel.sh out/release --release
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target out/release/site out/release/*.whl

bench: release
	benches/install_simulators.sh
	cargo build --release --locked --quiet -p manetlab-formats --example engine
	PYTHONPATH=out/release/site $(BIN)/python -m benches

golden: build
	$(BIN)/python -m tests.golden

docs: build
	$(BIN)/python -m manetlab.docs_tables > docs/parameters.new && mv docs/parameters.new docs/parameters.md
	$(BIN)/python -m tests.notebook
	$(BIN)/python -m tests.architecture

# What it builds is committed: python/manetlab/replay/assets/page.html.
viewer:
	cd viewer && npm ci --no-audit --no-fund && npm run check && npm test && npm run build

engine: build
	tests/install_chromium.sh
	packaging/engine.sh
	$(BIN)/pytest -rs tests/test_engine.py tests/test_live.py

aarch64: build
	$(BIN)/python -m tests.aarch64

# SUMO's wheel has 150 MB, so it is in no list of dependencies.
sumo: build
	@test -d target/tools/sumo/sumo || $(BIN)/python -m pip install --quiet --no-deps --target target/tools/sumo eclipse-sumo==1.28.0
	$(BIN)/python -m tests.sumo target/tools/sumo/sumo

lock: $(DEPENDENCIES)
	$(BIN)/python -m pip install --quiet pip-tools==$(PIP_TOOLS)
	$(BIN)/pip-compile --quiet --generate-hashes --strip-extras --no-header --no-annotate --no-emit-find-links \
		--extra report --extra cluster --extra notebook --extra dev --output-file requirements.lock pyproject.toml
	$(BIN)/pip-compile --quiet --generate-hashes --strip-extras --no-header --no-annotate --no-emit-find-links \
		--output-file packaging/site/requirements.lock packaging/site/requirements.in

man: build
	@rm -rf out/man
	$(BIN)/python -m manetlab.cli.manual out/man/man1

# What makes the site is no part of the environment that everything else uses.
$(SITE)/.installed: packaging/site/requirements.lock
	$(PYTHON) -m venv --clear $(SITE)
	$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

# Strict: a link to a page, an anchor or a name in a docstring that is not there ends it.
site: papers-pages $(SITE)/.installed
	@rm -rf out/site && mkdir -p out/site
	packaging/engine.sh
	$(SITE)/bin/python packaging/site/assemble.py out/site/pages $(PAGES)
	$(BIN)/manetlab view packaging/site/live.toml --live --title "A network to try" --output out/site/pages/live.html
	$(BIN)/manetlab lab --python --output out/site/pages/lab.html
	$(BIN)/manetlab course --output out/site/pages/course
	@cp packaging/site/zensical.toml out/site
	cd out/site && $(abspath $(SITE))/bin/zensical build --strict
	$(BIN)/python packaging/site/check.py out/site/html $(PAGES)

# With --sdist the wheel is built from the source distribution, far from this folder: everything is compiled once more.
wheel: build
	@rm -rf dist
	packaging/engine.sh
	packaging/wheel.sh dist --release --compatibility manylinux_2_34 --sdist

# Zig links against the symbols of an older glibc, and for another processor, without images of older systems.
wheels: build
	@test -x target/tools/zig/ziglang/zig || \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --target target/tools/zig ziglang==$(ZIG)
	@rm -rf dist
	packaging/engine.sh
	for processor in x86_64 aarch64; do \
		rustup --quiet target add $$processor-unknown-linux-gnu && \
		CARGO_ZIGBUILD_ZIG_PATH="$(abspath target/tools/zig/ziglang/zig)" packaging/wheel.sh dist --release \
			--zig --target $$processor-unknown-linux-gnu --compatibility manylinux_2_28 || exit 1; \
	done
	$(BIN)/python -m tests.foreign_wheel dist/*.whl

slurm: build
	$(BIN)/python -m tests.slurm

# The property tests with a new seed first, Rust's and Python's: `make test` draws the same inputs every time.
# libFuzzer needs unstable flags of the compiler; RUSTC_BOOTSTRAP lets the stable one take them. Without unsafe code
# sanitizers would look at dependencies only.
fuzz: build
	@seed=$${FUZZ_SEED:-$$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}; \
		echo "Property tests with FUZZ_SEED=$$seed"; \
		PROPTEST_RNG_SEED=$$seed cargo test --workspace --locked --quiet && \
		$(BIN)/pytest -m hypothesis --hypothesis-profile=default --hypothesis-seed=$$seed
	@cargo fuzz --version >/dev/null 2>&1 || test -x target/tools/bin/cargo-fuzz || \
		cargo install --quiet --locked --root target/tools cargo-fuzz@$(CARGO_FUZZ)
	for target in $(FUZZ_TARGETS); do \
		mkdir -p fuzz/corpus/$$target fuzz/seeds/$$target; \
		case $$target in movement | traffic | tracks | script) length=1024 ;; *) length=256 ;; esac; \
		RUSTC_BOOTSTRAP=1 PATH="$(abspath target/tools/bin):$$PATH" \
		cargo fuzz run -s none $$target fuzz/corpus/$$target fuzz/seeds/$$target -- -print_final_stats=1 \
			-max_len=$$length $(if $(FUZZ_RUNS),-runs=$(FUZZ_RUNS),-max_total_time=$(FUZZ_SECONDS)) || exit 1; \
	done
	$(BIN)/python -m tests.fuzzing $(FUZZ_READERS) \
		$(if $(FUZZ_RUNS),--runs $(FUZZ_RUNS),--seconds $(FUZZ_SECONDS))
	@rm -rf out/faulty && mkdir -p out/faulty
	$(BIN)/python -m tests.faulty out/faulty $(FUZZ_FAULTS_EVERY)

# Survivors need a reason in tests/data/mutants.toml, unless they are fewer than one in twenty.
mutants: build
	@cargo mutants --version >/dev/null 2>&1 || test -x target/tools/bin/cargo-mutants || \
		cargo install --quiet --locked --root target/tools cargo-mutants
	nice -n 19 $(BIN)/python -m tests.mutants --seconds $(MUTANTS_SECONDS)
	PATH="$(abspath target/tools/bin):$$PATH" nice -n 19 $(BIN)/python -m tests.mutants --rust \
		--sample $(MUTANTS_SAMPLE) --seconds $(MUTANTS_SECONDS)

# A second extension, of the profile torture, beside the one that everything else uses. Its runs are held against those of
# the engine of live pages, which therefore is of the same sources.
$(TORTURE): $(BUILT) $(shell find python -name '*.py')
	MAKEFLAGS= packaging/engine.sh
	@rm -rf out/torture/wheels out/torture/site && mkdir -p out/torture
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/maturin build --quiet --locked --profile torture --out out/torture/wheels
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target out/torture/site \
		out/torture/wheels/*.whl
	@touch $@

torture: $(TORTURE)
	PYTHONPATH=out/torture/site $(BIN)/python -m torture --seconds $(SECONDS) --workers $(WORKERS)
	PYTHONPATH=out/torture/site $(BIN)/python -m torture.light --networks $(NETWORKS)

# The databases of advisories: RustSec's, which cargo-deny fetches from GitHub, PyPI's and npm's. All lock files are looked
# up, and one that could not be is a failure. PYSEC-2023-101 is about the server of Selenium Grid, which nothing here runs.
audit: $(DEPENDENCIES)
	@cargo deny --version 2>/dev/null | grep -qx 'cargo-deny $(CARGO_DENY)' || test -x target/tools/bin/cargo-deny || \
		cargo install --quiet --locked --root target/tools cargo-deny@$(CARGO_DENY)
	PATH="$(abspath target/tools/bin):$$PATH" cargo deny --locked check
	PATH="$(abspath target/tools/bin):$$PATH" cargo deny --locked --manifest-path fuzz/Cargo.toml check advisories
	@test -x target/tools/pip-audit/bin/pip-audit || { $(PYTHON) -m venv target/tools/pip-audit && \
		target/tools/pip-audit/bin/python -m pip install --quiet pip-audit==$(PIP_AUDIT); }
	for lock in $(PYTHON_LOCKS); do \
		target/tools/pip-audit/bin/pip-audit --strict --require-hashes --disable-pip --requirement $$lock \
			--ignore-vuln PYSEC-2023-101 || exit 1; \
	done
	cd viewer && npm audit --package-lock-only

clean:
	rm -rf $(VENV) target out

harness: | rust
	@mkdir -p out
	MAKEFLAGS= cargo build --quiet --locked --profile developer -p manetlab-promises
	target/developer/manetlab-promises $(TOPOLOGIES) > out/promises.md
	{ sed '/^<!-- table -->/q' docs/promises.md; echo; cat out/promises.md; echo; \
		echo "Made on $$(date -u +%F) by \`make harness TOPOLOGIES=$(TOPOLOGIES)\`, commit $$(git rev-parse --short HEAD)."; } \
		> out/page.md
	mv out/page.md docs/promises.md
