"""What people do around the money is in the audit too: logins, keys, accounts, people."""

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit import verify
from audit.models import AuditEntry
from orders.models import ApiKey, Merchant
from outbox.models import Destination, DispatchState, EndpointSecret
from tests.factories import (
    DestinationFactory,
    DispatchFactory,
    MerchantFactory,
    ProviderAccountFactory,
    RecordFactory,
)

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"
NEW = "other horse, other battery"
REFUSE_ENTRIES = """
    CREATE FUNCTION pg_temp.refuse() RETURNS trigger LANGUAGE plpgsql
        AS $$ BEGIN RAISE EXCEPTION 'no entry'; END $$;
    CREATE TRIGGER no_entry BEFORE INSERT ON audit_auditentry
        FOR EACH ROW EXECUTE FUNCTION pg_temp.refuse()
"""


@pytest.fixture(autouse=True)
def _quick_passwords(settings: Any) -> None:
    """The usual hash takes so long by design that a transaction would be idle for too long."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def entries() -> list[AuditEntry]:
    assert verify.walk().broken == ""
    return list(AuditEntry.objects.order_by("seq"))


def last() -> AuditEntry:
    return entries()[-1]


@pytest.fixture
def root() -> User:
    return User.objects.create_superuser("root", password=PASSWORD)


@pytest.fixture
def browser(root: User) -> Client:
    client = Client(REMOTE_ADDR="203.0.113.9")
    client.force_login(root)
    return client


def test_who_logs_in_who_fails_and_who_leaves(root: User) -> None:
    client = Client(REMOTE_ADDR="203.0.113.9")
    login = reverse("admin:login")
    client.post(login, {"username": "root", "password": "wrong"})
    client.post(login, {"username": "hunter2 typed into the name", "password": "x"})
    client.post(login, {"username": "root", "password": PASSWORD})
    session = client.cookies["sessionid"].value
    client.post(reverse("admin:logout"))

    assert [(entry.action, entry.object_id, entry.actor) for entry in entries()] == [
        ("login.failed", str(root.pk), ""),
        ("login.failed", "unknown", ""),
        ("login", str(root.pk), "root"),
        ("logout", str(root.pk), "root"),
    ]
    assert all(entry.origin.startswith("203.0.113.9") for entry in entries())
    kept = str([vars(entry) for entry in entries()])
    assert "hunter2" not in kept
    assert session not in kept


def test_what_people_may_is_changed_with_before_and_after(browser: Client) -> None:
    user = User.objects.create_user("clerk", password=PASSWORD, is_staff=True)
    reviewer = Group.objects.get(name="reviewer")
    form = {
        "username": "clerk",
        "is_active": "on",
        "is_staff": "on",
        "groups": [reviewer.pk],
        "date_joined_0": "2026-01-01",
        "date_joined_1": "00:00:00",
        "membership-TOTAL_FORMS": "0",
        "membership-INITIAL_FORMS": "0",
    }

    browser.post(reverse("admin:auth_user_change", args=[user.pk]), form)

    entry = last()
    assert (entry.action, entry.object_id, entry.actor) == ("user.changed", str(user.pk), "root")
    assert (entry.before["groups"], entry.after["groups"]) == ([], ["reviewer"])
    assert PASSWORD not in str(vars(entry))


def test_people_who_are_made_renamed_and_removed_are_kept(browser: Client) -> None:
    made = {"username": "new", "password1": PASSWORD, "password2": PASSWORD}
    browser.post(reverse("admin:auth_user_add"), made | {"usable_password": "true"})
    user = User.objects.get(username="new")
    assert (last().action, last().after["username"]) == ("user.added", "new")

    changed = {"password1": PASSWORD + "2", "password2": PASSWORD + "2", "usable_password": "true"}
    browser.post(reverse("admin:auth_user_password_change", args=[user.pk]), changed)
    assert last().action == "user.changed"
    assert PASSWORD not in str(vars(last()))

    browser.post(reverse("admin:auth_user_delete", args=[user.pk]), {"post": "yes"})
    assert (last().action, last().before["username"], last().after) == ("user.deleted", "new", {})


def own_password(browser: Client, user: User) -> Any:
    changed = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    return browser.post(reverse("admin:password_change"), changed)


def anothers_password(browser: Client, user: User) -> Any:
    changed = {"password1": NEW, "password2": NEW, "usable_password": "true"}
    return browser.post(reverse("admin:auth_user_password_change", args=[user.pk]), changed)


@pytest.mark.parametrize("change", [own_password, anothers_password])
def test_a_password_is_changed_with_its_entry_or_not_at_all(
    browser: Client, root: User, change: Callable[[Client, User], Any]
) -> None:
    with connection.cursor() as cursor:
        cursor.execute(REFUSE_ENTRIES)
    with pytest.raises(DatabaseError, match="no entry"):
        change(browser, root)
    root.refresh_from_db()
    assert root.check_password(PASSWORD)

    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER no_entry ON audit_auditentry")
    assert change(browser, root).status_code == 302
    root.refresh_from_db()
    assert root.check_password(NEW)
    assert (last().action, last().object_id, last().actor) == ("user.changed", str(root.pk), "root")
    assert NEW not in str(vars(last()))


def test_a_new_password_that_was_refused_is_no_change(browser: Client) -> None:
    before = AuditEntry.objects.count()
    wrong = {"old_password": "another", "new_password1": NEW, "new_password2": NEW}

    assert browser.post(reverse("admin:password_change"), wrong).status_code == 200
    assert AuditEntry.objects.count() == before


def test_a_merchant_that_is_stopped_is_kept(browser: Client) -> None:
    merchant = MerchantFactory.create(name="Old")

    browser.post(reverse("admin:orders_merchant_change", args=[merchant.pk]), {"name": "New"})

    assert (last().action, last().before["active"], last().after["active"]) == (
        "merchant.changed",
        True,
        False,
    )
    assert (last().before["name"], last().after["name"]) == ("Old", "New")


def run(*command: str, **options: Any) -> str:
    said = StringIO()
    call_command(*command, stdout=said, stderr=StringIO(), **options)
    return said.getvalue()


def test_merchants_and_api_keys_of_the_command_line_are_kept() -> None:
    run("create_merchant", "shop")
    token = run("create_api_key", "shop", "--label", "till").strip()
    prefix = ApiKey.objects.get().prefix
    run("revoke_api_key", prefix)

    made, created, revoked = entries()
    merchant_id = Merchant.objects.get().pk
    assert (made.action, made.object_id) == ("merchant.added", str(merchant_id))
    assert (created.action, created.object_id) == ("api_key.created", prefix)
    assert (revoked.action, revoked.object_id) == ("api_key.revoked", prefix)
    assert revoked.actor_kind == "COMMAND"
    assert token.removeprefix(f"pk_{prefix}_") not in str([vars(entry) for entry in entries()])


def test_keys_of_accounts_are_kept_by_their_names(tmp_path: Path) -> None:
    MerchantFactory.create(code="shop")
    key, newer = tmp_path / "key", tmp_path / "newer"
    key.write_text("whsec_the_first_secret_of_this_account")
    newer.write_text("whsec_the_second_secret_of_this_account")
    run(
        *("create_account", "shop", "stripe", "till", "--account-no", "acct_1", "--test"),
        *("--key-file", str(key)),
    )
    run("add_key", "stripe/till", "--key-id", "second", "--key-file", str(newer))
    end = "2026-12-07T00:00:00+00:00"
    run("add_key", "stripe/till", "--retire", "first", "--not-after", end)
    run("rekey")

    opened, added, retired, resealed = entries()
    assert (opened.action, opened.after["keys"]) == ("account.opened", ["signature:first"])
    assert (added.action, added.after["key"]) == ("key.added", "signature:second")
    assert (retired.action, retired.after["not_after"]) == (
        "key.retired",
        "2026-12-07T00:00:00.000000+00:00",
    )
    assert (resealed.action, resealed.after) == ("keys.resealed", {"keys": 2})
    assert "whsec" not in str([vars(entry) for entry in entries()])


def test_what_is_put_right_by_hand_is_kept() -> None:
    event = DispatchFactory.create(
        state=DispatchState.DEAD,
        attempts=12,
        dead_at=timezone.now(),  # noqa: TID251
    ).event
    record = RecordFactory.create()
    ProviderAccountFactory.create()

    run("redrive", str(event.pk))
    run("idempotency", "ask_again", str(record.pk))

    redriven, asked = entries()
    assert (redriven.action, redriven.object_id) == ("events.redriven", str(event.pk))
    assert (asked.action, asked.object_id) == ("key.asked_again", str(record.pk))


def test_superusers_of_the_command_line_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
    run("createsuperuser", "--noinput", username="boss", email="boss@example.org")

    assert (last().action, last().after) == (
        "user.added",
        {"username": "boss", "superuser": True},
    )
    assert last().at <= timezone.now()  # noqa: TID251 - beside the database's clock


DESTINATIONS = {
    "pause": (["--reason", "moving"], {"state": "ACTIVE"}, {"state": "PAUSED"}),
    "disable": (["--reason", "gone"], {"state": "ACTIVE"}, {"state": "DISABLED"}),
    "resume": ([], {"state": "PAUSED"}, {"state": "ACTIVE"}),
}


@pytest.mark.parametrize("verb", DESTINATIONS)
def test_what_the_command_moves_is_kept_with_before_and_after(verb: str) -> None:
    more, before, after = DESTINATIONS[verb]
    DestinationFactory.create(code="shop", reason="x" if verb == "resume" else "", **before)

    call_command("destinations", verb, "shop", *more, stdout=StringIO())

    entry = last()
    assert (entry.actor_kind, entry.action, entry.object_id) == (
        "COMMAND",
        f"destination.{verb}",
        "shop",
    )
    assert (entry.before, entry.after, entry.why) == (before, after, "".join(more[1:]))


def test_a_move_that_is_refused_and_a_look_at_the_list_leave_no_entry() -> None:
    DestinationFactory.create(code="shop")

    with pytest.raises(CommandError, match="already"):
        call_command("destinations", "resume", "shop")
    call_command("destinations", "list", stdout=StringIO())
    call_command("webhooks", "list", stdout=StringIO())

    assert entries() == []


def test_a_destination_that_the_command_adds_is_kept_without_its_configuration() -> None:
    url = "redis://:hunter2@127.0.0.1:9"
    config = json.dumps({"url": url, "stream": "orders"})

    with pytest.raises(CommandError, match="Not done"):
        call_command("destinations", "add", "x", "--kind", "redis_stream", "--config", config)

    assert (last().action, last().object_id, last().after["kind"]) == (
        "destination.add",
        "x",
        "redis_stream",
    )
    assert "hunter2" not in str(vars(last()))


def test_every_change_of_an_endpoint_by_command_is_kept_and_no_secret(settings: Any) -> None:
    settings.OUTBOX_WEBHOOK_ALLOW_PRIVATE = True

    def run(*arguments: str) -> str:
        out = StringIO()
        call_command("webhooks", *arguments, stdout=out, stderr=StringIO())
        return out.getvalue().strip()

    secrets = [run("add", "--tenant", "acme", "--url", "http://127.0.0.1:9/hooks?key=hunter2")]
    shop = Destination.objects.get(tenant="acme")
    secrets.append(run("rotate", shop.code, "--overlap-hours", "1"))
    event = DispatchFactory.create(destination=shop).event_id
    run("change", shop.code, "--types", "order.paid")
    run("test", shop.code)
    run("resend", shop.code, str(event))
    run("retire", shop.code, str(EndpointSecret.objects.earliest("pk").pk))
    run("remove", shop.code)

    kept = entries()
    assert [(entry.action, entry.object_id) for entry in kept] == [
        ("webhook.added", shop.code),
        ("webhook.signed_anew", shop.code),
        ("webhook.changed", shop.code),
        ("webhook.tested", shop.code),
        ("event.resent", str(event)),
        ("webhook.key_retired", shop.code),
        ("webhook.removed", shop.code),
    ]
    assert {entry.actor_kind for entry in kept} == {"COMMAND"}
    assert kept[0].after == {"merchant": "acme", "host": "127.0.0.1", "types": []}
    everything = str([vars(entry) for entry in kept])
    assert not [secret for secret in [*secrets, "hunter2"] if secret in everything]
    shop.refresh_from_db()
    assert (shop.state, shop.rested_by) == ("DISABLED", "OPERATOR")
