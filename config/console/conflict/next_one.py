"""From one conflict to the next: what this person would decide after it."""

from django.db.models import Q
from django.http import HttpRequest

from config.console import cells
from payments.conflicts import checking
from payments.models import Conflict, ConflictStatus


def link(request: HttpRequest, row: Conflict) -> str:
    """The page of the open conflict that is due first and that nobody else has taken on.

    Empty if there is none, or while this one is open itself, or for who decides none.
    """
    if row.status == ConflictStatus.OPEN or not request.user.has_perm(checking.RESOLVE):
        return ""
    free = Q(assignee=None) | Q(assignee=request.user.pk)
    rest = Conflict.objects.filter(free, status=ConflictStatus.OPEN).order_by("due_at", "pk")
    found = rest.only("pk").first()
    return cells.page_of(found) if found is not None else ""
