"""Accounts at providers, their keys, and keys that were named but are not known."""

from django.db import models
from django.db.models.functions import Now

from orders.models import Merchant


class ProviderAccount(models.Model):
    """A merchant's account at a payment provider, and the endpoint its callbacks come to.

    `name` is the last part of the callback's address; `settings` is what the provider's
    adapter needs to know and is not secret. `confirm` says whether a payment moves anything
    before the provider's API has confirmed it; null is the provider's default.
    """

    merchant = models.ForeignKey(Merchant, on_delete=models.PROTECT, related_name="accounts")
    provider = models.SlugField(max_length=40)
    name = models.SlugField(max_length=60)
    account_no = models.CharField(max_length=128, db_collation="C")
    live = models.BooleanField()
    settings = models.JSONField(default=dict, blank=True)
    confirm = models.BooleanField(null=True, blank=True)
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "account_no", "live"], name="account_is_unique_per_mode"
            ),
            models.UniqueConstraint(fields=["provider", "name"], name="account_endpoint_is_unique"),
        ]

    def __str__(self) -> str:
        return self.endpoint

    @property
    def endpoint(self) -> str:
        """How people and orders name the account: ``stripe/main``."""
        return f"{self.provider}/{self.name}"


class AccountKey(models.Model):
    """One key of an account, its material encrypted at rest by `payments/vault.py`."""

    account = models.ForeignKey(ProviderAccount, on_delete=models.PROTECT, related_name="keys")
    purpose = models.SlugField(max_length=40, default="signature")
    key_id = models.CharField(max_length=128)
    material = models.BinaryField()
    not_before = models.DateTimeField(null=True, blank=True)
    not_after = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "purpose", "key_id"], name="key_id_is_unique_per_purpose"
            )
        ]

    def __str__(self) -> str:
        return f"{self.account_id}:{self.purpose}:{self.key_id}"


class UnknownKeySighting(models.Model):
    """A key id that requests named and that is not configured: perhaps the provider rotated.

    Requests under it are not authentic, so they leave only this; bounded per account.
    """

    account = models.ForeignKey(ProviderAccount, on_delete=models.CASCADE, related_name="sightings")
    key_id = models.CharField(max_length=128)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    count = models.PositiveBigIntegerField(default=1)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "key_id"], name="sighting_is_unique")
        ]

    def __str__(self) -> str:
        return self.key_id
