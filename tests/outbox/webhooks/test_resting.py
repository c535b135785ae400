"""Who let an endpoint rest is kept, and what an operator has let rest only an operator undoes."""

from collections.abc import Callable

import pytest
from django.db import transaction

from outbox.destinations import directory
from outbox.models import Destination, DestinationState, Dispatch, Endpoint, Party
from outbox.webhooks import endpoints
from tests import factories
from tests.factories import CREATED_AT
from tests.outbox.webhooks.receiver import Receiver, answer
from tests.outbox.webhooks.rows import drain, endpoint, tell, way
from tests.outbox.webhooks.test_asked import resend, send_test

ACTIVE, PAUSED, DISABLED = DestinationState

#: Each way to move an endpoint, and where it then is and by whom.
MOVES: dict[str, tuple[Callable[[Destination], None], DestinationState, str]] = {
    "merchant resumes": (endpoints.resume, ACTIVE, ""),
    "merchant pauses": (lambda shop: endpoints.pause(shop, "a sale"), PAUSED, Party.MERCHANT),
    "it answers 410": (endpoints.gone, DISABLED, Party.ENDPOINT),
    "operator resumes": (lambda shop: directory.resume(shop.code), ACTIVE, ""),
    "operator pauses": (
        lambda shop: directory.pause(shop.code, reason="abuse"),
        PAUSED,
        Party.OPERATOR,
    ),
    "operator disables": (
        lambda shop: directory.disable(shop.code, reason="abuse"),
        DISABLED,
        Party.OPERATOR,
    ),
}
_MERCHANTS = ("merchant resumes", "merchant pauses")
_RESTS = [(state, by) for state in (PAUSED, DISABLED) for by in Party]


@pytest.mark.django_db
@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize(("state", "by"), [(ACTIVE, ""), *_RESTS])
def test_what_an_operator_has_let_rest_only_an_operator_undoes(
    move: str, state: DestinationState, by: str
) -> None:
    reason = "" if state == ACTIVE else "before"
    shop = factories.EndpointFactory.create(state=state, rested_by=by, reason=reason).destination
    do, target, whose = MOVES[move]

    if by == Party.OPERATOR and move in _MERCHANTS:
        with pytest.raises(endpoints.RestedByOperator):
            do(shop)
        expected = (state, by, "before")
    elif by == Party.OPERATOR and move == "it answers 410":
        do(shop)
        expected = (state, by, "before")
    elif move.startswith("operator") and target == state:
        with pytest.raises(directory.Refused, match="already"):
            do(shop)
        expected = (state, by, reason)
    else:
        do(shop)
        expected = (target, whose, Destination.objects.get(pk=shop.pk).reason)

    shop.refresh_from_db()
    assert (shop.state, shop.rested_by, shop.reason) == expected
    assert bool(shop.rested_by) == bool(shop.reason) == (shop.state != ACTIVE)


@pytest.mark.django_db
@pytest.mark.parametrize("resume", ["merchant resumes", "operator resumes"])
def test_whoever_resumes_it_ends_rest_and_schedule(resume: str) -> None:
    shop = factories.EndpointFactory.create(state=PAUSED, rested_by=Party.MERCHANT, reason="x")
    factories.DispatchFactory.create(destination=shop.destination, next_attempt_at=CREATED_AT)
    Endpoint.objects.update(failures=5, failing_since=CREATED_AT, open_until=CREATED_AT)

    MOVES[resume][0](shop.destination)

    shop.refresh_from_db()
    assert (shop.failures, shop.open_until) == (0, None)
    assert Dispatch.objects.get().next_attempt_at is None


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("asked", ["resend", "test"])
def test_410_disables_whoever_asked_for_the_attempt(receiver: Receiver, asked: str) -> None:
    shop = endpoint(receiver)
    event = tell()
    drain()
    receiver.always = answer(410)

    if asked == "resend":
        resend(way(shop, event))
    else:
        send_test(shop)
    assert drain() == {"asked": 1}

    shop.refresh_from_db()
    assert (shop.state, shop.rested_by) == (DISABLED, Party.ENDPOINT)
    assert way(shop, event).state == "PUBLISHED"


@pytest.mark.django_db(transaction=True)
def test_410_to_a_test_takes_nothing_out_of_an_operators_hands(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    directory.pause(shop.code, reason="abuse")
    send_test(shop)
    receiver.always = answer(410)
    drain()

    with pytest.raises(endpoints.RestedByOperator), transaction.atomic():
        endpoints.resume(shop)

    shop.refresh_from_db()
    assert (shop.state, shop.rested_by, shop.reason) == (PAUSED, Party.OPERATOR, "abuse")
