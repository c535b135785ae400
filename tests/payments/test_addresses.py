"""An unknown address costs what a wrong signature costs: no list can be made of addresses."""

import sys
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.factories import ProviderAccountFactory

pytestmark = pytest.mark.django_db(transaction=True)


def _work(path: str) -> tuple[int, list[str], int]:
    """The status, the statements without their parameters, and how many HMACs were computed."""
    macs = 0

    def count(_frame: object, event: str, called: Any) -> None:
        nonlocal macs
        macs += event == "c_call" and called.__name__ == "hmac_digest"

    client = Client()
    with CaptureQueriesContext(connection) as queries:
        sys.setprofile(count)
        try:
            answer = client.post(
                path,
                b"{}",
                content_type="application/json",
                headers={"Stripe-Signature": "t=1,v1=" + "0" * 64},
            )
        finally:
            sys.setprofile(None)
    statements = [query["sql"].partition("WHERE")[0] for query in queries]
    return answer.status_code, statements, macs


def test_an_unknown_address_costs_as_much_as_a_wrong_signature() -> None:
    account = ProviderAccountFactory.create(name="main")
    ProviderAccountFactory.create(name="inactive", active=False)
    status, statements, macs = _work(f"/callbacks/{account.endpoint}")
    assert (status, len(statements), macs) == (401, 1, 1)

    for path in (
        "/callbacks/stripe/unknown",
        "/callbacks/stripe/inactive",
        "/callbacks/unknown/main",
        "/callbacks/custom/main",
    ):
        assert (path, _work(path)) == (path, (404, statements, macs))


def test_all_unknown_addresses_answer_alike() -> None:
    ProviderAccountFactory.create(name="inactive", active=False)
    answers = {
        (answer.status_code, answer.content, answer.headers["Content-Type"])
        for answer in (
            Client().post(f"/callbacks/{path}", b"{}", content_type="application/json")
            for path in ("stripe/unknown", "stripe/inactive", "unknown/main", "custom/x")
        )
    }

    assert answers == {(404, b"No such address.\n", "text/plain")}
