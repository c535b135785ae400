"""Secrets of endpoints: made by us, encrypted at rest, shown once, several while rotating."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import structlog
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from outbox.models import Destination, EndpointSecret
from outbox.webhooks.signature import new_secret
from outbox.webhooks.vault import vault

#: How long an old secret goes on signing beside the new one, unless it is said.
OVERLAP: Final = timedelta(hours=24)
OVERLAP_MAX: Final = timedelta(days=7)
#: Each is one more signature in a header that receivers bound.
SECRETS_MAX: Final = 5

logger = structlog.stdlib.get_logger(__name__)


class TooManySecrets(ValueError):
    """The endpoint has as many secrets as it may: one of them must retire first."""


class NoSuchSecret(LookupError):
    """The endpoint has no such secret in force."""


class OnlySecret(ValueError):
    """Nothing else would sign: add another secret first."""


@dataclass(frozen=True, slots=True)
class Key:
    """A secret in the clear, which no log and no traceback repeats."""

    secret: bytes = field(repr=False)


def rotate(destination: Destination, *, overlap: timedelta = OVERLAP, by: str = "") -> str:
    """Give the endpoint a new secret and let those it has retire after `overlap`.

    The answer is the only time that it is shown. In the caller's transaction, which locks the
    destination so that two at once are not one too many. `by` says who did it, for the log.
    Raises TooManySecrets.
    """
    Destination.objects.select_for_update(no_key=True).get(pk=destination.pk)
    held = in_force(destination.pk)
    if held.count() >= SECRETS_MAX:
        raise TooManySecrets(f"{destination} has {SECRETS_MAX} secrets in force")
    # One that was to retire sooner still does.
    held.filter(Q(retires_at=None) | Q(retires_at__gt=Now() + overlap)).update(
        retires_at=Now() + overlap
    )
    secret = new_secret()
    EndpointSecret.objects.create(
        destination=destination, sealed=vault().seal(secret.encode()), created_at=Now()
    )
    logger.info("webhook_secret_added", destination=destination.code, by=by)
    return secret


def retire(destination: Destination, secret_id: int, *, by: str = "") -> None:
    """End a secret now, because others know it. Raises NoSuchSecret, OnlySecret."""
    Destination.objects.select_for_update(no_key=True).get(pk=destination.pk)
    held = set(in_force(destination.pk).values_list("pk", flat=True))
    if secret_id not in held:
        raise NoSuchSecret(f"{destination} has no secret {secret_id}")
    if len(held) == 1:
        raise OnlySecret(f"{destination} has no other secret than {secret_id}")
    EndpointSecret.objects.filter(pk=secret_id).update(retires_at=Now())
    logger.info("webhook_secret_retired", destination=destination.code, secret=secret_id, by=by)


def in_force(destination_id: int) -> QuerySet[EndpointSecret]:
    """The endpoint's secrets that sign now, the newest first."""
    return EndpointSecret.objects.filter(
        Q(retires_at=None) | Q(retires_at__gt=Now()), destination=destination_id
    ).order_by("-created_at", "-pk")


def keys_of(destination_id: int) -> list[Key]:
    """The secrets in force, opened, the newest first. Raises what the vault raises."""
    return [Key(vault().unseal(bytes(row.sealed))) for row in in_force(destination_id)]


def reseal_all() -> int:
    """Encrypt every secret anew with the vault's newest key; the answer is how many there are."""
    rows = EndpointSecret.objects.select_for_update(no_key=True).order_by("pk")
    for row in rows:
        row.sealed = vault().reseal(bytes(row.sealed))
        row.save(update_fields=["sealed"])
    return len(rows)
