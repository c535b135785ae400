"""The door that providers knock at: signatures, and what is acknowledged."""

from typing import Final

from tests.mutants.mutant import mutant

MUTANTS: Final = (
    mutant(
        "any signature will do",
        "payments/providers/hmac_verify.py",
        "if hmac.compare_digest(candidate, expected) and found is None:",
        "if found is None:",
        "tests/providers/test_conformance.py",
    ),
    mutant(
        "a signature holds for ever",
        "payments/providers/hmac_verify.py",
        "if not -rule.tolerance_future_seconds <= age <= rule.tolerance_past_seconds:",
        "if False:",
        "tests/providers/test_conformance.py",
    ),
    mutant(
        "what was not stored is acknowledged",
        "payments/views.py",
        "provider.acknowledge(Reply.UNAVAILABLE) if provider",
        "provider.acknowledge(Reply.ACCEPTED) if provider",
        "tests/payments/test_database_trouble.py",
    ),
    mutant(
        "a commit that no standby has is acknowledged",
        "config/postgresql/base.py",
        "if self._local_commit_only:",
        "if False:",
        "tests/payments/test_database_trouble.py",
    ),
)
