"""The page of providers says what the adapters do."""

import re

import pytest
from django.conf import settings

from config import provider_page
from config.provider_events import events_table
from payments.callback import Kind
from payments.providers.registry import PROVIDERS
from tests.providers.test_samples import KINDS, UNTOLD


def test_the_page_is_what_the_adapters_declare() -> None:
    page = (settings.BASE_DIR / "docs" / "providers.md").read_text()

    assert page == provider_page.document(), "run: manage.py providers --write"


@pytest.mark.parametrize("name", sorted(PROVIDERS.keys() - {"custom"}))
def test_every_kind_that_a_provider_tells_stands_in_its_table(name: str) -> None:
    rows = events_table(PROVIDERS[name]).splitlines()
    meanings = " ".join(row.split("|")[2] for row in rows)

    assert {kind for kind in Kind if kind in re.findall("[A-Z_]+", meanings)} >= KINDS - UNTOLD.get(
        name, set()
    )


@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_what_a_signature_leaves_out_is_said_aloud(name: str) -> None:
    section, facts = provider_page.section(name), PROVIDERS[name].facts

    assert ("**A hint.**" in section) == (facts.tier == "hint")
    assert ("**A weak signature.**" in section) == (facts.assurance == "PARTIAL")
    assert f"| not signed | {facts.unsigned} |" in section
    assert f"create_account shop {name} main" in section
