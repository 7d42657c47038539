# Each target sets up what it needs; a stamp in .venv remembers that, so that the second time works offline.

# Containers set it for their image's sake; then every process of a daemon compiles all its modules anew.
unexport PYTHONDONTWRITEBYTECODE

EDGED = .venv/bin/edged
PIP = @tools/pip_install.sh .venv
LOCKED = @tools/install_locked.sh .venv

.PHONY: help run view top test test-all test-all-compute test-all-daemons test-deep-part test-compute test-daemons test-lowest fuzz soak vm-test intel homeassistant mali lint audit bench bench-peers bench-training zoo docs lock sbom install deb repository clean forget-flaky

help:
	@echo 'make run     set up everything and start the daemon on configs/demo.yaml'
	@echo 'make view    show what it does on a page in the browser (in another terminal)'
	@echo 'make top     the same in a terminal'
	@echo 'make test    run the ordinary tests (minutes)'
	@echo 'make test-all   run every test, the deep ones too (an hour)'
	@echo 'make test-lowest   run some of them on the lowest versions of the packages that edged needs'
	@echo 'make fuzz    give every reader of files and messages 10,000 damaged ones (minutes)'
	@echo 'make soak MINUTES=30 SEED=1   injure a running daemon again and again, and see that it goes on'
	@echo 'make vm-test   test the installed service in whole machines, x86-64 and arm64 (as root; a quarter of an hour)'
	@echo 'make intel   let the tests run on Intel'"'"'s OpenCL runtime too (x86-64, 270 MB)'
	@echo 'make lint    check style, types, layers, names and words'
	@echo 'make audit   look up known vulnerabilities of the locked packages (it asks a service in the Internet)'
	@echo 'make bench   time ResNet-50 at 120×120 on this machine'
	@echo 'make bench-peers   time edged and other runtimes in turn (half an hour; CASES=digits: a minute)'
	@echo 'make bench-training   train in turn with PyTorch on the processor (ten minutes; CASES=mnist-dense: one)'
	@echo 'make zoo PART=1/20   export architectures by PyTorch, and compare them with onnxruntime (six gigabytes; a part: minutes)'
	@echo 'make docs    write the generated pages, JSON Schemas and dashboards, and build the website into site/'
	@echo 'make lock    renew requirements/*.lock: the versions and hashes of all packages (make sbom lists them as CycloneDX)'
	@echo 'make install   install the system service (as root; see docs/how-to/service.md)'
	@echo 'make deb       pack edged for Debian and Ubuntu, all inside, into dist/ (RELEASE=bookworm ARCH=amd64: one of them)'
	@echo 'make repository KEY=FINGERPRINT   make a signed apt repository of the packages, as a folder'
	@echo 'make clean   remove .venv and everything that was built'

run: .venv/.installed
	@exec $(EDGED) run configs/demo.yaml

top: .venv/.installed
	@exec $(EDGED) top

view: .venv/.view
	@exec $(EDGED) view

# Kernels and models first, then what starts whole daemons and mostly waits. Three processes at a time, two with the deep
# ones, which wait less; each has tests that stand together, which share fixtures of a module.
COMPUTE = tests/engine tests/model tests/conformance tests/train tests/teach tests/trials/fuzz
TIER = -m 'not deep'
PROCESSES = 3
# A test that hangs fails after so many seconds. Where it does not return to Python, its process ends a minute later.
HANGS_S = 300
test-all-compute test-all-daemons test-deep-part: HANGS_S = 900
PYTEST = -m pytest --second-try -o timeout=$(HANGS_S) -o faulthandler_timeout=$$(($(HANGS_S) + 60)) \
	-o faulthandler_exit_on_timeout=true
FLAKY = .ci/flaky.txt
test: forget-flaky test-compute test-daemons
test-all: .venv/.packages forget-flaky lint test-all-compute test-all-daemons test-lowest
test-all-compute test-all-daemons: TIER = --renew-durations
test-all-compute test-all-daemons: PROCESSES = 2
test-all-compute: .venv/.intel test-compute
test-all-daemons: .venv/.deep homeassistant mali test-daemons

test-compute: .venv/.test
	.venv/bin/python $(PYTEST) $(TIER) --numprocesses $(PROCESSES) --dist worksteal $(COMPUTE)

test-daemons: .venv/.test
	.venv/bin/python $(PYTEST) $(TIER) --numprocesses $(PROCESSES) --dist worksteal $(COMPUTE:%=--ignore %) \
		$(OF_SOURCES:%=--ignore %)

# of the deep tests those of what changed lately, and a slice of the others that the commit's hash chooses
MINUTES_OF_DEEP = 12
test-deep-part: .venv/.deep .venv/.intel homeassistant mali
	.venv/bin/python $(PYTEST) -m deep --deep-part $(MINUTES_OF_DEEP) --renew-durations --numprocesses 2 --dist worksteal

# the flaky tests of one `make`: tests/second_try.py adds to them and fails the run where they are many
forget-flaky:
	@rm -f $(FLAKY)

# what a user gets who has old packages, which edged allows; that they warn of newer ones beside them is no fault
LOWEST = tests/cli tests/model tests/config/test_load.py tests/config/test_examples.py tests/e2e/test_run.py
# what depends on the newest: pyarrow of the tests needs NumPy 2, the schema's text and the hub's memory are pydantic's
NOT_LOWEST = --ignore tests/cli/test_export.py --ignore tests/cli/test_batch.py --ignore tests/cli/test_batch_boxes.py \
	--deselect tests/cli/test_no_exif.py::test_batch_reads_pictures_as_they_are_stored_and_resumes_no_run_that_did_not \
	--deselect tests/config/test_examples.py::test_the_committed_schema_is_fresh \
	--deselect tests/e2e/test_run.py::test_the_hub_loads_no_camera_device_or_model_library_and_stays_small
test-lowest: .venv-lowest/.test
	.venv-lowest/bin/python $(PYTEST) -W default -m 'not deep' --numprocesses 2 --dist worksteal $(NOT_LOWEST) $(LOWEST)

.venv-lowest/.test: .venv/.installed tools/lowest_versions.py
	.venv/bin/python -m tools.lowest_versions >.venv/lowest-versions
	@export LOCK=no PIP_CONSTRAINT=$(CURDIR)/.venv/lowest-versions; tools/setup.sh .venv-lowest && \
		tools/pip_install.sh .venv-lowest 'what the tests need' --editable . --group test
	@touch $@

fuzz: .venv/.test
	for kind in onnx configs messages caches records teachings; do .venv/bin/python -W ignore -m trials.fuzz $$kind || exit 1; done
	.venv/bin/python -W ignore -m trials.fuzz.networks
	.venv/bin/python -W ignore -m trials.fuzz.score_tails

# exit code 1 where the daemon did not go on, lost something or grew
soak: .venv/.test
	@.venv/bin/python -m trials.soak $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED)) $(if $(HOGS),--hogs $(HOGS))

# make vm-test ONLY="x86-64 and unplug": see trials/vm/README.md; never a part of make test
vm-test: .venv/.test
	@.venv/bin/python -m pytest -v trials/vm/checks.py $(if $(ONLY),-k "$(ONLY)")

intel: .venv/.intel

# MQTT's discovery in Home Assistant itself: tests/e2e/test_home_assistant.py, which is skipped without it
homeassistant: .venv-homeassistant/.installed

# Mesa's compilers for Mali: tests/mali, which is skipped without them. Exit code 77: this machine cannot make their root
mali:
	@tools/mali_root.sh "$${XDG_CACHE_HOME:-$$HOME/.cache}/edged-mali" trixie || [ $$? -eq 77 ]

# tests that read the sources alone: layers, names, words, waits
OF_SOURCES = $(addprefix tests/test_,arithmetic.py dangers.py docs.py layers.py lock.py names.py plain_english.py \
	test_modules.py time_limits.py)

lint: .venv/.lint
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	.venv/bin/python -m pytest -q $(OF_SOURCES)

# Fails with the advisory's name, and where no answer comes. AUDIT=… are options of pip-audit, such as another service.
AUDIT = --vulnerability-service osv
audit: .venv/.audit
	@.venv/bin/pip-audit --strict --require-hashes --disable-pip --progress-spinner off $(AUDIT) \
		$(patsubst %,--requirement requirements/%.lock,run board)

bench: .venv/.installed
	$(EDGED) bench --model resnet50 --size 120

# make bench-peers CASES="resnet50@120 digits" THREADS=2 ROUNDS=20 PEERS="edged onnxruntime"
bench-peers: .venv-peers/.peers
	@.venv-peers/bin/python -m bench.peers $(if $(CASES),--cases $(CASES)) $(if $(THREADS),--threads $(THREADS)) \
		$(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(PEERS),--contenders $(PEERS)) $(if $(OUTPUT),--output $(OUTPUT))

# Never a part of a test: PyTorch as everybody gets it brings CUDA, six gigabytes of it.
zoo: .venv/.test .venv-zoo/.installed
	@.venv/bin/python -m tests.conformance zoo $(if $(PART),--part $(PART)) $(if $(ONLY),--only $(ONLY)) $(if $(JOBS),--jobs $(JOBS))

# make bench-training CASES="mnist-dense fashion-conv" THREADS=2 ROUNDS=30 BUDGET=30
bench-training: .venv-peers/.training
	@.venv-peers/bin/python -m bench.training $(if $(CASES),--cases $(CASES)) $(if $(THREADS),--threads $(THREADS)) \
		$(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(BUDGET),--budget $(BUDGET))

docs: .venv/.docs
	.venv/bin/python tools/write_docs.py
	.venv/bin/python -m tools.dashboards
	NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --quiet --strict
	@echo 'edged: the website is site/index.html'

# the newest versions that fit pyproject.toml and each other, for every Python and processor, with their hashes
lock: .venv-lock/.lock
	@.venv-lock/bin/python -m tools.lock --upgrade

sbom: .venv-lock/.lock
	@mkdir -p dist
	@.venv-lock/bin/cyclonedx-py requirements requirements/run.lock --pyproject pyproject.toml --mc-type application \
		--output-reproducible --output-format JSON --output-file dist/edged.cdx.json
	@echo 'edged: dist/edged.cdx.json lists what a board installs, in the format of CycloneDX'

install:
	@tools/install.sh

# make deb RELEASE=bookworm ARCH="amd64 arm64"
deb: .venv/.deb
	@.venv/bin/python -m tools.deb $(if $(RELEASE),--release $(RELEASE)) $(if $(ARCH),--architecture $(ARCH))

# make repository KEY=FINGERPRINT, of a secret key that gpg has
repository: .venv/.deb
	@.venv/bin/python -m tools.deb.repository --key '$(KEY)'

clean:
	rm -rf .venv .venv-peers .venv-lowest .venv-lock .venv-homeassistant .venv-zoo build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

.venv/.installed: pyproject.toml requirements/run.lock requirements/build.lock tools/setup.sh
	@tools/setup.sh

.venv/.test: .venv/.installed requirements/board.lock requirements/test.lock
	$(LOCKED) 'what the tests need' 'run build board test' --group test
	@touch $@

# of the system, for the deep tests: a test is skipped where its program is missing
.venv/.packages: .venv/.test tools/test_packages.sh
	@tools/test_packages.sh || echo 'edged: not all packages of the system could be installed; see what was skipped at the end' >&2
	@touch $@

.venv/.deep: .venv/.test
	$(PIP) 'what the deep tests need besides' --group deep --group deploy --group deb --group audit
	@touch $@

.venv/.view: .venv/.installed
	$(PIP) 'what the page needs' --editable '.[view]'
	@touch $@

.venv/.intel: .venv/.test
	$(PIP) "Intel's OpenCL runtime, for the tests," --group intel
	@touch $@

.venv/.audit: .venv/.installed
	$(PIP) 'what looks up vulnerabilities' --group audit
	@touch $@

.venv-homeassistant/.installed: .venv/.installed tests/e2e/hass/requirements.txt
	.venv/bin/python -m venv .venv-homeassistant
	@tools/pip_install.sh .venv-homeassistant 'Home Assistant, for its test,' --requirement tests/e2e/hass/requirements.txt
	@touch $@

.venv-zoo/.installed: tests/conformance/zoo/requirements.txt
	python3 -m venv .venv-zoo
	@tools/pip_install.sh .venv-zoo 'PyTorch, torchvision and timm' --requirement tests/conformance/zoo/requirements.txt
	@touch $@

.venv/.deb: .venv/.test
	$(PIP) 'what packs edged' --group deb
	@touch $@

.venv/.docs: .venv/.test requirements/docs.lock
	$(LOCKED) 'what builds the website' 'run build board test docs' --group docs
	@touch $@

.venv/.lint: .venv/.test
	$(PIP) 'the linters' --group lint
	@touch $@

.venv-lock/.lock:
	@$(or $(PYTHON),python3) -m venv .venv-lock
	@tools/pip_install.sh .venv-lock 'a pip that knows dependency groups' --upgrade 'pip>=25.1'
	@tools/pip_install.sh .venv-lock 'what locks packages and lists them' --group lock
	@touch $@

.venv-peers/.peers: pyproject.toml bench/peers/requirements.txt tools/setup.sh tools/setup_peers.sh
	@tools/setup.sh .venv-peers
	@tools/setup_peers.sh .venv-peers
	@touch $@

# PyTorch as everybody gets it brings CUDA, gigabytes of it: PIP_INDEX_URL of its index for processors alone spares that
.venv-peers/.training: .venv-peers/.peers
	@echo 'edged: installing PyTorch into .venv-peers' >&2
	.venv-peers/bin/python -m pip install --quiet torch
	@touch $@
