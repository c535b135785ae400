from collections.abc import Callable

import pytest

from idempotency import one_transaction
from idempotency.claims import Mismatch, Replay
from idempotency.lifecycle import Result
from idempotency.models import Record, RecordStatus
from idempotency.one_transaction import Executed, Refused
from orders.models import Merchant
from tests.factories import MerchantFactory
from tests.idempotency.intents import CREATED, an_intent

pytestmark = pytest.mark.django_db(transaction=True)

REFUSED = Result(409, b'{"type": "taken"}')


def creating(code: str = "made") -> Callable[[], Result]:
    def work() -> Result:
        MerchantFactory.create(code=code)
        return CREATED

    return work


def test_the_first_runs_and_every_repeat_gets_its_answer() -> None:
    first = one_transaction.run(an_intent(), creating())
    again = one_transaction.run(an_intent(), creating())

    assert first == Executed(RecordStatus.SUCCEEDED, CREATED)
    assert again == Replay(RecordStatus.SUCCEEDED, CREATED)
    assert Merchant.objects.count() == 1


def test_a_refusal_undoes_what_was_written_and_is_repeated() -> None:
    def refusing() -> Result:
        creating()()
        raise Refused(REFUSED)

    first = one_transaction.run(an_intent(), refusing)
    again = one_transaction.run(an_intent(), creating())

    assert first == Executed(RecordStatus.FAILED_FINAL, REFUSED)
    assert again == Replay(RecordStatus.FAILED_FINAL, REFUSED)
    assert not Merchant.objects.exists()


def test_another_meaning_is_a_mismatch_and_runs_nothing() -> None:
    one_transaction.run(an_intent(), creating())

    assert one_transaction.run(an_intent(meaning=b"B"), creating("other")) == Mismatch()
    assert Merchant.objects.count() == 1


def test_an_unexpected_error_leaves_nothing_and_a_repeat_runs() -> None:
    def failing() -> Result:
        creating()()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        one_transaction.run(an_intent(), failing)

    assert not Record.objects.exists()
    assert not Merchant.objects.exists()
    assert one_transaction.run(an_intent(), creating()) == Executed(RecordStatus.SUCCEEDED, CREATED)


def test_a_key_of_another_tenant_or_another_key_is_another_intent() -> None:
    one_transaction.run(an_intent(), creating("a"))

    other = one_transaction.run(an_intent(tenant="2"), creating("b"))
    second = one_transaction.run(an_intent(key="K"), creating("c"))

    assert isinstance(other, Executed)
    assert isinstance(second, Executed)
    assert Merchant.objects.count() == 3
