"""Which policy a merchant has now."""

from payments.models import ConflictPolicy, PolicyStatus
from payments.policies import document
from payments.policies.rules import Rules


def active(merchant_id: int) -> ConflictPolicy | None:
    """The version that counts, or None: then a person is asked about everything, and two decide."""
    return ConflictPolicy.objects.filter(
        merchant_id=merchant_id, status=PolicyStatus.ACTIVE
    ).first()


def version_of(merchant_id: int) -> int:
    """The number of the version that counts; 0 if none does."""
    policy = active(merchant_id)
    return 0 if policy is None else policy.version


def rules_of(merchant_id: int) -> Rules:
    """Its rules."""
    policy = active(merchant_id)
    return Rules() if policy is None else document.read(policy.rules)
