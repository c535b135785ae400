"""A provider whose work outlives a transaction."""

from collections.abc import Callable
from datetime import timedelta

from django.db import connection

from idempotency import leased
from idempotency.keys import Intent
from idempotency.leased import Finding, Finished, RetryWithSameKey
from idempotency.lifecycle import Claim
from idempotency.models import RecordStatus
from tests.idempotency.intents import CREATED, an_intent

NO_TIME = timedelta(0)
SUCCEEDED = Finished(RecordStatus.SUCCEEDED, CREATED)


class Provider:
    """Somebody else's ledger: what it executed, under which key; it may lose its replies."""

    def __init__(self) -> None:
        self.executed: list[str] = []
        self.asked = 0
        self.finding: Finding = SUCCEEDED

    def work(self, intent: Intent, _claim: Claim) -> Finding:
        assert not connection.in_atomic_block
        self.executed.append(intent.key)
        return self.finding

    def lose_the_reply(self, intent: Intent, _claim: Claim) -> Finding:
        self.executed.append(intent.key)
        raise TimeoutError

    def recover(self, intent: Intent, _claim: Claim) -> Finding | RetryWithSameKey:
        assert not connection.in_atomic_block
        self.asked += 1
        return SUCCEEDED if intent.key in self.executed else RetryWithSameKey()

    def run(
        self,
        intent: Intent | None = None,
        *,
        work: leased.Work | None = None,
        lease: timedelta = NO_TIME,
        prepare: Callable[[Claim], None] = leased.nothing,
    ) -> leased.Outcome:
        return leased.run(
            intent or an_intent(),
            work=work or self.work,
            recover=self.recover,
            lease=lease,
            prepare=prepare,
        )
