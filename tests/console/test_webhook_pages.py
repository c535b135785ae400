"""Merchants' webhooks: sent again, tested and signed anew by whoever may, once for each asking."""

import html
import re
from collections.abc import Mapping
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from structlog.testing import capture_logs

from audit.models import AuditEntry
from outbox.models import Attempt, Dispatch, Endpoint, EndpointSecret
from outbox.webhooks import endpoints, secrets
from tests import factories
from tests.concurrency.racing import race
from tests.console.rooms import page_of
from tests.console.staff import staff
from tests.console.test_operating import said
from tests.factories import CREATED_AT

LOOKING = ("view_endpoint", "view_dispatch", "view_destination")


@pytest.fixture
def operator(db: None) -> Client:
    return staff("operate_destination", *LOOKING, name="anna")


@pytest.fixture
def keeper(db: None) -> Client:
    return staff("rotate_endpointsecret", *LOOKING, name="kim")


@pytest.fixture
def endpoint(db: None) -> Endpoint:
    return factories.EndpointFactory.create()


def address(row: Endpoint | Dispatch, verb: str) -> str:
    return page_of(row).replace("/change/", f"/{verb}/")


def form(client: Client, row: Endpoint | Dispatch, verb: str) -> dict[str, Any]:
    seen: Mapping[str, Any] = client.get(address(row, verb)).context["asked"].seen
    return dict(seen)


def delivered(endpoint: Endpoint) -> Dispatch:
    return factories.DispatchFactory.create(
        destination=endpoint.destination, state="PUBLISHED", published_at=CREATED_AT
    )


def test_one_that_was_delivered_is_sent_again_for_whoever_asked(
    operator: Client, endpoint: Endpoint
) -> None:
    row = delivered(endpoint)

    answer = operator.post(address(row, "resend"), form(operator, row, "resend"))

    asked = Attempt.objects.get(dispatch=row)
    assert (asked.asked_by, asked.at) == ("console, anna", None)
    assert said(answer)[0].startswith(f"Attempt {asked.pk} is asked for")
    assert "console, anna" in operator.get(page_of(row)).content.decode()


def test_one_that_is_dead_goes_back_in_line_with_a_redrive_id(
    operator: Client, endpoint: Endpoint
) -> None:
    row = factories.DispatchFactory.create(
        destination=endpoint.destination, state="DEAD", dead_at=CREATED_AT
    )

    operator.post(address(row, "resend"), form(operator, row, "resend"))

    row.refresh_from_db()
    assert row.state == "PENDING"
    assert str(row.redrive_id) in operator.get(page_of(row)).content.decode()


def test_a_second_click_and_a_page_that_is_out_of_date_send_nothing(
    operator: Client, endpoint: Endpoint
) -> None:
    row = delivered(endpoint)
    old = form(operator, row, "resend")
    operator.post(address(row, "resend"), old)
    # Even when the attempt that the first click asked for has been made by now.
    Attempt.objects.update(at=CREATED_AT, milliseconds=3, status=200)

    answer = operator.post(address(row, "resend"), old)

    assert Attempt.objects.count() == 1
    assert "since this page was shown" in said(answer)[-1]


def test_only_what_goes_to_an_endpoint_that_is_there_is_sent_again(
    operator: Client, endpoint: Endpoint
) -> None:
    to_the_bus, to_nowhere = factories.DispatchFactory.create(), delivered(endpoint)
    with transaction.atomic():
        endpoints.remove(endpoint.destination)

    for row in (to_the_bus, to_nowhere):
        assert operator.post(address(row, "resend"), {"seen": "x"}).status_code == 404
    for verb in ("test", "rotate", "retire"):
        assert operator.get(address(endpoint, verb)).status_code in (403, 404)
    moved = f"/admin/outbox/destination/{endpoint.pk}/move/resume/"
    answer = operator.post(moved, {"seen": "DISABLED"})
    assert "was removed" in said(answer)[-1]


def test_a_test_event_is_asked_for_once(operator: Client, endpoint: Endpoint) -> None:
    first = form(operator, endpoint, "test")

    operator.post(address(endpoint, "test"), first)
    again = operator.post(address(endpoint, "test"), first)

    asked = Attempt.objects.get()
    assert (asked.dispatch, asked.asked_by) == (None, "console, anna")
    assert "since this page was shown" in said(again)[-1]
    assert "webhook.test" in operator.get(page_of(endpoint)).content.decode()


def test_a_new_secret_is_shown_once_and_never_again(keeper: Client, endpoint: Endpoint) -> None:
    wanted = form(keeper, endpoint, "rotate") | {"hours": "0"}

    with capture_logs() as logged:
        answer = keeper.post(address(endpoint, "rotate"), wanted)

    shown = html.unescape(answer.content.decode())
    (key,) = secrets.keys_of(endpoint.pk)
    secret = key.secret.decode()
    assert secret in shown
    assert "no-store" in answer["Cache-Control"]
    later = html.unescape(keeper.get(page_of(endpoint)).content.decode())
    assert secret not in later
    assert re.search("whsec_[A-Za-z0-9+/]{9}", later) is None
    assert [entry["by"] for entry in logged if entry["event"] == "webhook_secret_added"] == [
        "console, kim"
    ]
    assert secret not in str(logged)
    kept = AuditEntry.objects.get(action="webhook.signed_anew")
    assert (kept.actor, secret in str(kept.after)) == ("kim", False)


def test_a_second_click_makes_no_second_secret(keeper: Client, endpoint: Endpoint) -> None:
    wanted = form(keeper, endpoint, "rotate") | {"hours": "24"}
    keeper.post(address(endpoint, "rotate"), wanted)

    answer = keeper.post(address(endpoint, "rotate"), wanted)

    assert answer.status_code == 302
    assert said(answer) == [
        "Nothing was changed: its secrets have changed since this page was shown."
    ]
    assert EndpointSecret.objects.count() == 1


@pytest.mark.parametrize("hours", ["", "-1", "169", "x"])
def test_an_overlap_that_is_none_makes_no_secret(
    keeper: Client, endpoint: Endpoint, hours: str
) -> None:
    wanted = form(keeper, endpoint, "rotate") | {"hours": hours}

    assert keeper.post(address(endpoint, "rotate"), wanted).status_code == 200
    assert EndpointSecret.objects.count() == 0


def test_a_secret_is_retired_but_never_the_only_one(keeper: Client, endpoint: Endpoint) -> None:
    with transaction.atomic():
        secrets.rotate(endpoint.destination)
        secrets.rotate(endpoint.destination)
    newest, oldest = secrets.in_force(endpoint.pk)

    keeper.post(
        address(endpoint, "retire"), form(keeper, endpoint, "retire") | {"secret": oldest.pk}
    )
    answer = keeper.post(
        address(endpoint, "retire"), form(keeper, endpoint, "retire") | {"secret": newest.pk}
    )

    assert list(secrets.in_force(endpoint.pk)) == [newest]
    assert "no other secret" in said(answer)[-1]


def test_each_right_opens_its_own_doors(operator: Client, keeper: Client) -> None:
    endpoint = factories.EndpointFactory.create()
    row = delivered(endpoint)
    viewer = staff(*LOOKING)
    doors = [address(endpoint, verb) for verb in ("test", "rotate", "retire")]
    doors.append(address(row, "resend"))

    def opened(client: Client) -> list[bool]:
        pages = "".join(client.get(page_of(each)).content.decode() for each in (endpoint, row))
        offered = [f'href="{door}"' in pages for door in doors]
        assert offered == [client.get(door).status_code == 200 for door in doors]
        assert offered == [client.post(door, {}).status_code != 403 for door in doors]
        return offered

    assert opened(viewer) == [False, False, False, False]
    assert opened(operator) == [True, False, False, True]
    assert opened(keeper) == [False, True, True, False]
    assert (Attempt.objects.count(), EndpointSecret.objects.count()) == (0, 0)


def test_what_an_endpoint_answered_is_shown_as_text(operator: Client, endpoint: Endpoint) -> None:
    reply = "<script>alert(1)</script>\n" + "\u202e" + "x" * 4000
    factories.AttemptFactory.create(
        dispatch=delivered(endpoint), status=500, reply=reply, milliseconds=1234
    )
    factories.AttemptFactory.create(
        dispatch=delivered(endpoint), status=None, reply="", error="<img src=x>: refused"
    )

    shown = operator.get(page_of(endpoint)).content.decode()

    assert "<script>alert" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\n[U+202E]xxx" in shown
    assert "x" * 4000 in shown
    assert "&lt;img src=x&gt;: refused" in shown
    assert "1234" in shown


def test_an_endpoint_says_that_it_rests_and_since_when(
    operator: Client, endpoint: Endpoint
) -> None:
    Endpoint.objects.update(failures=5, failing_since=CREATED_AT, open_until=CREATED_AT)

    shown = operator.get(page_of(endpoint)).content.decode()

    assert "until 2026-03-01 11:00:00 UTC; 5 failures since 2026-03-01 11:00:00 UTC" in shown
    assert "NO SECRET" in shown


def test_to_resume_it_forgets_what_failed(operator: Client, endpoint: Endpoint) -> None:
    Endpoint.objects.update(failures=5, failing_since=CREATED_AT, open_until=CREATED_AT)
    moves = f"/admin/outbox/destination/{endpoint.pk}/move"
    operator.post(f"{moves}/pause/", {"seen": "ACTIVE", "reason": "asked by the merchant"})

    answer = operator.post(f"{moves}/resume/", {"seen": "PAUSED"})

    endpoint.refresh_from_db()
    assert (endpoint.failures, endpoint.open_until) == (0, None)
    assert answer["Location"] == page_of(endpoint)


@pytest.mark.django_db(transaction=True)
def test_of_clicks_at_once_one_makes_a_secret_and_one_asks_for_an_attempt() -> None:
    endpoint = factories.EndpointFactory.create()
    row = delivered(endpoint)
    client = staff("operate_destination", "rotate_endpointsecret", *LOOKING)
    session = client.cookies["sessionid"].value
    forms = {
        address(endpoint, "rotate"): form(client, endpoint, "rotate") | {"hours": "24"},
        address(row, "resend"): form(client, row, "resend"),
    }

    def click(door: str) -> int:
        other = Client()
        other.cookies["sessionid"] = session
        try:
            return other.post(door, forms[door]).status_code
        finally:
            connection.close()

    answers = race(*[lambda door=door: click(door) for door in forms for _ in range(4)])

    assert sorted(answers) == [200, *[302] * 7]
    assert (EndpointSecret.objects.count(), Attempt.objects.count()) == (1, 1)
