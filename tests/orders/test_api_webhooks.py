"""The merchants' calls about webhook endpoints."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction
from django.test import Client
from pytest_django import Settings

from idempotency.models import Record
from outbox.destinations import directory
from outbox.models import DestinationState, EndpointSecret
from outbox.webhooks import attempts
from outbox.webhooks.endpoints import ENDPOINTS_MAX
from outbox.webhooks.secrets import SECRETS_MAX
from tests import factories
from tests.orders.client import ApiClient, pointers, problem
from tests.outbox.webhooks.receiver import Receiver, answer, running
from tests.outbox.webhooks.rows import drain, tell

pytestmark = pytest.mark.django_db(transaction=True)

HOOKS = "/v1/webhook-endpoints"
PUBLIC = "https://93.184.216.34/hooks"


class Merchant(ApiClient):
    """With the two methods that only these calls have."""

    def patch(self, path: str, content: Any) -> Any:
        return Client().patch(
            path, json.dumps(content), content_type="application/json", headers=self.headers
        )

    def delete(self, path: str) -> Any:
        return Client().delete(path, headers=self.headers)

    def add(self, url: str = PUBLIC, **wanted: Any) -> Any:
        response = self.post(HOOKS, {"url": url, **wanted})
        assert response.status_code == 201, response.content
        return response.json()


@pytest.fixture
def merchant() -> Merchant:
    return Merchant()


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    settings.OUTBOX_WEBHOOK_ALLOW_PRIVATE = True
    with running(Receiver()) as server:
        yield server


def test_an_endpoint_from_its_first_secret_to_its_end(
    merchant: Merchant, receiver: Receiver
) -> None:
    added = merchant.add(receiver.url, event_types=["order.*"])
    at = f"{HOOKS}/{added['id']}"
    assert added["state"] == "ACTIVE"
    assert added["secrets"] == []

    made = merchant.post(f"{at}/secrets", {}, key=None)
    assert made.status_code == 201
    assert made.headers["Cache-Control"] == "no-store"
    receiver.secrets.append(made.json()["secret"])
    event = tell(tenant=merchant.merchant.code, order_no="A-1")
    tell(tenant="another")
    assert drain() == {"published": 1}
    assert receiver.complaints == []

    (tried,) = merchant.get(f"{at}/attempts").json()["attempts"]
    assert (tried["event_id"], tried["event_type"]) == (str(event), "order.paid")
    assert (tried["status"], tried["reply"], tried["error"]) == (200, "ok", "")
    delivery = merchant.get(f"{at}/deliveries/{event}").json()
    assert (delivery["state"], delivery["data"]["order_no"]) == ("PUBLISHED", "A-1")
    assert delivery["attempts"] == [tried]

    asked = merchant.post(f"{at}/deliveries/{event}/resend", key="again")
    assert (asked.status_code, asked.json()["at"]) == (201, None)
    assert asked.json()["asked_by"].startswith("API key ")
    assert merchant.post(f"{at}/test").status_code == 201
    assert drain() == {"asked": 2}
    assert receiver.ids.count(str(event)) == 2
    # The same key again asks for nothing new.
    again = merchant.post(f"{at}/deliveries/{event}/resend", key="again")
    assert again.json() == asked.json()
    assert drain() == {}

    assert merchant.patch(at, {"state": "PAUSED"}).json()["state"] == "PAUSED"
    changed = merchant.patch(at, {"state": "ACTIVE", "event_types": [], "url": f"{receiver.url}/2"})
    assert changed.json()["event_types"] == ["order.*", "payment.*", "refund.*"]
    tell(tenant=merchant.merchant.code, kind="conflict.opened")
    tell(tenant=merchant.merchant.code, kind="refund.requested")
    assert drain() == {"published": 1}
    assert receiver.received[-1].path == "/hook/2"

    assert merchant.delete(at).status_code == 204
    assert problem(merchant.delete(at)) == (404, "not-found")
    assert merchant.get(HOOKS).json() == {"endpoints": []}


def test_a_key_makes_one_endpoint_and_no_secret_is_remembered_with_it(merchant: Merchant) -> None:
    first = merchant.post(HOOKS, {"url": PUBLIC}, key="one")
    again = merchant.post(HOOKS, {"url": PUBLIC}, key="one")
    assert first.json() == again.json()
    assert again.headers["Idempotent-Replayed"] == "true"
    assert problem(merchant.post(HOOKS, {"url": PUBLIC}, key=None)) == (
        400,
        "idempotency-key-missing",
    )
    secret = merchant.post(f"{HOOKS}/{first.json()['id']}/secrets", {}, key="two").json()["secret"]
    for record in Record.objects.all():
        assert secret not in bytes(record.result_body or b"").decode()
    assert Record.objects.count() == 1
    shown = merchant.get(f"{HOOKS}/{first.json()['id']}")
    assert secret not in shown.content.decode()
    assert [held["retires_at"] for held in shown.json()["secrets"]] == [None]


@pytest.mark.parametrize(
    "url",
    [
        *("http://93.184.216.34/", "https://127.0.0.1/", "https://2130706433/", "https://0x7f.1/"),
        *("https://[::ffff:10.0.0.1]/", "https://169.254.169.254/latest", "https://localhost/"),
        *("https://u:p@93.184.216.34/", "https://93.184.216.34:22/", "gopher://93.184.216.34/"),
        *(
            "",
            7,
            None,
            ["https://93.184.216.34/"],
            "https://metadata.google.internal/",
            PUBLIC + "#x",
        ),
    ],
)
def test_an_address_of_ours_is_refused_when_it_is_saved(merchant: Merchant, url: Any) -> None:
    refused = merchant.post(HOOKS, {"url": url})
    assert problem(refused) == (400, "invalid-request")
    assert pointers(refused) == ["#/url"]
    at = f"{HOOKS}/{merchant.add()['id']}"
    assert problem(merchant.patch(at, {"url": url})) == (400, "invalid-request")
    assert merchant.get(at).json()["url"] == PUBLIC


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ({"url": PUBLIC, "event_types": ["Order"]}, "#/event_types/0"),
        ({"url": PUBLIC, "event_types": ["order*"]}, "#/event_types/0"),
        ({"url": PUBLIC, "event_types": "order.paid"}, "#/event_types"),
        ({"url": PUBLIC, "event_types": ["a.b"] * 51}, "#/event_types"),
        ({"url": PUBLIC, "secret": "whsec_mine"}, "#/secret"),
    ],
)
def test_what_is_wrong_is_named(merchant: Merchant, content: Any, where: str) -> None:
    refused = merchant.post(HOOKS, content)
    assert problem(refused) == (400, "invalid-request")
    assert pointers(refused) == [where]


def test_endpoints_and_secrets_are_bounded(merchant: Merchant) -> None:
    added = [merchant.add() for _ in range(ENDPOINTS_MAX)]
    assert problem(merchant.post(HOOKS, {"url": PUBLIC})) == (409, "too-many-webhook-endpoints")
    at = f"{HOOKS}/{added[0]['id']}"
    for _ in range(SECRETS_MAX):
        assert merchant.post(f"{at}/secrets", {"overlap_seconds": 60}, key=None).status_code == 201
    refused = merchant.post(f"{at}/secrets", {}, key=None)
    assert problem(refused) == (409, "too-many-secrets")
    held = merchant.get(at).json()["secrets"]
    assert merchant.delete(f"{at}/secrets/{held[0]['id']}").status_code == 204
    assert problem(merchant.delete(f"{at}/secrets/{held[0]['id']}")) == (404, "not-found")
    EndpointSecret.objects.exclude(pk=held[1]["id"]).delete()
    assert problem(merchant.delete(f"{at}/secrets/{held[1]['id']}")) == (409, "secret-needed")
    refused = merchant.post(f"{at}/secrets", {"overlap_seconds": 700_000}, key=None)
    assert pointers(refused) == ["#/overlap_seconds"]


def test_another_merchants_endpoint_does_not_exist(merchant: Merchant) -> None:
    at = f"{HOOKS}/{merchant.add()['id']}"
    stranger = Merchant()
    event = uuid4()
    for answered in (
        stranger.get(at),
        stranger.patch(at, {"state": "PAUSED"}),
        stranger.delete(at),
        stranger.post(f"{at}/secrets", {}, key=None),
        stranger.delete(f"{at}/secrets/1"),
        stranger.post(f"{at}/test"),
        stranger.get(f"{at}/attempts"),
        stranger.get(f"{at}/deliveries/{event}"),
        stranger.post(f"{at}/deliveries/{event}/resend"),
        merchant.get(f"{at}/deliveries/{event}"),
        merchant.get(f"{HOOKS}/bus"),
    ):
        assert problem(answered) == (404, "not-found")
    assert merchant.get(at).json()["state"] == DestinationState.ACTIVE
    assert problem(Client().get(HOOKS)) == (401, "unauthenticated")


def test_what_an_operator_has_let_rest_a_merchant_cannot_undo(merchant: Merchant) -> None:
    added = merchant.add()
    at = f"{HOOKS}/{added['id']}"
    directory.disable(added["id"], reason="abuse")

    for state in ("ACTIVE", "PAUSED"):
        refused = merchant.patch(at, {"state": state, "event_types": ["order.paid"]})
        assert problem(refused) == (409, "rested-by-operator")
    shown = merchant.get(at).json()
    assert (shown["state"], shown["rested_by"], shown["reason"]) == (
        "DISABLED",
        "OPERATOR",
        "abuse",
    )
    assert shown["event_types"] == added["event_types"]

    directory.resume(added["id"])
    for state, whose in (("PAUSED", "MERCHANT"), ("ACTIVE", "")):
        assert merchant.patch(at, {"state": state}).json()["rested_by"] == whose


def test_attempts_are_listed_in_pages_newest_first(merchant: Merchant, receiver: Receiver) -> None:
    at = f"{HOOKS}/{merchant.add(receiver.url)['id']}"
    receiver.secrets.append(merchant.post(f"{at}/secrets", {}, key=None).json()["secret"])
    receiver.answers = [answer(500, b"no")]
    for _ in range(5):
        tell(tenant=merchant.merchant.code)
    drain()
    first = merchant.get(f"{at}/attempts", limit="3").json()
    second = merchant.get(f"{at}/attempts", limit="3", before=first["next"]).json()
    listed = first["attempts"] + second["attempts"]
    assert (len(first["attempts"]), len(second["attempts"]), second["next"]) == (3, 2, None)
    assert [each["at"] for each in listed] == sorted((e["at"] for e in listed), reverse=True)
    assert sorted(each["status"] for each in listed) == [200, 200, 200, 200, 500]
    assert merchant.get(f"{at}/attempts", before=str(uuid4())).json()["attempts"] == []
    assert problem(merchant.get(f"{at}/attempts", before="x")) == (400, "invalid-request")


def test_a_merchant_is_told_that_an_operator_asked_and_not_who(merchant: Merchant) -> None:
    endpoint = factories.EndpointFactory.create(tenant=merchant.merchant.code)
    sent = factories.DispatchFactory.create(
        destination=endpoint.destination, state="PUBLISHED", published_at=factories.CREATED_AT
    )
    with transaction.atomic():
        attempts.resend(sent, by="console, anna")

    at = f"{HOOKS}/{endpoint.destination.code}/deliveries/{sent.event_id}"
    (asked,) = merchant.get(at).json()["attempts"]

    assert asked["asked_by"] == "operator"
