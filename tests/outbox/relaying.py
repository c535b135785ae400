"""The relay, as tests of one destination call it: for the bus."""

from typing import Any

import psycopg

from outbox import claims, relay
from outbox.claims import Claim
from outbox.destinations.port import Destination
from outbox.models import BUS
from outbox.models import Destination as DestinationRow
from outbox.relay import Figures
from tests.processes import database_url


def bus_id() -> int:
    return DestinationRow.objects.get(code=BUS).pk


def claim_heads(**values: Any) -> list[Claim]:
    return claims.claim_heads(bus_id(), **values)


def relay_once(destination: Destination, **values: Any) -> Figures:
    return relay.relay_once(destination, bus_id(), **values)


def drain(destination: Destination, **values: Any) -> Figures:
    return relay.drain(destination, bus_id(), **values)


def end_all_sessions() -> None:
    """What a database that restarts does to whoever is connected."""
    with psycopg.connect(database_url(), autocommit=True) as session:
        session.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
