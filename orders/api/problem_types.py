"""The kinds of error that the API answers with.

`name` ends the problem's `type`, ``urn:paidonce:problem:<name>``: it never changes, and programs
decide by it. `title` and `advice` are for people and may be worded anew.
"""

from dataclasses import dataclass
from typing import Final

TYPE_PREFIX: Final = "urn:paidonce:problem:"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem; `advice` says what to do next and ends every detail."""

    status: int
    name: str
    title: str
    advice: str

    @property
    def type(self) -> str:
        """The problem's `type` as RFC 9457 has it."""
        return TYPE_PREFIX + self.name


INVALID_REQUEST: Final = Kind(
    400, "invalid-request", "The request is not valid", "Correct what `errors` names; then repeat."
)
UNREADABLE_BODY: Final = Kind(
    400, "unreadable-body", "The body cannot be read", "Send one JSON object in UTF-8."
)
IDEMPOTENCY_KEY_MISSING: Final = Kind(
    400,
    "idempotency-key-missing",
    "This call needs an Idempotency-Key",
    "Send `Idempotency-Key` with a value of your own for each thing you want done once, and the "
    "same value when you repeat it.",
)
IDEMPOTENCY_KEY_MALFORMED: Final = Kind(
    400,
    "idempotency-key-malformed",
    "The Idempotency-Key is not acceptable",
    "Send one value of 1 to 128 characters of A-Z a-z 0-9 _ . : -",
)
UNAUTHENTICATED: Final = Kind(
    401,
    "unauthenticated",
    "A valid API key is needed",
    "Send `Authorization: Bearer pk_...` with a key that is not revoked.",
)
FORBIDDEN: Final = Kind(
    403, "forbidden", "This is not allowed", "Use a key of a merchant that may do this."
)
NOT_FOUND: Final = Kind(
    404,
    "not-found",
    "There is no such thing",
    "Check the address, and that the key belongs to the merchant whose order it is.",
)
METHOD_NOT_ALLOWED: Final = Kind(
    405, "method-not-allowed", "The method is not allowed here", "Use a method that `Allow` names."
)
NOT_ACCEPTABLE: Final = Kind(
    406,
    "not-acceptable",
    "The answer has no form that `Accept` allows",
    "Send `Accept: */*`.",
)
ORDER_EXISTS: Final = Kind(
    409,
    "order-exists",
    "The order number is taken",
    "Repeat the request with the first content, or use another order number.",
)
ORDER_NOT_CLOSABLE: Final = Kind(
    409,
    "order-not-closable",
    "The order was paid",
    "Read the order: what was paid is refunded, not closed.",
)
IDEMPOTENCY_KEY_REUSED: Final = Kind(
    409,
    "idempotency-key-reused",
    "The Idempotency-Key stands for another request",
    "Repeat the request as it was first sent, or use a new key for a new one.",
)
REFUND_EXISTS: Final = Kind(
    409,
    "refund-exists",
    "The refund number is taken",
    "Repeat the request with the first content, or use another refund number.",
)
NOT_REFUNDABLE: Final = Kind(
    409,
    "not-refundable",
    "There is no payment that this could give back",
    "Read the order, or name one of its payments in `payment`.",
)
TOO_MANY_ENDPOINTS: Final = Kind(
    409,
    "too-many-webhook-endpoints",
    "You have as many webhook endpoints as you may",
    "Change or remove one of them.",
)
TOO_MANY_SECRETS: Final = Kind(
    409,
    "too-many-secrets",
    "The endpoint has as many secrets as it may",
    "Retire one that you do not use.",
)
RESTED_BY_OPERATOR: Final = Kind(
    409,
    "rested-by-operator",
    "The endpoint was let rest by whoever runs this service",
    "`reason` says why; only they can let it work again.",
)
SECRET_NEEDED: Final = Kind(
    409,
    "secret-needed",
    "The endpoint needs this secret",
    "Make another one first: nothing is sent unsigned.",
)
LENGTH_REQUIRED: Final = Kind(
    411,
    "length-required",
    "The length of the body is not stated",
    "Send `Content-Length` instead of `Transfer-Encoding`.",
)
BODY_TOO_LARGE: Final = Kind(413, "body-too-large", "The body is too large", "Send less.")
UNSUPPORTED_MEDIA_TYPE: Final = Kind(
    415,
    "unsupported-media-type",
    "The body is not declared as JSON",
    "Send `Content-Type: application/json`.",
)
REFUND_EXCEEDS: Final = Kind(
    422,
    "refund-exceeds",
    "More than is left of the payment",
    "Ask for no more than that, or leave `amount` out for all of it.",
)
TOO_MANY_REQUESTS: Final = Kind(
    429, "too-many-requests", "Too many requests", "Repeat after the seconds in `Retry-After`."
)
UNEXPECTED: Final = Kind(
    500,
    "unexpected",
    "Something failed that should not",
    "Repeating is safe. If it fails again, report the `X-Request-ID` of this answer.",
)
NOT_NOW: Final = Kind(
    503,
    "not-now",
    "This could not be done now, and nothing has happened",
    "Repeat the same request with the same key after `Retry-After` seconds.",
)
UNAVAILABLE: Final = Kind(
    503,
    "unavailable",
    "The service cannot decide this now",
    "Nothing is known to have changed. Repeat the same request after `Retry-After` seconds.",
)

KINDS: Final = tuple(value for value in tuple(globals().values()) if isinstance(value, Kind))
