"""Genuine answers with one thing in them that nobody expects: never an exception, never a guess."""

import contextlib
from copy import deepcopy
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orders.money import Money
from payments.callback import Kind
from payments.clients.port import Answer, StatementUnavailable
from tests.clients.cases import NOW, Case
from tests.clients.servers.base import FakeApi

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**25), 10**25),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", "\x00", "\ud800", "succeeded", "1e3", "10.999", "-1", "ÜSD", "x" * 5000]),
    st.sampled_from([[], {}, [[]], [None], ["a"], {"id": []}, [{}]]),
)


def places(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in the document, its own excepted."""
    pairs: list[tuple[Any, Any]] = []
    if isinstance(document, dict):
        pairs = list(document.items())
    elif isinstance(document, list):
        pairs = list(enumerate(document))
    found = []
    for name, value in pairs:
        found += [(*path, name), *places(value, (*path, name))]
    return found


def changed(document: Any, where: int, what: Any, *, remove: bool) -> Any:
    """The document with another value at one of its places, or with nothing there."""
    known = places(document)
    if not known:
        return what
    copy, path = deepcopy(document), known[where % len(known)]
    parent = copy
    for name in path[:-1]:
        parent = parent[name]
    if remove:
        del parent[path[-1]]
    else:
        parent[path[-1]] = what
    return copy


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(change=st.tuples(st.integers(0, 60), ODD, st.booleans()), number=st.integers(0, 10**12))
def test_an_odd_answer_raises_nothing_and_invents_no_money(
    case: Case, api: FakeApi, change: tuple[int, Any, bool], number: int
) -> None:
    client = case.client(api)
    order = case.order(f"R-{number}")
    api.payments[case.txn_no].refunds.clear()
    api.mangle = lambda document: document
    client.refund(order)
    where, what, remove = change
    api.mangle = lambda document: changed(document, where, what, remove=remove)
    answers = [
        client.refund(order),
        client.query_refund(order, provider_refund_no=""),
        client.query_refund(order, provider_refund_no="re_1"),
    ]
    for answer in answers:
        assert isinstance(answer.answer, Answer)
        assert answer.amount is None or isinstance(answer.amount, Money)
    for numbers in ({"txn_no": case.txn_no, "order_no": ""}, {"txn_no": "", "order_no": "O-1"}):
        payment = client.query_payment(**numbers)
        if payment.answer is Answer.SUCCEEDED:
            assert payment.callback is not None
            assert payment.callback.kind is Kind.PAID
            assert payment.callback.money is not None or payment.callback.stated_amount
    with contextlib.suppress(StatementUnavailable):
        client.fetch_statement(NOW.date())
    # The odd words are not ours to answer for.
    api.complaints.clear()
