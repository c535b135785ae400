"""The pages: what a payer sees, what a button does, and what nobody may do."""

import re

import httpx2
import pytest

from tests.simulator.running import Receiver, Simulator

ASKED = {"account": "try", "order_no": "O-1", "amount_minor": "1099", "currency": "USD"}


def fields(page: str) -> dict[str, str]:
    """What the form of a page would send without a button."""
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page))


def press(simulator: Simulator, path: str, button: str, **form: str) -> str:
    """Press a button as a browser does; the address of the page that comes then."""
    answer = simulator.http.post(path, data={**form, "button": button})
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def test_the_payers_page_shows_order_and_amount_and_has_two_buttons(simulator: Simulator) -> None:
    answer = simulator.http.get("/pay", params=ASKED)

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "Pay for order O-1" in answer.text
    assert re.findall(r'<button class="\w+" name="button" value="(\w+)">([^<]+)', answer.text) == [
        ("pay", "Pay 10.99 USD"),
        ("decline", "Decline"),
    ]
    assert fields(answer.text).items() >= ASKED.items()


def test_pages_load_nothing_and_are_shown_in_no_frame(simulator: Simulator) -> None:
    number = simulator.pay()
    for path in ("/", "/pay?account=try&order_no=O-1&amount_minor=1&currency=USD"):
        answer = simulator.http.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
    shown = simulator.http.get(f"/payments/{number}").text
    assert re.findall(r"https?://[^\s\"'<]+", shown) == []


@pytest.mark.parametrize(("button", "status"), [("pay", "succeeded"), ("decline", "failed")])
def test_a_button_pays_or_declines_once(
    simulator: Simulator, receiver: Receiver, button: str, status: str
) -> None:
    form = fields(simulator.http.get("/pay", params=ASKED).text)
    shown = {press(simulator, "/pay", button, **form) for _ in range(2)}

    assert len(shown) == 1
    number = shown.pop().removeprefix("/payments/")
    simulator.wait_until_sent(number)
    assert receiver.types() == [f"payment.{status}"]
    assert f"Payment {status}" in simulator.http.get(f"/payments/{number}").text


def test_switches_of_the_address_and_of_the_form_make_it_go_wrong(
    simulator: Simulator, receiver: Receiver
) -> None:
    page = simulator.http.get("/pay", params={**ASKED, "duplicates": "2", "decline": "1"}).text
    assert 'name="duplicates" value="2"' in page
    assert fields(page)["decline"] == "1"
    form = {**ASKED, "duplicates": "2", "delay": "", "wrong_amount": "500"}
    number = press(simulator, "/pay", "pay", **form).removeprefix("/payments/")
    simulator.wait_until_sent(number)

    assert receiver.types() == ["payment.succeeded"] * 3
    assert receiver.events()[0]["payment"]["amount_minor"] == 500


def test_behind_the_merchants_back_money_goes_and_comes(
    simulator: Simulator, receiver: Receiver
) -> None:
    number = simulator.pay()
    page = f"/payments/{number}"
    assert press(simulator, page, "refund", amount_minor="99") == page
    press(simulator, page, "dispute")
    shown = simulator.http.get(page).text
    dispute = fields(shown)["dispute"]
    assert "by hand" in shown
    press(simulator, page, "won", dispute=dispute)
    simulator.wait_until_sent(number)

    assert sorted(receiver.types()) == [
        *("dispute.opened", "dispute.won", "payment.succeeded", "refund.succeeded")
    ]
    assert "The merchant wins" not in simulator.http.get(page).text


def test_the_front_page_lists_payments_and_leads_to_the_payers_page(simulator: Simulator) -> None:
    number = simulator.pay("O-7")
    shown = simulator.http.get("/").text
    assert f'<a href="/payments/{number}">' in shown
    assert "<option>try</option>" in shown


@pytest.mark.parametrize(
    ("asked", "status", "problem"),
    [
        ({**ASKED, "account": "nobody"}, 404, "There is no active test account of this name"),
        ({**ASKED, "order_no": "<script>"}, 400, "order_no must be"),
        ({**ASKED, "amount_minor": "10.99"}, 400, "amount_minor must be a whole number"),
        ({**ASKED, "amount_minor": "0"}, 400, "amount_minor must be a whole number"),
        ({**ASKED, "currency": "XXXX"}, 400, "unknown currency"),
        ({**ASKED, "duplicates": "<b>"}, 400, "duplicates must be a number"),
    ],
)
def test_a_page_that_cannot_be_says_why(
    simulator: Simulator, asked: dict[str, str], status: int, problem: str
) -> None:
    answer = simulator.http.get("/pay", params=asked)
    assert (answer.status_code, problem in answer.text) == (status, True)
    assert '<p role="alert">' in answer.text


def test_what_was_typed_is_never_markup(simulator: Simulator) -> None:
    asked = {**ASKED, "currency": "<b>", "account": "try"}
    shown = simulator.http.get("/pay", params=asked).text
    assert "<b>" not in shown
    assert "&lt;b&gt;" in shown


def test_another_sites_page_presses_no_button(simulator: Simulator, receiver: Receiver) -> None:
    headers = {"Origin": "https://shop.example.test"}
    answer = simulator.http.post("/pay", data={**ASKED, "button": "pay"}, headers=headers)
    assert answer.status_code == 403
    own = {"Origin": simulator.url}
    assert simulator.http.post("/pay", data=ASKED, headers=own).status_code == 303


def test_there_is_nothing_at_other_addresses(simulator: Simulator) -> None:
    answers = [
        httpx2.get(simulator.url + path, trust_env=False).status_code
        for path in ("/payments/pay_none", "/nothing", "/healthz")
    ]
    assert answers == [404, 404, 200]
    assert simulator.http.request("DELETE", "/").status_code == 405
    answer = simulator.http.post(f"/payments/{simulator.pay()}", data={"button": "burn"})
    assert answer.status_code == 400
