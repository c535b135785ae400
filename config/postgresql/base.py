"""Fail a commit that PostgreSQL reports as done here but not on its synchronous standby.

When the wait for a standby is cancelled, PostgreSQL answers COMMIT with success and a mere
WARNING (SQLSTATE 01000, "canceling wait for synchronous replication"). Taken for success, a
later failover would forget a callback that we had acknowledged.
"""

from typing import Any

import psycopg
from django.db import OperationalError
from django.db.backends.postgresql import base


class CommittedLocallyOnly(OperationalError):
    """The transaction may be lost in a failover; treat its outcome as unknown."""


class DatabaseWrapper(base.DatabaseWrapper):
    """See the module: everything else is Django's."""

    _local_commit_only = False

    def get_new_connection(self, conn_params: dict[str, Any]) -> psycopg.Connection[Any]:
        """A connection whose notices are watched."""
        connection: psycopg.Connection[Any] = super().get_new_connection(conn_params)
        connection.add_notice_handler(self._note)
        return connection

    def _note(self, diagnostic: psycopg.errors.Diagnostic) -> None:
        # psycopg swallows what a handler raises: remember it, and raise after the commit.
        if diagnostic.sqlstate == "01000" and "synchronous replication" in (
            diagnostic.message_primary or ""
        ):
            self._local_commit_only = True

    def _commit(self) -> None:
        self._local_commit_only = False
        super()._commit()  # type: ignore[misc]  # not in the stubs
        if self._local_commit_only:
            raise CommittedLocallyOnly("committed here, but not on the synchronous standby")
