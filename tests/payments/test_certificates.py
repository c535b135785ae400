"""Fetching certificates: from whoever serves them well, and never for long from anybody else.

PayPal's requests name the address. These servers stand where its hosts stand otherwise.
"""

import json
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.http import HttpResponse
from django.test import RequestFactory

from orders.models import Order, OrderStatus
from payments import certificates
from payments.certificates import CertificateUnavailable, fetch
from payments.models import Delivery, ProviderAccount, ProviderTransaction
from payments.views import CallbackView
from tests.books import books
from tests.factories import OrderFactory, ProviderAccountFactory
from tests.providers.rsa_senders import private_key
from tests.providers.weak_senders import (
    PAYPAL_EVENT,
    WEBHOOK_ID,
    paypal,
    web_certificate,
    web_root,
)

NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
GOOD: Final = web_certificate()
#: How long a test waits for what never comes.
SECONDS: Final = 0.3


class Answering(BaseHTTPRequestHandler):
    """Answers by the first part of the path."""

    server: "Host"

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        behaviour = self.server.behaviour or self.path.split("/")[1]
        getattr(self, behaviour)()

    def good(self) -> None:
        self.answer(200, GOOD)

    def ended(self) -> None:
        self.answer(200, web_certificate(years=(2024, 2025)))

    def page(self) -> None:
        self.answer(200, b"<html>Sign in to the network</html>")

    def empty(self) -> None:
        self.answer(200, b"")

    def broken(self) -> None:
        self.answer(200, b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n")

    def fault(self) -> None:
        self.answer(500, GOOD)

    def missing(self) -> None:
        self.answer(404, GOOD)

    def partial(self) -> None:
        self.answer(206, GOOD)

    def elsewhere(self) -> None:
        self.send_response(302)
        self.send_header("Location", "/good")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def oversized(self) -> None:
        self.answer(200, GOOD + b"\n" * certificates.BYTES_MAX)

    def cut(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(GOOD)))
        self.end_headers()
        self.wfile.write(GOOD[:100])

    def nonsense(self) -> None:
        self.wfile.write(b"\x00\x01\x02 not HTTP\r\n\r\n")

    def hang(self) -> None:
        self.server.over.wait()

    def drip(self) -> None:
        self.send_response(200)
        self.end_headers()
        while not self.server.over.wait(0.02):
            self.wfile.write(b"\n")

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Nothing is written to the tests' output."""


class Host(ThreadingHTTPServer):
    """A server of certificates that remembers what it was asked for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.asked: list[str] = []
        self.over = threading.Event()
        #: The same for every path, if it is set.
        self.behaviour = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, *_: Any) -> None:
        """A client that has had enough is no error of the server's."""


@contextmanager
def serving(host: Host) -> Iterator[Host]:
    thread = threading.Thread(target=host.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield host
    finally:
        host.over.set()
        host.shutdown()
        host.server_close()
        thread.join()


@pytest.fixture
def host() -> Iterator[Host]:
    with serving(Host()) as running:
        yield running


def test_a_certificate_is_fetched_once_and_kept_until_it_ends(host: Host) -> None:
    url = f"{host.url}/good"
    last_moment = datetime(2034, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert [fetch(url, now=at) for at in (NOW, NOW, last_moment)] == [GOOD] * 3
    assert host.asked == ["/good"]

    fetch(url, now=last_moment + timedelta(seconds=1))
    assert host.asked == ["/good", "/good"]


def test_each_address_has_its_own(host: Host) -> None:
    fetch(f"{host.url}/good/1", now=NOW)
    fetch(f"{host.url}/good/2", now=NOW)
    assert host.asked == ["/good/1", "/good/2"]


def test_a_certificate_that_has_ended_is_given_but_not_kept(host: Host) -> None:
    for _ in range(2):
        assert fetch(f"{host.url}/ended", now=NOW) == web_certificate(years=(2024, 2025))
    assert host.asked == ["/ended", "/ended"]


@pytest.mark.parametrize(
    "behaviour",
    ["fault", "missing", "partial", "elsewhere", "page", "empty", "broken", "oversized", "cut",
     "nonsense", "hang", "drip"],
)  # fmt: skip
def test_a_host_that_serves_anything_else_is_tried_again_later(host: Host, behaviour: str) -> None:
    began = time.monotonic()
    for _ in range(2):
        with pytest.raises(CertificateUnavailable):
            fetch(f"{host.url}/{behaviour}", now=NOW, seconds=SECONDS)
    assert time.monotonic() - began < 5
    assert host.asked == [f"/{behaviour}"] * 2


def test_a_host_that_has_recovered_is_believed_again(host: Host) -> None:
    host.behaviour = "fault"
    with pytest.raises(CertificateUnavailable):
        fetch(f"{host.url}/certificate", now=NOW)
    host.behaviour = "good"
    assert fetch(f"{host.url}/certificate", now=NOW) == GOOD


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/x", "http://host.invalid/x"])
def test_a_host_that_is_not_there_is_tried_again_later(url: str) -> None:
    with pytest.raises(CertificateUnavailable):
        fetch(url, now=NOW)


def test_a_host_whose_own_certificate_nobody_vouches_for_is_not_asked(
    host: Host, tmp_path: Path
) -> None:
    chain = tmp_path / "chain.pem"
    key = private_key("paypal").private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    chain.write_bytes(key + web_certificate("127.0.0.1"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    host.socket = context.wrap_socket(host.socket, server_side=True)

    with pytest.raises(CertificateUnavailable):
        fetch(f"{host.url.replace('http', 'https')}/good", now=NOW)
    assert host.asked == []


def test_no_more_certificates_are_kept_than_a_provider_has(host: Host) -> None:
    urls = [f"{host.url}/good/{number}" for number in range(certificates.CACHED_MAX + 1)]
    for url in (*urls, urls[-1], urls[0]):
        fetch(url, now=NOW)
    assert len(host.asked) == len(urls) + 1
    assert host.asked[-1] == "/good/0"


def test_a_host_that_hangs_holds_few_threads_and_no_certificate_that_is_known(host: Host) -> None:
    fetch(f"{host.url}/good", now=NOW)

    def wait_in_vain() -> None:
        with suppress(CertificateUnavailable):
            fetch(f"{host.url}/hang", now=NOW)

    hanging = [threading.Thread(target=wait_in_vain) for _ in range(certificates.FETCHING_MAX)]
    for thread in hanging:
        thread.start()
    deadline = time.monotonic() + 5
    while len(host.asked) <= certificates.FETCHING_MAX and time.monotonic() < deadline:
        time.sleep(0.01)

    assert fetch(f"{host.url}/good", now=NOW) == GOOD
    with pytest.raises(CertificateUnavailable, match="2 other certificates are being fetched"):
        fetch(f"{host.url}/good/another", now=NOW)
    host.over.set()
    for thread in hanging:
        thread.join()
    assert fetch(f"{host.url}/good/another", now=NOW) == GOOD


# The whole road: a callback whose certificate must be fetched first.


class ToThisHost(httpx2.BaseTransport):
    """Sends what is meant for PayPal's hosts to this host instead."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.asked: list[str] = []
        self._transport = httpx2.HTTPTransport()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(str(request.url))
        port = self.host.server_address[1]
        request.url = request.url.copy_with(scheme="http", host="127.0.0.1", port=port)
        return self._transport.handle_request(request)

    def close(self) -> None:
        self._transport.close()


class Shop:
    """A PayPal account, an order, and PayPal's calls about it."""

    def __init__(self, host: Host, *, confirm: bool | None = None) -> None:
        self.transport = ToThisHost(host)
        self.client = httpx2.Client(transport=self.transport)
        self.view = CallbackView.as_view(certificate_client=self.client)
        self.account = ProviderAccountFactory.create(
            provider="paypal",
            name="main",
            account_no="MERCHANT1",
            confirm=confirm,
            settings={"webhook_ids": [WEBHOOK_ID], "trust_root_pem": web_root().decode()},
        )
        self.account.keys.all().delete()
        self.order = OrderFactory.create(
            merchant=self.account.merchant, order_no="O-1", amount_minor=1099, currency="EUR"
        )

    def call(self, url: str, event: dict[str, Any] | None = None) -> HttpResponse:
        request = paypal(
            json.dumps(event or PAYPAL_EVENT).encode(),
            certificate_url=url,
            now=datetime.fromtimestamp(time.time(), UTC),
        )
        headers = dict(request.headers)
        sent = RequestFactory().post(
            "/callbacks/paypal/main",
            data=request.body,
            content_type=headers.pop("content-type"),
            headers=headers,
        )
        answer = self.view(sent, provider="paypal", account="main")
        assert isinstance(answer, HttpResponse)
        return answer

    def status(self) -> str:
        return Order.objects.get(pk=self.order.pk).status


#: An address for each test, because certificates are kept by their addresses.
ADDRESS: Final = "https://api.paypal.com/v1/notifications/certs/CERT-"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("behaviour", ["fault", "page", "elsewhere", "hang"])
def test_while_paypals_certificate_cannot_be_had_it_is_told_to_call_again(
    host: Host, behaviour: str
) -> None:
    host.behaviour = behaviour
    shop, before = Shop(host), books()

    answer = shop.call(f"{ADDRESS}down-{behaviour}")
    assert (answer.status_code, answer.content) == (503, b"try again later")
    assert answer["Retry-After"] == "5"
    assert shop.transport.asked == [f"{ADDRESS}down-{behaviour}"]
    assert not Delivery.objects.exists()
    assert books() == before

    host.behaviour = "good"
    assert shop.call(f"{ADDRESS}down-{behaviour}").status_code == 200
    assert Delivery.objects.get().outcome == "HELD"


@pytest.mark.django_db(transaction=True)
def test_when_paypals_host_is_not_there_it_is_told_to_call_again() -> None:
    with serving(Host()) as gone:
        pass
    shop = Shop(gone)
    assert shop.call(f"{ADDRESS}gone").status_code == 503
    assert not Delivery.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "url",
    [
        "https://api.paypal.com.evil.test/v1/notifications/certs/CERT-1",
        "http://api.paypal.com/v1/notifications/certs/CERT-1",
        "https://127.0.0.1/v1/notifications/certs/CERT-1",
        "https://api.paypal.com@evil.test/v1/notifications/certs/CERT-1",
        "https://api.sandbox.paypal.com/v1/notifications/certs/CERT-1",
    ],
)
def test_nobody_else_is_asked_for_paypals_certificate(host: Host, url: str) -> None:
    host.behaviour = "good"
    shop = Shop(host)
    answer = shop.call(url)
    assert (answer.status_code, answer.content) == (401, b"not authentic")
    assert (shop.transport.asked, host.asked) == ([], [])
    assert not Delivery.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_payment_that_paypal_signs_waits_for_its_api_unless_the_account_says_otherwise(
    host: Host,
) -> None:
    host.behaviour = "good"
    shop = Shop(host)
    assert [shop.call(f"{ADDRESS}held").status_code for _ in range(2)] == [200, 200]
    held = Delivery.objects.order_by("id")
    assert [(d.outcome, d.reason, d.assurance) for d in held] == [
        ("HELD", "UNCONFIRMED", "PARTIAL")
    ] * 2
    assert (shop.status(), len(shop.transport.asked)) == (OrderStatus.WAIT_PAY, 1)
    assert not ProviderTransaction.objects.exists()

    ProviderAccount.objects.update(confirm=False)
    assert shop.call(f"{ADDRESS}held").status_code == 200
    assert shop.status() == OrderStatus.PAID


@pytest.mark.django_db(transaction=True)
def test_a_certificate_that_is_not_paypals_is_refused_after_it_was_fetched(host: Host) -> None:
    host.behaviour = "ended"
    shop = Shop(host)
    assert shop.call(f"{ADDRESS}ended").status_code == 401
    assert len(shop.transport.asked) == 1
    assert not Delivery.objects.exists()
