"""How much, and of what: exactly, or not at all."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from payments.models import Conflict, ProviderAccount
from tests.journeys.shop import MAJOR_UNITS, Shop, conflicts, events, outcomes, transactions
from tests.payments.over_http import custom_body, number, standard_paid, stripe_paid
from tests.signing import CUSTOM_SECRET


def _outcomes(shop: Shop, told: Mapping[str, bytes], account: ProviderAccount) -> dict[str, str]:
    """What became of each order and its callback."""
    return {
        order_no: f"{shop.tell(body, account)}, {shop.status(order_no)}"
        for order_no, body in told.items()
    }


PAID = "APPLIED, PAID"
WRONG_AMOUNT = "CONFLICT AMOUNT_MISMATCH, WAIT_PAY"
UNREADABLE = "QUARANTINED UNREADABLE, WAIT_PAY"


def test_yen_in_minor_units_have_no_decimals(shop: Shop) -> None:
    amounts = {"O-right": 10_000, "O-hundredth": 100, "O-hundredfold": 1_000_000}
    for order_no in amounts:
        shop.place(order_no, 10_000, "JPY")

    told = {order_no: stripe_paid(order_no, stated, "jpy") for order_no, stated in amounts.items()}

    assert _outcomes(shop, told, shop.stripe) == {
        "O-right": PAID,
        "O-hundredth": WRONG_AMOUNT,
        "O-hundredfold": WRONG_AMOUNT,
    }
    assert [row[1:3] for row in transactions()] == [(stated, "JPY") for stated in amounts.values()]
    assert events() == [*["conflict.opened"] * 2, "order.paid"]


def _as_stated(shop: Shop, amount_minor: int, currency: str, amounts: Mapping[str, str]) -> None:
    """Orders of one amount, each told of in other words (JSON, major units), end as they must."""
    orders = {f"O-{place}": words for place, words in enumerate(amounts)}
    for order_no in orders:
        shop.place(order_no, amount_minor, currency)
    told = {
        order_no: standard_paid(order_no, words, f'"{currency}"')
        for order_no, words in orders.items()
    }

    ended = _outcomes(shop, told, shop.standard)

    assert {orders[order_no]: end for order_no, end in ended.items()} == amounts


def test_yen_in_major_units_have_no_decimals_either(shop: Shop) -> None:
    _as_stated(
        shop,
        10_000,
        "JPY",
        {
            '"10000"': PAID,
            '"10000.00"': PAID,
            "10000": PAID,
            "10000.0": PAID,
            '"100"': WRONG_AMOUNT,
            '"100.00"': WRONG_AMOUNT,
            '"10000.5"': WRONG_AMOUNT,
        },
    )


def test_an_amount_is_read_exactly_or_not_at_all(shop: Shop) -> None:
    _as_stated(
        shop,
        1000,
        "EUR",
        {
            '"1,000.00"': UNREADABLE,
            '" 10.00"': UNREADABLE,
            '"\uff11\uff10"': UNREADABLE,
            "true": UNREADABLE,
            # A number of JSON may be written so; a text may not.
            "1e1": PAID,
            '"1e1"': UNREADABLE,
            # No cents can express it: a person must see the provider's words.
            '"10.001"': WRONG_AMOUNT,
            "10.001": WRONG_AMOUNT,
        },
    )


def test_only_the_right_amount_of_the_right_currency_pays(shop: Shop) -> None:
    shop.place("O-16", 30_000, "USD")
    told: list[tuple[Any, Any]] = [
        *((1, "usd"), (30_000, "vnd"), (29_999, "usd"), (30_001, "usd"), (30_000, None)),
        *((15_000, "usd"), (15_000, "usd")),
    ]

    assert [shop.tell(stripe_paid("O-16", amount, currency)) for amount, currency in told] == [
        "CONFLICT AMOUNT_MISMATCH",
        "CONFLICT CURRENCY_MISMATCH",
        "CONFLICT AMOUNT_MISMATCH",
        "CONFLICT AMOUNT_MISMATCH",
        "QUARANTINED UNREADABLE",
        "CONFLICT AMOUNT_MISMATCH",
        "CONFLICT AMOUNT_MISMATCH",
    ]
    assert shop.status("O-16") == "WAIT_PAY"
    assert [row[1:] for row in transactions()] == [
        *((1, "USD", "HELD"), (30_000, "VND", "HELD"), (29_999, "USD", "HELD")),
        *((30_001, "USD", "HELD"), (15_000, "USD", "HELD"), (15_000, "USD", "HELD")),
    ]
    assert events() == ["conflict.opened"] * 6

    # Lower case is how this provider writes it.
    assert shop.tell(stripe_paid("O-16", 30_000, "usd")) == "APPLIED"
    assert shop.status("O-16") == "PAID"


def test_no_cent_is_lost_to_a_float(shop: Shop) -> None:
    prices = {"19.99": 1999, "8.20": 820, "599.80": 59_980, "0.29": 29, "10.01": 1001}
    for major, minor in prices.items():
        for form in ("minor", "number", "text"):
            shop.place(f"{form}-{major}", minor, "EUR")

    for major, minor in prices.items():
        assert [
            shop.tell(stripe_paid(f"minor-{major}", minor, "eur")),
            shop.tell(standard_paid(f"number-{major}", major, '"EUR"'), shop.standard),
            shop.tell(standard_paid(f"text-{major}", f'"{major}"', '"EUR"'), shop.standard),
        ] == ["APPLIED"] * 3
    assert [row[1] for row in transactions()] == [
        minor for minor in prices.values() for _ in range(3)
    ]


def test_an_order_of_anything_but_whole_minor_units_is_refused(shop: Shop) -> None:
    floats = [19.99, 1.005, 1e2, 10.0]
    texts = ["1999", "1,000.00", " 10", "\uff11\uff10", ""]
    amounts: tuple[Any, ...] = (*floats, *texts, True, 0, -1, None, 2**63, [1], {})
    for amount in amounts:
        content = {"order_no": "O-48", "amount": {"amount_minor": amount, "currency": "EUR"}}
        assert (amount, shop.api("POST", "/v1/orders", content).status_code) == (amount, 400)

    assert shop.api("GET", "/v1/orders/O-48").status_code == 404


def test_the_words_of_an_amount_that_no_cents_express_are_kept(shop: Shop) -> None:
    shop.place("O-48", 1000, "EUR")
    shop.tell(standard_paid("O-48", '"10.001"', '"EUR"'), shop.standard)

    assert transactions() == []
    assert Conflict.objects.get().received["stated_amount"] == "10.001 EUR"


#: What is owed in minor units; what Stripe states; what others state in major units; which pays.
DECIMALS = [
    (18_600, "KWD", 18_600, '"18.6"', PAID),
    (18_600, "KWD", 1_860, '"1.860"', WRONG_AMOUNT),
    (92_000, "BHD", 92_000, "92", PAID),
    (5, "OMR", 5, '"0.005"', PAID),
    # Stripe gives Icelandic crowns two decimals, which they have not.
    (1099, "ISK", 109_900, '"1099"', PAID),
    (1099, "ISK", 1_099, '"10"', WRONG_AMOUNT),
]


def test_each_currency_has_its_own_decimals(shop: Shop) -> None:
    for place, (owed, currency, stripe, major, end) in enumerate(DECIMALS):
        by_minor, by_major = f"by-minor-{place}", f"by-major-{place}"
        shop.place(by_minor, owed, currency)
        shop.place(by_major, owed, currency)
        in_minor = stripe_paid(by_minor, stripe, currency.lower())
        in_major = standard_paid(by_major, major, f'"{currency}"')

        assert _outcomes(shop, {by_minor: in_minor}, shop.stripe) == {by_minor: end}
        assert _outcomes(shop, {by_major: in_major}, shop.standard) == {by_major: end}


def test_a_smaller_amount_is_acknowledged_and_asks_a_person(shop: Shop) -> None:
    shop.place("O-23", 200_000)
    body = stripe_paid("O-23", 100)

    assert [shop.tell(body), shop.tell(body)] == ["CONFLICT AMOUNT_MISMATCH", "DUPLICATE"]
    assert (shop.status("O-23"), conflicts()) == ("WAIT_PAY", ["AMOUNT_MISMATCH"])
    conflict = Conflict.objects.get()
    assert (conflict.expected["amount_minor"], conflict.received["amount_minor"]) == (200_000, 100)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"amount": 1098}, "AMOUNT_MISMATCH"),
        ({"merchant": "somebody-else"}, "MERCHANT_MISMATCH"),
        ({"currency": "EUR"}, "CURRENCY_MISMATCH"),
    ],
)
def test_money_currency_and_payee_are_each_compared_whoevers_key_verified_it(
    shop: Shop, fields: dict[str, Any], reason: str
) -> None:
    shop.place("O-3")

    assert shop.tell(custom_body("O-3", **fields), shop.custom) == f"CONFLICT {reason}"
    assert (shop.status("O-3"), events()) == ("WAIT_PAY", ["conflict.opened"])
    assert transactions()[0][3] == "HELD"


def test_an_account_may_count_in_major_units_and_still_loses_nothing(shop: Shop) -> None:
    account = shop.account("custom", settings=MAJOR_UNITS, secret=CUSTOM_SECRET)
    shop.place("O-17", 599_80)
    body = json.loads(custom_body("O-17")) | {"amount": "AMOUNT", "payment_id": f"p{number()}"}

    assert shop.tell(json.dumps(body).replace('"AMOUNT"', "599.80").encode(), account) == "APPLIED"
    assert outcomes() == ["APPLIED"]
