"""What the outbox holds and what went out of it, for people to look at."""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import connection

from outbox.models import Event, EventState

#: Events are stamped before they are committed, so one may come to light after another with a
#: later stamp. No statement of ours lives longer than 5 seconds; this is far beyond it.
LOOK_BACK: Final = timedelta(seconds=30)


def latest(state: EventState | None, limit: int) -> list[Event]:
    """The newest events, the newest last; published ones in the order in which they went out."""
    column = "published_at" if state == EventState.PUBLISHED else "created_at"
    events = Event.objects.all() if state is None else Event.objects.filter(state=state)
    return list(reversed(events.order_by(f"-{column}", "-seq")[:limit]))


class Follower:
    """Tells each event that is published after it was made, once, however rarely it is asked."""

    def __init__(self) -> None:
        self._asked_at = _database_time()
        self._seen = self._since(self._asked_at - LOOK_BACK)

    def new(self) -> list[Event]:
        """The events that came to light since the last call, in the order they went out."""
        # The clock is read first: what is stamped after that is not missed but looked at again.
        now = _database_time()
        recent = self._since(self._asked_at - LOOK_BACK)
        unseen = recent - self._seen
        self._asked_at, self._seen = now, recent
        return list(Event.objects.filter(pk__in=unseen).order_by("published_at", "seq"))

    def _since(self, moment: datetime) -> set[UUID]:
        return set(Event.objects.filter(published_at__gt=moment).values_list("pk", flat=True))


def _database_time() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment
