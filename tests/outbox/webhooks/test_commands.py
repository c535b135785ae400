"""The commands about endpoints, and what the worker and the checks make of them."""

import io
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import psycopg
import pytest
from cryptography.fernet import Fernet
from django.core.checks import run_checks
from django.core.management import CommandError, call_command
from pytest_django import Settings

from config.celery import app
from outbox.models import Destination, EndpointSecret
from outbox.tasks import WEBHOOKS_LOCK, deliver_webhooks, tidy_webhooks
from outbox.webhooks import secrets
from tests.outbox.brokers import until
from tests.outbox.webhooks.receiver import Receiver, answer
from tests.outbox.webhooks.rows import drain, endpoint, tell, tries
from tests.processes import ROOT, database_url, environment

pytestmark = pytest.mark.django_db(transaction=True)


def run(*arguments: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command(*arguments, stdout=out, stderr=err)
    return out.getvalue().strip(), err.getvalue()


def test_an_endpoint_from_the_command_line(receiver: Receiver) -> None:
    secret, told = run("webhooks", "add", "--tenant", "acme", "--url", receiver.url)
    code = told.partition(":")[0]
    receiver.secrets.append(secret)
    event = tell(tenant="acme")
    assert run("relay_webhooks", "--once")[0] == "1 published"
    assert receiver.complaints == []
    assert run("relay_webhooks", "--once")[0] == "Nothing was due."

    new, _ = run("webhooks", "rotate", code, "--overlap-hours", "1")
    receiver.secrets.append(new)
    listed, _ = run("webhooks", "list")
    assert code in listed
    assert secret not in listed
    run("webhooks", "resend", code, str(event))
    run("webhooks", "test", code)
    assert drain() == {"asked": 2}
    assert receiver.complaints == []
    shown, _ = run("webhooks", "attempts", code)
    assert [line.split()[1] for line in shown.splitlines()] == ["200"] * 3

    old = EndpointSecret.objects.earliest("pk")
    run("webhooks", "retire", code, str(old.pk))
    with pytest.raises(CommandError, match="no other secret"):
        run("webhooks", "retire", code, str(EndpointSecret.objects.latest("pk").pk))
    run("webhooks", "change", code, "--types", "refund.*")
    assert Destination.objects.get(code=code).event_types == ["refund.*"]
    run("webhooks", "remove", code)
    assert run("webhooks", "list")[0] == ""


def test_what_cannot_be_done_is_said(receiver: Receiver, settings: Settings) -> None:
    code = endpoint(receiver).code
    for arguments, why in (
        (("test", "we_nobody"), "no endpoint"),
        (("test", "bus"), "no endpoint"),
        (("resend", code, str(uuid4())), "does not go to"),
        (("change", code, "--types", "Order"), "no type"),
        (("retire", code, "0"), "no secret"),
        (("rotate", code, "--overlap-hours", "1000"), "whole number"),
    ):
        with pytest.raises(CommandError, match=why):
            run("webhooks", *arguments)
    settings.OUTBOX_WEBHOOK_ALLOW_PRIVATE = False
    with pytest.raises(CommandError, match="https://"):
        run("webhooks", "change", code, "--url", receiver.url)


def test_rekey_covers_the_secrets_of_endpoints(receiver: Receiver, settings: Settings) -> None:
    shop = endpoint(receiver)
    old = settings.VAULT_KEYS
    settings.VAULT_KEYS = [Fernet.generate_key().decode(), *old]
    assert run("rekey")[0].startswith("1 keys")
    settings.VAULT_KEYS = settings.VAULT_KEYS[:1]
    assert secrets.keys_of(shop.pk)[0].secret.decode() == receiver.secrets[0]
    settings.VAULT_KEYS = [Fernet.generate_key().decode()]
    with pytest.raises(CommandError, match="webhook endpoint"):
        run("rekey")


@contextmanager
def _elsewhere(machine: str) -> Iterator[None]:
    """Another worker's process, which sends while this lasts, and is then killed."""
    with psycopg.connect(database_url(), autocommit=True) as other:
        lock = "SELECT pg_try_advisory_lock(%s::integer, hashtext(%s::text))"
        assert other.execute(lock, [WEBHOOKS_LOCK, machine]).fetchone() == (True,)
        yield


def test_the_worker_sends_and_only_one_run_at_a_time(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    tell()
    with _elsewhere("another machine"):
        deliver_webhooks(not_invented_yet=1)
    assert [made.status for made in tries(shop)] == [200]

    tell()
    with _elsewhere(socket.gethostname()):
        deliver_webhooks()
        assert len(receiver.received) == 1

    def delivered() -> bool:
        deliver_webhooks()
        return len(tries(shop)) == 2

    # It ends with its connection: nobody has to clean up after who was killed.
    until(delivered)
    tidy_webhooks()
    assert [made.status for made in tries(shop)] == [200, 200]


def test_the_clock_wakes_only_tasks_that_there_are() -> None:
    app.loader.import_default_modules()
    woken = {entry["task"] for entry in app.conf.beat_schedule.values()}
    assert {"outbox.deliver_webhooks", "outbox.tidy_webhooks"} <= woken <= app.tasks.keys()


def test_a_process_of_its_own_sends_and_stops_when_told(receiver: Receiver) -> None:
    endpoint(receiver)
    process = subprocess.Popen(
        [sys.executable, "manage.py", "relay_webhooks"],
        cwd=ROOT,
        env=environment(OUTBOX_WEBHOOK_ALLOW_PRIVATE="true"),
    )
    receiver.answers = [answer(200)]
    tell()
    until(lambda: len(receiver.received) == 1)
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0


def test_the_deployment_check_warns_of_private_addresses(settings: Settings) -> None:
    def warned() -> bool:
        found = run_checks(tags=["security"], include_deployment_checks=True)
        return "outbox.W001" in {each.id for each in found}

    assert warned()
    settings.OUTBOX_WEBHOOK_ALLOW_PRIVATE = False
    assert not warned()
