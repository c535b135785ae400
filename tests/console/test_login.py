"""Guesses at the login: held back, by account and by address, in words that give nobody away."""

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.http import HttpResponse
from django.test import Client

from audit.models import AuditEntry
from config.access import attempts
from config.access.models import Attempts

NOW = datetime(2031, 5, 4, 12, tzinfo=UTC)
PASSWORD = "correct horse 12"
FREE = attempts.FREE["account"]

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _quick_passwords(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def login(name: str, password: str, *, address: str = "203.0.113.9", forwarded: str = "") -> Any:
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    client = Client(REMOTE_ADDR=address)
    return client.post("/admin/login/", {"username": name, "password": password}, headers=headers)


def words(answer: HttpResponse) -> str:
    """What the page says: held back, wrong, or nothing."""
    page = answer.content.decode()
    return (
        "held back" if "too many attempts" in page else "wrong" if answer.status_code == 200 else ""
    )


def is_in(answer: HttpResponse) -> bool:
    return answer.status_code == 302


@pytest.mark.parametrize(
    ("tries", "seconds"), [(5, 15), (6, 30), (7, 60), (8, 120), (9, 240), (12, 900), (60, 900)]
)
def test_each_wait_is_twice_the_one_before_up_to_a_quarter_of_an_hour(
    tries: int, seconds: int
) -> None:
    now = NOW
    for _ in range(tries):
        assert attempts.take("account", "anna", now=now) is None
        now = max(now, Attempts.objects.get().waits_until)

    assert Attempts.objects.get().number == tries
    begun = now - timedelta(seconds=seconds)
    assert attempts.take("account", "anna", now=begun) == timedelta(seconds=seconds)
    assert attempts.take("account", "anna", now=now) is None


def test_who_guesses_while_an_account_waits_does_not_lengthen_its_wait() -> None:
    for _ in range(FREE):
        attempts.take("account", "anna", now=NOW)
    for second in range(14):
        assert attempts.take("account", "anna", now=NOW + timedelta(seconds=second)) is not None

    assert Attempts.objects.get().waits_until == NOW + timedelta(seconds=15)


def test_after_an_hour_of_peace_the_next_guess_is_the_first() -> None:
    for _ in range(FREE):
        attempts.take("account", "anna", now=NOW)
    later = NOW + timedelta(hours=1, seconds=16)

    assert attempts.forget_old(now=NOW + timedelta(hours=1)) == 0
    assert attempts.take("account", "anna", now=later) is None
    assert Attempts.objects.get().number == 1
    assert attempts.forget_old(now=later + timedelta(hours=2)) == 1


def test_an_account_is_held_back_wherever_the_guesses_come_from() -> None:
    User.objects.create_superuser("anna", password=PASSWORD)
    for host in range(FREE):
        assert words(login("anna", "wrong", address=f"203.0.113.{host}")) == "wrong"

    refused = login("ANNA", PASSWORD, address="198.51.100.7")

    assert words(refused) == "held back"
    assert "seconds" in refused.content.decode()
    assert words(login("anna", PASSWORD, address="198.51.100.7")) == "held back"
    assert AuditEntry.objects.filter(action="login.failed").count() == FREE
    assert not AuditEntry.objects.filter(action="login").exists()


def test_an_address_is_held_back_whatever_the_account() -> None:
    User.objects.create_superuser("anna", password=PASSWORD)
    for number in range(attempts.FREE["address"]):
        assert words(login(f"nobody{number}", "wrong")) == "wrong"

    assert words(login("anna", PASSWORD)) == "held back"
    assert is_in(login("anna", PASSWORD, address="198.51.100.7"))


def test_who_has_a_network_of_ipv6_has_one_address() -> None:
    assert attempts.network("2001:db8:1:2:3::4") == attempts.network("2001:db8:1:2::ffff")
    assert attempts.network("2001:db8:1:3::4") != attempts.network("2001:db8:1:2::4")
    assert attempts.network("203.0.113.9") != attempts.network("203.0.113.10")
    assert attempts.network("unknown address") == "unknown address"


def test_being_right_forgives_the_account_and_no_other_guess_of_the_address() -> None:
    User.objects.create_superuser("anna", password=PASSWORD)
    for _ in range(FREE - 1):
        login("anna", "wrong")

    assert is_in(login("anna", PASSWORD))
    (row,) = Attempts.objects.all()
    assert row.number == FREE - 1
    assert words(login("anna", "wrong")) == "wrong"


def test_nobody_learns_which_names_are_accounts() -> None:
    User.objects.create_superuser("anna", password=PASSWORD)
    User.objects.create_user("clerk", password=PASSWORD)
    User.objects.create_user("gone", password=PASSWORD, is_staff=True, is_active=False)
    cases = [("anna", "wrong"), ("nobody", "wrong"), ("clerk", PASSWORD), ("gone", PASSWORD)]

    pages = set()
    for name, password in cases:
        for place in range(FREE):
            page = login(name, password, address=f"203.0.113.{place}").content.decode()
            pages.add(_told(page))
        held = login(name, password, address="198.51.100.1").content.decode()
        pages.add(_told(held))

    assert len(pages) == 2


def _told(page: str) -> str:
    """The page's messages, without the token and the name that was typed."""
    start, end = page.index("Welcome back to"), page.index('id="login-form"')
    return page[start:end].replace("14 seconds", "15 seconds")


def test_what_is_typed_as_a_name_is_not_kept() -> None:
    login("hunter2 in the wrong field", "x")

    kept = Attempts.objects.values_list("key", flat=True)
    assert len(kept) == 2
    assert all(len(bytes(key)) == 32 for key in kept)


def test_behind_a_trusted_proxy_the_last_address_counts(settings: Any) -> None:
    settings.TRUSTED_PROXY = True
    User.objects.create_superuser("anna", password=PASSWORD)
    for number in range(attempts.FREE["address"]):
        forged = f"198.51.100.{number}, 203.0.113.9"
        login(f"nobody{number}", "x", address="10.0.0.1", forwarded=forged)

    held = login("anna", PASSWORD, address="10.0.0.1", forwarded="1.2.3.4, 203.0.113.9")
    assert words(held) == "held back"
    assert is_in(login("anna", PASSWORD, address="10.0.0.1", forwarded="203.0.113.9, 1.2.3.4"))
    assert AuditEntry.objects.get(action="login").origin.startswith("1.2.3.4")


def test_without_one_what_a_client_claims_is_not_read() -> None:
    answer = login("nobody", "x", forwarded="1.2.3.4")

    assert answer.status_code == 200
    assert AuditEntry.objects.get().origin == "203.0.113.9"


@pytest.mark.django_db(transaction=True)
def test_a_hundred_guesses_at_once_are_a_hundred() -> None:
    begin = threading.Barrier(10)
    made: list[bool] = []

    def guess() -> None:
        try:
            begin.wait()
            made.extend(attempts.take("account", "anna", now=NOW) is None for _ in range(10))
        finally:
            connection.close()

    threads = [threading.Thread(target=guess) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (made.count(True), len(made)) == (FREE, 100)


def test_who_has_found_an_open_session_is_held_back_as_at_the_login() -> None:
    user = User.objects.create_superuser("anna", password=PASSWORD)
    found = Client()
    found.force_login(user)
    wrong = {
        "old_password": "guess",
        "new_password1": "theirs 12345",
        "new_password2": "theirs 12345",
    }

    for _ in range(FREE):
        refused: Any = found.post("/admin/password_change/", wrong)
        assert words(refused) == "wrong"
    right = wrong | {"old_password": PASSWORD}
    answer: Any = found.post("/admin/password_change/", right, follow=True)

    assert words(answer) == "held back"
    user.refresh_from_db()
    assert user.check_password(PASSWORD)
