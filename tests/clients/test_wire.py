"""HTTP with a provider: what is sent, how often, and when it is given up."""

import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from payments.clients.wire import Impossible, NoReply, Patience, Wire, segment
from tests.clients.servers.base import Answered, FakeApi, Request, Trouble, running


class Plain(FakeApi):
    def answer(self, _request: Request) -> Answered:
        return Answered(200, b"{}", {"Set-Cookie": "a=b", "X-Twice": "1"})


@pytest.fixture
def plain() -> Iterator[Plain]:
    with running(Plain()) as server:
        assert isinstance(server, Plain)
        yield server


def wire(server: FakeApi, **given: float) -> Wire:
    return Wire(server.url, Patience(**{"connect": 0.3, "read": 0.4, "total": 0.8, **given}))


def test_a_request_is_sent_as_it_stands_and_no_proxy_is_asked(
    plain: Plain, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    path = "/v1/things/a%2Fb?x=1%202&y=a+b"
    reply = wire(plain).send("POST", path, headers={"x-a": "b"}, content=b"\xff\x00")
    (request,) = plain.requests
    assert (request.method, request.target, request.body) == ("POST", path, b"\xff\x00")
    assert request.headers["x-a"] == "b"
    assert request.headers["accept-encoding"] == "identity"
    assert request.headers["user-agent"] == "paidonce"
    assert (reply.status, reply.json, reply.header("x-twice")) == (200, {}, "1")


@pytest.mark.parametrize(
    ("trouble", "times"),
    [
        (Trouble.LOST_REPLY, 2),
        (Trouble.UNAVAILABLE, 2),
        (Trouble.FAULT, 1),
        (Trouble.LIMITED, 1),
        (Trouble.HANG, 1),
        (Trouble.DROPS, 1),
        (Trouble.ELSEWHERE, 1),
    ],
)
def test_only_a_question_is_repeated_and_only_once_and_only_where_nobody_answered(
    plain: Plain, trouble: Trouble, times: int
) -> None:
    plain.troubles = [trouble] * 5
    with suppress(NoReply):
        wire(plain).ask("/", headers={})
    assert len(plain.requests) == times
    plain.requests.clear()
    plain.troubles = [trouble] * 5
    with suppress(NoReply):
        wire(plain).send("POST", "/", headers={})
    assert len(plain.requests) == 1


def test_a_redirect_is_an_answer_like_any_other(plain: Plain) -> None:
    plain.troubles = [Trouble.ELSEWHERE]
    assert wire(plain).send("POST", "/", headers={}).status == 307
    assert [request.path for request in plain.requests] == ["/"]


@pytest.mark.parametrize("trouble", [Trouble.HANG, Trouble.DROPS, Trouble.FLOOD])
def test_an_answer_that_does_not_end_is_given_up(plain: Plain, trouble: Trouble) -> None:
    plain.troubles = [trouble]
    started = time.monotonic()
    with pytest.raises(NoReply):
        wire(plain).send("GET", "/", headers={})
    assert time.monotonic() - started < 2


def test_a_failure_names_its_kind_and_carries_nothing_along(plain: Plain) -> None:
    plain.troubles = [Trouble.LOST_REPLY]
    with pytest.raises(NoReply) as failed:
        wire(plain).send("POST", "/secret", headers={"authorization": "Bearer secret"})
    assert str(failed.value) == "no answer: RemoteProtocolError"
    assert (failed.value.__cause__, failed.value.__context__) == (None, None)


@pytest.mark.parametrize("value", ["two\r\nlines", "tab\x00", "größe"])
def test_a_header_that_cannot_be_sent_is_no_reply(plain: Plain, value: str) -> None:
    with pytest.raises(NoReply):
        wire(plain).send("POST", "/", headers={"x-key": value})
    assert plain.requests == []


def test_a_number_is_one_segment_of_a_path() -> None:
    assert segment("pi_1") == "pi_1"
    assert segment("a/../b?c#d%2F") == "a%2F..%2Fb%3Fc%23d%252F"
    for number in ("", ".", ".."):
        with pytest.raises(Impossible):
            segment(number)
