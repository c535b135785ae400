"""One row for every screen, and the addresses that show it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Model
from django.urls import reverse

from audit import chain
from audit.actors import Actor
from audit.models import ActorKind, AuditEntry
from idempotency.models import Record
from orders.models import ApiKey, Merchant, Order
from outbox.models import Destination, Dispatch, Endpoint, Event
from payments.models import (
    AccountKey,
    Confirmation,
    Conflict,
    ConflictPolicy,
    Delivery,
    ManualPayment,
    ManualStatus,
    Proposal,
    ProposalStatus,
    ProviderAccount,
    ProviderTransaction,
    Recipient,
    Refund,
)
from tests import factories

MONEY_TABLES = (
    *(Order, ProviderAccount, ProviderTransaction, Delivery, Confirmation, Conflict),
    *(Refund, Event, ApiKey, AccountKey, Destination, Dispatch, Endpoint),
    *(Proposal, ConflictPolicy, ManualPayment),
)
TABLES = (*MONEY_TABLES, Merchant, Record, Recipient, AuditEntry)


@dataclass(frozen=True)
class Rows:
    by_table: Mapping[type[Model], Model]

    def __getitem__(self, table: type[Model]) -> Any:
        return self.by_table[table]


def furnish(**texts: Any) -> Rows:
    """The rows; `texts` are values for "table.field" with an underscore between the two."""

    def of(table: str) -> dict[str, Any]:
        prefix = f"{table}_"
        return {
            name.removeprefix(prefix): value
            for name, value in texts.items()
            if name.startswith(prefix)
        }

    merchant = factories.MerchantFactory.create(**of("merchant"))
    account = factories.ProviderAccountFactory.create(merchant=merchant, **of("account"))
    order = factories.OrderFactory.create(merchant=merchant, **of("order"))
    transaction = factories.ProviderTransactionFactory.create(
        account=account, order_no=order.order_no, **of("transaction")
    )
    delivery = factories.DeliveryFactory.create(
        account=account, transaction=transaction, order_no=order.order_no, **of("delivery")
    )
    conflict = factories.ConflictFactory.create(
        transaction=transaction, order=order, delivery=delivery, **of("conflict")
    )
    event = factories.EventFactory.create(
        aggregate_id=f"{merchant.code}/{order.order_no}", **of("event")
    )
    dispatch = factories.DispatchFactory.create(
        event=event,
        aggregate_id=event.aggregate_id,
        destination=factories.EndpointFactory.create(**of("destination")).destination,
        **of("dispatch"),
    )
    factories.AttemptFactory.create(dispatch=dispatch, **of("attempt"))
    confirmation = factories.ConfirmationFactory.create(
        account=account, order_no=order.order_no, **of("confirmation")
    )
    refund = factories.RefundFactory.create(payment=transaction, order=order, **of("refund"))
    key = factories.ApiKeyFactory.create(merchant=merchant, **of("key"))
    record = factories.RecordFactory.create(**of("record"))
    recipient = factories.RecipientFactory.create(**of("recipient"))
    # Nothing waits for a second person: what follows asks about the rows, not about deeds.
    proposal = factories.ProposalFactory.create(
        conflict=conflict,
        status=ProposalStatus.EXPIRED,
        decided_at=factories.CREATED_AT,
        **of("proposal"),
    )
    policy = factories.ConflictPolicyFactory.create(merchant=merchant, **of("policy"))
    manual = factories.ManualPaymentFactory.create(
        order=order,
        status=ManualStatus.WITHDRAWN,
        decided_by=policy.proposed_by,
        decided_at=factories.CREATED_AT,
        **of("manual"),
    )
    entry = entered(object_type="merchant", object_id=merchant.pk, **of("entry"))
    found = (
        *(order, account, transaction, delivery, confirmation, conflict),
        *(refund, event, key, merchant, record, account.keys.get(), recipient, entry),
        *(proposal, policy, manual),
        *(dispatch, dispatch.destination, dispatch.destination.endpoint),
    )
    return Rows({type(row): row for row in found})


def entered(**given: Any) -> AuditEntry:
    """An entry of the audit."""
    anna = Actor(kind=ActorKind.PERSON, name=given.pop("actor", "anna"), id=1, origin="203.0.113.9")
    what: dict[str, Any] = {"action": "order.looked_at", "object_type": "order", "object_id": 1}
    return AuditEntry.objects.get(pk=chain.record(by=anna, **(what | given)))


def list_of(table: type[Model]) -> str:
    return reverse(f"admin:{_name(table)}_changelist")


def page_of(row: Model) -> str:
    return reverse(f"admin:{_name(type(row))}_change", args=[row.pk])


def deletion_of(row: Model) -> str:
    return reverse(f"admin:{_name(type(row))}_delete", args=[row.pk])


def addition_to(table: type[Model]) -> str:
    return reverse(f"admin:{_name(table)}_add")


def pages(rows: Rows) -> list[str]:
    """Every page of the console that shows something of ours."""
    lists = [list_of(table) for table in TABLES]
    return [
        reverse("admin:index"),
        *lists,
        f"{list_of(Conflict)}?decision=all",
        addition_to(Recipient),
        *(page_of(row) for row in rows.by_table.values()),
    ]


def _name(table: type[Model]) -> str:
    meta = table._meta  # noqa: SLF001 - Django's documented way to a model's names
    return f"{meta.app_label}_{meta.model_name}"
