"""What became of what was sent to an endpoint, for its merchant and for the console."""

from uuid import UUID

from django.db.models import Q

from outbox.models import Attempt, Destination, Dispatch


def attempts(
    destination: Destination, *, limit: int, before: UUID | None = None
) -> tuple[list[Attempt], UUID | None]:
    """The attempts that were made, newest first, and what to give as `before` for the next page.

    After an attempt that is not known here there is nothing.
    """
    made = Attempt.objects.filter(destination=destination, at__isnull=False)
    if before is not None:
        last = made.filter(pk=before).first()
        if last is None:
            return [], None
        made = made.filter(Q(at__lt=last.at) | Q(pk__lt=last.pk), at__lte=last.at)
    page = list(made.select_related("dispatch__event").order_by("-at", "-pk")[: limit + 1])
    return page[:limit], page[limit - 1].pk if len(page) > limit else None


def delivery(destination: Destination, event_id: UUID) -> Dispatch | None:
    """The event on its way to this endpoint."""
    found = Dispatch.objects.filter(destination=destination, event=event_id)
    return found.select_related("event", "destination").first()
