"""Destinations are let rest and dead dispatches redriven by whoever may, once, as he saw them."""

import uuid
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse
from structlog.testing import capture_logs

from audit.models import AuditEntry
from config.console import redriving
from config.console.dispatches import DispatchScreen
from outbox.destinations import directory
from outbox.models import BUS, Destination, Dispatch, Event
from tests import factories
from tests.console.rooms import list_of, page_of
from tests.console.staff import staff
from tests.factories import CREATED_AT

OPERATOR = ("operate_destination", "view_destination", "view_dispatch", "view_event")
VIEWER = ("view_destination", "view_dispatch", "view_event", "view_endpoint")
REDRIVE = "/admin/outbox/dispatch/redrive/"
WHY = {"why": "the queue is bound now"}


@pytest.fixture
def operator(db: None) -> Client:
    return staff(*OPERATOR, name="anna")


def move(destination: Destination, verb: str) -> str:
    return reverse("admin:outbox_destination_move", args=[destination.pk, verb])


def said(answer: Any) -> list[str]:
    return [str(message) for message in get_messages(answer.wsgi_request)]


def dead(**values: Any) -> Dispatch:
    return factories.DispatchFactory.create(
        state="DEAD", dead_at=CREATED_AT, attempts=12, last_error="unroutable", **values
    )


def test_an_operator_pauses_and_resumes_a_destination_and_the_log_says_who(
    operator: Client,
) -> None:
    stream = factories.DestinationFactory.create(code="audit")

    with capture_logs() as logged:
        paused = operator.post(move(stream, "pause"), {"seen": "ACTIVE", "reason": "a new disk"})
        stream.refresh_from_db()
        now = (stream.state, stream.reason)
        operator.post(move(stream, "resume"), {"seen": "PAUSED"})

    stream.refresh_from_db()
    assert (paused.status_code, paused["Location"]) == (302, page_of(stream))
    assert (now, (stream.state, stream.reason)) == (("PAUSED", "a new disk"), ("ACTIVE", ""))
    kept = AuditEntry.objects.filter(object_type="destination").order_by("seq")
    assert list(kept.values_list("actor", "action", "why")) == [
        ("anna", "destination.pause", "a new disk"),
        ("anna", "destination.resume", ""),
    ]
    told = [entry for entry in logged if entry["event"] == "destination_moved"]
    assert [(entry["state"], entry["by"]) for entry in told] == [
        ("PAUSED", "console, anna"),
        ("ACTIVE", "console, anna"),
    ]


@pytest.mark.parametrize("reason", ["", "   ", "x" * 201])
def test_nothing_rests_without_a_reason(operator: Client, reason: str) -> None:
    stream = factories.DestinationFactory.create()

    answer = operator.post(move(stream, "disable"), {"seen": "ACTIVE", "reason": reason})

    assert answer.status_code == 200
    assert Destination.objects.get(pk=stream.pk).state == "ACTIVE"


def test_a_page_that_is_out_of_date_does_not_overrule_who_came_first(operator: Client) -> None:
    stream = factories.DestinationFactory.create(code="audit")
    directory.disable("audit", reason="sold")

    answer = operator.post(move(stream, "pause"), {"seen": "ACTIVE", "reason": "a new disk"})

    stream.refresh_from_db()
    assert (stream.state, stream.reason) == ("DISABLED", "sold")
    assert said(answer) == ["Nothing was changed: audit is DISABLED by now."]


def test_a_second_click_changes_nothing(operator: Client) -> None:
    stream = factories.DestinationFactory.create(code="audit")
    form = {"seen": "ACTIVE", "reason": "a new disk"}
    operator.post(move(stream, "pause"), form)

    answer = operator.post(move(stream, "pause"), form | {"reason": "again"})

    assert said(answer)[-1] == "Nothing was changed: audit is PAUSED already."
    assert Destination.objects.get(pk=stream.pk).reason == "a new disk"


def test_the_bus_is_paused_and_never_disabled(operator: Client) -> None:
    bus = Destination.objects.get(code=BUS)

    shown = operator.get(page_of(bus)).content.decode()
    answer = operator.post(move(bus, "disable"), {"seen": "ACTIVE", "reason": "sold"})

    assert (move(bus, "pause") in shown, move(bus, "disable") in shown) == (True, False)
    assert "cannot be disabled" in said(answer)[0]
    assert Destination.objects.get(code=BUS).state == "ACTIVE"


@pytest.mark.parametrize("form", [{}, {"seen": ""}, {"seen": "GONE"}])
def test_a_form_that_does_not_say_what_it_saw_is_refused(
    operator: Client, form: dict[str, str]
) -> None:
    stream = factories.DestinationFactory.create(state="PAUSED", reason="a new disk")

    assert operator.post(move(stream, "resume"), form).status_code == 400
    assert operator.get(move(stream, "explode")).status_code == 404


def test_who_may_only_look_is_offered_nothing_and_can_do_nothing(db: None) -> None:
    viewer = staff(*VIEWER)
    stream = factories.DestinationFactory.create()
    lost = dead()

    assert move(stream, "pause") not in viewer.get(page_of(stream)).content.decode()
    assert REDRIVE not in viewer.get(page_of(lost)).content.decode()
    assert REDRIVE not in viewer.get(page_of(lost.event)).content.decode()
    for answer in (
        viewer.post(move(stream, "pause"), {"seen": "ACTIVE", "reason": "x"}),
        viewer.get(move(stream, "pause")),
        viewer.get(f"{REDRIVE}?ids={lost.pk}"),
        viewer.post(REDRIVE, {"ids": str(lost.pk)} | WHY),
    ):
        assert answer.status_code == 403
    viewer.post(list_of(Dispatch), {"action": "redrive", "_selected_action": str(lost.pk)})
    assert Dispatch.objects.get(pk=lost.pk).state == "DEAD"


@pytest.mark.parametrize("table", [Dispatch, Event])
def test_from_a_list_the_dead_are_redriven_after_a_page_that_says_how_many_and_to_where(
    operator: Client, table: type[Any]
) -> None:
    stream = factories.DestinationFactory.create(code="audit")
    lost = [dead(), dead(), dead(destination=stream)]
    waiting = factories.DispatchFactory.create()
    keys = [row.pk if table is Dispatch else row.event_id for row in (*lost, waiting)]

    chosen = operator.post(
        list_of(table), {"action": "redrive", "_selected_action": [str(key) for key in keys]}
    )
    page = operator.get(chosen["Location"])
    with capture_logs() as logged:
        answer = operator.post(REDRIVE, page.context["asked"].seen | WHY)

    assert "1 to audit, 2 to bus." in page.content.decode()
    assert Dispatch.objects.filter(state="DEAD").count() == 0
    attempts = {row.redrive_id for row in Dispatch.objects.filter(redrive_id__isnull=False)}
    assert len(attempts) == 3
    assert said(answer)[0].startswith("Back in line: 3. Redrive ids: ")
    assert all(str(attempt) in said(answer)[0] for attempt in attempts)
    assert {entry["by"] for entry in logged if entry["event"] == "event_redriven"} == {
        "console, anna"
    }
    entry = AuditEntry.objects.get(action="event.redriven")
    assert (len(entry.after["redriven"]), entry.why) == (3, WHY["why"])
    shown = operator.get(page_of(lost[0].event)).content.decode()
    assert str(Dispatch.objects.get(pk=lost[0].pk).redrive_id) in shown


def test_a_destination_leads_to_the_redrive_of_all_that_is_dead_for_it_alone(
    operator: Client,
) -> None:
    stream = factories.DestinationFactory.create(code="audit")
    lost, other = dead(destination=stream), dead()

    link = f"{REDRIVE}?destination={stream.pk}"
    assert link in operator.get(page_of(stream)).content.decode()
    operator.post(REDRIVE, operator.get(link).context["asked"].seen | WHY)

    assert [Dispatch.objects.get(pk=row.pk).state for row in (lost, other)] == ["PENDING", "DEAD"]


def test_a_second_click_and_what_is_not_dead_any_more_are_not_redriven(operator: Client) -> None:
    first, second = dead(), dead()
    form = operator.get(f"{REDRIVE}?ids={first.pk},{second.pk}").context["asked"].seen | WHY
    Dispatch.objects.filter(pk=second.pk).update(
        state="PUBLISHED", dead_at=None, published_at=CREATED_AT
    )

    once = operator.post(REDRIVE, form)
    attempt = Dispatch.objects.get(pk=first.pk).redrive_id
    twice = operator.post(REDRIVE, form)

    assert "Back in line: 1 of 2; the others were not dead any more." in said(once)[0]
    assert said(twice)[-1] == "Nothing was changed: none of them is dead any more."
    assert Dispatch.objects.get(pk=first.pk).redrive_id == attempt
    assert Dispatch.objects.get(pk=second.pk).state == "PUBLISHED"


def test_of_many_dead_the_first_that_died_are_redriven_and_the_page_says_so(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redriving, "REDRIVEN_MAX", 2)
    lost = [dead() for _ in range(3)]

    page = operator.get(f"{REDRIVE}?destination={lost[0].destination_id}")

    assert "There are more: these are the 2 that died first." in page.content.decode()
    assert page.context["asked"].seen == {"ids": f"{lost[0].pk},{lost[1].pk}"}


def test_a_whole_list_as_it_is_filtered_is_redriven_and_nothing_without_a_reason(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = factories.DestinationFactory.create(code="audit")
    lost = [dead(destination=stream) for _ in range(3)]
    other = dead()
    monkeypatch.setattr(DispatchScreen, "list_per_page", 1)
    shown = f"{list_of(Dispatch)}?destination__id__exact={stream.pk}"

    chosen = operator.post(
        shown, {"action": "redrive", "_selected_action": str(lost[0].pk), "select_across": "1"}
    )
    page = operator.get(chosen["Location"])
    refused = operator.post(REDRIVE, page.context["asked"].seen | {"why": " "})

    assert page.context["asked"].seen == {"ids": ",".join(str(row.pk) for row in lost)}
    assert (refused.status_code, refused.context["asked"].seen) == (200, page.context["asked"].seen)
    assert Dispatch.objects.filter(state="DEAD").count() == 4
    operator.post(REDRIVE, refused.context["asked"].seen | WHY)
    assert list(Dispatch.objects.filter(state="DEAD")) == [other]


@pytest.mark.parametrize("ids", ["x", "-1", "1;2", "9" * 19, "\u0661", ",".join(["1"] * 501)])
def test_ids_that_are_none_are_refused(operator: Client, ids: str) -> None:
    assert operator.get(REDRIVE, {"ids": ids}).status_code == 400
    assert operator.post(REDRIVE, {"ids": ids} | WHY).status_code == 400


def test_where_nothing_is_dead_nothing_is_asked(operator: Client) -> None:
    answer = operator.get(f"{REDRIVE}?ids=")

    assert (answer.status_code, answer["Location"]) == (302, list_of(Dispatch))


def test_a_row_shows_what_waits_for_it_and_what_was_wrong(operator: Client) -> None:
    stream = factories.DestinationFactory.create(code="audit")
    for _ in range(3):
        factories.DispatchFactory.create(destination=stream, last_error="refused <b>loudly</b>")
    dead(destination=stream)

    shown = operator.get(f"{list_of(Destination)}?q=audit").content.decode()

    assert f'destination__id__exact={stream.pk}&amp;state=WAITING">3</a>' in shown
    assert f'destination__id__exact={stream.pk}&amp;state=DEAD">1</a>' in shown
    assert "refused &lt;b&gt;loudly&lt;/b&gt;" in shown
    assert "2026-03-01 11:00:00 UTC" in shown


def test_a_destination_that_is_not_there_is_not_found(operator: Client) -> None:
    address = reverse("admin:outbox_destination_move", args=[10**9, "pause"])

    assert operator.get(address).status_code == 404
    assert operator.get(f"{list_of(Dispatch)}?q={uuid.uuid4()}").context["cl"].result_count == 0
