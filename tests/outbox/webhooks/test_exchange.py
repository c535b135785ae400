"""One request to one endpoint over real sockets: what is sent, to whom, and when it is given up."""

import logging
import socket
import threading
import time
from collections.abc import Iterator
from ipaddress import ip_address

import pytest

from outbox.webhooks.exchange import REPLY_BYTES_KEPT, Exchange, NoReply, Post, Reply
from outbox.webhooks.networks import Address, is_allowed
from outbox.webhooks.resolve import system_resolver
from outbox.webhooks.target import Target, read
from tests.outbox.webhooks import receiver as does
from tests.outbox.webhooks.certificates import NAME, client_context
from tests.outbox.webhooks.receiver import Answer, Receiver, answer, running

BODY = b'{"type": "order.paid"}'
HEADERS = {"content-type": "application/json", "x-secret": "hush", "connection": "close"}


@pytest.fixture
def endpoint() -> Iterator[Receiver]:
    with running(Receiver()) as receiver:
        yield receiver


@pytest.fixture
def secure_endpoint() -> Iterator[Receiver]:
    with running(Receiver(tls=True)) as receiver:
        yield receiver


def send(target: Target, **options: object) -> Exchange:
    post = Post(**{"private": True, "seconds_max": 10.0, **options})  # type: ignore[arg-type]
    return post.send(target, HEADERS, BODY)


def at(receiver: Receiver) -> Target:
    return read(receiver.url, private=True)


def no_reply(exchange: Exchange) -> str:
    assert isinstance(exchange.outcome, NoReply), exchange
    return exchange.outcome.reason


class Names:
    """A name server: each look-up takes the next answer, the last one for ever."""

    def __init__(self, *answers: str) -> None:
        self.answers = [[ip_address(text) for text in given.split()] for given in answers]
        self.asked: list[str] = []

    def __call__(self, host: str, _seconds_max: float) -> list[Address]:
        self.asked.append(host)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def test_it_is_sent_as_it_stands_and_no_proxy_is_asked(
    endpoint: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    target = read(f"{endpoint.url}/a%2Fb?x=1%202&y=a+b", private=True)
    exchange = send(target)
    assert exchange.outcome == Reply(status=200, text="ok", retry_after="")
    (request,) = endpoint.received
    assert (request.path, request.body) == ("/hook/a%2Fb?x=1%202&y=a+b", BODY)
    assert request.headers["host"] == f"127.0.0.1:{endpoint.port}"
    assert request.headers["content-length"] == str(len(BODY))
    assert request.headers["x-secret"] == "hush"


@pytest.mark.parametrize("status", [201, 204, 301, 302, 307, 308, 400, 410, 429, 500, 503])
def test_every_answer_is_an_answer_and_no_redirect_is_followed(
    endpoint: Receiver, status: int
) -> None:
    body = b"" if status == 204 else b"a page"
    endpoint.always = answer(status, body, Location=endpoint.url + "/elsewhere", Retry_After="7")
    exchange = send(at(endpoint))
    assert exchange.outcome == Reply(status=status, text=body.decode(), retry_after="7")
    assert [request.path for request in endpoint.received] == ["/hook"]


@pytest.mark.parametrize("headers", [{}, {"Location": ""}, {"Location": "//["}])
def test_a_redirect_that_leads_nowhere_is_an_answer_too(
    endpoint: Receiver, headers: dict[str, str]
) -> None:
    endpoint.always = answer(302, b"", **headers)
    assert send(at(endpoint)).outcome == Reply(status=302, text="", retry_after="")


@pytest.mark.parametrize("trouble", [does.hang, does.drip_head, does.continue_for_ever])
def test_an_answer_that_does_not_come_is_given_up_at_the_deadline(
    endpoint: Receiver, trouble: Answer
) -> None:
    endpoint.always = trouble
    exchange = send(at(endpoint), seconds_max=0.4)
    assert "no answer in time" in no_reply(exchange)
    assert 390 <= exchange.milliseconds < 5000  # The receiver would take 20 seconds.


@pytest.mark.parametrize("trouble", [does.hang_up, does.no_http, does.endless_head])
def test_what_is_no_answer_is_none(endpoint: Receiver, trouble: Answer) -> None:
    endpoint.always = trouble
    exchange = send(at(endpoint))
    assert no_reply(exchange).startswith("no answer: ")
    assert exchange.milliseconds < 5000


@pytest.mark.parametrize("trouble", [does.flood, does.drip_body])
def test_of_a_long_answer_the_beginning_is_kept_and_the_rest_is_not_waited_for(
    endpoint: Receiver, trouble: Answer
) -> None:
    endpoint.always = trouble
    exchange = send(at(endpoint), seconds_max=15.0)
    assert isinstance(exchange.outcome, Reply)
    assert exchange.outcome.status == 200
    assert 0 < len(exchange.outcome.text) <= REPLY_BYTES_KEPT
    assert exchange.milliseconds < 5000


def test_what_is_kept_can_be_shown_and_stored(endpoint: Receiver) -> None:
    endpoint.always = answer(500, b"caf\xc3\xa9\x00\x1b[31m\xff\r\n\xe2\x80\xae<b>")
    outcome = send(at(endpoint)).outcome
    assert isinstance(outcome, Reply)
    assert outcome.text == "café\ufffd\ufffd[31m\ufffd\ufffd\n\ufffd<b>"


def test_a_receiver_that_reads_nothing_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        target = read(f"http://127.0.0.1:{deaf.getsockname()[1]}/", private=True)
        # More than the sockets' buffers take.
        exchange = Post(private=True, seconds_max=0.4).send(target, HEADERS, b"x" * 16_000_000)
    assert "no answer in time" in no_reply(exchange)
    assert exchange.milliseconds < 5000


def test_an_ipv6_address_is_named_in_brackets() -> None:
    heard: list[bytes] = []
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as listener:

        def hear() -> None:
            connected, _ = listener.accept()
            heard.append(connected.recv(4000))
            connected.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
            connected.close()

        thread = threading.Thread(target=hear)
        thread.start()
        port = listener.getsockname()[1]
        exchange = send(read(f"http://[::1]:{port}/", private=True))
        thread.join()
    assert isinstance(exchange.outcome, Reply)
    assert f"\r\nhost: [::1]:{port}\r\n".encode() in heard[0]


def test_nobody_listens(endpoint: Receiver) -> None:
    target = read("http://127.0.0.1:9/", private=True)
    assert "ConnectionRefusedError" in no_reply(send(target))


def test_a_failure_repeats_nothing_that_was_sent(
    endpoint: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    for trouble in (does.hang_up, does.hang, does.no_http):
        endpoint.always = trouble
        exchange = send(read(f"{endpoint.url}?token=hush", private=True), seconds_max=0.3)
        assert "hush" not in repr(exchange)
    assert "hush" not in caplog.text


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1"])
def test_a_name_that_leads_to_an_address_of_ours_is_not_connected_to(host: str) -> None:
    names = Names(host)
    exchange = send(read("https://shop.example.com/", private=False), private=False, resolver=names)
    assert "not sent" in no_reply(exchange)
    assert names.asked == ["shop.example.com"]


def test_one_look_up_decides_so_a_name_that_changes_its_mind_gains_nothing(
    secure_endpoint: Receiver,
) -> None:
    # First a public address, then, for whoever asks twice, the machine itself.
    names = Names("192.0.2.1", "127.0.0.1")
    target = read(f"https://{NAME}:{secure_endpoint.port}/hook", private=False)
    post = Post(resolver=names, tls=client_context(), seconds_max=2)
    assert isinstance(post.send(target, HEADERS, BODY).outcome, NoReply)
    assert names.asked == [NAME]
    # The other way round: what was checked is what is connected to, and never asked again.
    names = Names("127.0.0.1", "93.184.216.34")
    outcome = Post(private=True, resolver=names, tls=client_context()).send(target, HEADERS, BODY)
    assert outcome.outcome == Reply(status=200, text="ok", retry_after="")
    assert names.asked == [NAME]
    assert len(secure_endpoint.received) == 1


def test_one_bad_address_among_good_ones_spoils_the_name(secure_endpoint: Receiver) -> None:
    target = read(f"https://{NAME}:{secure_endpoint.port}/hook", private=False)
    for addresses in ("93.184.216.34 127.0.0.1", "127.0.0.1 93.184.216.34"):
        post = Post(resolver=Names(addresses), tls=client_context(), seconds_max=2)
        assert "not sent" in no_reply(post.send(target, HEADERS, BODY))
    assert secure_endpoint.received == []


def test_the_next_address_is_tried_when_one_does_not_answer(secure_endpoint: Receiver) -> None:
    target = read(f"https://{NAME}:{secure_endpoint.port}/hook", private=True)
    exchange = send(target, resolver=Names("127.0.0.9 ::1 127.0.0.1"), tls=client_context())
    assert isinstance(exchange.outcome, Reply)


def test_tls_and_host_name_the_endpoint_while_the_address_is_pinned(
    secure_endpoint: Receiver,
) -> None:
    names = Names("127.0.0.1")
    good = read(f"https://{NAME}:{secure_endpoint.port}/hook", private=True)
    assert isinstance(send(good, resolver=names, tls=client_context()).outcome, Reply)
    (request,) = secure_endpoint.received
    assert request.headers["host"] == f"{NAME}:{secure_endpoint.port}"


def test_a_certificate_of_another_name_or_of_nobody_we_trust_is_refused(
    secure_endpoint: Receiver,
) -> None:
    names = Names("127.0.0.1")
    other = read(f"https://other.example.com:{secure_endpoint.port}/hook", private=True)
    assert "certificate" in no_reply(send(other, resolver=names, tls=client_context()))
    good = read(f"https://{NAME}:{secure_endpoint.port}/hook", private=True)
    assert "certificate" in no_reply(
        send(good, resolver=names, tls=Post.in_production(private=True).tls)
    )
    assert secure_endpoint.received == []


def test_a_name_server_that_does_not_answer_is_not_waited_for() -> None:
    def never(_host: str, seconds_max: float) -> list[Address]:
        time.sleep(seconds_max)
        raise TimeoutError("its name was not looked up in time")

    exchange = send(
        read("https://shop.example.com/", private=True), resolver=never, seconds_max=0.3
    )
    assert "no answer in time" in no_reply(exchange)
    assert exchange.milliseconds < 5000


def test_the_system_knows_this_machine() -> None:
    assert ip_address("127.0.0.1") in system_resolver("localhost", 3.0)
    with pytest.raises(OSError):  # noqa: PT011 - whatever the system says
        system_resolver("x" * 70 + ".invalid", 3.0)


def test_a_zone_of_an_address_is_no_way_around_the_rules() -> None:
    """What a name server cannot say, the system's own files can: an address on one interface."""
    (found,) = system_resolver("fe80::1%lo", 3.0)
    assert found == ip_address("fe80::1")
    assert not is_allowed(found, private=True)
