"""Compose file, image and example environment, held against the sources and run without docker."""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from config import runtime_env
from config.embedded import launch
from config.embedded.ports import free_port
from config.embedded.server import end_session
from tests.processes import ROOT, environment

_COMPOSE = ROOT / "docker-compose.yml"
_SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(_COMPOSE.read_text())["services"]
_OURS = [name for name, service in _SERVICES.items() if "build" in service]
_BIN = Path(sys.executable).parent


def test_the_compose_file_agrees_with_the_schema_of_compose_files() -> None:
    checked = subprocess.run(
        [_BIN / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", _COMPOSE],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("name", _SERVICES)
def test_what_a_service_waits_for_exists_and_can_be_waited_for(name: str) -> None:
    for other, how in _SERVICES[name].get("depends_on", {}).items():
        if how["condition"] == "service_healthy":
            assert "healthcheck" in _SERVICES[other], other
        else:
            assert how["condition"] == "service_completed_successfully"
            assert _SERVICES[other]["restart"] == "no"


@pytest.mark.parametrize("name", _SERVICES)
def test_every_volume_of_a_service_is_declared(name: str) -> None:
    declared = yaml.safe_load(_COMPOSE.read_text())["volumes"]
    for volume in _SERVICES[name].get("volumes", []):
        assert volume.partition(":")[0] in declared


@pytest.mark.parametrize("name", _SERVICES)
def test_every_service_gives_up_the_privileges_it_does_not_need(name: str) -> None:
    service = _SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in service
    if name in _OURS:
        assert service["read_only"] is True
        assert "cap_add" not in service


def test_only_the_web_server_is_published_and_only_to_this_machine() -> None:
    published = {
        name: service["ports"] for name, service in _SERVICES.items() if "ports" in service
    }
    assert published == {"web": ["127.0.0.1:${PORT:-8000}:8000"]}


def test_no_secret_of_the_compose_file_has_a_default() -> None:
    text = _COMPOSE.read_text()
    for name in ("SECRET_KEY", "VAULT_KEYS", "POSTGRES_PASSWORD", "RABBITMQ_PASSWORD"):
        uses = re.findall(rf"\$\{{{name}[^}}]*\}}", text)
        assert uses
        assert set(uses) == {f"${{{name}:?set {name} in .env}}"}


def test_the_example_names_exactly_the_variables_that_are_read() -> None:
    settings = (ROOT / "config" / "settings.py").read_text()
    read = set(re.findall(r"(?:env|variables)\.\w+\(\s*[\"']([A-Z_]+)", settings))
    compose = set(re.findall(r"\$\{([A-Z_]+)", _COMPOSE.read_text()))
    example = set(re.findall(r"^#?([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    assert example == read | compose


@pytest.mark.parametrize("name", _OURS)
def test_a_variable_of_the_env_file_reaches_every_service(name: str) -> None:
    of_make_run = {"PORT", "SIMULATOR_PORT"}
    wanted = {*runtime_env.NAMES, "LOG_LEVEL"} - of_make_run
    assert set(_SERVICES[name]["environment"]) == wanted


def test_the_image_holds_every_package_of_the_service_and_runs_as_nobody_in_particular() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {
        "bench",
        "oracle",
        "tests",
    }
    copied = {line.split()[1] for line in lines if re.match(r"COPY (\w+) \1$", line)}
    assert copied == packages
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert packages <= {line.removeprefix("!") for line in ignored if line.startswith("!")}
    assert "USER 10001:10001" in lines


@contextmanager
def _run(name: str, env: Mapping[str, str], port: int, log: Path) -> Iterator[Any]:
    """Run a service's command here: its port and its folder of passing files are ours."""
    command = [_here(word, port, log.parent) for word in _SERVICES[name]["command"]]
    with log.open("wb") as output:
        process = launch.start([_BIN / command[0], *command[1:]], env=env, cwd=ROOT, output=output)
    yield process
    end_session(process)


def _here(word: str, port: int, folder: Path) -> str:
    word = word.replace("8000", str(port)).replace("0.0.0.0", "127.0.0.1")  # noqa: S104
    return word.replace("/tmp", str(folder)).replace("$$", "$")  # noqa: S108


def _healthy(name: str, env: Mapping[str, str], port: int, folder: Path) -> bool:
    kind, *words = _SERVICES[name]["healthcheck"]["test"]
    words = [_here(word, port, folder) for word in words]
    command = ["sh", "-c", *words] if kind == "CMD-SHELL" else words
    asked = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, check=False)
    return asked.returncode == 0


@pytest.fixture
def compose_environment(transactional_db: None, rabbitmq_url: str) -> dict[str, str]:
    """What the compose file tells its services, with the addresses of the tests' servers."""
    told = dict.fromkeys(_SERVICES["web"]["environment"], "")
    ours = environment(
        BROKER_URL=rabbitmq_url,
        AMQP_URL=rabbitmq_url,
        PATH=f"{_BIN}:{os.environ['PATH']}",
        ALLOWED_HOSTS="localhost,127.0.0.1",
        PUBLIC_URL="http://127.0.0.1:8000",
        TRUSTED_PROXY="false",
        HTTPS_ONLY="false",
        LOG_LEVEL="INFO",
    )
    # Besides these a process of a container has next to nothing.
    kept = ("PATH", "HOME", "LANG")
    return {name: ours[name] for name in (*told, *kept) if name in ours}


@pytest.mark.parametrize("name", [name for name in _OURS if "healthcheck" in _SERVICES[name]])
def test_a_service_becomes_healthy_by_its_own_command_and_check(
    name: str, compose_environment: dict[str, str], tmp_path: Path
) -> None:
    port, log = free_port(), tmp_path / "log"
    with _run(name, compose_environment, port, log) as process:
        deadline = time.monotonic() + 60
        while not _healthy(name, compose_environment, port, tmp_path):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)


def test_the_migration_of_the_compose_file_ends_well(
    compose_environment: dict[str, str], tmp_path: Path
) -> None:
    with _run("migrate", compose_environment, free_port(), tmp_path / "log") as process:
        assert process.wait(60) == 0, (tmp_path / "log").read_text()


def test_the_worker_that_is_checked_is_the_one_that_runs() -> None:
    command = _SERVICES["worker"]["command"]
    named = command[command.index("--hostname") + 1].replace("%h", socket.gethostname())
    hostname = subprocess.run(["hostname"], capture_output=True, text=True, check=True)
    [check] = _SERVICES["worker"]["healthcheck"]["test"][1:]
    assert named in check.replace("$$(hostname)", hostname.stdout.strip())
