"""Keys and limits as the API applies them."""

from typing import Final

from tests.mutants.mutant import mutant

KEY_ANSWERS = "tests/orders/test_api_idempotency.py"

MUTANTS: Final = (
    mutant(
        "a limit does not count",
        "orders/api/limits.py",
        "THEN present.used + 1 ELSE 1 END",
        "THEN present.used ELSE 1 END",
        *("tests/concurrency/test_limits.py", "-k", "at_once"),
    ),
    mutant(
        "idempotency: the address is no part of the meaning",
        "orders/api/idempotency_key.py",
        "arguments=arguments,",
        "arguments={},",
        *(KEY_ANSWERS, "-k", "two_orders"),
    ),
    mutant(
        "idempotency: keys belong to the API key",
        "orders/api/idempotency_key.py",
        "scope=scope_of(merchant_of(request), self.name)",
        "scope=Scope(request.auth.prefix, self.name)",
        *(KEY_ANSWERS, "-k", "rotated"),
    ),
    mutant(
        "idempotency: shape comes before the meaning",
        "orders/api/idempotent.py",
        "    intent = operation.intent(request, key, arguments)\n",
        "    operation.wanted(request)\n    intent = operation.intent(request, key, arguments)\n",
        *(KEY_ANSWERS, "-k", "another_meaning"),
    ),
)
