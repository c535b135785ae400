"""The API: what it does, what it refuses, and how it fails on request."""

from datetime import timedelta
from typing import Any

import httpx2
import pytest

from tests.simulator.running import Simulator, until


def code(told: Any) -> str:
    return str(told["error"]["code"])


def test_a_payment_is_found_by_its_number_and_by_its_order(simulator: Simulator) -> None:
    first, second = simulator.pay("O-1"), simulator.pay("O-1", 500)
    simulator.pay("O-2")

    status, told = simulator.call("GET", f"/api/payments/{first}")
    assert (status, told["type"], told["payment"]["id"]) == (200, "payment.succeeded", first)
    assert (told["account"], told["live"]) == ("sim-try", False)
    _, listed = simulator.call("GET", "/api/payments", params={"order_no": "O-1"})
    assert [one["payment"]["id"] for one in listed["payments"]] == [first, second]
    assert simulator.call("GET", "/api/payments?order_no=O-9") == (200, {"payments": []})
    status, told = simulator.call("GET", "/api/payments/pay_none")
    assert (status, code(told)) == (404, "payment_not_found")


def test_the_same_attempt_is_the_same_payment(simulator: Simulator) -> None:
    content = {"order_no": "O-1", "amount_minor": 1099, "currency": "USD", "attempt": "A-1"}
    first, again = (simulator.call("POST", "/api/payments", json=content) for _ in range(2))
    assert first == again


@pytest.mark.parametrize(
    ("switches", "status", "amount_minor"),
    [
        ({"decline": 1}, "failed", 1099),
        ({"wrong_amount": 1}, "succeeded", 1),
        ({"pending": 60}, "pending", 1099),
    ],
)
def test_a_payment_ends_as_its_scenario_says(
    simulator: Simulator, switches: dict[str, Any], status: str, amount_minor: int
) -> None:
    number = simulator.pay(**switches)
    _, told = simulator.call("GET", f"/api/payments/{number}")
    assert (told["type"], told["payment"]["status"]) == (f"payment.{status}", status)
    assert told["payment"]["amount_minor"] == amount_minor


def test_what_is_pending_settles_when_its_time_has_come(simulator: Simulator) -> None:
    number = simulator.pay(pending=60)
    simulator.clock.pass_(61)
    until(
        lambda: simulator.call("GET", f"/api/payments/{number}")[1]["type"] == "payment.succeeded"
    )
    simulator.wait_until_sent(number)
    assert [one["type"] for one in simulator.sent(number)] == [
        "payment.pending",
        "payment.succeeded",
    ]


def test_what_is_hidden_is_not_found_for_a_while(simulator: Simulator) -> None:
    number = simulator.pay(hidden=60)
    simulator.refund(number, hidden=120)
    payment, refund = f"/api/payments/{number}", "/api/refunds/R-1"
    assert [simulator.call("GET", path)[0] for path in (payment, refund)] == [404, 404]
    assert simulator.call("GET", "/api/payments?order_no=O-1")[1] == {"payments": []}
    simulator.clock.pass_(61)
    assert [simulator.call("GET", path)[0] for path in (payment, refund)] == [200, 404]
    simulator.clock.pass_(60)
    assert [simulator.call("GET", path)[0] for path in (payment, refund)] == [200, 200]


def test_a_call_may_be_carried_out_and_its_answer_lost(simulator: Simulator) -> None:
    number = simulator.pay()
    simulator.set("refund", drop_reply=1)

    with pytest.raises(httpx2.RemoteProtocolError):
        simulator.refund(number)
    assert simulator.call("GET", "/api/refunds/R-1")[1]["refund"]["status"] == "succeeded"
    status, again = simulator.refund(number)
    assert (status, again["refund"]["amount_minor"]) == (200, 1099)
    counted = {"R-1": {"asked": 2, "executed": 1}}
    assert simulator.call("GET", "/api/counters") == (200, {"refunds": counted})


def test_a_late_answer_is_late_and_the_work_is_done(simulator: Simulator) -> None:
    number = simulator.pay()
    simulator.set("refund", lag=0.5)
    with pytest.raises(httpx2.ReadTimeout):
        httpx2.post(
            f"{simulator.url}/api/refunds",
            json={"refund_no": "R-1", "payment": number, "amount_minor": 1, "currency": "USD"},
            headers=dict(simulator.http.headers),
            timeout=0.1,
            trust_env=False,
        )
    until(lambda: simulator.call("GET", "/api/refunds/R-1")[0] == 200)


@pytest.mark.parametrize("failure", [429, 500, 503])
def test_a_call_may_fail_and_nothing_is_done(simulator: Simulator, failure: int) -> None:
    number = simulator.pay()
    simulator.set("refund", times=2, status=failure)

    for _ in range(2):
        answer = simulator.http.post("/api/refunds", json={})
        assert (answer.status_code, code(answer.json())) == (failure, "simulated")
        assert answer.headers.get("retry-after") == ("1" if failure == 429 else None)
    assert simulator.call("GET", "/api/refunds/R-1")[0] == 404
    assert simulator.refund(number)[0] == 200


def test_who_asks_may_be_told_that_there_is_no_such_thing(simulator: Simulator) -> None:
    number = simulator.pay()
    simulator.refund(number)
    simulator.set("query_payment", not_found=1)
    simulator.set("query_refund", times=0, not_found=1)

    found = [simulator.call("GET", f"/api/payments/{number}")[0] for _ in range(2)]
    assert found == [404, 200]
    assert [simulator.call("GET", "/api/refunds/R-1")[0] for _ in range(3)] == [404] * 3
    simulator.set("query_refund")
    assert simulator.call("GET", "/api/refunds/R-1")[0] == 200


def test_a_header_goes_before_the_address_and_that_before_what_is_set(
    simulator: Simulator,
) -> None:
    simulator.set("query_payment", times=0, status=503)
    answers = [
        simulator.call("GET", "/api/payments", params=params, headers=headers)[0]
        for params, headers in (
            ({}, {}),
            ({"status": "500"}, {}),
            ({"status": "500"}, {"Simulate": "status=429"}),
        )
    ]
    assert answers == [503, 500, 429]


@pytest.mark.parametrize(
    ("switches", "problem"),
    [
        ({"duplicate": "1"}, "duplicate"),
        ({"duplicates": "51"}, "duplicates"),
        ({"status": "200"}, "status"),
        ({"lag": "nan"}, "lag"),
        ({"delay": "x"}, "delay"),
        ({"wrong_amount": "-1"}, "wrong_amount"),
    ],
)
def test_a_switch_that_cannot_be_is_refused_by_name(
    simulator: Simulator, switches: dict[str, str], problem: str
) -> None:
    content = {"switches": switches}
    status, told = simulator.call("PUT", "/api/scenarios/refund", json=content)
    assert (status, code(told)) == (400, "bad_scenario")
    assert problem in told["error"]["message"]
    assert simulator.call("GET", "/api/scenarios")[1] == {"scenarios": {}}


def test_a_refund_is_one_refund_however_often_it_is_asked_for(simulator: Simulator) -> None:
    number = simulator.pay()
    assert [simulator.refund(number, "R-1", 500)[0] for _ in range(3)] == [200] * 3
    status, told = simulator.refund(number, "R-1", 501)
    assert (status, code(told)) == (409, "refund_no_reused")

    _, told = simulator.call("GET", f"/api/payments/{number}")
    assert told["payment"]["refunded_minor"] == 500
    counted = {"R-1": {"asked": 4, "executed": 1}}
    assert simulator.call("GET", "/api/counters")[1] == {"refunds": counted}


def test_who_asks_by_a_number_gets_the_refund_that_the_merchant_calls_so(
    simulator: Simulator,
) -> None:
    number = simulator.pay("O-1")
    by_hand = simulator.refund(number, None, 1)[1]["refund"]["id"]
    ours = simulator.refund(number, by_hand, 2)[1]["refund"]["id"]

    found = [
        simulator.call("GET", f"/api/refunds/{asked}")[1]["refund"] for asked in (by_hand, ours)
    ]

    assert [each["id"] for each in found] == [ours, ours]
    assert found[0]["refund_no"] == by_hand


@pytest.mark.parametrize(
    ("refund_no", "amount_minor", "currency", "expected"),
    [
        ("R-2", 600, "USD", (422, "exceeds_payment")),
        ("R-2", 1, "EUR", (422, "not_refundable")),
        ("R-2", 0, "USD", (400, "bad_request")),
        ("R-2", 1.5, "USD", (400, "bad_request")),
        ("R 2", 1, "USD", (400, "bad_request")),
        ("R-2", 599, "USD", (200, "")),
    ],
)
def test_a_refund_fits_its_payment_or_is_refused(
    simulator: Simulator,
    refund_no: str,
    amount_minor: Any,
    currency: str,
    expected: tuple[int, str],
) -> None:
    number = simulator.pay()
    simulator.refund(number, "R-1", 500)
    content = {
        "refund_no": refund_no,
        "payment": number,
        "amount_minor": amount_minor,
        "currency": currency,
    }
    status, told = simulator.call("POST", "/api/refunds", json=content)
    assert (status, told.get("error", {"code": ""})["code"]) == expected


def test_a_refund_of_what_was_never_paid_is_refused(simulator: Simulator) -> None:
    assert code(simulator.refund("pay_none")[1]) == "payment_not_found"
    assert code(simulator.refund(simulator.pay(decline=1))[1]) == "not_refundable"


@pytest.mark.parametrize(
    ("switches", "first", "then"),
    [
        ({"pending": 60}, "pending", "succeeded"),
        ({"fail": 60}, "pending", "failed"),
        ({"reverse": 60}, "succeeded", "failed"),
    ],
)
def test_a_refund_ends_as_its_scenario_says(
    simulator: Simulator, switches: dict[str, Any], first: str, then: str
) -> None:
    number = simulator.pay()
    assert simulator.refund(number, **switches)[1]["refund"]["status"] == first
    simulator.clock.pass_(61)
    path = "/api/refunds/R-1"
    until(lambda: simulator.call("GET", path)[1]["refund"]["status"] == then)
    left = 0 if then == "succeeded" else 1099
    status, _ = simulator.refund(number, "R-2", 1)
    assert status == (200 if left else 422)


def test_a_dispute_takes_what_is_left_and_gives_it_back_when_won(simulator: Simulator) -> None:
    number = simulator.pay()
    simulator.refund(number, "R-1", 99)
    status, told = simulator.call("POST", f"/api/payments/{number}/disputes")
    assert (status, told["dispute"]["amount_minor"]) == (201, 1000)
    dispute = told["dispute"]["id"]
    assert code(simulator.refund(number, "R-2", 1)[1]) == "exceeds_payment"

    assert simulator.call("POST", f"/api/disputes/{dispute}/won")[1]["dispute"]["status"] == "won"
    assert simulator.call("POST", f"/api/disputes/{dispute}/won")[0] == 200
    status, told = simulator.call("POST", f"/api/disputes/{dispute}/lost")
    assert (status, code(told)) == (409, "dispute_ended")
    assert simulator.refund(number, "R-2", 1)[0] == 200
    types = [one["type"] for one in simulator.sent(number)]
    assert types == [
        *("payment.succeeded", "refund.succeeded"),
        *("dispute.opened", "dispute.won", "refund.succeeded"),
    ]


def test_a_statement_has_all_that_moved_on_its_day_once_it_is_over(simulator: Simulator) -> None:
    number = simulator.pay()
    refund = simulator.refund(number, "R-1", 99)[1]["refund"]["id"]
    simulator.pay("O-2", decline=1)
    dispute = simulator.call("POST", f"/api/payments/{number}/disputes")[1]["dispute"]["id"]
    day = simulator.clock().date()
    assert simulator.call("GET", f"/api/statements/{day}")[1]["error"]["code"] == (
        "statement_not_ready"
    )

    simulator.clock.pass_(86_400)
    answer = simulator.http.get(f"/api/statements/{day}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    lines = [line.split(",")[:7] for line in answer.text.splitlines()]
    assert lines == [
        ["type", "number", "payment", "order_no", "refund_no", "amount_minor", "currency"],
        ["payment", number, number, "O-1", "", "1099", "USD"],
        ["refund", refund, number, "O-1", "R-1", "-99", "USD"],
        ["chargeback", dispute, number, "O-1", "", "-1000", "USD"],
    ]
    day_before = day - timedelta(days=1)
    assert len(simulator.http.get(f"/api/statements/{day_before}").text.splitlines()) == 1


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/api/nothing", (404, "no_such_address")),
        ("DELETE", "/api/refunds", (405, "method_not_allowed")),
        ("GET", "/api/statements/today", (400, "bad_request")),
        ("PUT", "/api/scenarios/everything", (404, "no_such_operation")),
        ("POST", "/api/disputes/dsp_none/won", (404, "dispute_not_found")),
    ],
)
def test_what_cannot_be_asked_is_answered_with_a_code(
    simulator: Simulator, method: str, path: str, expected: tuple[int, str]
) -> None:
    status, told = simulator.call(method, path)
    assert (status, code(told)) == expected


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"amount_minor": 1, "amount_minor": 2}', b"\xff"])
def test_a_body_that_is_no_object_is_refused(simulator: Simulator, body: bytes) -> None:
    status, told = simulator.call("POST", "/api/payments", content=body)
    assert (status, code(told)) == (400, "bad_request")


def test_a_body_that_is_too_large_is_not_read(simulator: Simulator) -> None:
    answer = simulator.http.post("/api/payments", content=b"x" * 70_000)
    assert answer.status_code == 413


@pytest.mark.parametrize("header", ["", "Bearer wrong", "Basic tests-only-simulator-api-2Lp"])
def test_without_the_accounts_key_nothing_is_answered(simulator: Simulator, header: str) -> None:
    status, told = simulator.call("GET", "/api/counters", headers={"Authorization": header})
    assert (status, code(told)) == (401, "unauthorized")
