"""Who says what the processes are told."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from config import runtime_env
from config.up import environment
from tests.processes import ROOT


def test_secrets_are_made_once_and_kept(tmp_path: Path) -> None:
    first = environment.with_secrets({}, tmp_path)
    assert environment.with_secrets({}, tmp_path) == first
    assert len(first["SECRET_KEY"]) >= 64
    Fernet(first["VAULT_KEYS"])
    assert (tmp_path / "secrets.env").stat().st_mode & 0o777 == 0o600


def test_a_secret_that_is_given_is_not_made(tmp_path: Path) -> None:
    given = {"SECRET_KEY": "given", "VAULT_KEYS": "too"}
    assert environment.with_secrets(given, tmp_path) == given
    assert list(tmp_path.iterdir()) == []


def test_secrets_of_a_database_from_outside_must_be_given(tmp_path: Path) -> None:
    with pytest.raises(environment.MissingSecretError, match="SECRET_KEY and VAULT_KEYS not"):
        environment.with_secrets({"DATABASE_URL": "postgres://elsewhere/x"}, tmp_path)


def _seen(tmp_path: Path, **given: str) -> str:
    """BROKER_URL and DATABASE_URL as a command beside `up` sees them."""
    runtime_env.runtime_file(tmp_path).parent.mkdir(exist_ok=True)
    runtime_env.write(
        runtime_env.runtime_file(tmp_path), {"DATABASE_URL": "ours", "BROKER_URL": "ours"}
    )
    code = """
import os, sys
from pathlib import Path
from config import runtime_env
runtime_env.load(Path(sys.argv[1]))
print(os.environ.get("DATABASE_URL"), os.environ.get("BROKER_URL"), sorted(runtime_env.filled))
"""
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_URL")}
    shown = subprocess.run(
        [sys.executable, "-c", code, tmp_path],
        cwd=ROOT,
        env={**kept, **given},
        capture_output=True,
        text=True,
        check=True,
    )
    return shown.stdout.strip()


def test_a_command_beside_up_sees_its_addresses(tmp_path: Path) -> None:
    assert _seen(tmp_path) == "ours ours ['BROKER_URL', 'DATABASE_URL']"


def test_an_address_that_is_given_wins(tmp_path: Path) -> None:
    assert _seen(tmp_path, BROKER_URL="given") == "ours given ['DATABASE_URL']"


def test_with_a_database_from_outside_nothing_is_filled_in(tmp_path: Path) -> None:
    assert _seen(tmp_path, DATABASE_URL="given") == "given None []"


def test_a_command_beside_up_is_told_every_variable_that_there_is() -> None:
    example = (ROOT / ".env.example").read_text()
    documented = set(re.findall(r"^#?([A-Z_]+)=", example, re.MULTILINE))
    of_compose = {"POSTGRES_PASSWORD", "RABBITMQ_PASSWORD"}
    assert documented - of_compose == {*runtime_env.NAMES, *runtime_env.NOT_SHARED}
