"""A web server with a database of its own, which a test may take away, fill up or deceive."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, LiteralString
from urllib.parse import urlsplit

import psycopg

from config.embedded import postgres
from payments import vault
from payments.models import ProviderAccount
from tests import processes
from tests.factories import STRIPE_SECRET
from tests.payments.over_http import number
from tests.postgres_proxy import PostgresProxy
from tests.server_control import ServerControl, ServerProcess

#: The service's role: unlike the owner of the cluster it is bound by limits.
ROLE = "service"
TIMEOUTS = {"DATABASE_STATEMENT_TIMEOUT_MS": "1500", "DATABASE_LOCK_TIMEOUT_MS": "700"}


class PrivateService:
    """The database as its administrator sees it, and the web server that uses it."""

    def __init__(self, database: ServerControl) -> None:
        self.database = database
        parts = urlsplit(database.url)
        assert parts.port
        self.proxy = PostgresProxy(parts.port)
        password = parts.password
        self.direct_url = f"postgres://{ROLE}:{password}@127.0.0.1:{parts.port}{parts.path}"
        self.proxied_url = f"postgres://{ROLE}:{password}@127.0.0.1:{self.proxy.port}{parts.path}"
        self.account = ProviderAccount(provider="stripe", name="main")
        self.administer(f"CREATE ROLE {ROLE} LOGIN PASSWORD '{password}'")
        self.administer(f"ALTER DATABASE {parts.path[1:]} OWNER TO {ROLE}")
        self.manage("migrate", "--verbosity", "0")
        self.administer(_MERCHANT_SQL)
        self.administer(_ACCOUNT_SQL)
        self.administer(_KEY_SQL, vault.seal(STRIPE_SECRET.encode()))
        self.web: processes.Web

    def administer(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Run one statement as the owner of the cluster, past the proxy and every limit."""
        with psycopg.connect(self.database.url, autocommit=True) as session:
            statement: LiteralString = sql
            cursor = session.execute(statement, parameters or None)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def altered(self, change: str, back: str) -> Iterator[None]:
        """Change something for the duration, also for those who are connected already."""
        self.administer(change)
        self.end_sessions()
        try:
            yield
        finally:
            self.administer(back)
            self.end_sessions()

    def configure(self, setting: str) -> None:
        """Set one of the server's own settings; returns when new statements go by it."""
        self.administer(f"ALTER SYSTEM SET {setting}")
        self.administer("SELECT pg_reload_conf()")
        # A session takes the new configuration in between statements, and soon after the signal.
        name, _, value = setting.partition(" = ")
        deadline = time.monotonic() + 10
        while self.administer(f"SHOW {name}") != [(value,)]:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        self.end_sessions()

    def end_sessions(self) -> None:
        self.administer(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = %s", ROLE
        )

    def order(self) -> str:
        """A new order of 10.99 USD; its number."""
        order_no = f"P-{number()}"
        self.administer(_ORDER_SQL, order_no)
        return order_no

    def outcomes(self, order_no: str) -> list[str]:
        """What became of the deliveries for an order, and of the order."""
        return [
            str(row[0])
            for row in self.administer(
                "(SELECT outcome FROM payments_delivery WHERE order_no = %s ORDER BY id)"
                " UNION ALL SELECT status FROM orders_order WHERE order_no = %s"
                " UNION ALL SELECT type FROM outbox_event WHERE aggregate_id = 'private/' || %s",
                *[order_no] * 3,
            )
        ]

    def manage(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command of manage.py on this database."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=processes.ROOT,
            env=processes.environment() | {"DATABASE_URL": self.direct_url} | variables,
            capture_output=True,
            text=True,
            timeout=180,  # On a busy machine all migrations take a while.
            check=False,
        )


def private_service(folder: Path) -> Iterator[PrivateService]:
    """Run database and web server until the tests are over."""
    database = ServerProcess(
        postgres.prepare(folder / "postgres", max_wal_size="64MB"), folder / "postgres.log"
    )
    database.start()
    service = PrivateService(database)
    for web in processes.web(DATABASE_URL=service.proxied_url, **TIMEOUTS):
        service.web = web
        yield service
    service.proxy.close()
    database.stop()


_MERCHANT_SQL = (
    "INSERT INTO orders_merchant (code, name, active) VALUES ('private', 'A shop', true)"
)
_ACCOUNT_SQL = """
    INSERT INTO payments_provideraccount
           (merchant_id, provider, name, account_no, live, settings, active)
    SELECT id, 'stripe', 'main', 'acct_1', true, '{}', true FROM orders_merchant
"""
_KEY_SQL = """
    INSERT INTO payments_accountkey (account_id, purpose, key_id, material)
    SELECT id, 'signature', 'first', %s FROM payments_provideraccount
"""
_ORDER_SQL = """
    INSERT INTO orders_order (merchant_id, order_no, amount_minor, currency, status,
                              payable_through, paid_txn_no, refunded_minor, version, created_at)
    SELECT id, %s, 1099, 'USD', 'WAIT_PAY', '', '', 0, 0, now() FROM orders_merchant
"""
