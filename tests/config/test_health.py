"""Alive without the database, ready only with one that keeps what it confirms."""

import json
import time

import pytest

from tests import wire
from tests.private_service import ROLE, PrivateService

READY = (200, "ready")
AWAY = (503, "database unavailable")
FORGETFUL = (503, "database not durable")


def _asks(url: str, path: str, host: str = "localhost", method: str = "GET") -> wire.Answer:
    return wire.send(url, wire.request(method, path, [("Host", host), ("Connection", "close")]))


def _state(service: PrivateService, path: str = "/readyz") -> tuple[int, str]:
    answer = _asks(service.web.url, path)
    return answer.status, json.loads(answer.body)["status"]


@pytest.mark.parametrize("host", ["localhost", "10.1.2.3:8000", "web-7f9c.internal", "", "a b"])
def test_probes_are_answered_whatever_host_they_ask_for(live_service: str, host: str) -> None:
    alive, ready = (_asks(live_service, path, host) for path in ("/healthz", "/readyz"))

    assert (alive.status, json.loads(alive.body)) == (200, {"status": "alive"})
    assert (ready.status, json.loads(ready.body)) == (200, {"status": "ready"})


@pytest.mark.parametrize("path", ["/healthz/", "/readyz/x", "/healthZ", "//healthz"])
def test_nothing_else_is_a_probe(live_service: str, path: str) -> None:
    assert _asks(live_service, path).status == 404
    assert _asks(live_service, path, "evil.test").status == 400


def test_without_a_database_the_service_is_alive_and_not_ready(
    private_service: PrivateService,
) -> None:
    assert _state(private_service) == READY
    private_service.database.stop()
    try:
        started = time.monotonic()
        states = [_state(private_service), _state(private_service, "/healthz")]
        assert time.monotonic() - started < 3
    finally:
        private_service.database.start()

    assert states == [AWAY, (200, "alive")]
    # At once and on every thread: nothing is restarted, no dead connection is taken for the state.
    assert {_state(private_service) for _ in range(16)} == {READY}


def test_a_cut_network_is_not_ready_and_heals(private_service: PrivateService) -> None:
    private_service.proxy.cut()
    cut_off = _state(private_service)
    private_service.proxy.heal()

    assert (cut_off, _state(private_service)) == (AWAY, READY)


def test_a_role_that_does_not_wait_for_the_disk_is_not_ready(
    private_service: PrivateService,
) -> None:
    with private_service.altered(
        f"ALTER ROLE {ROLE} SET synchronous_commit = off",
        f"ALTER ROLE {ROLE} RESET synchronous_commit",
    ):
        assert _state(private_service) == FORGETFUL
        assert _state(private_service, "/healthz") == (200, "alive")
    assert _state(private_service) == READY


@pytest.mark.parametrize("name", ["fsync", "full_page_writes"])
def test_a_server_that_may_forget_is_not_ready(private_service: PrivateService, name: str) -> None:
    private_service.configure(f"{name} = off")
    try:
        assert _state(private_service) == FORGETFUL
    finally:
        private_service.configure(f"{name} = on")
    assert _state(private_service) == READY
