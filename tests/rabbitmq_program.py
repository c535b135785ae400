"""Where the tests get RabbitMQ from: installed, else Debian's package, else a container."""

import shutil
import subprocess
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


def docker_works() -> bool:
    if not shutil.which("docker"):
        return False
    asked = subprocess.run(["docker", "info"], capture_output=True, check=False, timeout=20)
    return asked.returncode == 0
