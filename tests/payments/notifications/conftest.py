from collections.abc import Iterator

import pytest
from pytest_django import Settings

from tests.outbox.webhooks.receiver import Receiver
from tests.outbox.webhooks.receiver import running as receiver_running
from tests.payments.notifications.mail_server import MailServer
from tests.payments.notifications.mail_server import running as mail_server_running


@pytest.fixture(autouse=True)
def _this_machine(settings: Settings) -> None:
    settings.OUTBOX_WEBHOOK_ALLOW_PRIVATE = True
    settings.PUBLIC_URL = "https://pay.example.org"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Where webhooks and chats are."""
    with receiver_running(Receiver()) as server:
        yield server


@pytest.fixture
def mail_server(settings: Settings) -> Iterator[MailServer]:
    """Where mail goes, spoken to as in production."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    with mail_server_running() as server:
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
        settings.EMAIL_HOST_USER = ""
        yield server
