from collections.abc import Iterator

import pytest

from tests.invariants import broken_rules
from tests.journeys.shop import Shop


@pytest.fixture
def shop(live_service: str) -> Iterator[Shop]:
    """A shop on the real web server; afterwards its books must be in order."""
    shop = Shop(live_service)
    yield shop
    shop.close()
    assert broken_rules() == {}
