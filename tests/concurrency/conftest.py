"""Crews for races, and the nursery that they come from."""

from collections.abc import Iterator

import pytest
from pytest_django import DjangoDbBlocker

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


@pytest.fixture(scope="session")
def threads(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Crew]:
    """Twenty threads that stay."""
    crew = Threads(CREW_SIZE)
    yield crew
    with django_db_blocker.unblock():
        crew.close()


@pytest.fixture(scope="session")
def processes(nursery: Nursery) -> Iterator[Crew]:
    """Twenty processes that stay."""
    crew = Processes(nursery, CREW_SIZE)
    yield crew
    crew.close()


@pytest.fixture(params=["threads", "processes"])
def crew(request: pytest.FixtureRequest, transactional_db: None) -> Crew:
    """Twenty that can run at once: threads in one run of the test, processes in another."""
    crew: Crew = request.getfixturevalue(request.param)
    return crew


@pytest.fixture
def onlooker(transactional_db: None) -> Iterator[Onlooker]:
    """Somebody with a database connection of his own."""
    onlooker = Onlooker()
    yield onlooker
    onlooker.close()
