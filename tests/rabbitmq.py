"""A RabbitMQ of the tests' own."""

import functools
import os
import secrets
import shutil
import signal
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

import amqp

from config.embedded.ports import answers, free_port
from config.embedded.server import Server, stop, wait_until_ready
from tests import debian
from tests.rabbitmq_program import (
    NoRabbitmqError,
    docker_works,
    installed_program,
)

_IMAGE = "rabbitmq:4-alpine"
_READY_SECONDS = 90


class Node:
    """One RabbitMQ node with data, cookie, ports and port mapper (epmd) of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._password = secrets.token_urlsafe(24)
        self._port = free_port()
        self.url = f"amqp://paidonce:{self._password}@127.0.0.1:{self._port}/"
        self._running: list[tuple[Server, subprocess.Popen[bytes]]] = []
        self._log = folder / "output.log"

    def start(self) -> None:
        """Return when it answers. The calling thread must live as long as the node shall."""
        debian.install_if_possible("rabbitmq-server", installed_program)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._log.open("ab") as log:
            for server in self._servers():
                process = server.start(log)
                self._running.append((server, process))
                wait_until_ready(server, process, timeout_seconds=_READY_SECONDS)

    def stop(self) -> None:
        while self._running:
            server, process = self._running.pop()
            stop(process, server.stop_signal, grace_seconds=10)

    def kill(self) -> None:
        """End it as a power cut would."""
        for _, process in self._running:
            process.kill()
        self.stop()

    def log(self) -> str:
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def _servers(self) -> list[Server]:
        if program := installed_program():
            return self._local(program)
        if docker_works():
            return [self._container()]
        raise NoRabbitmqError

    def _local(self, program: Path) -> list[Server]:
        mapper_port, distribution_port = free_port(), free_port()
        settings = self._folder / "rabbitmq.conf"
        settings.write_text(
            f"default_user = paidonce\ndefault_pass = {self._password}\n"
            f"listeners.tcp.1 = 127.0.0.1:{self._port}\n"
            # The machine of a developer may be short of both; the tests need little.
            "disk_free_limit.absolute = 20MB\nvm_memory_high_watermark.relative = 0.8\n"
            # More than an event may have, and little enough to go beyond.
            "max_message_size = 2097152\n"
        )
        plugins = self._folder / "enabled_plugins"
        plugins.write_text("[].\n")
        kept = {name: value for name, value in os.environ.items() if "RABBITMQ" not in name}
        env = {
            **kept,
            "HOME": str(self._folder),  # of the cookie
            "ERL_EPMD_PORT": str(mapper_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": f"paidonce-{self._port}@localhost",
            "RABBITMQ_DIST_PORT": str(distribution_port),
            "RABBITMQ_CONFIG_FILE": str(settings),
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(plugins),
            "RABBITMQ_MNESIA_BASE": str(self._folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self._folder / "log"),
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": (
                "+S 2:2 +sbwt none -kernel inet_dist_use_interface {127,0,0,1}"
            ),
            # The script then becomes the Erlang machine instead of standing between it and us.
            "RUNNING_UNDER_SYSTEMD": "true",
        }
        mapper = shutil.which("epmd") or "epmd"
        return [
            # Else the node starts one in the background that outlives everything.
            Server(
                name="epmd",
                command=(mapper, "-port", str(mapper_port), "-address", "127.0.0.1"),
                ready=functools.partial(answers, "127.0.0.1", mapper_port),
                env=env,
            ),
            Server(
                name="rabbitmq",
                command=(str(program),),
                ready=self._ready,
                url=self.url,
                env=env,
                cwd=self._folder,
            ),
        ]

    def _container(self) -> Server:
        return Server(
            name="rabbitmq",
            command=(
                *("docker", "run", "--rm", "--publish", f"127.0.0.1:{self._port}:5672"),
                *("--env", "RABBITMQ_DEFAULT_USER=paidonce"),
                *("--env", f"RABBITMQ_DEFAULT_PASS={self._password}", _IMAGE),
            ),
            ready=self._ready,
            url=self.url,
            stop_signal=signal.SIGTERM,
        )

    def _ready(self) -> bool:
        connection = amqp.Connection(
            f"127.0.0.1:{self._port}",
            userid="paidonce",
            password=self._password,
            connect_timeout=2,
            read_timeout=5,
        )
        try:
            connection.connect()
        except (OSError, amqp.AMQPError):
            return False
        with suppress(OSError, amqp.AMQPError):
            connection.close()
        return True


class Background:
    """A node that comes up beside the tests that do not need it."""

    def __init__(self, folder: Path) -> None:
        self._node = Node(folder)
        self._settled = threading.Event()
        self._finished = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="rabbitmq", daemon=True)

    def start(self) -> None:
        if not self._thread.is_alive():
            self._thread.start()

    def url(self) -> str:
        """Its address, when it answers; raises what went wrong."""
        self.start()
        self._settled.wait()
        if self._failure is not None:
            raise self._failure
        return self._node.url

    def stop(self) -> None:
        self._finished.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        """One thread for its whole life: the kernel ends the node when this thread ends."""
        try:
            self._node.start()
        except Exception as failure:  # noqa: BLE001 - handed to the thread that asks for the node
            failure.add_note(self._node.log()[-4000:])
            self._failure = failure
        self._settled.set()
        self._finished.wait()
        self._node.stop()
