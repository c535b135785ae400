"""Where the tests get RabbitMQ from: installed, else Debian's package, else a container."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

_FOLDERS = (Path("/usr/lib/rabbitmq/bin"), Path("/opt/homebrew/sbin"), Path("/usr/local/sbin"))


class NoRabbitmqError(RuntimeError):
    """This machine has no RabbitMQ and no way to get one."""

    def __str__(self) -> str:
        return (
            "The tests need a RabbitMQ and found none. Give the address of one in AMQP_URL "
            "(amqp://user:password@host:5672/), or install the package rabbitmq-server, or start "
            "docker. As root on Debian or Ubuntu the tests install it themselves, which failed "
            "or was not possible here."
        )


def installed_program() -> Path | None:
    for folder in _FOLDERS:
        if (folder / "rabbitmq-server").exists():
            return folder / "rabbitmq-server"
    found = shutil.which("rabbitmq-server")
    return Path(found) if found else None


def install_if_possible() -> None:
    """Install Debian's package if there is none and we are root; its service is not started."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    # Several processes may share out the tests; a program that is half installed is there, too.
    with (Path(tempfile.gettempdir()) / "paidonce-tests-rabbitmq.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not installed_program():
            _install()


def _install() -> None:
    policy = Path("/usr/sbin/policy-rc.d")
    ours = not policy.exists()
    if ours:
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    apt = ["apt-get", "-o", "DPkg::Lock::Timeout=120", "-qq"]
    try:
        # Whether it worked shows in whether the program is there.
        for words in (["update"], ["install", "-y", "--no-install-recommends", "rabbitmq-server"]):
            subprocess.run(
                [*apt, *words], env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False
            )
    finally:
        if ours:
            policy.unlink()


def docker_works() -> bool:
    if not shutil.which("docker"):
        return False
    asked = subprocess.run(["docker", "info"], capture_output=True, check=False, timeout=20)
    return asked.returncode == 0
