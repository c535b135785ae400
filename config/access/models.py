"""What is kept about the people of the console beyond Django's own users."""

from typing import Final

from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

LANGUAGE_LENGTH_MAX: Final = 10
TIME_ZONE_LENGTH_MAX: Final = 64


class Preferences(models.Model):
    """In which language and in which time zone somebody reads; empty for what nobody chose."""

    user = models.OneToOneField(User, models.CASCADE, primary_key=True)
    language = models.CharField(max_length=LANGUAGE_LENGTH_MAX, blank=True)
    time_zone = models.CharField(max_length=TIME_ZONE_LENGTH_MAX, blank=True)


class SecondFactor(models.Model):
    """The secret that somebody's telephone makes codes of (RFC 6238).

    It counts from `confirmed_at` on, when a first code has shown that the telephone has it.
    `last_step` is the time step of the last code that was taken: none of it or before is again.
    """

    user = models.OneToOneField(User, models.CASCADE, primary_key=True)
    #: Sealed by `payments.vault`.
    secret = models.BinaryField()
    created_at = models.DateTimeField(db_default=Now())
    confirmed_at = models.DateTimeField(null=True, blank=True)
    last_step = models.BigIntegerField(default=0)


class RecoveryCode(models.Model):
    """A code for who has lost the telephone, as a hash; it counts once."""

    user = models.ForeignKey(User, models.CASCADE)
    digest = models.BinaryField(max_length=32)
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "digest"], name="access_recovery_code_is_one")
        ]


class Attempts(models.Model):
    """Guesses at one account, from one address, or at one second factor, since the last right one.

    `key` is a keyed hash: what somebody types as a name may be his password.
    """

    key = models.BinaryField(max_length=32, primary_key=True)
    number = models.PositiveIntegerField()
    #: Until then no other is looked at.
    waits_until = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(number__gte=1), name="access_attempts_are_counted")
        ]
        indexes = [models.Index(fields=["waits_until"], name="access_attempts_by_end")]
