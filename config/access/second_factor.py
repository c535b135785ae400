"""A second factor: codes of a telephone (TOTP, RFC 6238), and recovery codes for its loss."""

import base64
import hashlib
import secrets
from datetime import datetime
from typing import Final

from cryptography.hazmat.primitives.constant_time import bytes_eq
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from config.access.models import RecoveryCode, SecondFactor
from payments import vault

#: What every authenticator reads: SHA-1, six digits, 30 seconds; 160 bits (RFC 4226, 4).
STEP_SECONDS: Final = 30
_DIGITS: Final = 6
_SECRET_BYTES: Final = 20
#: Clocks of telephones differ, and people take time to type.
_STEPS_APART: Final = (-1, 0, 1)
RECOVERY_CODES: Final = 10
#: 80 bits: no hash of them is tried out.
_RECOVERY_BYTES: Final = 10
_ISSUER: Final = "Paidonce"


def of(user: User) -> SecondFactor | None:
    """The factor that this user has shown to have."""
    return SecondFactor.objects.filter(user=user, confirmed_at__isnull=False).first()


def is_required(user: User) -> bool:
    """Whether the settings want one of this user."""
    if settings.CONSOLE_SECOND_FACTOR != "required":
        return False
    roles = settings.CONSOLE_SECOND_FACTOR_ROLES
    return not roles or user.is_superuser or user.groups.filter(name__in=roles).exists()


def begin(user: User, *, shown: str = "") -> str:
    """The secret to be put into a telephone, in base32: the same until a code confirms it.

    `shown` is the `digest` of the one that this session was shown. For any other session there is
    a new one: what somebody has seen who only had the password will not be the telephone's.
    """
    begun = SecondFactor.objects.filter(user=user, confirmed_at=None).first()
    if begun is not None:
        secret = vault.unseal(bytes(begun.secret))
        if digest(secret.decode()) == shown:
            return secret.decode()
    secret = base64.b32encode(secrets.token_bytes(_SECRET_BYTES))
    SecondFactor.objects.update_or_create(
        user=user, confirmed_at=None, defaults={"secret": vault.seal(secret)}
    )
    return secret.decode()


def digest(secret: str) -> str:
    """What a session remembers of a secret that it was shown."""
    return hashlib.sha256(secret.encode()).hexdigest()


def address(user: User, secret: str) -> str:
    """What the picture says to a telephone."""
    return _codes(secret.encode()).get_provisioning_uri(user.get_username(), _ISSUER)


def confirm(user: User, code: str, *, now: datetime) -> list[str] | None:
    """With a first code that is right the factor counts: its recovery codes, else None."""
    with transaction.atomic():
        factors = SecondFactor.objects.select_for_update(no_key=True)
        found = factors.filter(user=user, confirmed_at=None).first()
        step = None if found is None else _step_of(found, code, now)
        if found is None or step is None:
            return None
        found.confirmed_at, found.last_step = now, step
        found.save(update_fields=["confirmed_at", "last_step"])
        return _new_recovery_codes(user)


def take(user: User, code: str, *, now: datetime) -> str:
    """Take a code: "code", or "recovery code", whichever it was; empty if it is not right.

    Neither counts a second time, not even at the same moment.
    """
    factor = of(user)
    if factor is None:
        return ""
    step = _step_of(factor, code, now)
    if step is not None:
        newer = SecondFactor.objects.filter(pk=factor.pk, last_step__lt=step)
        return "code" if newer.update(last_step=step) else ""
    unused = RecoveryCode.objects.filter(user=user, digest=_digest(code), used_at__isnull=True)
    return "recovery code" if unused.update(used_at=now) else ""


def remove(user: User) -> bool:
    """Forget the factor and its recovery codes; whether there was one."""
    with transaction.atomic():
        RecoveryCode.objects.filter(user=user).delete()
        return SecondFactor.objects.filter(user=user).delete()[0] > 0


def mark(factor: SecondFactor) -> str:
    """What a session keeps that has shown this factor, and not one before or after it."""
    return str(factor.confirmed_at)


def reseal_all() -> int:
    """Encrypt every secret anew with the newest vault key; how many. Raises Undecryptable."""
    count = 0
    factors = SecondFactor.objects.select_for_update(no_key=True)
    for factor in factors.order_by("user_id").iterator():
        factor.secret = vault.reseal(bytes(factor.secret))
        factor.save(update_fields=["secret"])
        count += 1
    return count


def _step_of(factor: SecondFactor, code: str, now: datetime) -> int | None:
    """The time step whose code this is, if it is one of those around now."""
    given = code.replace(" ", "").encode()
    codes = _codes(vault.unseal(bytes(factor.secret)))
    present = int(now.timestamp()) // STEP_SECONDS
    steps = [present + apart for apart in _STEPS_APART]
    right = [step for step in steps if bytes_eq(codes.generate(step * STEP_SECONDS), given)]
    return right[-1] if right else None


def _codes(secret: bytes) -> TOTP:
    return TOTP(base64.b32decode(secret), _DIGITS, SHA1(), STEP_SECONDS)  # noqa: S303 - RFC 6238


def _new_recovery_codes(user: User) -> list[str]:
    codes = [
        base64.b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode().lower()
        for _ in range(RECOVERY_CODES)
    ]
    RecoveryCode.objects.filter(user=user).delete()
    RecoveryCode.objects.bulk_create(
        RecoveryCode(user=user, digest=_digest(code)) for code in codes
    )
    return ["-".join(code[at : at + 4] for at in range(0, len(code), 4)) for code in codes]


def _digest(code: str) -> bytes:
    plain = code.replace("-", "").replace(" ", "").lower()
    return hashlib.sha256(plain.encode("utf-8", "replace")).digest()
