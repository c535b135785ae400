"""Callbacks on connections that are slow, cut, misused, or come through a proxy."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing

import httpx2
import pytest

from payments.models import Delivery, ProviderAccount
from tests import processes, wire
from tests.books import books
from tests.factories import STRIPE_SECRET, OrderFactory, ProviderAccountFactory
from tests.payments.over_http import call, signed, stripe_paid

#: One fewer than a worker of the web server has threads.
SLOW_CLIENTS = 3


@pytest.fixture
def account(live_service: str) -> ProviderAccount:
    return ProviderAccountFactory.create(name="main")


def test_a_body_with_any_bit_turned_is_not_authentic(
    live_service: str, account: ProviderAccount
) -> None:
    body = stripe_paid("1001")
    headers = signed(account, body)
    before = books()
    with httpx2.Client(base_url=live_service, headers=headers) as client:
        statuses = [
            client.post(f"/callbacks/{account.endpoint}", content=_turned(body, at)).status_code
            for at in range(len(body))
        ]
        assert books() == before
        untouched = client.post(f"/callbacks/{account.endpoint}", content=body)

    assert statuses == [401] * len(body)
    assert untouched.status_code == 200


def _turned(body: bytes, at: int) -> bytes:
    return body[:at] + bytes([body[at] ^ 1 << at % 8]) + body[at + 1 :]


def test_a_request_hidden_in_a_body_is_never_a_request(
    live_service: str, account: ProviderAccount
) -> None:
    hidden = call(account, stripe_paid("1001"))
    two_framings = [("Transfer-Encoding", "chunked"), ("Content-Length", str(len(hidden) + 5))]
    head = wire.request(
        "POST", f"/callbacks/{account.endpoint}", [("Host", "localhost"), *two_framings]
    )
    before = books()
    with closing(wire.connect(live_service)) as connection:
        connection.sendall(head + b"0\r\n\r\n" + hidden)
        assert [wire.read(connection).status for _ in range(2)] == [411, 0]
    assert books() == before


def test_slow_bodies_hold_up_nobody_else(live_service: str, account: ProviderAccount) -> None:
    body = stripe_paid("1001")
    raw = call(account, body)
    with ExitStack() as stack:
        slow = [
            stack.enter_context(closing(wire.connect(live_service))) for _ in range(SLOW_CLIENTS)
        ]
        for connection in slow:
            connection.sendall(raw[:-10])

        started = time.monotonic()
        assert [
            wire.send(live_service, call(account, stripe_paid("1002"))).status for _ in range(8)
        ] == [200] * 8
        assert time.monotonic() - started < 5
        assert Delivery.objects.count() == 8

        for connection in slow:
            connection.sendall(raw[-10:])
        assert [wire.read(connection).status for connection in slow] == [200] * SLOW_CLIENTS


def test_who_hangs_up_within_the_answer_may_ask_again_and_has_paid_once(
    live_service: str, account: ProviderAccount
) -> None:
    order = OrderFactory.create(merchant=account.merchant)
    raw = call(account, stripe_paid(order.order_no))
    for _ in range(5):
        with closing(wire.connect(live_service)) as connection:
            connection.sendall(raw)
            assert connection.recv(1) == b"H"
    assert wire.send(live_service, raw).status == 200

    outcomes = sorted(Delivery.objects.values_list("outcome", flat=True))
    assert outcomes == ["APPLIED", *["DUPLICATE"] * 5]
    order.refresh_from_db()
    assert (order.status, order.version) == ("PAID", 1)


def test_who_hangs_up_within_the_body_has_said_nothing(
    live_service: str, account: ProviderAccount
) -> None:
    raw = call(account, stripe_paid("1001"))
    before = books()
    for cut in (1, 40, len(raw) // 2, len(raw) - 1):
        with closing(wire.connect(live_service)) as connection:
            connection.sendall(raw[:cut])
    assert wire.send(live_service, raw[:-1], and_say_no_more=True).status in {0, 400}

    assert httpx2.get(f"{live_service}/healthz").status_code == 200
    assert books() == before


@pytest.fixture(scope="module")
def _guarded_web(live_web: processes.Web) -> Iterator[processes.Web]:
    yield from processes.web(
        HTTPS_ONLY="true", TRUSTED_PROXY="true", ALLOWED_HOSTS="pay.example.org,10.0.0.7"
    )


@pytest.fixture
def guarded_service(_guarded_web: processes.Web, transactional_db: None) -> str:
    """A web server that is open to https only, behind a proxy that says so."""
    return _guarded_web.url


@pytest.mark.parametrize("slash", ["", "/"])
@pytest.mark.parametrize("told_by_proxy", ["https", "http", None])
def test_https_only_never_redirects_a_callback(
    guarded_service: str, slash: str, told_by_proxy: str | None
) -> None:
    account = ProviderAccountFactory.create()
    headers = {"Host": "pay.example.org"}
    extra = [("X-Forwarded-Proto", told_by_proxy)] if told_by_proxy else []
    raw = call(
        account,
        stripe_paid("1001"),
        path=f"/callbacks/{account.endpoint}{slash}",
        headers=headers,
        extra=extra,
    )

    answer = wire.send(guarded_service, raw)

    assert (answer.status, "location" in answer.headers) == (200, False)
    assert Delivery.objects.count() == 1


def test_https_only_redirects_people(guarded_service: str) -> None:
    def admin(*extra: wire.Header) -> wire.Answer:
        headers = [("Host", "pay.example.org"), ("Connection", "close"), *extra]
        return wire.send(guarded_service, wire.request("GET", "/admin/login/", headers))

    assert admin().status == 301
    assert admin().headers["location"] == "https://pay.example.org/admin/login/"
    assert (
        admin(("X-Forwarded-Host", "evil.test"))
        .headers["location"]
        .startswith("https://pay.example.org/")
    )
    # A second one does not overrule the proxy's.
    appended = (("X-Forwarded-Proto", "http"), ("X-Forwarded-Proto", "https"))
    assert admin(*appended).status == 301
    secure = admin(("X-Forwarded-Proto", "https"))
    assert secure.status == 200
    assert "secure" in secure.headers["set-cookie"].lower()


@pytest.mark.parametrize(
    ("host", "status"),
    [("pay.example.org", 200), ("PAY.example.org:443", 200), ("10.0.0.7", 200), ("localhost", 400)],
)
def test_only_the_hosts_that_are_named_are_answered(
    guarded_service: str, host: str, status: int
) -> None:
    account = ProviderAccountFactory.create()
    before = books()
    answer = wire.send(guarded_service, call(account, stripe_paid("1"), headers={"Host": host}))

    assert answer.status == status
    assert (books() == before) is (status == 400)


def test_callbacks_need_no_csrf_token_and_every_other_form_does(live_service: str) -> None:
    account = ProviderAccountFactory.create()
    stranger = {"Origin": "https://evil.test", "Referer": "https://evil.test/"}

    assert wire.send(live_service, call(account, stripe_paid("1"), headers=stranger)).status == 200
    form = {"Host": "localhost", "Content-Length": "0", "Connection": "close", **stranger}
    assert wire.send(live_service, wire.request("POST", "/admin/login/", form)).status == 403


def test_no_error_tells_anything_about_the_inside(
    live_service: str, account: ProviderAccount
) -> None:
    raw = call(account, stripe_paid("1001"), headers={"Stripe-Signature": "t=1,v1=00"})
    paths = ("/callbacks/stripe/none", "/nowhere", "/callbacks/stripe/main/x", "/v1/nowhere")
    answers = [
        wire.send(live_service, raw),
        *(wire.send(live_service, call(account, b"{}", path=path)) for path in paths),
        wire.send(live_service, call(account, b"{}", method="DELETE")),
        wire.send(live_service, call(account, b"{}", headers={"Host": "evil.test"})),
        wire.send(live_service, call(account, b"{}", headers={"Content-Length": "9999999"})),
    ]

    assert [answer.status for answer in answers] == [401, 404, 404, 404, 404, 405, 400, 413]
    for answer in answers:
        assert len(answer.body) < 400
        for word in (
            b"Traceback",
            b"django",
            b".py",
            b"psycopg",
            b"SELECT",
            STRIPE_SECRET.encode(),
        ):
            assert word not in answer.body
