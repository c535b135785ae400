#!/usr/bin/env python
"""Run one of the service's commands; `python manage.py help` lists them."""

import importlib.util
import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if importlib.util.find_spec("django") is None:
        sys.exit("This Python has no Django. `make setup`, then: .venv/bin/python manage.py ...")
    if sys.argv[1:2] == ["up"]:
        # Before the settings: they need the secrets and addresses that this makes.
        from config.up.main import main as up

        sys.exit(up(sys.argv[2:]))
    if sys.argv[1:2] == ["migrate"]:
        # Schema changes may rightly take longer than any statement of the running service.
        os.environ.setdefault("DATABASE_STATEMENT_TIMEOUT_MS", "0")
    _run(sys.argv)


def _run(argv: list[str]) -> None:
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    try:
        execute_from_command_line(argv)
    except (ImproperlyConfigured, OperationalError) as error:
        # What is wrong is around the code, not in it: its message says more than a stack trace.
        if "--traceback" in argv:
            raise
        sys.exit(f"{type(error).__name__}: {error}")
    except BrokenPipeError:
        # The reader, `head` for example, has had enough. Python would complain again at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
