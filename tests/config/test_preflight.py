"""Nothing starts with secrets or a database that could not be trusted, and it says why."""

import subprocess
import sys
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from config import preflight
from config.up import programs
from tests import processes
from tests.private_service import ROLE, PrivateService

GOOD_SECRET = "k3Vt0nX9wQbZmLc5RjYdT7gPfHs2Ue4Aa8IoNxBvSkWyEr6M"
GOOD_VAULT_KEY = Fernet.generate_key().decode()
SHORT = "SECRET_KEY is shorter than 40 characters or hardly random."
EXAMPLE = "SECRET_KEY is an example's; make one of your own (see .env.example)."

UNSAFE: dict[str, tuple[dict[str, Any], str]] = {
    "a short secret": ({"SECRET_KEY": GOOD_SECRET[:39]}, SHORT),
    "a long secret of one letter": ({"SECRET_KEY": "a" * 64}, SHORT),
    "a secret of three letters": ({"SECRET_KEY": "abc" * 20}, SHORT),
    "Django's own": ({"SECRET_KEY": f"django-insecure-{GOOD_SECRET}"}, EXAMPLE),
    "a tutorial's": ({"SECRET_KEY": "please-changeme-0123456789-abcdefghijklmnop"}, EXAMPLE),
    "in capitals": ({"SECRET_KEY": "PLEASE-CHANGE-ME-0123456789-ABCDEFGHIJKLMNOP"}, EXAMPLE),
    "no vault key": (
        {"VAULT_KEYS": []},
        "VAULT_KEYS is empty: provider keys could not be encrypted at rest.",
    ),
    "a vault key that is none": (
        {"VAULT_KEYS": ["secret"]},
        "VAULT_KEYS: key 1 is not 32 bytes in URL-safe base64.",
    ),
    "an empty vault key": (
        {"VAULT_KEYS": [""]},
        "VAULT_KEYS: key 1 is not 32 bytes in URL-safe base64.",
    ),
    "a second vault key beyond ASCII": (
        {"VAULT_KEYS": [GOOD_VAULT_KEY, "\u00e9" * 44]},
        "VAULT_KEYS: key 2 is not 32 bytes in URL-safe base64.",
    ),
    "a vault key of zeros": (
        {"VAULT_KEYS": ["A" * 43 + "="]},
        "VAULT_KEYS: key 1 is hardly random.",
    ),
    "debugging": (
        {"DEBUG": True},
        "DEBUG is on: error pages would show secrets. Unset DEBUG.",
    ),
    "every host": (
        {"ALLOWED_HOSTS": ["pay.example.org", "*"]},
        "ALLOWED_HOSTS contains *: name the hosts that callbacks are sent to.",
    ),
}


@pytest.fixture
def safe(settings: Settings) -> Settings:
    settings.SECRET_KEY = GOOD_SECRET
    settings.VAULT_KEYS = [GOOD_VAULT_KEY, Fernet.generate_key().decode()]
    settings.DEBUG = False
    settings.ALLOWED_HOSTS = ["pay.example.org"]
    return settings


def test_what_is_safe_is_not_refused(safe: Settings) -> None:
    preflight.refuse_unsafe_settings()


@pytest.mark.parametrize("name", UNSAFE)
def test_what_is_unsafe_is_refused_with_its_remedy(safe: Settings, name: str) -> None:
    changes, message = UNSAFE[name]
    for setting, value in changes.items():
        setattr(safe, setting, value)

    with pytest.raises(ImproperlyConfigured) as refusal:
        preflight.refuse_unsafe_settings()

    assert str(refusal.value) == f"Refusing to start. {message}"


def test_all_problems_are_named_at_once(safe: Settings) -> None:
    safe.SECRET_KEY, safe.VAULT_KEYS, safe.DEBUG, safe.ALLOWED_HOSTS = "x", [], True, ["*"]

    with pytest.raises(ImproperlyConfigured) as refusal:
        preflight.refuse_unsafe_settings()

    for name in ("SECRET_KEY", "VAULT_KEYS", "DEBUG", "ALLOWED_HOSTS"):
        assert str(refusal.value).count(name) >= 1


_WEB = (sys.executable, "-c", "import config.wsgi")


def _run(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    # Whatever they load, no database is there to be reached.
    env = processes.environment() | {"DATABASE_URL": "postgres://x:y@127.0.0.1:9/x"} | variables
    return subprocess.run(
        command,
        cwd=processes.ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_web_server_does_not_start_with_a_weak_secret() -> None:
    # What the web server imports in each of its processes; it gives up when they end like this.
    ran = _run(*_WEB, SECRET_KEY="weak", DEBUG="true")

    assert ran.returncode != 0
    assert f"Refusing to start. {SHORT} DEBUG is on" in ran.stderr


def test_the_worker_does_not_start_with_a_weak_vault_key() -> None:
    server = programs.worker({"BROKER_URL": ""}, processes.ROOT, 1)
    ran = _run(*server.command, VAULT_KEYS="weak")

    assert ran.returncode != 0
    assert "Refusing to start. VAULT_KEYS: key 1 is not 32 bytes" in ran.stderr


def test_no_program_starts_without_a_secret() -> None:
    ran = _run(sys.executable, "manage.py", "check", SECRET_KEY="")

    assert ran.returncode != 0
    assert "SECRET_KEY is not set. Run `make run`" in ran.stderr


def test_the_web_server_starts_while_the_database_is_away() -> None:
    ran = _run(*_WEB)

    assert ran.returncode == 0
    assert '"event": "database away at start"' in ran.stdout


def _web_on(service: PrivateService) -> subprocess.CompletedProcess[str]:
    return _run(*_WEB, DATABASE_URL=service.direct_url)


def test_the_web_server_does_not_start_on_a_role_that_does_not_wait_for_the_disk(
    private_service: PrivateService,
) -> None:
    with private_service.altered(
        f"ALTER ROLE {ROLE} SET synchronous_commit = off",
        f"ALTER ROLE {ROLE} RESET synchronous_commit",
    ):
        ran = _web_on(private_service)

    assert ran.returncode != 0
    assert (
        "Refusing to start. PostgreSQL runs with synchronous_commit=off: a confirmed callback"
        " could be lost in a crash. Set synchronous_commit=on for this role, database and server."
    ) in ran.stderr


def test_the_web_server_does_not_start_on_a_server_without_fsync(
    private_service: PrivateService,
) -> None:
    private_service.configure("fsync = off")
    try:
        ran = _web_on(private_service)
    finally:
        private_service.configure("fsync = on")

    assert ran.returncode != 0
    assert "PostgreSQL runs with fsync=off" in ran.stderr
    assert _web_on(private_service).returncode == 0
