.DEFAULT_GOAL := help
SHELL := /bin/sh
.DELETE_ON_ERROR:

VENV   := .venv
PYTHON := $(VENV)/bin/python
MANAGE := $(PYTHON) manage.py
ARGS   ?=
# All tests are shared out to processes with servers of their own, in the order of their files: most
# of the time they wait, and the longest come first.
ALL_TESTS := --numprocesses 3 --dist loadfile --no-loadscope-reorder
# The fuzzer needs a compiled helper that nothing else does.
FUZZ   := var/fuzz/venv
FUZZ_SECONDS ?= 60
# The providers' SDKs, which nothing else may depend on; three that do not fit together.
ORACLE := var/oracle
ORACLES := $(ORACLE)/sdks $(ORACLE)/alipay $(ORACLE)/paypal
N      ?= 200
SEED   ?=

# Checks that load the settings need values of the right shape; nothing is connected to and nothing is kept.
CHECK_ENV := DATABASE_URL=postgres://check@127.0.0.1:9/check BROKER_URL=redis://127.0.0.1:9/0 \
  SECRET_KEY=$$($(PYTHON) -c 'import secrets; print(secrets.token_urlsafe(64))') \
  VAULT_KEYS=$$($(PYTHON) -c 'from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())')

.PHONY: help
help: ## List what can be made
	@awk 'BEGIN {FS = ":.*## "} \
	  /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z][a-z-]*:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo

##@ Use it

.PHONY: run
run: $(VENV)/.runtime ## Start everything: database, broker, web, worker, beat, consumer, simulator (Ctrl-C stops it)
	@exec $(MANAGE) up $(ARGS)

.PHONY: demo
demo: $(VENV)/.runtime ## In another terminal: send real signed callbacks and show what became of each
	@if [ -z "$$DATABASE_URL" ] && [ ! -f var/runtime.env ]; then \
	  echo 'Nothing runs yet: start "make run" in another terminal first.' >&2; exit 1; \
	fi
	@exec $(MANAGE) demo $(ARGS)

##@ Work on it

.PHONY: setup
setup: $(VENV)/.dev ## Make .venv with everything that running, testing and checking need

.PHONY: test
test: $(VENV)/.dev ## Run the tests against real servers: make test ARGS="tests/payments -q"
	@exec $(PYTHON) -m pytest $(or $(ARGS),$(ALL_TESTS))

.PHONY: check
check: lint types imports migrations generated deploy ## Everything that must hold before a commit, apart from the tests

.PHONY: lint
lint: $(VENV)/.dev ## Style and common mistakes
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

.PHONY: format
format: $(VENV)/.dev ## Rewrite the sources in the house format
	$(VENV)/bin/ruff check --fix-only .
	$(VENV)/bin/ruff format .

.PHONY: types
types: $(VENV)/.dev ## mypy, strict
	@$(CHECK_ENV) $(VENV)/bin/mypy

.PHONY: imports
imports: $(VENV)/.dev ## The direction of imports between the packages
	@$(CHECK_ENV) $(VENV)/bin/lint-imports --no-cache

.PHONY: migrations
migrations: $(VENV)/.dev ## No model has changed without its migration
	@# It would also look at the database's own history, and says at length when there is none.
	@$(CHECK_ENV) $(PYTHON) -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run

.PHONY: generated
generated: $(VENV)/.dev ## Pages made from the code are up to date, and no event's schema breaks its readers
	@for page in states providers event_schemas; do $(CHECK_ENV) $(MANAGE) $$page --check || exit 1; done
	@$(CHECK_ENV) $(MANAGE) messages --check

.PHONY: messages
messages: $(VENV)/.dev ## Collect and compile the console's sentences; ARGS=--left lists what is not marked
	@$(CHECK_ENV) $(MANAGE) messages $(or $(ARGS),--write)

.PHONY: deploy
deploy: $(VENV)/.dev ## Django's deployment checks, on production settings
	@$(CHECK_ENV) ALLOWED_HOSTS=pay.example.org HTTPS_ONLY=true $(MANAGE) check --deploy --fail-level WARNING

.PHONY: audit
audit: $(VENV)/.dev ## Known vulnerabilities in the pinned packages (needs the network)
	$(VENV)/bin/pip-audit --require-hashes --disable-pip -r requirements.txt -r requirements-dev.txt

.PHONY: fuzz
fuzz: $(FUZZ)/.made ## Throw bytes at every provider for a while: make fuzz FUZZ_SECONDS=600
	@exec $(FUZZ)/bin/python -m tests.fuzz -max_total_time=$(FUZZ_SECONDS) $(ARGS)

.PHONY: oracle
oracle: $(VENV)/.dev $(ORACLES:=/.made) ## Judge what the providers' own SDKs sign, beside them: make oracle N=1000 SEED=1
	@N=$(N) SEED=$(SEED) exec $(PYTHON) -m oracle $(ARGS)

.PHONY: campaign
campaign: $(VENV)/.dev ## Kill whatever works, many times more often than make test: make campaign KILLS=20000 ROUNDS=1000
	@KILLS=$(or $(KILLS),20000) ROUNDS=$(or $(ROUNDS),1000) exec $(PYTHON) -m pytest --timeout 3600 \
	  tests/concurrency/test_kill_campaign.py tests/concurrency/test_relay_kills.py $(ARGS)

.PHONY: screenshots
screenshots: $(VENV)/.dev ## Take the pictures of docs/console anew: each main page, in both languages and looks
	@exec $(PYTHON) -m pytest --timeout 600 tests/browser/pictures.py $(ARGS)

.PHONY: mutants
mutants: $(VENV)/.dev ## Put small faults into the code and see that the tests notice: make mutants ARGS='refunds: webhooks'
	@exec $(PYTHON) -m tests.mutants $(ARGS)

.PHONY: bench
bench: $(VENV)/.dev ## Durable callbacks per second, or how fast events leave: make bench ARGS=relay
	@exec $(PYTHON) -m bench $(ARGS)

.PHONY: lock
lock: ## Pin the newest allowed packages into the requirements files (needs uv)
	uv pip compile --upgrade $(LOCK) -o requirements.txt requirements.in
	uv pip compile --upgrade $(LOCK) -o requirements-kafka.txt requirements-kafka.in
	uv pip compile --upgrade $(LOCK) -o requirements-dev.txt requirements-dev.in
	uv pip compile --upgrade $(LOCK) -o requirements-fuzz.txt requirements-fuzz.in
	for name in sdks alipay paypal; do \
	  uv pip compile $(LOCK) -o requirements-oracle-$$name.txt requirements-oracle-$$name.in || exit 1; \
	done

LOCK := --quiet --universal --python-version 3.11 --generate-hashes --no-header \
  --no-emit-index-url --no-emit-find-links

.PHONY: clean
clean: ## Remove .venv and caches (the data under var/ stays)
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis staticfiles
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The virtual environment. A name on PATH is not proof of an interpreter (version managers leave stubs), so each is run.
$(VENV)/.made:
	@for name in $(PYTHON3) python3.13 python3.12 python3.11 python3 python; do \
	  if $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then found=$$name; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo 'Python 3.11 or newer is needed and none was found. Install it, or name one: make PYTHON3=/path/to/python3' >&2; exit 1; \
	fi; \
	if ! $$found -c 'import venv, ensurepip' >/dev/null 2>&1; then \
	  echo "$$found has no venv module. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; \
	fi; \
	echo "Making $(VENV) with $$($$found --version) ..."; \
	$$found -m venv --clear $(VENV) && touch $@

$(VENV)/.runtime: requirements.txt | $(VENV)/.made
	@echo 'Installing the pinned packages ...'
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.runtime
	@echo 'Installing the packages for tests and checks ...'
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@

$(ORACLES:=/.made): $(ORACLE)/%/.made: requirements-oracle-%.txt | $(VENV)/.made
	@echo 'Installing the SDKs of $(ORACLE)/$* ...'
	@$(PYTHON) -m venv --clear $(ORACLE)/$*
	@$(ORACLE)/$*/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-oracle-$*.txt
	@touch $@

$(FUZZ)/.made: requirements-fuzz.txt | $(VENV)/.made
	@echo 'Installing the fuzzer ...'
	@$(PYTHON) -m venv --clear $(FUZZ)
	@$(FUZZ)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-fuzz.txt
	@touch $@
