"""Which keys verify, which may be retired, and which are not known."""

from datetime import datetime, timedelta
from io import StringIO

import pytest
from django.core.management import call_command

from payments import key_use
from payments.accounts import Endpoint, find_endpoint
from payments.key_changes import add_key
from payments.key_report import report
from payments.models import AccountKey, Conflict, ProviderAccount, UnknownKeySighting
from payments.providers.port import Key
from tests.factories import AccountKeyFactory, ProviderAccountFactory
from tests.payments.telling import NOW

pytestmark = pytest.mark.django_db(transaction=True)

DAY = timedelta(days=1)


@pytest.fixture
def account() -> ProviderAccount:
    return ProviderAccountFactory.create()


def endpoint_of(account: ProviderAccount) -> Endpoint:
    endpoint = find_endpoint(account.provider, account.name)
    assert endpoint is not None
    return endpoint


def key_of(account: ProviderAccount, *, made: datetime, used: datetime | None) -> AccountKey:
    key = AccountKeyFactory.create(account=account)
    AccountKey.objects.filter(pk=key.pk).update(created_at=made, last_used_at=used)
    return key


def test_a_use_is_noted_to_the_minute(account: ProviderAccount) -> None:
    endpoint, key = endpoint_of(account), account.keys.get()
    seen = []
    for seconds in (0, 30, 61):
        key_use.verified(endpoint, key.key_id, now=NOW + timedelta(seconds=seconds))
        key.refresh_from_db()
        seen.append(key.last_used_at)

    assert seen == [NOW, NOW, NOW + timedelta(seconds=61)]


def test_an_older_use_told_late_changes_nothing(account: ProviderAccount) -> None:
    key = account.keys.get()
    AccountKey.objects.filter(pk=key.pk).update(last_used_at=NOW)
    key_use.verified(endpoint_of(account), key.key_id, now=NOW - DAY)

    key.refresh_from_db()
    assert key.last_used_at == NOW


STORIES = {
    "a newer key works and the old one is quiet": (NOW - 8 * DAY, NOW - 9 * DAY, NOW, "safe"),
    "the old one was used lately": (NOW - DAY, NOW - 9 * DAY, NOW, "keep: used within"),
    "the newer one has verified nothing": (NOW - 30 * DAY, NOW - 9 * DAY, None, "keep: no newer"),
    "the newer one is young": (NOW - 30 * DAY, NOW - DAY, NOW, "keep: the newer key is not"),
    "the old one was never used": (None, NOW - 9 * DAY, NOW, "safe"),
}


@pytest.mark.parametrize(
    ("old_used", "new_made", "new_used", "advice"), STORIES.values(), ids=STORIES.keys()
)
def test_an_old_key_is_safe_to_retire_only_when_nothing_can_need_it(
    old_used: datetime | None, new_made: datetime, new_used: datetime | None, advice: str
) -> None:
    account = ProviderAccountFactory.create()
    account.keys.all().delete()
    old = key_of(account, made=NOW - 100 * DAY, used=old_used)
    new = key_of(account, made=new_made, used=new_used)

    lines = {line.key.pk: line.advice for line in report(account, now=NOW)}

    assert lines[old.pk].startswith(advice)
    assert lines[new.pk] == ("in use" if new_used else "has verified nothing yet")


def test_what_decrypts_is_not_taken_for_what_verified(account: ProviderAccount) -> None:
    key = account.keys.get()
    other = AccountKeyFactory.create(account=account, purpose="decryption", key_id=key.key_id)
    key_use.verified(endpoint_of(account), key.key_id, now=NOW)

    key.refresh_from_db()
    other.refresh_from_db()
    assert (key.last_used_at, other.last_used_at) == (NOW, None)


def test_unknown_keys_are_counted_and_their_number_is_bounded(account: ProviderAccount) -> None:
    endpoint = endpoint_of(account)
    for number in range(key_use.SIGHTINGS_MAX + 5):
        key_use.sighted(endpoint, f"serial-{number}", now=NOW)
    key_use.sighted(endpoint, "serial-0", now=NOW + DAY)

    assert UnknownKeySighting.objects.count() == key_use.SIGHTINGS_MAX
    first = UnknownKeySighting.objects.get(key_id="serial-0")
    assert (first.count, first.last_seen_at) == (2, NOW + DAY)


def test_a_stranger_who_repeats_an_unknown_key_writes_once_a_minute(
    account: ProviderAccount,
) -> None:
    endpoint = endpoint_of(account)
    for seconds in (0, 1, 59, 60):
        key_use.sighted(endpoint, "serial", now=NOW + timedelta(seconds=seconds))

    sighting = UnknownKeySighting.objects.get()
    assert (sighting.count, sighting.last_seen_at) == (2, NOW + timedelta(seconds=60))


def test_the_command_shows_keys_and_unknown_ones(account: ProviderAccount) -> None:
    key_use.sighted(endpoint_of(account), "PUB_KEY_ID_9", now=NOW)
    out = StringIO()
    call_command("keys", str(account), stdout=out)

    assert str(account) in out.getvalue()
    assert account.keys.get().key_id in out.getvalue()
    assert "PUB_KEY_ID_9" in out.getvalue()


def test_an_unknown_key_asks_a_person_once_a_day(account: ProviderAccount) -> None:
    endpoint = endpoint_of(account)
    for hours in (0, 1, 2, 25):
        key_use.sighted(endpoint, "PUB_KEY_ID_9", now=NOW + timedelta(hours=hours))

    asked = Conflict.objects.order_by("pk")
    assert [(one.reason, one.severity, one.status) for one in asked] == [
        ("UNKNOWN_KEY", "PAGE", "OPEN")
    ] * 2
    assert asked[0].received == {"endpoint": account.endpoint, "key_id": "PUB_KEY_ID_9"}
    assert account.keys.get().key_id in asked[0].expected["known_keys"]


def test_strangers_who_name_many_keys_ask_no_more_than_are_remembered(
    account: ProviderAccount,
) -> None:
    endpoint = endpoint_of(account)
    for number in range(key_use.SIGHTINGS_MAX + 10):
        key_use.sighted(endpoint, f"nonsense-{number}", now=NOW)

    assert Conflict.objects.count() == key_use.SIGHTINGS_MAX + 1
    others = Conflict.objects.order_by("-pk")[0]
    assert others.received["key_id"] == "(others)"


def test_adding_the_key_answers_what_was_asked_about_it(account: ProviderAccount) -> None:
    endpoint = endpoint_of(account)
    key_use.sighted(endpoint, "second", now=NOW)
    key_use.sighted(endpoint, "third", now=NOW)

    add_key(account, Key("second", "signature", b"whsec_tests_second_4Jx9Qw2Lm7Rk"), now=NOW)

    states = {one.received["key_id"]: one.status for one in Conflict.objects.all()}
    assert states == {"second": "RESOLVED", "third": "OPEN"}


def test_what_opens_a_notification_is_noted_too(account: ProviderAccount) -> None:
    endpoint = endpoint_of(account)
    opener = AccountKeyFactory.create(account=account, purpose="decryption")
    for seconds in (0, 30, 61):
        key_use.opened(endpoint, opener.key_id, now=NOW + timedelta(seconds=seconds))

    opener.refresh_from_db()
    assert opener.last_used_at == NOW + timedelta(seconds=61)
    assert account.keys.exclude(pk=opener.pk).get().last_used_at is None
