"""Two reviewers send their forms at the same moment: one thing is done, the other is told."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection
from django.test import Client

from audit.models import AuditEntry
from outbox.models import Event
from payments.models import Conflict, ProviderAccount, Resolution
from tests.console.conflict.conftest import someone
from tests.console.conflict.filling import address, filled, said
from tests.invariants import assert_books_balance
from tests.payments.conflicts import deciding

ANSWERS = (Resolution.ACCEPT, Resolution.REFUND, Resolution.REFUND, Resolution.NOT_OURS)


@pytest.mark.django_db(transaction=True)
def test_of_forms_sent_at_the_same_moment_one_is_carried_out(
    transactional_db: None, account: ProviderAccount
) -> None:
    conflict = deciding.late(account)
    people = [someone(f"reviewer-{n}", "reviewer") for n in range(len(ANSWERS))]
    forms = [filled(who, conflict, how) for who, how in zip(people, ANSWERS, strict=True)]
    together = Barrier(len(ANSWERS))

    def send(n: int) -> str:
        client: Client = people[n]
        together.wait()
        try:
            return said(client.post(address(conflict, ANSWERS[n]), forms[n]))
        finally:
            connection.close()

    with ThreadPoolExecutor(len(ANSWERS)) as threads:
        told = list(threads.map(send, range(len(ANSWERS))))

    done = [n for n, words in enumerate(told) if words.startswith("Decided: ")]
    assert len(done) == 1, told
    assert sum("decided it at" in words for words in told) == len(ANSWERS) - 1
    decided = Conflict.objects.get()
    assert decided.decision == ANSWERS[done[0]]
    assert AuditEntry.objects.filter(action="conflict.resolved").count() == 1
    assert AuditEntry.objects.filter(action="conflict.refused").count() == len(ANSWERS) - 1
    assert Event.objects.filter(type="conflict.resolved").count() == 1
    assert_books_balance()
