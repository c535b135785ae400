"""Which policy a merchant has now."""

from payments.models import ConflictPolicy, PolicyStatus
from payments.policies import document
from payments.policies.rules import Rules


def active(merchant_id: int) -> ConflictPolicy | None:
    """The version that counts, or None: then a person is asked about everything, and two decide."""
    return ConflictPolicy.objects.filter(
        merchant_id=merchant_id, status=PolicyStatus.ACTIVE
    ).first()


def rules_of(merchant_id: int) -> Rules:
    """Its rules."""
    policy = active(merchant_id)
    return Rules() if policy is None else document.read(policy.rules)
