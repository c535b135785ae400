"""People of the merchants: who may look at what is his merchant's in the console."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from orders.models.orders import Merchant


class Membership(models.Model):
    """A user who belongs to a merchant. In the console he is held to that merchant alone.

    Whatever other rights he has count for nothing there while he has this row.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="membership",
    )
    merchant = models.ForeignKey(Merchant, on_delete=models.PROTECT, related_name="members")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        permissions = [("act_for_merchant", "Can see and resend what goes to his own merchant")]

    def __str__(self) -> str:
        return f"user {self.user_id} of {self.merchant_id}"
