"""The web server's entry. It refuses unsafe settings, but starts while the database is away."""

import os

import structlog
from django.core.wsgi import get_wsgi_application
from django.db import Error, connection

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()

from config import preflight  # noqa: E402 - needs the settings

preflight.refuse_unsafe_settings()
try:
    preflight.refuse_unsafe_database()
except Error as error:
    structlog.get_logger(__name__).warning("database away at start", error=type(error).__name__)
finally:
    # The server may fork after this import, and a connection must not be shared.
    connection.close()
