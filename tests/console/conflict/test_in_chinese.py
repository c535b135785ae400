"""What the domain tells a reader of Chinese is Chinese; what is kept of it is English."""

import json

import pytest
from django.test import Client
from django.utils import translation

from audit.models import AuditEntry
from payments.conflicts import consequences, fitting, proposals, refusals, seen
from payments.conflicts.facts import Facts
from payments.conflicts.seen import Change
from payments.models import Proposal, ProviderAccount, ProviderTransaction, Resolution
from payments.saying import in_english, says
from tests.console.conflict.conftest import someone
from tests.console.conflict.filling import address, filled, said
from tests.console.rooms import list_of, page_of
from tests.factories import AccountKeyFactory, ProviderAccountFactory
from tests.payments.conflicts import deciding
from tests.payments.conflicts.test_resolve import EFFECTS, MATCH, STATES
from tests.payments.telling import callback, tell_one

pytestmark = pytest.mark.django_db

REFUND = Resolution.REFUND
TOLD = "10.99 USD of txn_A go back to the payer through stripe/main; order 1001 does not move."
IN_CHINESE = "txn_A 中的 10.99 USD 将经 stripe/main 退回付款人"


@pytest.fixture
def account(db: None) -> ProviderAccount:
    """Of a merchant without a policy: every decision about money takes two people."""
    account = ProviderAccountFactory.create(name="main")
    AccountKeyFactory.create(account=account, purpose="api", secret="sk_live_tests_only")
    return account


def reading_chinese(name: str, *roles: str) -> Client:
    client = someone(name, *roles)
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "zh-CN"
    return client


def kept() -> str:
    """All that the audit keeps."""
    entries = AuditEntry.objects.values_list("before", "after", "why")
    return json.dumps(list(entries), ensure_ascii=False)


def test_a_proposal_is_kept_in_english_and_its_digest_is_nobodys_own(
    account: ProviderAccount,
) -> None:
    anna, bob = reading_chinese("anna", "reviewer"), someone("bob", "approver")
    conflict = deciding.late(account)
    anna.post(address(conflict, REFUND), filled(anna, conflict, REFUND))

    proposal = Proposal.objects.get()
    assert proposal.consequence == TOLD
    with translation.override("zh-hans"):
        assert proposal.digest == proposals.digest_of(proposal)
    assert kept().isascii()
    for page in (page_of(conflict), page_of(proposal), list_of(Proposal)):
        assert IN_CHINESE in anna.get(page).content.decode(), page
        assert TOLD in bob.get(page).content.decode(), page


def test_what_would_do_something_else_by_now_is_told_as_it_is_kept(
    account: ProviderAccount,
) -> None:
    anna = reading_chinese("anna", "reviewer")
    conflict = deciding.late(account)
    anna.post(address(conflict, REFUND), filled(anna, conflict, REFUND))
    ProviderTransaction.objects.update(refund_reserved_minor=1)

    assert TOLD in anna.get(list_of(Proposal)).content.decode()


def test_a_second_decision_is_refused_in_chinese(account: ProviderAccount) -> None:
    deciding.alone_up_to(account.merchant)
    anna = reading_chinese("anna", "reviewer")
    conflict = deciding.late(account)
    form = filled(anna, conflict, REFUND)
    anna.post(address(conflict, REFUND), form)

    again = anna.post(address(conflict, REFUND), form)

    assert "没有任何更改" in said(again)
    assert "anna 已于" in said(again)
    assert kept().isascii()


def test_a_refusal_is_told_in_chinese_and_kept_in_english(account: ProviderAccount) -> None:
    anna = reading_chinese("anna", "reviewer")
    conflict = deciding.mismatch(account)
    form = filled(anna, conflict, REFUND)
    tell_one(account, callback(txn_no="txn_right"))

    answer = anna.post(address(conflict, REFUND), form | {"why": "x"})

    assert "您所看到的内容已有变动" in answer.content.decode()
    assert "conflict.refused" in AuditEntry.objects.values_list("action", flat=True)
    assert kept().isascii()


@pytest.mark.parametrize("state", STATES)
def test_every_consequence_and_hindrance_is_the_same_in_english_whoever_reads(
    account: ProviderAccount, state: str
) -> None:
    facts = seen.look(STATES[state][0](account).pk).facts
    for how in Resolution:
        with translation.override("en"):
            english = _told(how, facts)
        with translation.override("zh-hans"):
            chinese = _told(how, facts)
        assert [in_english(sentence) for sentence in chinese] == english
        for ours, theirs in zip(english, chinese, strict=True):
            assert not ours or theirs != ours


def _told(how: Resolution, facts: Facts) -> list[str]:
    return [fitting.why_not(how, facts), consequences.CONSEQUENCES[how](facts)]


def test_sentences_within_sentences_are_english_too() -> None:
    with translation.override("zh-hans"):
        moved = refusals.Moved([Change("order.status", "WAIT_PAY", "PAID")])
        within = says("%(account)s: %(why)s.", account="a", why=says("the account is not active"))

    assert "order.status 原为 WAIT_PAY" in str(moved)
    assert moved.kept == "It has moved since: order.status was WAIT_PAY and is PAID."
    assert in_english(within) == "a: the account is not active."


@pytest.mark.parametrize("how", EFFECTS)
def test_how_it_ended_is_told_in_chinese_and_kept_in_english(
    account: ProviderAccount, how: Resolution
) -> None:
    deciding.alone_up_to(account.merchant)
    make = next(make for make, fitting in STATES.values() if how in fitting)
    conflict = make(account)
    deciding.payable_by(account, conflict)
    named = {"order_no": "2002"} if how is MATCH else {}
    anna = reading_chinese("anna", "reviewer")

    answer = anna.post(address(conflict, how), filled(anna, conflict, how, **named))

    conflict.refresh_from_db()
    assert conflict.decision == how
    assert conflict.resolution.isascii()
    assert conflict.resolution not in said(answer)
    assert conflict.resolution not in anna.get(page_of(conflict)).content.decode()
    assert kept().isascii()
