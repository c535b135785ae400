"""Bad input, over real HTTP against the real web server: what is answered, and what is written.

The rows are the classes of the threat list, A authenticity, B meaning, C content, D transport,
E injection. In every row without an outcome not one byte of any table may change, and in every
other row exactly the rows of that outcome are added.

Elsewhere: weak secrets (`test_preflight`, `test_commands`), what an unknown address costs
(`test_addresses`), a database that is away (`test_database_trouble`), connections that are slow
or cut (`test_transport`), logs (`test_secrecy`), two things at once (`tests/concurrency`).

Later, with what they threaten: RSA signatures, batches, forms and XML (with the providers that
use them); refunds before their payment (refunds); floods (rate limits); card numbers within
stored bodies (retention); outgoing requests (notifications); idempotency keys.
"""

from collections.abc import Mapping

import pytest

from payments.models import Delivery
from tests import wire
from tests.books import books, growth
from tests.factories import OrderFactory
from tests.payments.bad_inputs.authenticity import AUTHENTICITY
from tests.payments.bad_inputs.cases import Case
from tests.payments.bad_inputs.content import CONTENT
from tests.payments.bad_inputs.injection import INJECTION
from tests.payments.bad_inputs.meaning import MEANING
from tests.payments.bad_inputs.shop import Shop
from tests.payments.bad_inputs.transport import TRANSPORT
from tests.processes import Web


@pytest.fixture
def shop(live_web: Web, transactional_db: None) -> Shop:
    return Shop(live_web)


#: What each outcome writes beside its delivery.
GROWTH: Mapping[tuple[str, str], Mapping[str, int]] = {
    ("APPLIED", ""): {"providertransaction": 1, "event": 1},
    ("DUPLICATE", ""): {},
    ("PARKED", ""): {"providertransaction": 1},
    ("RECORDED", ""): {},
    ("RECORDED", "STALE"): {},
    ("IGNORED", ""): {},
    ("QUARANTINED", "UNREADABLE"): {},
    ("QUARANTINED", "WRONG_MODE"): {},
    ("CONFLICT", "AMOUNT_MISMATCH"): {"providertransaction": 1, "conflict": 1, "event": 1},
    ("CONFLICT", "CURRENCY_MISMATCH"): {"providertransaction": 1, "conflict": 1, "event": 1},
    ("CONFLICT", "MERCHANT_MISMATCH"): {"providertransaction": 1, "conflict": 1, "event": 1},
    ("CONFLICT", "LATE_PAYMENT"): {"providertransaction": 1, "conflict": 1, "event": 1},
    ("CONFLICT", "DUPLICATE_PAYMENT"): {"providertransaction": 1, "conflict": 1, "event": 1},
    ("CONFLICT", "TRANSACTION_ALTERED"): {"conflict": 1, "event": 1},
    # Nothing arrived that could stand in a ledger.
    ("CONFLICT", "NO_MONEY"): {"conflict": 1, "event": 1},
}


TABLE = {
    "authenticity": AUTHENTICITY,
    "meaning": MEANING,
    "content": CONTENT,
    "transport": TRANSPORT,
    "injection": INJECTION,
}


@pytest.mark.parametrize("part", TABLE)
def test_bad_input_is_answered_and_recorded_as_the_table_says(
    shop: Shop, part: str, subtests: pytest.Subtests
) -> None:
    for case in TABLE[part]:
        with subtests.test(case.name):
            _hold(case, shop)


def _hold(case: Case, shop: Shop) -> None:
    order = OrderFactory.create(merchant=shop.merchant)
    raw = case.make(shop, order.order_no)
    before = books()
    answer = wire.send(shop.web.url, raw, and_say_no_more=case.half_close)
    after = books()

    # Who has closed its half may find the whole connection closed.
    assert answer.status in ({case.status, 0} if case.half_close else {case.status})
    assert case.headers.items() <= answer.headers.items()
    assert answer.headers.keys().isdisjoint({"location", "set-cookie"})
    if case.status == 401:
        assert answer.body == b"not authentic"
    if not case.outcome:
        assert after == before
        return
    delivery = Delivery.objects.latest("id")
    reason = case.reason.replace("NO_MONEY", "AMOUNT_MISMATCH")
    assert (delivery.outcome, delivery.reason) == (case.outcome, reason)
    assert growth(before, after) == {"delivery": 1, **GROWTH[case.outcome, case.reason]}
    assert raw.endswith(bytes(delivery.body or b""))
    assert answer.body == b"ok"
    order.refresh_from_db()
    told_before = case.outcome in {"DUPLICATE", "RECORDED"} or case.reason == "TRANSACTION_ALTERED"
    assert order.status == "PAID" if case.outcome == "APPLIED" else told_before or "WAIT_PAY"
