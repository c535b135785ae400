"""The page of states says what the code does."""

from enum import Enum

import pytest
from django.conf import settings

from config import states
from payments.callback import Outcome


def test_the_page_is_what_the_tables_say() -> None:
    page = (settings.BASE_DIR / "docs" / "states.md").read_text()

    assert page == states.document(), "run: manage.py states --write"


def test_the_diagram_of_the_idempotency_page_is_one_of_them() -> None:
    page = (settings.BASE_DIR / "docs" / "idempotency.md").read_text()
    diagram = page[page.index("```mermaid") : page.index("```\n", page.index("```mermaid") + 3)]

    assert diagram in states.document()


@pytest.mark.parametrize("machine", states.MACHINES, ids=lambda machine: machine[0])
def test_every_state_has_a_row_and_every_initial_state_exists(
    machine: tuple[str, str, dict[Enum, frozenset[Enum]], tuple[str, ...]],
) -> None:
    _, _, table, initial = machine
    (vocabulary,) = {type(state) for state in table}

    assert set(table) == set(vocabulary)
    assert set(initial) <= {str(state.value) for state in vocabulary}


def test_every_outcome_is_explained() -> None:
    assert set(states.OUTCOMES) == set(Outcome)
