"""What only destinations of the kind `webhook` have: a breaker, secrets, and attempts."""

import uuid
from typing import Final

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from outbox.models.destination import Destination
from outbox.models.dispatch import Dispatch

ASKED_BY_LENGTH_MAX: Final = 80
REPLY_LENGTH_MAX: Final = 4096
ATTEMPT_ERROR_LENGTH_MAX: Final = 300


class Endpoint(models.Model):
    """How a merchant's endpoint has answered lately; `config["url"]` says where it is.

    `failures` are consecutive. While `open_until` lies ahead nothing is sent there; when it has
    passed, one event tries. Events still collect. One that is `removed_at` takes no part any more.
    """

    destination = models.OneToOneField(
        Destination, on_delete=models.PROTECT, primary_key=True, related_name="endpoint"
    )
    failures = models.PositiveIntegerField(default=0)
    failing_since = models.DateTimeField(null=True, blank=True)
    open_until = models.DateTimeField(null=True, blank=True)
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(failures=0, failing_since__isnull=True)
                | Q(failures__gt=0, failing_since__isnull=False),
                name="endpoint_failing_since_iff_failing",
            ),
        ]

    def __str__(self) -> str:
        return str(self.destination)


class EndpointSecret(models.Model):
    """What messages to an endpoint are signed with, encrypted; several while they are rotated."""

    destination = models.ForeignKey(Destination, on_delete=models.PROTECT, related_name="secrets")
    sealed = models.BinaryField()
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    retires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        permissions = [("rotate_endpointsecret", "Can rotate and retire secrets of webhooks")]

    def __str__(self) -> str:
        return f"secret {self.pk} of {self.destination_id}"


class Attempt(models.Model):
    """One try at an endpoint: of a dispatch, or of a test message, which has none.

    Those that a person asked for are written first and made later: `asked_by` says who, and `at`
    is empty until then; the id is the manual attempt's own. An attempt that ended without an
    answer has an `error` and no `status`.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    destination = models.ForeignKey(
        Destination, on_delete=models.PROTECT, related_name="attempts", db_index=False
    )
    # The database takes attempts away with their dispatch (see the migration).
    dispatch = models.ForeignKey(
        Dispatch,
        on_delete=models.CASCADE,
        related_name="tries",
        null=True,
        blank=True,
        db_constraint=False,
    )
    asked_by = models.CharField(max_length=ASKED_BY_LENGTH_MAX, blank=True)
    asked_at = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    at = models.DateTimeField(null=True, blank=True)
    milliseconds = models.PositiveIntegerField(null=True, blank=True)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    reply = models.CharField(max_length=REPLY_LENGTH_MAX, blank=True)
    error = models.CharField(max_length=ATTEMPT_ERROR_LENGTH_MAX, blank=True)

    class Meta:
        constraints = [
            # Whoever asks twice before it is made gets one attempt.
            models.UniqueConstraint(
                fields=["dispatch"], condition=Q(at__isnull=True), name="attempt_asked_for_once"
            ),
            models.UniqueConstraint(
                fields=["destination"],
                condition=Q(at__isnull=True, dispatch__isnull=True),
                name="attempt_test_asked_for_once",
            ),
            models.CheckConstraint(
                condition=Q(at__isnull=True, milliseconds__isnull=True, status__isnull=True)
                & Q(reply="", error="")
                | Q(at__isnull=False, milliseconds__isnull=False),
                name="attempt_made_says_what_became_of_it",
            ),
            models.CheckConstraint(
                condition=Q(asked_by="", asked_at__isnull=True)
                | (~Q(asked_by="") & Q(asked_at__isnull=False)),
                name="attempt_asked_for_says_by_whom",
            ),
            models.CheckConstraint(
                condition=Q(at__isnull=False) | Q(asked_at__isnull=False),
                name="attempt_is_made_or_asked_for",
            ),
            models.CheckConstraint(
                condition=Q(dispatch__isnull=False) | Q(asked_at__isnull=False),
                name="attempt_without_dispatch_is_a_test",
            ),
        ]
        indexes = [
            models.Index(fields=["destination", "at"], name="attempt_of_endpoint"),
            models.Index(F("asked_at"), condition=Q(at__isnull=True), name="attempt_asked_for"),
            # Only for the retention of test messages.
            models.Index(F("at"), condition=Q(dispatch__isnull=True), name="attempt_test"),
        ]

    def __str__(self) -> str:
        return f"{self.pk}: {self.status or self.error or 'asked for'}"
