"""When a session ends: after idling, after a day, with its password, and with its name over TLS."""

import subprocess
import sys
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from audit.models import AuditEntry
from tests.processes import ROOT, environment

pytestmark = pytest.mark.django_db


def age(client: Client, name: str, by: timedelta) -> None:
    session = client.session
    session[name] = (timezone.now() - by).isoformat()  # noqa: TID251
    session.save()


@pytest.mark.parametrize(
    ("name", "by", "says"),
    [
        ("seen", timedelta(minutes=30), "nothing was done here for 30 minutes"),
        ("began", timedelta(hours=12), "has come to its end"),
    ],
)
def test_it_ends_with_a_word_and_leads_back(
    superuser: Client, name: str, by: timedelta, says: str
) -> None:
    superuser.get("/admin/")
    age(superuser, name, by)

    answer = superuser.get("/admin/orders/order/?q=1")
    page = superuser.get(answer["Location"]).content.decode()

    assert answer["Location"] == "/admin/login/?next=/admin/orders/order/%3Fq%3D1"
    assert says in page
    assert AuditEntry.objects.latest("seq").action == "logout"
    assert superuser.get("/admin/").status_code == 302


@pytest.mark.parametrize(
    ("name", "by"), [("seen", timedelta(minutes=29)), ("began", timedelta(hours=11, minutes=59))]
)
def test_a_minute_before_it_goes_on(superuser: Client, name: str, by: timedelta) -> None:
    superuser.get("/admin/")
    age(superuser, name, by)

    assert superuser.get("/admin/").status_code == 200
    assert superuser.get("/admin/").status_code == 200


def test_working_does_not_lengthen_the_day(superuser: Client) -> None:
    superuser.get("/admin/")
    began = superuser.session["began"]
    age(superuser, "seen", timedelta(minutes=20))
    superuser.get("/admin/")

    assert superuser.session["began"] == began
    assert superuser.session["seen"] > began


def test_nothing_is_done_by_what_is_sent_too_late(superuser: Client) -> None:
    superuser.get("/admin/")
    age(superuser, "seen", timedelta(hours=1))

    answer = superuser.post("/admin/auth/group/add/", {"name": "late"})

    assert answer["Location"] == "/admin/login/?next=/admin/"
    assert not superuser.get("/admin/auth/group/").context


def test_a_new_password_ends_all_other_sessions(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    user = User.objects.create_superuser("anna", password="correct horse 12")
    here, there = Client(), Client()
    for client in (here, there):
        client.force_login(user)
    changed = {"old_password": "correct horse 12"} | dict.fromkeys(
        ("new_password1", "new_password2"), "other horse 1234"
    )

    assert here.post("/admin/password_change/", changed).status_code == 302
    assert here.get("/admin/").status_code == 200
    assert there.get("/admin/").status_code == 302


@pytest.mark.parametrize(
    ("https", "names"),
    [
        ("true", "__Host-sessionid __Host-csrftoken __Host-language True True True"),
        ("false", "sessionid csrftoken language False False False"),
    ],
)
def test_over_tls_cookies_are_of_this_host_alone(https: str, names: str) -> None:
    code = (
        "from django.conf import settings as s\n"
        "c = ('SESSION', 'CSRF', 'LANGUAGE')\n"
        "print(*(getattr(s, f'{n}_COOKIE_NAME') for n in c),"
        " *(getattr(s, f'{n}_COOKIE_SECURE') for n in c))"
    )
    told = environment() | {"HTTPS_ONLY": https, "DJANGO_SETTINGS_MODULE": "config.settings"}
    shown = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=told, capture_output=True, text=True, check=True
    )

    assert shown.stdout.strip() == names
