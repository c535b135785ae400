"""What each day came to: a projection of the events of orders, see `orders/totals/`.

It is fed by events alone, so it names merchants as they do and refers to no other row.
"""

from django.db import models
from django.db.models import Q

from orders.models.orders import MERCHANT_CODE_LENGTH_MAX, ORDER_NO_LENGTH_MAX


class MoveKind(models.TextChoices):
    """What an event says of its order's money."""

    PAID = "PAID"
    REFUNDED = "REFUNDED"


class CountedMove(models.Model):
    """One event that is counted, once: `seq` is its order's version.

    `amount_minor` is what the event tells: what was paid, or all that is refunded by then.
    `counted_minor` is what it adds to its day: for a refund, less what the event before it told,
    so it can be negative. Null until it is counted.
    """

    pk = models.CompositePrimaryKey("merchant", "order_no", "seq")
    merchant = models.CharField(max_length=MERCHANT_CODE_LENGTH_MAX, db_collation="C")
    order_no = models.CharField(max_length=ORDER_NO_LENGTH_MAX, db_collation="C")
    seq = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, choices=MoveKind)
    currency = models.CharField(max_length=3)
    day = models.DateField()
    amount_minor = models.BigIntegerField()
    counted_minor = models.BigIntegerField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=MoveKind.values), name="counted_move_kind_is_known"
            ),
            models.CheckConstraint(
                condition=Q(amount_minor__gte=0), name="counted_move_amount_is_not_negative"
            ),
        ]
        indexes = [models.Index(fields=["day"], name="counted_move_day")]


class DailyTotal(models.Model):
    """What a merchant's orders were paid and refunded on one day (UTC) in one currency."""

    pk = models.CompositePrimaryKey("day", "merchant", "currency")
    day = models.DateField()
    merchant = models.CharField(max_length=MERCHANT_CODE_LENGTH_MAX, db_collation="C")
    currency = models.CharField(max_length=3)
    paid_minor = models.BigIntegerField()
    refunded_minor = models.BigIntegerField()
    paid_count = models.IntegerField()
