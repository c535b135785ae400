"""The same answers for work that outlives a transaction: a call of another part of the service."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from idempotency import by_hand, leased
from idempotency.keys import Intent
from idempotency.leased import Finding, Finished, GaveUp, HandOver, RetryWithSameKey, Unknown
from idempotency.lifecycle import Claim, Result
from idempotency.models import Record, RecordStatus
from orders.api.idempotency_key import Operation, Wanted, key_of
from orders.api.idempotent import answered
from orders.api.views import ApiView
from tests.orders.client import ApiClient

pytestmark = pytest.mark.django_db(transaction=True)

DONE = Finished(RecordStatus.SUCCEEDED, Result(201, b'{"paid_out": true}'))
REFUSED = Finished(RecordStatus.FAILED_FINAL, Result(409, b'{"type": "refused"}'))


class PayoutSerializer(serializers.Serializer[Any]):
    amount_minor = serializers.IntegerField()


PAYOUT = Operation(name="pay_out", path="/v1/payouts/{name}", shape=PayoutSerializer)


class PayoutView(ApiView):
    """Pays out at a provider that finds and knows what the test says."""

    finds: Finding = DONE
    knows: Finding | RetryWithSameKey = RetryWithSameKey()
    lease = timedelta(minutes=1)

    def post(self, request: Request, name: str) -> HttpResponse:
        key = key_of(request, required=True)
        assert key is not None
        return answered(PAYOUT, request, key, {"name": name}, self._carry_out)

    def _carry_out(self, intent: Intent, _wanted: Wanted) -> leased.Outcome:
        return leased.run(intent, work=self._work, recover=self._recover, lease=self.lease)

    def _work(self, _intent: Intent, _claim: Claim) -> Finding:
        return self.finds

    def _recover(self, _intent: Intent, _claim: Claim) -> Finding | RetryWithSameKey:
        return self.knows


def post(api: ApiClient, amount_minor: Any = 5, name: str = "anna", **how: Any) -> Any:
    request = APIRequestFactory().post(
        f"/v1/payouts/{name}",
        {"amount_minor": amount_minor},
        format="json",
        headers=api.headers | {"Idempotency-Key": "k"},
    )
    return PayoutView.as_view(**how)(request, name=name)


def kind(response: HttpResponse) -> tuple[int, str]:
    """The status and the last part of the type of a problem."""
    return response.status_code, json.loads(response.content)["type"].rpartition(":")[2]


NO_TIME = timedelta(0)


@pytest.mark.parametrize("finding", [DONE, REFUSED])
def test_what_was_found_is_answered_and_replayed(finding: Finished) -> None:
    api = ApiClient()

    first = post(api, finds=finding)
    again = post(api)

    assert (first.status_code, first.content) == (finding.result.code, finding.result.body)
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert kind(post(api, amount_minor=6)) == (409, "idempotency-key-reused")
    assert kind(post(api, name="bert")) == (409, "idempotency-key-reused")


def test_while_it_runs_a_repeat_is_told_where_to_ask() -> None:
    api = ApiClient()
    unknown = post(api, finds=Unknown())

    again = post(api)

    assert unknown.status_code == again.status_code == 202
    assert again.headers["Location"] == "/v1/idempotency/k?operation=pay_out"
    assert api.get(again.headers["Location"]).status_code == 202
    assert kind(post(api, amount_minor=6)) == (409, "idempotency-key-reused")


@pytest.mark.parametrize(("knows", "status"), [(DONE, 201), (REFUSED, 409), (Unknown(), 202)])
def test_after_the_lease_recovery_asks_and_answers(knows: Finding, status: int) -> None:
    api = ApiClient()
    post(api, finds=Unknown(), lease=NO_TIME)

    response = post(api, knows=knows, finds=HandOver("must not run again"))

    assert response.status_code == status


def test_what_nobody_knows_of_runs_again_after_the_lease() -> None:
    api = ApiClient()
    post(api, finds=Unknown(), lease=NO_TIME)

    assert post(api, finds=DONE).status_code == 201


def test_an_attempt_in_vain_says_that_nothing_has_happened_and_may_be_repeated() -> None:
    api = ApiClient()

    in_vain = post(api, finds=GaveUp("busy", Result(503, b"{}")))
    read = api.get("/v1/idempotency/k", operation="pay_out")

    assert kind(in_vain) == (503, "not-now")
    assert in_vain.headers["Retry-After"] == "5"
    assert (read.status_code, read.json()["status"]) == (200, "FAILED_RETRYABLE")
    assert (read.json()["answer"], read.json()["retry_count"]) == (None, 1)
    assert post(api).status_code == 201


def test_what_a_person_decides_is_the_answer() -> None:
    api = ApiClient()
    handed_over = post(api, finds=HandOver("contradiction"))
    assert (handed_over.status_code, handed_over.headers["Retry-After"]) == (202, "300")

    by_hand.decide(Record.objects.get().pk, REFUSED, who="anna", why="asked the bank")

    assert (post(api).status_code, post(api).content) == (409, REFUSED.result.body)


def test_an_error_that_nobody_expected_is_unknown_not_failed() -> None:
    api = ApiClient()

    class Failing(PayoutView):
        def _work(self, _intent: Intent, _claim: Claim) -> Finding:
            raise ZeroDivisionError

    request = APIRequestFactory().post(
        "/v1/payouts/anna",
        {"amount_minor": 5},
        format="json",
        headers=api.headers | {"Idempotency-Key": "k"},
    )
    assert kind(Failing.as_view()(request, name="anna")) == (500, "unexpected")
    assert Record.objects.get().status == RecordStatus.PROCESSING
    assert post(api).status_code == 202
