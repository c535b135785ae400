"""A merchant's member sees what goes to his merchant's endpoints and nothing else: said here.

Twice, so that a fault in one is none in the other. Pages: those that are not named are not there
for him, also those that will be made one day. Rows: every list, page, filter and deed takes its
rows through `own`, which knows the tables that have something of a merchant's and shows him
nothing of any other.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from django.core.exceptions import PermissionDenied
from django.db.models import Model, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse

from config.csp import CONSOLE
from orders.models import Membership
from outbox.models import Attempt, Destination, DestinationKind, Dispatch, Endpoint, Event

_Row = TypeVar("_Row", bound=Model)

#: The pages of everybody who has an account, and those of members, by Django's names for them.
_DOORS: Final = frozenset({"login", "logout", "jsi18n", "password_change", "password_change_done"})
PAGES: Final = _DOORS | {
    "index",
    *("outbox_event_changelist", "outbox_event_change"),
    *("outbox_dispatch_changelist", "outbox_dispatch_change", "outbox_dispatch_resend"),
    *("outbox_endpoint_changelist", "outbox_endpoint_change", "outbox_endpoint_test"),
    "outbox_destination_move",
}
#: Those beside the admin's own: the search, and the pages about oneself.
BESIDE: Final = frozenset(
    {"console_find", "language", "preferences", "second_factor", "enrol", "mine"}
)
#: What a request knows of who asks, once it has been asked for.
_MEMBERSHIP: Final = "_paidonce_membership"
_ENDPOINTS: Final = "_paidonce_endpoints"
#: The lists that are theirs.
SCREENS: Final = frozenset({Event, Dispatch, Endpoint})


class MembersMiddleware:
    """Lets a member in where his pages are, while his merchant is active."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """All that matters is said in `process_view`."""
        return self._get_response(request)

    def process_view(self, request: HttpRequest, *_: object) -> None:
        """Raises PermissionDenied, Http404."""
        page = request.resolver_match
        is_console = request.path.startswith(CONSOLE)
        if page is None or not is_console or page.url_name in _DOORS:
            return
        member = membership(request)
        if member is None:
            return
        if not member.merchant.active:
            raise PermissionDenied
        if page.url_name not in PAGES | BESIDE:
            raise Http404


def membership(request: HttpRequest) -> Membership | None:
    """Whose member asks, None if he is nobody's; one question for each request."""
    known = vars(request)
    if _MEMBERSHIP not in known:
        rows = Membership.objects.select_related("merchant")
        known[_MEMBERSHIP] = rows.filter(user=request.user.pk).first() if request.user.pk else None
    found: Membership | None = known[_MEMBERSHIP]
    return found


def own(request: HttpRequest, rows: QuerySet[_Row]) -> QuerySet[_Row]:
    """Those of the rows that this user may see: all, or what is his merchant's."""
    member = membership(request)
    if member is None:
        return rows
    mine = _MINE.get(rows.model)
    return rows.none() if mine is None else rows.filter(mine(request, member.merchant.code))


def _to_endpoints(request: HttpRequest, code: str) -> Q:
    """Their numbers, not a join: PostgreSQL then knows how many rows there are of each."""
    known = vars(request)
    if _ENDPOINTS not in known:
        mine = Destination.objects.filter(_destinations(request, code))
        known[_ENDPOINTS] = list(mine.values_list("pk", flat=True))
    return Q(destination__in=known[_ENDPOINTS])


def _destinations(_request: HttpRequest, code: str) -> Q:
    return Q(kind=DestinationKind.WEBHOOK, tenant=code)


def _endpoints(_request: HttpRequest, code: str) -> Q:
    return Q(destination__kind=DestinationKind.WEBHOOK, destination__tenant=code)


def _events(request: HttpRequest, code: str) -> Q:
    """What was told to him: questions to those who run the service are not, unless he asked."""
    told = Dispatch.objects.filter(_to_endpoints(request, code))
    return Q(tenant=code, pk__in=told.values("event"))


_MINE: Final[Mapping[type[Any], Callable[[HttpRequest, str], Q]]] = {
    Destination: _destinations,
    Endpoint: _endpoints,
    Dispatch: _to_endpoints,
    Attempt: _to_endpoints,
    Event: _events,
}
