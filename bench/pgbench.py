"""The yardstick: what the same database commits when nothing but C asks it to."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.db import connection

from bench.placed import Numbers
from config.embedded import postgres_binaries

_RATE: Final = re.compile(r"^tps = ([0-9.]+) ", re.MULTILINE)
_LATENCY: Final = re.compile(r"^latency average = ([0-9.]+) ms", re.MULTILINE)
_DONE: Final = re.compile(r"^number of transactions actually processed: (\d+)/(\d+)", re.MULTILINE)


class PgbenchFailed(RuntimeError):
    """pgbench did not do what it was asked; the message has its words."""


@dataclass(frozen=True, kw_only=True)
class Committed:
    """What a run of pgbench gave."""

    per_second: float
    latency_ms: float


def run(script: Path, numbers: Numbers, *, clients: int, protocol: str) -> Committed:
    """Commit the script once for each of these orders; their count must divide by `clients`.

    Raises PgbenchFailed, NoPostgresError.
    """
    settings = connection.settings_dict
    variables = {"first": numbers.first, "clients": clients, "n": -1}
    command = [
        str(postgres_binaries.find(major=None) / "pgbench"),
        *("--no-vacuum", "--file", str(script), "--protocol", protocol),
        *("--client", str(clients), "--jobs", str(min(clients, os.cpu_count() or 1))),
        *("--transactions", str(numbers.count // clients)),
        *(word for name, value in variables.items() for word in ("--define", f"{name}={value}")),
    ]
    done = subprocess.run(
        command,
        env={
            "PGHOST": settings["HOST"],
            "PGPORT": str(settings["PORT"]),
            "PGUSER": settings["USER"],
            "PGPASSWORD": settings["PASSWORD"],
            "PGDATABASE": settings["NAME"],
            # The timeouts cost something too: both sides have the same.
            "PGOPTIONS": settings["OPTIONS"]["options"],
        },
        capture_output=True,
        text=True,
        check=False,
    )
    rate, latency = _RATE.search(done.stdout), _LATENCY.search(done.stdout)
    count = _DONE.search(done.stdout)
    if done.returncode or not (rate and latency and count) or count[1] != count[2]:
        raise PgbenchFailed(f"{done.stdout}\n{done.stderr}".strip()[-2000:])
    return Committed(per_second=float(rate[1]), latency_ms=float(latency[1]))
