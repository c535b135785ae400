"""Which destinations have something to do now."""

from typing import Final

from outbox import models
from outbox.destinations.choice import OPENERS
from outbox.models import DestinationKind
from outbox.planning import planned_anew

DUE_SQL: Final = """
    SELECT destination.*
      FROM outbox_destination AS destination
     WHERE destination.state = 'ACTIVE' AND destination.kind = ANY (%(kinds)s)
       AND (%(only)s::varchar = '' OR destination.code = %(only)s::varchar)
       AND EXISTS (
           SELECT FROM outbox_dispatch AS waiting
            WHERE waiting.destination_id = destination.id
              AND waiting.published_at IS NULL AND waiting.dead_at IS NULL
              AND (waiting.state = 'PENDING' AND (waiting.next_attempt_at IS NULL
                                                  OR waiting.next_attempt_at <= clock_timestamp())
                   OR waiting.state = 'CLAIMED' AND waiting.lease_until <= clock_timestamp()))
     ORDER BY destination.id
"""


def destinations(only: str = "") -> list[models.Destination]:
    """Those that are active and for which something may go out; `only` is the code of one.

    Kinds that are not connected to in `outbox/destinations` have a relay of their own.
    """
    asked = {"only": only, "kinds": [str(DestinationKind.BUS), *map(str, OPENERS)]}
    with planned_anew():
        return list(models.Destination.objects.raw(DUE_SQL, asked))
