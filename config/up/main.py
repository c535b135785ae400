"""`manage.py up`: the whole service on this machine, until Ctrl-C."""

import argparse
import sys
from pathlib import Path

from config.embedded.postgres import ClusterNotMadeError
from config.embedded.postgres_binaries import NoPostgresError
from config.embedded.privileges import NoUserError
from config.embedded.server import ServerDiedError, ServerSilentError
from config.embedded.valkey import NoValkeyError
from config.up import claim, environment, programs, run

ROOT = Path(__file__).resolve().parent.parent.parent

_EXPLAINED = (
    claim.AlreadyRunningError,
    environment.MissingSecretError,
    programs.BrokerAwayError,
    run.PortTakenError,
    NoPostgresError,
    NoUserError,
    NoValkeyError,
    ClusterNotMadeError,
    ServerDiedError,
    ServerSilentError,
)


def main(arguments: list[str]) -> int:
    """Run until somebody asks for the end; whatever prevents that is said in one sentence.

    Django's settings are not loaded here: they need the secrets and addresses that this makes.
    """
    argparse.ArgumentParser(
        prog="manage.py up",
        description=(
            "Start database and broker (where DATABASE_URL and BROKER_URL are not set), web "
            "server, worker, clock and consumer; keep them running; stop them on Ctrl-C."
        ),
    ).parse_args(arguments)
    var = ROOT / "var"
    try:
        var.mkdir(mode=0o711, exist_ok=True)
        run.run(ROOT, claim.claim(var / "up.lock"))
    except _EXPLAINED as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except OSError as error:
        if error.filename is None:
            raise  # about no file: a fault of ours
        sys.stderr.write(
            f"{error.filename}: {error.strerror}. Data, secrets and addresses are kept in {var}, "
            "where the user who starts this must be able to write.\n"
        )
        return 1
    return 0
