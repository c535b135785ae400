"""What `manage.py` says when what is around it is wrong, in one sentence each."""

import subprocess
import sys

import pytest
from django.core.management import get_commands, load_command_class

from tests import processes

AWAY = "postgres://x:hidden@127.0.0.1:9/x"
OURS = [
    *(
        "add_key",
        "cdc",
        "create_account",
        "create_api_key",
        "create_merchant",
        "demo",
        "events",
        "keys",
    ),
    *("providers", "redrive", "rekey", "relay", "revoke_api_key", "send_callback", "states"),
    *("event_schemas", "welcome"),
]
WRONG = [
    ("PARKED_GRACE_MINUTES", "soon", "PARKED_GRACE_MINUTES is 'soon'; it must be a whole number"),
    ("PARKED_GRACE_MINUTES", "-5", "PARKED_GRACE_MINUTES is '-5'; it must be a whole number"),
    ("EVENT_STREAM_LENGTH_MAX", "0", "EVENT_STREAM_LENGTH_MAX is '0'; it must be a whole number"),
    ("TRUSTED_PROXY", "ture", "TRUSTED_PROXY is 'ture'; it must be true or false."),
    (
        "OUTBOX_FOLLOWERS_PASS",
        "order.paid, Order",
        "OUTBOX_FOLLOWERS_PASS holds 'Order'; each must be a name like order.paid.",
    ),
    ("LOG_LEVEL", "LOUD", "LOG_LEVEL is 'LOUD'; it must be one of DEBUG, INFO, WARNING, ERROR."),
    ("EMAIL_SAFETY", "ssl", "EMAIL_SAFETY is 'ssl'; it must be one of starttls, tls, none."),
    ("RELAY", "kafka", "RELAY is 'kafka'; it must be one of polling, cdc."),
    ("EVENT_SOURCE", "our shop", "EVENT_SOURCE is 'our shop'; it must be a URI or a path"),
    ("DATABASE_URL", "mysql://x:hidden@h/x", "DATABASE_URL must begin with postgres:// or"),
    ("BROKER_URL", "http://x:hidden@h", "BROKER_URL must begin with redis:// or rediss:// or amqp"),
    ("PUBLIC_URL", "pay.example.com", "PUBLIC_URL must begin with https:// or http://"),
]


def _manage(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=processes.ROOT,
        env=processes.environment() | {"DATABASE_URL": AWAY} | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("name", "value", "sentence"), WRONG, ids=[f"{w[0]}={w[1]}" for w in WRONG]
)
def test_a_value_that_cannot_be_read_is_named_and_no_password_is_shown(
    name: str, value: str, sentence: str
) -> None:
    ran = _manage("check", **{name: value})

    assert ran.returncode == 1
    assert ran.stderr.startswith(f"ImproperlyConfigured: {sentence}")
    assert "hidden" not in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("word", ["true", "True", "yes", "on", "1"])
def test_a_switch_is_on_by_each_of_its_words(word: str) -> None:
    assert "DEBUG = True" in _manage("diffsettings", DEBUG=word).stdout


@pytest.mark.parametrize("word", ["false", "No", "off", "0", ""])
def test_a_switch_is_off_by_each_of_its_words_and_by_silence(word: str) -> None:
    assert "DEBUG = True" not in _manage("diffsettings", DEBUG=word).stdout


def test_an_empty_number_is_its_default() -> None:
    shown = _manage("diffsettings", EVENT_STREAM_LENGTH_MAX="").stdout

    assert "EVENT_STREAM_LENGTH_MAX = 1000000 " in shown


def test_a_command_without_its_database_says_so_in_a_sentence() -> None:
    ran = _manage("keys")

    assert ran.returncode == 1
    assert ran.stderr.startswith("OperationalError: connection failed")
    assert "Traceback" not in ran.stderr


def test_the_stack_is_shown_to_who_asks_for_it() -> None:
    assert "Traceback" in _manage("keys", "--traceback").stderr


def test_a_python_without_the_packages_is_told_where_they_are() -> None:
    ran = subprocess.run(
        [sys.executable, "-S", "manage.py", "keys"],  # -S: as if nothing were installed
        cwd=processes.ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (ran.returncode, ran.stderr.partition(".")[0]) == (1, "This Python has no Django")


@pytest.mark.parametrize("command", OURS)
def test_the_help_of_a_command_says_what_it_does(command: str) -> None:
    ours = load_command_class(get_commands()[command], command)

    about = ours.create_parser("manage.py", command).format_help().partition("\n\n")[2]

    assert about[0].isupper()


def test_the_examples_of_a_help_are_lines_to_copy() -> None:
    line = '    printf %s "$NEW" | manage.py add_key stripe/main --key-id 2026-11\n'

    assert line in _manage("help", "add_key").stdout


def test_a_reader_that_has_had_enough_is_no_error() -> None:
    ran = subprocess.run(
        ["sh", "-c", f"{sys.executable} manage.py providers | head -1"],
        cwd=processes.ROOT,
        env=processes.environment() | {"DATABASE_URL": AWAY},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (ran.stdout, ran.stderr) == ("# Providers\n", "")
