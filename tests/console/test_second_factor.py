"""The second factor: set up, asked for, never taken twice, held back, required, reset."""

import base64
import threading
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from audit.models import AuditEntry
from config.access import attempts, second_factor
from config.access.models import Attempts, RecoveryCode, SecondFactor
from payments import vault
from tests.console.staff import staff

NOW = datetime(2031, 5, 4, 12, tzinfo=UTC)
PASSWORD = "correct horse 12"
CODE, ENROL, MINE = "/admin/me/code/", "/admin/me/enrol/", "/admin/me/second-factor/"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _quick_passwords(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def anna() -> User:
    return User.objects.create_superuser("anna", password=PASSWORD)


def present() -> datetime:
    """The service reads its own clock, and so do telephones."""
    return timezone.now()  # noqa: TID251


def code(user: User, at: datetime) -> str:
    """What the telephone shows; computed apart from the code under test."""
    secret = vault.unseal(bytes(SecondFactor.objects.get(user=user).secret))
    return TOTP(base64.b32decode(secret), 6, SHA1(), 30).generate(int(at.timestamp())).decode()  # noqa: S303


def with_factor(user: User) -> list[str]:
    """The user's recovery codes; the code of two hours ago confirmed it."""
    before = present() - timedelta(hours=2)
    second_factor.begin(user)
    codes = second_factor.confirm(user, code(user, before), now=before)
    assert codes is not None
    return codes


def logged_in(name: str = "anna") -> Client:
    client = Client()
    answer = client.post("/admin/login/", {"username": name, "password": PASSWORD})
    assert answer.status_code == 302
    return client


def actions() -> list[str]:
    return list(AuditEntry.objects.order_by("seq").values_list("action", flat=True))


def test_it_is_set_up_from_the_page_and_asked_for_from_then_on(anna: User) -> None:
    client = logged_in()
    page = client.get(ENROL).content.decode()
    wrong = client.post(ENROL, {"code": "000000"}).content.decode()
    right = client.post(ENROL, {"code": code(anna, present())})

    assert "<svg" in page
    assert "otpauth" not in page
    assert "is not right" in wrong
    shown = right.content.decode().count('class="c-mono"')
    assert shown == second_factor.RECOVERY_CODES
    assert client.get("/admin/").status_code == 200  # this session has just shown it
    assert actions() == ["login", "user.second_factor_added"]
    other = logged_in()
    assert other.get("/admin/")["Location"] == "/admin/me/code/?next=%2Fadmin%2F"


def test_a_session_is_shown_one_secret_until_it_is_confirmed(anna: User) -> None:
    client = logged_in()

    first, second = (client.get(ENROL).context["secret"] for _ in range(2))

    assert first == second


def test_who_was_there_before_with_the_password_alone_has_seen_no_secret_that_counts(
    anna: User,
) -> None:
    thief, owner = logged_in(), logged_in()
    seen = thief.get(ENROL).context["secret"]
    own = owner.get(ENROL).context["secret"]

    answer = owner.post(ENROL, {"code": code(anna, present())})

    assert seen != own
    assert "recovery" in answer.content.decode().lower()
    kept = vault.unseal(bytes(SecondFactor.objects.get(user=anna).secret)).decode()
    assert kept == own.replace(" ", "")
    assert thief.get(ENROL).status_code == 302


@pytest.mark.parametrize(
    "address",
    ["/admin/", "/admin/orders/order/", "/admin/password_change/", ENROL, MINE, "/admin/jsi18n/"],
)
def test_the_password_alone_opens_nothing(anna: User, address: str) -> None:
    with_factor(anna)
    client = logged_in()

    for answer in (client.get(address), client.post(address)):
        assert answer.status_code == 302
        assert answer["Location"].startswith(f"{CODE}?next=")
    assert second_factor.of(anna) is not None


def test_a_code_opens_and_leads_to_where_one_wanted(anna: User) -> None:
    with_factor(anna)
    client = logged_in()
    before = client.session.session_key

    answer = client.post(f"{CODE}?next=/admin/orders/order/", {"code": code(anna, present())})

    assert answer["Location"] == "/admin/orders/order/"
    assert client.get("/admin/orders/order/").status_code == 200
    assert client.session.session_key != before
    assert actions() == ["login", "user.second_factor"]
    assert AuditEntry.objects.latest("seq").after == {"by": "code"}


def test_it_leads_to_no_other_host(anna: User) -> None:
    with_factor(anna)
    sent = {"code": code(anna, present())}
    answer = logged_in().post(f"{CODE}?next=//evil.example/", sent)

    assert answer["Location"] == "/admin/"


@pytest.mark.parametrize(("seconds", "taken"), [(-61, ""), (-30, "code"), (0, "code"), (61, "")])
def test_clocks_may_differ_by_half_a_minute(anna: User, seconds: int, taken: str) -> None:
    with_factor(anna)
    at = present() + timedelta(days=1)
    at -= timedelta(seconds=at.second % 30, microseconds=at.microsecond)

    assert second_factor.take(anna, code(anna, at + timedelta(seconds=seconds)), now=at) == taken


def test_no_code_counts_twice_nor_one_before_it(anna: User) -> None:
    with_factor(anna)
    at = present() + timedelta(days=1)
    earlier, latest = code(anna, at - timedelta(seconds=30)), code(anna, at)

    assert second_factor.take(anna, latest, now=at) == "code"
    assert second_factor.take(anna, latest, now=at + timedelta(seconds=1)) == ""
    assert second_factor.take(anna, earlier, now=at) == ""
    assert second_factor.take(anna, code(anna, at + timedelta(seconds=30)), now=at) == "code"


def test_the_code_that_confirmed_it_opens_nothing_more(anna: User) -> None:
    second_factor.begin(anna)
    first = code(anna, NOW)

    assert second_factor.confirm(anna, first, now=NOW) is not None
    assert second_factor.take(anna, first, now=NOW) == ""


def test_a_recovery_code_counts_once_however_it_is_written(anna: User) -> None:
    codes = with_factor(anna)

    assert second_factor.take(anna, f" {codes[0].upper()} ", now=NOW) == "recovery code"
    assert second_factor.take(anna, codes[0], now=NOW) == ""
    assert second_factor.take(anna, codes[1].replace("-", ""), now=NOW) == "recovery code"
    assert second_factor.take(User.objects.create_user("other"), codes[2], now=NOW) == ""


@pytest.mark.django_db(transaction=True)
def test_two_with_the_same_code_at_the_same_time_are_one() -> None:
    anna = User.objects.create_superuser("anna")
    spare = with_factor(anna)[0]
    at = present() + timedelta(days=1)
    for given in (code(anna, at), spare):
        begin, taken = threading.Barrier(4), list[str]()

        def give(given: str = given, begin: Any = begin, taken: Any = taken) -> None:
            try:
                begin.wait()
                taken.append(second_factor.take(anna, given, now=at))
            finally:
                connection.close()

        threads = [threading.Thread(target=give) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len([found for found in taken if found]) == 1


def test_neither_secret_nor_recovery_code_is_readable_in_the_database(anna: User) -> None:
    secret = second_factor.begin(anna)
    codes = second_factor.confirm(anna, code(anna, NOW), now=NOW)

    kept = bytes(SecondFactor.objects.get().secret)
    assert secret.encode() not in kept
    assert vault.unseal(kept).decode() == secret
    digests = [bytes(row.digest) for row in RecoveryCode.objects.all()]
    assert codes is not None
    assert not any(part.encode() in digest for digest in digests for part in codes[0].split("-"))
    assert secret not in str(AuditEntry.objects.values_list("before", "after"))


def test_guesses_at_codes_are_held_back_and_entered(anna: User) -> None:
    with_factor(anna)
    client = logged_in()
    for _ in range(attempts.FREE["code"]):
        assert "is not right" in client.post(CODE, {"code": "000000"}).content.decode()

    held = client.post(CODE, {"code": code(anna, present())}).content.decode()

    assert "too many attempts" in held
    assert actions().count("user.second_factor_failed") == attempts.FREE["code"]
    Attempts.objects.update(waits_until=present())
    assert client.post(CODE, {"code": code(anna, present())}).status_code == 302


@pytest.mark.parametrize(
    ("mode", "roles", "led"),
    [
        ("off", [], False),
        ("optional", [], False),
        ("required", [], True),
        ("required", ["approver"], True),
        ("required", ["viewer"], False),
    ],
)
def test_who_needs_one_sets_it_up_before_anything_else(
    settings: Any, mode: str, roles: list[str], led: bool
) -> None:
    settings.CONSOLE_SECOND_FACTOR, settings.CONSOLE_SECOND_FACTOR_ROLES = mode, roles
    client = staff()
    User.objects.get().groups.add(Group.objects.get(name="approver"))

    answer = client.get("/admin/")

    assert (answer.get("Location", "").startswith(ENROL), answer.status_code == 302) == (led, led)
    assert client.get(ENROL).status_code == 200


def test_off_means_that_nobody_is_asked(anna: User, settings: Any) -> None:
    settings.CONSOLE_SECOND_FACTOR = "off"
    with_factor(anna)

    assert logged_in().get("/admin/").status_code == 200


def test_who_has_not_shown_it_can_leave(anna: User) -> None:
    with_factor(anna)
    client = logged_in()

    assert client.post("/admin/logout/").status_code == 200
    assert client.get("/admin/")["Location"].startswith("/admin/login/")


def test_one_removes_ones_own_with_a_code_alone(anna: User) -> None:
    with_factor(anna)
    client = logged_in()
    client.post(CODE, {"code": code(anna, present())})

    refused = client.post(MINE, {"code": "000000"})
    kept = second_factor.of(anna)
    removed = client.post(MINE, {"code": code(anna, present() + timedelta(seconds=30))})

    assert refused.status_code == 200
    assert kept is not None
    assert removed.status_code == 302
    assert second_factor.of(anna) is None
    assert not RecoveryCode.objects.exists()
    assert actions()[-1] == "user.second_factor_removed"


def test_an_administrator_resets_a_colleagues_and_it_is_entered(anna: User) -> None:
    clerk = User.objects.create_user("clerk", is_staff=True)
    with_factor(clerk)
    client = logged_in()
    address = f"/admin/me/{clerk.pk}/reset/"

    page = client.get(f"/admin/auth/user/{clerk.pk}/change/").content.decode()
    asked = client.get(address).content.decode()
    kept = second_factor.of(clerk)
    done = [client.post(address).status_code for _ in range(2)]

    assert address in page
    assert "Reset the second factor of clerk" in asked
    assert kept is not None
    assert done == [302, 302]
    assert second_factor.of(clerk) is None
    assert actions().count("user.second_factor_reset") == 1


def test_nobody_resets_his_own_without_a_code(anna: User) -> None:
    recovery = with_factor(anna)
    client = logged_in()
    client.post(CODE, {"code": recovery[0]})

    answer = client.post(f"/admin/me/{anna.pk}/reset/")

    assert answer["Location"] == MINE
    assert second_factor.of(anna) is not None


def test_the_command_line_resets_that_of_the_last_superuser(anna: User) -> None:
    with_factor(anna)
    out = StringIO()

    call_command("reset_second_factor", "anna", why="telephone lost", stdout=out)

    assert second_factor.of(anna) is None
    entry = AuditEntry.objects.latest("seq")
    assert (entry.action, entry.why) == ("user.second_factor_reset", "telephone lost")
    for name in ("anna", "nobody"):
        with pytest.raises(CommandError, match=f"{name} has no second factor"):
            call_command("reset_second_factor", name, why="again")


def test_others_reset_nothing(anna: User) -> None:
    with_factor(anna)

    for client in (staff("view_user", name="a"), staff("change_user", name="b")):
        assert client.post(f"/admin/me/{anna.pk}/reset/").status_code == 403
    assert second_factor.of(anna) is not None


def test_secrets_move_to_the_newest_key_of_the_vault(anna: User, settings: Any) -> None:
    secret = second_factor.begin(anna)
    newest = Fernet.generate_key().decode()
    settings.VAULT_KEYS = [newest, *settings.VAULT_KEYS]
    call_command("rekey", stdout=StringIO())
    settings.VAULT_KEYS = [newest]

    assert second_factor.begin(anna, shown=second_factor.digest(secret)) == secret
