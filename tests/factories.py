"""Rows for tests: each valid as it comes, so that a test says only what it is about."""

import hashlib
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import factory
from django.contrib.auth.models import User
from factory.django import DjangoModelFactory

from idempotency.models import Record
from orders.models import ApiKey, Merchant, Order
from outbox.models import (
    BUS,
    Attempt,
    Destination,
    DestinationKind,
    DestinationState,
    Dispatch,
    Endpoint,
    Event,
)
from payments import vault
from payments.callback import Kind, Outcome
from payments.models import (
    AccountKey,
    Confirmation,
    Conflict,
    ConflictPolicy,
    ConflictReason,
    ConflictStatus,
    Delivery,
    Disposition,
    Level,
    ManualPayment,
    NotificationKind,
    PolicyStatus,
    Proposal,
    ProviderAccount,
    ProviderTransaction,
    Recipient,
    Refund,
    Resolution,
    Severity,
    TransactionKind,
)

CREATED_AT = datetime(2026, 3, 1, 11, 0, tzinfo=UTC)


class MerchantFactory(DjangoModelFactory[Merchant]):
    class Meta:
        model = Merchant

    code = factory.Sequence(lambda number: f"shop-{number}")
    name = "A shop"


#: The secret of the keys of `ApiKeyFactory`, and the token that it makes with a key's prefix.
API_SECRET = "t" * 43


def api_token(key: ApiKey) -> str:
    return f"pk_{key.prefix}_{API_SECRET}"


class ApiKeyFactory(DjangoModelFactory[ApiKey]):
    class Meta:
        model = ApiKey

    merchant = factory.SubFactory(MerchantFactory)
    prefix = factory.Sequence(lambda number: f"a{number:015x}")
    secret_sha256 = hashlib.sha256(API_SECRET.encode()).digest()


class OrderFactory(DjangoModelFactory[Order]):
    class Meta:
        model = Order

    merchant = factory.SubFactory(MerchantFactory)
    order_no = factory.Sequence(lambda number: f"O-{number}")
    amount_minor = 1099
    currency = "USD"
    created_at = CREATED_AT


class ProviderAccountFactory(DjangoModelFactory[ProviderAccount]):
    """A Stripe account whose only key is `secret`."""

    class Meta:
        model = ProviderAccount
        skip_postgeneration_save = True

    merchant = factory.SubFactory(MerchantFactory)
    provider = "stripe"
    name = factory.Sequence(lambda number: f"account-{number}")
    account_no = factory.Sequence(lambda number: f"acct_{number}")
    live = True

    @factory.post_generation
    def secret(self: Any, create: bool, extracted: str | None, **_: Any) -> None:
        if create:
            AccountKeyFactory.create(account=self, secret=extracted or STRIPE_SECRET)


#: What the accounts of `ProviderAccountFactory` verify with.
STRIPE_SECRET = "whsec_tests_8fQ2nV5kXw9bZmLc3RjYdT7g"


class AccountKeyFactory(DjangoModelFactory[AccountKey]):
    class Meta:
        model = AccountKey

    class Params:
        secret = STRIPE_SECRET

    account = factory.SubFactory(ProviderAccountFactory)
    key_id = factory.Sequence(lambda number: f"key-{number}")
    material = factory.LazyAttribute(lambda row: vault.seal(row.secret.encode()))


class EventFactory(DjangoModelFactory[Event]):
    """The first event of its aggregate, on its way to nowhere."""

    class Meta:
        model = Event

    aggregate_type = "order"
    aggregate_id = factory.Sequence(lambda number: f"shop/O-{number}")
    seq = 1
    type = "order.paid"
    payload = factory.LazyAttribute(lambda row: {"order": row.aggregate_id, "seq": row.seq})
    created_at = CREATED_AT


class DestinationFactory(DjangoModelFactory[Destination]):
    """A stream beside the bus, for the events of all merchants."""

    class Meta:
        model = Destination

    code = factory.Sequence(lambda number: f"stream-{number}")
    kind = DestinationKind.REDIS_STREAM
    state = DestinationState.ACTIVE
    rested_by = factory.LazyAttribute(lambda row: "" if row.state == "ACTIVE" else "OPERATOR")
    config = factory.LazyAttribute(lambda row: {"url": "redis://127.0.0.1:9", "stream": row.code})


class DispatchFactory(DjangoModelFactory[Dispatch]):
    """An event that waits to be published to the bus, the first of its aggregate."""

    class Meta:
        model = Dispatch

    class Params:
        type = "order.paid"
        payload = factory.LazyAttribute(lambda row: {"order": row.aggregate_id, "seq": row.seq})
        headers = factory.LazyFunction(dict)

    aggregate_type = "order"
    aggregate_id = factory.Sequence(lambda number: f"shop/D-{number}")
    seq = 1
    created_at = CREATED_AT
    destination = factory.LazyFunction(lambda: Destination.objects.get(code=BUS))
    event = factory.SubFactory(
        EventFactory,
        aggregate_type=factory.SelfAttribute("..aggregate_type"),
        aggregate_id=factory.SelfAttribute("..aggregate_id"),
        seq=factory.SelfAttribute("..seq"),
        type=factory.SelfAttribute("..type"),
        payload=factory.SelfAttribute("..payload"),
        headers=factory.SelfAttribute("..headers"),
        created_at=factory.SelfAttribute("..created_at"),
    )


class EndpointFactory(DjangoModelFactory[Endpoint]):
    """A merchant's endpoint that has always worked, without a secret."""

    class Meta:
        model = Endpoint

    class Params:
        tenant = "shop"
        reason = ""
        event_types = factory.LazyFunction(list)
        url = "https://shop.example.com/hooks"
        state = "ACTIVE"
        rested_by = factory.LazyAttribute(lambda row: "" if row.state == "ACTIVE" else "OPERATOR")

    destination = factory.SubFactory(
        DestinationFactory,
        code=factory.Sequence(lambda number: f"we_{number}"),
        kind=DestinationKind.WEBHOOK,
        tenant=factory.SelfAttribute("..tenant"),
        reason=factory.SelfAttribute("..reason"),
        event_types=factory.SelfAttribute("..event_types"),
        state=factory.SelfAttribute("..state"),
        rested_by=factory.SelfAttribute("..rested_by"),
        config=factory.LazyAttribute(lambda row: {"url": row.factory_parent.url}),
    )


class AttemptFactory(DjangoModelFactory[Attempt]):
    """A try of the relay's that the endpoint took."""

    class Meta:
        model = Attempt

    dispatch = factory.SubFactory(DispatchFactory)
    destination = factory.SelfAttribute("dispatch.destination")
    at = CREATED_AT
    milliseconds = 84
    status = 200
    reply = "ok"


class RecordFactory(DjangoModelFactory[Record]):
    """A key that no rule could decide about."""

    class Meta:
        model = Record

    scope = "1/refund/v1"
    idem_key = factory.Sequence(lambda number: f"key-{number}")
    request_hash = bytes(32)
    owner_token = factory.LazyFunction(uuid.uuid4)
    lease_until = CREATED_AT
    handed_over_at = CREATED_AT
    reason = "the provider contradicts itself"


class ProviderTransactionFactory(DjangoModelFactory[ProviderTransaction]):
    """A payment that nobody has an order for."""

    class Meta:
        model = ProviderTransaction

    account = factory.SubFactory(ProviderAccountFactory)
    merchant = factory.SelfAttribute("account.merchant")
    kind = TransactionKind.PAYMENT
    txn_no = factory.Sequence(lambda number: f"pi_{number}")
    order_no = factory.Sequence(lambda number: f"U-{number}")
    amount_minor = 1099
    currency = "USD"
    occurred_at = CREATED_AT
    occurred_at_is_stated = True
    disposition = Disposition.PARKED
    recorded_at = CREATED_AT


class DeliveryFactory(DjangoModelFactory[Delivery]):
    """A callback of a kind that is none of our business."""

    class Meta:
        model = Delivery

    account = factory.SubFactory(ProviderAccountFactory)
    merchant = factory.SelfAttribute("account.merchant")
    batch_id = factory.LazyFunction(uuid.uuid4)
    body = b'{"type": "customer.created"}'
    body_sha256 = factory.LazyAttribute(lambda row: hashlib.sha256(row.body or b"").digest())
    headers = factory.LazyFunction(lambda: [["content-type", "application/json"]])
    key_id = "key-0"
    event_id = factory.Sequence(lambda number: f"evt_{number}")
    event_type = "customer.created"
    kind = Kind.IGNORED
    outcome = Outcome.IGNORED
    received_at = CREATED_AT


class ConfirmationFactory(DjangoModelFactory[Confirmation]):
    """A payment that only a weak signature has told."""

    class Meta:
        model = Confirmation

    account = factory.SubFactory(ProviderAccountFactory)
    merchant = factory.SelfAttribute("account.merchant")
    txn_no = factory.Sequence(lambda number: f"pay_{number}")
    first_told_at = CREATED_AT
    last_told_at = CREATED_AT
    waiting_since = CREATED_AT


class ConflictFactory(DjangoModelFactory[Conflict]):
    """An order was paid with a tenth of what it costs."""

    class Meta:
        model = Conflict

    transaction = factory.SubFactory(ProviderTransactionFactory, disposition=Disposition.HELD)
    merchant = factory.SelfAttribute("transaction.merchant")
    reason = ConflictReason.AMOUNT_MISMATCH
    subject = factory.Sequence(lambda number: f"transaction:{number}")
    severity = Severity.PAGE
    expected = factory.LazyFunction(
        lambda: {"order_no": "1001", "amount_minor": 12900, "currency": "USD"}
    )
    received = factory.LazyFunction(
        lambda: {"order_no": "1001", "amount_minor": 1290, "currency": "USD"}
    )
    amount_minor = factory.LazyAttribute(lambda row: row.received.get("amount_minor"))
    currency = factory.LazyAttribute(lambda row: row.received.get("currency", ""))
    opened_at = CREATED_AT
    due_at = CREATED_AT + timedelta(hours=1)


class UserFactory(DjangoModelFactory[User]):
    """Somebody of the console, who may nothing yet."""

    class Meta:
        model = User

    username = factory.Sequence(lambda number: f"person-{number}")


class ProposalFactory(DjangoModelFactory[Proposal]):
    """What one person proposes to do about a conflict; it waits for another one."""

    class Meta:
        model = Proposal

    conflict = factory.SubFactory(ConflictFactory, status=ConflictStatus.PROPOSED)
    resolution = Resolution.ACCEPT
    amount_minor = factory.LazyAttribute(lambda row: row.conflict.amount_minor or 0)
    currency = factory.SelfAttribute("conflict.currency")
    consequence = "The order takes the payment."
    seen = factory.LazyFunction(dict)
    digest = "0" * 64
    why = "the payer has written"
    proposed_by = factory.SubFactory(UserFactory)
    proposed_at = CREATED_AT
    expires_at = CREATED_AT + timedelta(days=3)


class ConflictPolicyFactory(DjangoModelFactory[ConflictPolicy]):
    """A first version that decides nothing, and waits for nobody."""

    class Meta:
        model = ConflictPolicy

    merchant = factory.SubFactory(MerchantFactory)
    version = 1
    rules = factory.LazyFunction(dict)
    status = PolicyStatus.PROPOSED
    needs_two = True
    why = "too many are the same"
    proposed_by = factory.SubFactory(UserFactory)
    proposed_at = CREATED_AT


class ManualPaymentFactory(DjangoModelFactory[ManualPayment]):
    """Cash for an order, said by one person and waiting for another one."""

    class Meta:
        model = ManualPayment

    order = factory.SubFactory(OrderFactory)
    order_version = 0
    amount_minor = factory.SelfAttribute("order.amount_minor")
    currency = factory.SelfAttribute("order.currency")
    note = "in cash, receipt 7"
    needs_two = True
    proposed_by = factory.SubFactory(UserFactory)
    proposed_at = CREATED_AT


class RecipientFactory(DjangoModelFactory[Recipient]):
    """Finance, who are told of everything by mail."""

    class Meta:
        model = Recipient

    kind = NotificationKind.EMAIL
    shown = factory.Sequence(lambda number: f"finance-{number}@example.org")
    address = factory.LazyAttribute(lambda row: vault.seal(row.shown.encode()))
    least = Level.TICKET
    created_at = CREATED_AT


class RefundFactory(DjangoModelFactory[Refund]):
    """A refund that was asked for just now, of a payment that has room for it."""

    class Meta:
        model = Refund

    payment = factory.SubFactory(ProviderTransactionFactory, refund_reserved_minor=500)
    merchant = factory.SelfAttribute("payment.merchant")
    account = factory.SelfAttribute("payment.account")
    refund_no = factory.Sequence(lambda number: f"R-{number}")
    amount_minor = 500
    currency = "USD"
    due_at = CREATED_AT
    requested_at = CREATED_AT
