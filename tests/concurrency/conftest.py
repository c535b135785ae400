"""Crews for races, and the nursery that they come from."""

from collections.abc import Iterator

import pytest

from tests.concurrency.crew import Crew, Processes, Threads
from tests.concurrency.nursery import Nursery
from tests.concurrency.onlooker import Onlooker

CREW_SIZE = 20


@pytest.fixture(scope="session")
def nursery(django_db_setup: None) -> Iterator[Nursery]:
    """A process that forks others, on the test database."""
    nursery = Nursery()
    yield nursery
    nursery.close()


@pytest.fixture(params=["threads", "processes"])
def crew(
    request: pytest.FixtureRequest, nursery: Nursery, transactional_db: None
) -> Iterator[Crew]:
    """Twenty that can run at once: threads in one run of the test, processes in another."""
    threads = request.param == "threads"
    crew = Threads(CREW_SIZE) if threads else Processes(nursery, CREW_SIZE)
    yield crew
    crew.close()


@pytest.fixture
def onlooker(transactional_db: None) -> Iterator[Onlooker]:
    """Somebody with a database connection of his own."""
    onlooker = Onlooker()
    yield onlooker
    onlooker.close()
