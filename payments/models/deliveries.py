"""Every authentic delivery, as it came."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import HashIndex
from django.db import models
from django.db.models import Q

from orders.models import ORDER_NO_LENGTH_MAX, Merchant
from payments.callback import Kind, Outcome
from payments.models.accounts import ProviderAccount
from payments.models.ledger import ProviderTransaction
from payments.providers.port import Assurance


class Delivery(models.Model):
    """One authentic callback as delivered, repeats too. Append only.

    A batch makes one row per callback, with a common `batch_id`; its bytes are kept once, in
    the row with `item_no` 0. What was replayed is written anew: `replay_of` is then the first row
    of the request as it came.
    """

    account = models.ForeignKey(ProviderAccount, on_delete=models.PROTECT, db_index=False)
    merchant = models.ForeignKey(Merchant, on_delete=models.PROTECT, db_index=False)
    batch_id = models.UUIDField()
    item_no = models.PositiveSmallIntegerField(default=0)
    body = models.BinaryField(null=True)
    body_sha256 = models.BinaryField(max_length=32)
    headers = models.JSONField()
    key_id = models.CharField(max_length=128)
    assurance = models.CharField(
        max_length=10, choices=[(item, item) for item in Assurance], default=Assurance.WHOLE
    )
    event_id = models.CharField(max_length=128, blank=True)
    event_type = models.CharField(max_length=100, blank=True)
    kind = models.CharField(max_length=20, choices=[(kind, kind) for kind in Kind], blank=True)
    txn_no = models.CharField(max_length=128, db_collation="C", blank=True)
    order_no = models.CharField(max_length=ORDER_NO_LENGTH_MAX, db_collation="C", blank=True)
    linked_nos = ArrayField(models.CharField(max_length=128), default=list, blank=True)
    transaction = models.ForeignKey(
        ProviderTransaction, null=True, blank=True, on_delete=models.PROTECT
    )
    outcome = models.CharField(max_length=12, choices=[(outcome, outcome) for outcome in Outcome])
    reason = models.CharField(max_length=40, blank=True)
    detail = models.CharField(max_length=300, blank=True)
    received_at = models.DateTimeField()
    replay_of = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="replays",
        db_index=False,
    )

    class Meta:
        verbose_name_plural = "deliveries"
        permissions = [
            ("replay_delivery", "Can take stored deliveries once more"),
            ("export_evidence", "Can export lists and evidence"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["batch_id", "item_no"], name="delivery_item_is_unique"),
            models.CheckConstraint(
                condition=Q(outcome__in=[str(outcome) for outcome in Outcome]),
                name="delivery_outcome_is_known",
            ),
            models.CheckConstraint(
                condition=Q(item_no__gt=0) | Q(body__isnull=False), name="delivery_bytes_are_kept"
            ),
        ]
        indexes = [
            models.Index(fields=["account", "received_at"], name="delivery_by_account"),
            models.Index(fields=["account", "txn_no"], name="delivery_by_transaction"),
            models.Index(fields=["merchant", "order_no"], name="delivery_by_order"),
            # Only looked up whole: what is hashed is smaller than what is sorted.
            HashIndex(fields=["event_id"], name="delivery_by_event"),
            HashIndex(fields=["body_sha256"], condition=Q(item_no=0), name="delivery_by_digest"),
            models.Index(
                fields=["replay_of"],
                condition=Q(replay_of__isnull=False),
                name="delivery_replays",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event_type} {self.outcome}"
