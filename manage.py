#!/usr/bin/env python
"""Run one of the service's commands; `python manage.py help` lists them."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if sys.argv[1:2] == ["up"]:
        # Before the settings: they need the secrets and addresses that this makes.
        from config.up.main import main as up

        sys.exit(up(sys.argv[2:]))
    if sys.argv[1:2] == ["migrate"]:
        # Schema changes may rightly take longer than any statement of the running service.
        os.environ.setdefault("DATABASE_STATEMENT_TIMEOUT_MS", "0")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
