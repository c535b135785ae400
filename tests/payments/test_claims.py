"""Claims of payments end: the provider confirms or refutes them, or a person is asked."""

from collections import Counter
from datetime import timedelta

import pytest
from django.test import Client
from structlog.testing import capture_logs

from payments import held
from payments.accounts import find_endpoint
from payments.asking import Reached
from payments.callback import Callback, Kind
from payments.clients.port import VISIBILITY_WINDOW, Answer, PaymentAnswer
from payments.confirmations import confirm_held
from payments.held import TooManyHeld
from payments.models import Confirmation, Conflict, ProviderAccount
from payments.unanswered import HAND_OVER_AFTER, NAMED_MAX, hand_over
from tests.factories import ConfirmationFactory, OrderFactory, ProviderAccountFactory
from tests.payments.refunds.provider_double import ProviderDouble
from tests.payments.telling import NOW, callback, fill, tell_one

pytestmark = pytest.mark.django_db(transaction=True)

DAY = timedelta(days=1)


@pytest.fixture
def account() -> ProviderAccount:
    return ProviderAccountFactory.create(
        provider="mollie_classic", account_no="org_1", secret="unused"
    )


def reach(provider: ProviderDouble, *accounts: ProviderAccount) -> dict[int, Reached]:
    found = {}
    for account in accounts:
        endpoint = find_endpoint(account.provider, account.name)
        assert endpoint is not None
        found[account.pk] = Reached(endpoint=endpoint, client=lambda: provider)
    return found


def claim(account: ProviderAccount, txn_no: str = "tr_1") -> Confirmation:
    return ConfirmationFactory.create(account=account, txn_no=txn_no, waiting_since=NOW)


def said(answer: Answer, raw: bytes = b'{"status": "expired"}') -> PaymentAnswer:
    told = callback(Kind.CLOSED, txn_no="tr_1") if answer is Answer.REFUSED else None
    return PaymentAnswer(answer=answer, callback=told, raw=raw, why="" if told else "HTTP 404")


def test_what_will_never_be_paid_is_refuted_at_once_with_the_answer(
    account: ProviderAccount,
) -> None:
    claim(account)
    provider = ProviderDouble(payments={"tr_1": said(Answer.REFUSED)})

    assert confirm_held(reach(provider, account), now=NOW) == {"REFUSED": 1}

    ended = Confirmation.objects.get()
    assert (ended.status, ended.refuted_at) == ("REFUTED", NOW)
    assert bytes(ended.evidence or b"") == b'{"status": "expired"}'
    assert ended.why == f"the provider says {callback(Kind.CLOSED).event_type}"
    assert confirm_held(reach(provider, account), now=NOW + 9 * DAY) == {}


def test_what_is_not_found_is_refuted_only_when_it_would_be_shown(
    account: ProviderAccount,
) -> None:
    claim(account)
    provider = ProviderDouble(payments={"tr_1": said(Answer.NOT_FOUND, b"no such payment")})
    reachable = reach(provider, account)

    confirm_held(reachable, now=NOW + VISIBILITY_WINDOW - timedelta(seconds=1))
    assert Confirmation.objects.get().status == "WAITING"
    confirm_held(reachable, now=NOW + 2 * VISIBILITY_WINDOW)

    ended = Confirmation.objects.get()
    assert (ended.status, ended.why) == ("REFUTED", "HTTP 404")
    assert bytes(ended.evidence or b"") == b"no such payment"


def test_a_refuted_claim_that_is_told_again_waits_and_can_be_confirmed() -> None:
    account: ProviderAccount = ProviderAccountFactory.create(confirm=True)
    order = OrderFactory.create(merchant=account.merchant, order_no="1001")
    told = callback(txn_no="tr_1")
    tell_one(account, told)
    provider = ProviderDouble(payments={"tr_1": said(Answer.REFUSED)})
    confirm_held(reach(provider, account), now=NOW)
    assert Confirmation.objects.get().status == "REFUTED"

    tell_one(account, told)
    again = Confirmation.objects.get()
    assert (again.status, again.refuted_at, again.told_count) == ("WAITING", None, 2)
    provider.payments["tr_1"] = PaymentAnswer(answer=Answer.SUCCEEDED, callback=told)
    confirm_held(reach(provider, account), now=NOW + DAY)

    order.refresh_from_db()
    assert (order.status, Confirmation.objects.get().status) == ("PAID", "CONFIRMED")


def test_what_nobody_can_be_asked_about_is_handed_to_a_person_once_a_day(
    account: ProviderAccount,
) -> None:
    for number in range(NAMED_MAX + 5):
        claim(account, f"tr_{number:02}")
    other: ProviderAccount = ProviderAccountFactory.create()
    claim(other)

    assert hand_over(now=NOW + HAND_OVER_AFTER - timedelta(seconds=1)) == 0
    assert hand_over(now=NOW + HAND_OVER_AFTER) == NAMED_MAX + 6

    assert Counter(Conflict.objects.values_list("reason", "merchant_id")) == {
        ("UNCONFIRMED_PAYMENTS", account.merchant_id): 1,
        ("UNCONFIRMED_PAYMENTS", other.merchant_id): 1,
    }
    question = Conflict.objects.get(merchant=account.merchant)
    assert question.received["claims"] == NAMED_MAX + 5
    assert len(question.received["transactions"].split(", ")) == NAMED_MAX
    assert question.received["why"] == "nobody could be asked"
    assert set(Confirmation.objects.values_list("status", flat=True)) == {"UNANSWERED"}

    claim(account, "tr_late")
    later = NOW + HAND_OVER_AFTER + timedelta(hours=1)
    assert hand_over(now=later) == 0, "today's question is asked"
    assert hand_over(now=later + DAY) == 1
    assert Conflict.objects.filter(merchant=account.merchant).count() == 2


def test_asking_goes_on_about_what_a_person_was_asked(account: ProviderAccount) -> None:
    claim(account)
    provider = ProviderDouble(is_down=True)
    confirm_held(reach(provider, account), now=NOW)
    hand_over(now=NOW + DAY)
    assert Confirmation.objects.get().status == "UNANSWERED"

    provider.is_down = False
    provider.payments["tr_1"] = PaymentAnswer(
        answer=Answer.SUCCEEDED, callback=callback(txn_no="tr_1")
    )
    assert confirm_held(reach(provider, account), now=NOW + 2 * DAY) == {"SUCCEEDED": 1}
    assert Confirmation.objects.get().status == "CONFIRMED"


def test_a_flooded_account_starves_no_other(account: ProviderAccount) -> None:
    for number in range(30):
        ConfirmationFactory.create(account=account, txn_no=f"tr_{number}")
    quiet: ProviderAccount = ProviderAccountFactory.create()
    ConfirmationFactory.create(account=quiet, txn_no="pi_1", waiting_since=NOW)
    provider = ProviderDouble()

    confirm_held(reach(provider, account, quiet), now=NOW, budget=4)

    assert provider.questions["pi_1"] == 1
    assert sum(provider.questions.values()) == 4


def hint(account: ProviderAccount, number: str) -> tuple[int, str | None]:
    answer = Client().post(
        f"/callbacks/mollie_classic/{account.name}",
        f"id={number}",
        content_type="application/x-www-form-urlencoded",
    )
    return answer.status_code, answer.headers.get("Retry-After")


def test_too_many_hints_are_refused_clearly_and_for_their_own_account_only(
    account: ProviderAccount,
) -> None:
    other: ProviderAccount = ProviderAccountFactory.create(
        provider="mollie_classic", account_no="org_2", secret="unused"
    )
    fill(account)
    with capture_logs() as logs:
        assert hint(account, "tr_new") == (503, "5")
    failures = [line for line in logs if line["event"] == "callback not stored"]
    assert len(failures) == 1
    assert failures[0]["error"] == TooManyHeld.__name__
    assert "exc_info" not in failures[0]
    assert hint(other, "tr_new") == (200, None)

    Confirmation.objects.filter(account=account, txn_no="tr_waits1").update(status="UNANSWERED")
    assert hint(account, "tr_new") == (200, None), "what has ended makes room"


def test_reopening_a_refuted_hint_needs_room_as_well(account: ProviderAccount) -> None:
    def hold(txn_no: str, limit: int) -> object:
        told = Callback(event_id="e", event_type="tr", kind=Kind.PAID, txn_no=txn_no)
        return held.hold(
            told,
            account_id=account.pk,
            merchant_id=account.merchant_id,
            now=NOW,
            limit=limit,
        )

    hold("tr_1", 1)
    Confirmation.objects.update(status="REFUTED", refuted_at=NOW)
    hold("tr_2", 1)
    with pytest.raises(TooManyHeld):
        hold("tr_1", 1)
