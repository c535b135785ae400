"""What a provider's bytes may look like, and what they then mean."""

import hashlib
import json
import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

from orders.models import Order
from outbox.models import Event
from payments.models import Delivery, ProviderTransaction
from tests import processes
from tests.journeys.shop import Shop, events, outcomes, transactions
from tests.payments.over_http import custom_body, custom_paid, number, stripe_paid
from tests.signing import stripe_event


def _raw(order_no: str, **members: str) -> bytes:
    """A payment whose members are given as JSON text."""
    content = {name: json.dumps(value) for name, value in custom_paid(order_no).items()} | members
    return ("{" + ", ".join(f'"{name}": {text}' for name, text in content.items()) + "}").encode()


def test_nul_in_what_nobody_reads_is_harmless_and_kept_as_it_came(shop: Shop) -> None:
    shop.place("O-28")
    body = _raw("O-28", payer='{"name": "A\\u0000B"}', note=r'"\\u0000 literal"', odd=r'"\ud800"')

    assert shop.tell(body, shop.custom) == "APPLIED"
    assert shop.status("O-28") == "PAID"
    assert bytes(Delivery.objects.get().body or b"") == body


def test_nul_in_what_is_read_is_unreadable_and_no_fault_of_the_service(shop: Shop) -> None:
    shop.place("O-28")
    for member in ("order", "payment_id", "id", "type", "currency", "merchant"):
        body = _raw("O-28", **{member: '"O-28\\u0000"'})
        assert shop.tell(body, shop.custom) == "QUARANTINED UNREADABLE"
    assert shop.tell(stripe_paid("O-28\0")) == "QUARANTINED UNREADABLE"

    assert (shop.status("O-28"), transactions(), events()) == ("WAIT_PAY", [], [])


def test_old_and_new_shapes_of_a_payment_pay_alike(shop: Shop) -> None:
    shapes: dict[str, dict[str, Any]] = {
        "old": {"thing": {"charges": {"data": [{"id": "ch_1", "amount": 1099}]}, "invoice": None}},
        "new": {"thing": {"latest_charge": "ch_2"}, "api_version": "2099-12-31.later"},
        "expanded": {"thing": {"latest_charge": {"id": "ch_3", "object": "charge"}}},
        "more": {"thing": {"new_object": {"nested": [{"deep": {}}]}}, "context": None},
        "null": {"thing": {"latest_charge": None, "charges": None, "customer": None}},
    }
    for order_no in shapes:
        shop.place(order_no)

    told = {
        order_no: shop.tell(stripe_paid(order_no, **shape)) for order_no, shape in shapes.items()
    }

    assert told == dict.fromkeys(shapes, "APPLIED")


def test_refunds_are_kept_in_whatever_shape_they_come(shop: Shop) -> None:
    charge = {"id": "ch_1", "amount": 1099, "amount_refunded": 500, "currency": "usd"}
    refunds = {"data": [{"id": "re_1", "amount": 500, "currency": "usd", "status": "succeeded"}]}
    shapes: list[dict[str, Any]] = [
        *({}, {"refunds": refunds}, {"refunds": None}, {"refunds": {"data": []}}),
    ]

    told = [
        shop.tell(
            stripe_event(
                "charge.refunded", charge | shape, event_id=f"evt_{number()}", livemode=True
            )
        )
        for shape in shapes
    ]

    assert told == ["PARKED", "PARKED", "DUPLICATE", "DUPLICATE"]
    assert {row.txn_no for row in Delivery.objects.all()} == {"ch_1", "re_1"}


def test_events_of_no_concern_are_acknowledged_and_touch_nothing(shop: Shop) -> None:
    def says(event_type: str, thing: Any, **fields: Any) -> bytes:
        return stripe_event(
            event_type, thing, event_id=f"evt_{number()}", **{"livemode": True} | fields
        )

    told = {
        "an update of something else": says("product.updated", {"id": "prod_1"}),
        "a type of the future": says("brand.new_thing_2027", {"id": "x_1", "amount": 1}),
        "no data": says("product.updated", None, data={}),
        "null for data": says("ping", None, data=None),
        "a ping": says("ping", {}),
        "a thin event": says("v1.billing.meter", {}, object="v2.core.event"),
    }
    assert {name: shop.tell(body) for name, body in told.items()} == dict.fromkeys(told, "IGNORED")

    for body in (b"[]", b"null", b'"ping"', b"{}", b"0"):
        assert shop.tell(body) == "QUARANTINED UNREADABLE"

    # A payment that names no order, or one of somebody else: money, and so never dropped.
    assert shop.tell(stripe_paid(None)) == "PARKED"
    assert shop.tell(stripe_paid("test-order")) == "PARKED"
    assert events() == []
    assert [row[3] for row in transactions()] == ["PARKED"] * 2


def test_two_readings_of_one_body_are_never_chosen_between(shop: Shop) -> None:
    shop.place("O-90", 9900, "EUR")
    amounts = ('"amount": 100, "amount": 9900', '"amount": 9900, "amount": 100')
    for twice in amounts:
        body = _raw("O-90", currency='"EUR"', amount="AMOUNT").replace(
            b'"amount": AMOUNT', twice.encode()
        )
        assert shop.tell(body, shop.custom) == "QUARANTINED UNREADABLE"
    stripe = stripe_paid("O-90", 9900, "eur")
    data = json.dumps(json.loads(stripe)["data"])
    twice_data = stripe[: stripe.rindex(b"}")] + b', "data": ' + data.encode() + b"}"
    assert shop.tell(twice_data) == "QUARANTINED UNREADABLE"
    assert (shop.status("O-90"), transactions(), events()) == ("WAIT_PAY", [], [])

    unread = _raw("O-90", currency='"EUR"', amount="9900", extra='{"a": {"b": 1, "b": 2}}')
    assert shop.tell(unread, shop.custom) == "APPLIED"


def test_the_api_takes_no_name_twice(shop: Shop) -> None:
    body = b'{"order_no": "A", "amount": {"amount_minor": 1, "amount_minor": 2, "currency": "EUR"}}'
    answer = shop.api("POST", "/v1/orders", body)

    assert (answer.status_code, Order.objects.count()) == (400, 0)


def test_numbers_beyond_what_floats_hold_stay_what_they_are(shop: Shop) -> None:
    for order_no in ("O-1", "O-2", "O-3", "O-4", "90071992547409933"):
        shop.place(order_no)
    thirty_digits = "123456789012345678901234567890"
    told = [
        _raw("O-1", payment_id="90071992547409931"),
        _raw("O-1", payment_id='"90071992547409931"'),
        _raw("O-2", payment_id="90071992547409932"),
        _raw("O-3", payment_id='"007"'),
        _raw("O-4", payment_id='"7"'),
        _raw("O-1", payment_id="1E+5"),
        _raw("x", order="90071992547409933", payment_id=thirty_digits),
    ]

    assert [shop.tell(body, shop.custom) for body in told] == [
        *("APPLIED", "DUPLICATE", "APPLIED", "APPLIED", "APPLIED", "QUARANTINED UNREADABLE"),
        "APPLIED",
    ]
    numbers = ["90071992547409931", "90071992547409932", "007", "7", thirty_digits]
    assert [row[0] for row in transactions()] == numbers
    assert shop.read("O-1")["paid_txn_no"] == "90071992547409931"
    assert sorted(event.payload["paid_txn_no"] for event in Event.objects.all()) == sorted(numbers)
    assert shop.read("90071992547409933")["order_no"] == "90071992547409933"


STATED_TIMES = {
    "1767197400": datetime(2025, 12, 31, 16, 10, tzinfo=UTC),
    "1767197400000": datetime(2025, 12, 31, 16, 10, tzinfo=UTC),
    '"1767197400"': datetime(2025, 12, 31, 16, 10, tzinfo=UTC),
    '"2026-01-01T00:10:00+08:00"': datetime(2025, 12, 31, 16, 10, tzinfo=UTC),
    '"2025-12-31T16:10:00Z"': datetime(2025, 12, 31, 16, 10, tzinfo=UTC),
    '"2015-05-05T16:23:34-07:00"': datetime(2015, 5, 5, 23, 23, 34, tzinfo=UTC),
    '"2025-12-31T16:10:00.123456789Z"': datetime(2025, 12, 31, 16, 10, 0, 123456, tzinfo=UTC),
}
#: Without a zone, not in the calendar, not a time: paid when we heard of it.
UNUSABLE_TIMES = (
    *(
        '"2026-01-01 00:10:00"',
        '"2026-02-30T10:00:00Z"',
        '"16:23:34 May 05, 2015 PDT"',
        '""',
        "null",
    ),
    *("-1", "1e9", "99999999999999999999", "true", "[]", '"now"', '"2026-01-01T25:00:00Z"'),
)


def test_times_mean_the_same_whatever_zone_they_are_stated_in(shop: Shop) -> None:
    for place, (stated, meant) in enumerate(STATED_TIMES.items()):
        order_no = f"O-{place}"
        shop.place(order_no)
        assert shop.tell(_raw(order_no, at=stated), shop.custom) == "APPLIED"
        assert (stated, Order.objects.get(order_no=order_no).paid_at) == (stated, meant)
    assert all(row.occurred_at_is_stated for row in ProviderTransaction.objects.all())


def test_a_time_that_is_none_still_pays_and_says_that_it_was_not_stated(shop: Shop) -> None:
    for place, stated in enumerate(UNUSABLE_TIMES):
        order_no = f"O-{place}"
        shop.place(order_no)
        assert (stated, shop.tell(_raw(order_no, at=stated), shop.custom)) == (stated, "APPLIED")
        transaction = ProviderTransaction.objects.get(order_no=order_no)
        received_at = Delivery.objects.get(order_no=order_no).received_at
        assert (transaction.occurred_at, transaction.occurred_at_is_stated) == (received_at, False)


def test_no_time_depends_on_where_the_service_runs() -> None:
    code = """
import json, locale, sys
locale.setlocale(locale.LC_ALL, "")
from payments.providers.times import instant
print(json.dumps([str(instant(json.loads(text))) for text in json.load(sys.stdin)]))
"""
    child = subprocess.run(
        [sys.executable, "-c", code],
        cwd=processes.ROOT,
        env=processes.environment(LC_ALL=_a_foreign_locale(), TZ="America/New_York"),
        input=json.dumps([*STATED_TIMES, *UNUSABLE_TIMES]),
        capture_output=True,
        text=True,
        check=True,
    )

    assert json.loads(child.stdout) == [
        *(str(meant) for meant in STATED_TIMES.values()),
        *["None"] * len(UNUSABLE_TIMES),
    ]


def _a_foreign_locale() -> str:
    """French where it is installed; what else there is differs in nothing but the zone."""
    known = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=True).stdout
    return next((name for name in known.split() if name.startswith("fr_FR")), "C.UTF-8")


def test_keys_made_of_parts_do_not_run_into_each_other(shop: Shop) -> None:
    pairs = [("ab", "c"), ("a", "bc"), ("abc", "1"), ("1", "abc")]
    for order_no, _ in pairs:
        shop.place(order_no)

    told = [
        shop.tell(custom_body(order_no, payment_id=payment_id), shop.custom)
        for order_no, payment_id in pairs
    ]

    assert told == ["APPLIED"] * 4
    assert [row[0] for row in transactions()] == [payment_id for _, payment_id in pairs]
    # The same pairs to an account that has the beginning of another's name.
    other = shop.account(
        "custom",
        name=f"{shop.custom.name}a",
        settings=shop.custom.settings,
        secret="tests-only-other-9Kw2",
    )
    body = custom_body("b", payment_id="c")
    headers = {"X-Signature": _mac("tests-only-other-9Kw2", body)}
    assert shop.post(body, other, headers=headers).status_code == 200
    assert outcomes()[-1] == "PARKED"


def _mac(secret: str, body: bytes) -> str:
    import hmac  # noqa: PLC0415

    return hmac.digest(secret.encode(), body, hashlib.sha256).hex()
