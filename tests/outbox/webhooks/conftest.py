"""Receivers on this machine, which only the tests' settings allow."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from pytest_django import Settings

from tests.outbox.webhooks.receiver import Receiver, running


@pytest.fixture(autouse=True)
def _this_machine(settings: Settings) -> None:
    settings.OUTBOX_WEBHOOK_ALLOW_PRIVATE = True


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A merchant's server."""
    with running(Receiver()) as server:
        yield server


@pytest.fixture
def receivers() -> Iterator[Callable[[], Receiver]]:
    """As many servers as the test wants."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(running(Receiver()))
