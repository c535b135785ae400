"""What the outbox holds and what went out of it, for people to look at."""

from datetime import datetime, timedelta
from typing import Final

from django.db import connection
from django.db.models import QuerySet

from outbox.models import BUS, Dispatch, DispatchState

#: Dispatches are stamped before that is committed, so one may come to light after another with a
#: later stamp. No statement of ours lives longer than 5 seconds; this is far beyond it.
LOOK_BACK: Final = timedelta(seconds=30)


def latest(state: DispatchState | None, limit: int, *, destination: str = BUS) -> list[Dispatch]:
    """The newest, the newest last; published ones in the order in which they went out."""
    column = "published_at" if state == DispatchState.PUBLISHED else "created_at"
    rows = _rows(destination)
    if state is not None:
        rows = rows.filter(state=state)
    return list(reversed(rows.order_by(f"-{column}", "-seq")[:limit]))


class Follower:
    """Tells each event that a destination gets after it was made, once, however rarely asked."""

    def __init__(self, destination: str = BUS) -> None:
        self._destination = destination
        self._asked_at = _database_time()
        self._seen = self._since(self._asked_at - LOOK_BACK)

    def new(self) -> list[Dispatch]:
        """What came to light since the last call, in the order it went out."""
        # The clock is read first: what is stamped after that is not missed but looked at again.
        now = _database_time()
        recent = self._since(self._asked_at - LOOK_BACK)
        unseen = recent - self._seen
        self._asked_at, self._seen = now, recent
        rows = _rows(self._destination).filter(pk__in=unseen)
        return list(rows.order_by("published_at", "seq"))

    def _since(self, moment: datetime) -> set[int]:
        recent = _rows(self._destination).filter(published_at__gt=moment)
        return set(recent.values_list("pk", flat=True))


def _rows(destination: str) -> QuerySet[Dispatch]:
    return Dispatch.objects.filter(destination__code=destination).select_related(
        "event", "destination"
    )


def _database_time() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment
