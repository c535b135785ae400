"""The merchants' calls about refunds."""

from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from payments.models import AccountKey, ProviderAccount, Refund
from payments.refunds.carry_out import carry_out
from tests.factories import AccountKeyFactory, ProviderAccountFactory
from tests.orders.client import ApiClient, pointers, problem
from tests.payments.refunds.asking import paid_order, room_of
from tests.payments.refunds.provider_double import ProviderDouble
from tests.payments.telling import NOW
from tests.providers.rsa_senders import private_key

pytestmark = pytest.mark.django_db(transaction=True)

PATH = "/v1/orders/1001/refunds"


@pytest.fixture
def account() -> ProviderAccount:
    account = ProviderAccountFactory.create()
    AccountKeyFactory.create(account=account, purpose="api", secret="sk_live_tests_4Jx9Qw2Lm7Rk")
    paid_order(account)
    return account


@pytest.fixture
def api(account: ProviderAccount) -> ApiClient:
    return ApiClient(account.merchant)


def wanted(refund_no: str = "R-1", amount_minor: Any = 3_000, **members: Any) -> dict[str, Any]:
    amount = {"amount_minor": amount_minor, "currency": "USD"}
    return {"refund_no": refund_no, "amount": amount} | members


def test_a_refund_is_answered_as_it_stands(api: ApiClient) -> None:
    response = api.post(PATH, wanted(reason="one item returned"))

    assert response.status_code == 201
    answer = dict(response.json())
    assert answer.pop("requested_at").endswith("Z")
    assert answer == {
        "refund_no": "R-1",
        "order_no": "1001",
        "payment": "pi_1001",
        "status": "REQUESTED",
        "amount": {"amount_minor": 3_000, "currency": "USD"},
        "reason": "one item returned",
        "provider_refund_no": None,
        "finished_at": None,
        "version": 1,
    }
    again = [api.get(path).json() for path in ("/v1/refunds/R-1", "/v1/refunds/R-1/")]
    assert again == [response.json()] * 2


def test_a_key_gets_the_first_answer_again_and_nothing_else(api: ApiClient) -> None:
    first = api.post(PATH, wanted(), key="k-1")
    again = api.post(PATH, wanted(), key="k-1")
    other = api.post(PATH, wanted(amount_minor=1), key="k-1")
    without = api.post(PATH, wanted("R-2"), key=None)

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.content == first.content
    assert again.headers["Idempotent-Replayed"] == "true"
    assert problem(other) == (409, "idempotency-key-reused")
    assert problem(without) == (400, "idempotency-key-missing")
    assert Refund.objects.count() == 1


def test_a_refused_refund_stays_refused_under_its_key(api: ApiClient) -> None:
    refused = [api.post(PATH, wanted(amount_minor=10**9), key="k-1") for _ in range(2)]

    assert [problem(answer)[1] for answer in refused] == ["refund-exceeds"] * 2
    assert refused[0].content == refused[1].content
    assert refused[1].headers["Idempotent-Replayed"] == "true"


def test_a_refund_that_ended_says_how(api: ApiClient) -> None:
    api.post(PATH, wanted())
    carry_out(ProviderDouble(), now=NOW)

    answer = api.get("/v1/refunds/R-1").json()
    assert (answer["status"], answer["provider_refund_no"]) == ("SUCCEEDED", "re_R-1")
    assert answer["finished_at"] == "2026-03-01T12:00:00Z"
    assert api.get("/v1/orders/1001").json()["refunded_minor"] == 3_000


def test_without_an_amount_all_of_it_goes_back(api: ApiClient) -> None:
    answer = api.post(PATH, {"refund_no": "R-1"}).json()
    assert answer["amount"] == {"amount_minor": 10_000, "currency": "USD"}
    again = api.post(PATH, {"refund_no": "R-1", "amount": None, "payment": None})
    assert (again.status_code, again.json()) == (201, answer)


def test_a_repeat_gets_the_same_answer_and_says_so(api: ApiClient) -> None:
    first, again = api.post(PATH, wanted()), api.post(PATH, wanted())

    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["Idempotent-Replayed"] == "true"
    assert room_of() == (3_000, 0, 0)


def test_the_same_number_with_other_content_is_refused(api: ApiClient) -> None:
    api.post(PATH, wanted())
    response = api.post(PATH, wanted(amount_minor=1, reason="other"))

    assert problem(response) == (409, "refund-exists")
    assert pointers(response) == ["#/amount", "#/reason"]


@pytest.mark.parametrize(
    ("content", "pointer"),
    [
        (wanted(amount_minor=-500), "#/amount/amount_minor"),
        (wanted(amount_minor=0), "#/amount/amount_minor"),
        (wanted(amount_minor=1.5), "#/amount/amount_minor"),
        (wanted(amount_minor="1"), "#/amount/amount_minor"),
        (wanted(refund_no="R 1"), "#/refund_no"),
        (wanted(refund_no="R" * 65), "#/refund_no"),
        (wanted(reason="\u0000"), "#/reason"),
        (wanted(reason="x" * 121), "#/reason"),
        (wanted(payment=""), "#/payment"),
        (wanted(sum=1), "#/sum"),
        ({"amount": {"amount_minor": 1, "currency": "USD"}}, "#/refund_no"),
    ],
)
def test_what_is_wrong_is_named(api: ApiClient, content: dict[str, Any], pointer: str) -> None:
    response = api.post(PATH, content)

    assert problem(response) == (400, "invalid-request")
    assert set(pointers(response)) == {pointer}
    assert not Refund.objects.exists()


def test_more_than_is_left_is_refused_and_the_rest_is_named(api: ApiClient) -> None:
    api.post(PATH, wanted("R-1", 6_000))
    response = api.post(PATH, wanted("R-2", 4_001))

    assert problem(response) == (422, "refund-exceeds")
    assert response.json()["detail"].startswith("40.00 USD is left.")
    assert api.post(PATH, wanted("R-2", 4_000)).status_code == 201


def test_what_was_not_paid_is_not_refundable(api: ApiClient, account: ProviderAccount) -> None:
    assert problem(api.post("/v1/orders/absent/refunds", wanted())) == (404, "not-found")
    assert problem(api.post(PATH, wanted(payment="pi_9"))) == (409, "not-refundable")
    foreign = {"refund_no": "R-1", "amount": {"amount_minor": 1, "currency": "EUR"}}
    assert problem(api.post(PATH, foreign)) == (409, "not-refundable")


def test_where_the_provider_cannot_be_reached_nothing_is_promised(api: ApiClient) -> None:
    AccountKey.objects.filter(purpose="api").delete()
    response = api.post(PATH, wanted())

    assert problem(response) == (409, "not-refundable")
    assert "no key with purpose api" in response.json()["detail"]
    assert not Refund.objects.exists()


def test_refunds_are_listed_in_pages(api: ApiClient) -> None:
    for number in range(5):
        api.post(PATH, wanted(f"R-{number}", 1))

    first = api.get(PATH, limit="2").json()
    second = api.get(PATH, limit="2", before=first["next"]).json()
    third = api.get(PATH, limit="2", before=second["next"]).json()

    pages = [[refund["refund_no"] for refund in page["refunds"]] for page in (first, second, third)]
    assert pages == [["R-4", "R-3"], ["R-2", "R-1"], ["R-0"]]
    assert third["next"] is None
    assert problem(api.get("/v1/orders/absent/refunds")) == (404, "not-found")
    assert problem(api.get(PATH, limit="0")) == (400, "invalid-request")
    assert api.get(PATH, before="R-absent").json() == {"refunds": [], "next": None}


def test_a_refund_of_another_merchant_does_not_exist(api: ApiClient) -> None:
    api.post(PATH, wanted())
    stranger = ApiClient()

    assert problem(stranger.get("/v1/refunds/R-1")) == (404, "not-found")
    assert problem(stranger.get(PATH)) == (404, "not-found")
    assert problem(stranger.post(PATH, wanted("R-2"))) == (404, "not-found")


def test_who_asks_must_say_who_it_is(api: ApiClient) -> None:
    api.headers = {}
    assert problem(api.post(PATH, wanted())) == (401, "unauthenticated")
    assert problem(api.get("/v1/refunds/R-1")) == (401, "unauthenticated")


def test_a_refund_number_that_the_payments_provider_does_not_take_is_refused_before_anything() -> (
    None
):
    account: ProviderAccount = ProviderAccountFactory.create(
        provider="wechatpay_v3", account_no="1900000001"
    )
    private = private_key("merchant").private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    AccountKeyFactory.create(
        account=account, purpose="api-private", key_id="5157F09E", secret=private.decode()
    )
    paid_order(account)
    api = ApiClient(account.merchant)

    for number in ("R.1", "R:1"):
        response = api.post(PATH, wanted(number))
        assert problem(response) == (400, "invalid-request")
        assert pointers(response) == ["#/refund_no"]
        assert account.endpoint in response.json()["errors"][0]["detail"]
    assert not Refund.objects.exists()
    assert room_of() == (0, 0, 0)
    assert api.post(PATH, wanted("R_1-a")).status_code == 201
