"""From a provider's codes and objects to answers: one way for all clients."""

import re
from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Final

from httpx2 import codes

from payments.callback import Callback, Kind, Reading
from payments.clients.port import Answer, PaymentAnswer, RefundAnswer
from payments.clients.wire import Reply

_CODE: Final = re.compile(r"[A-Za-z0-9_.:-]{1,60}", re.ASCII)
#: What a payment's state answers.
PAYMENT_ANSWERS: Final[Mapping[Kind, Answer]] = {
    Kind.PAID: Answer.SUCCEEDED,
    Kind.AUTHORIZED: Answer.PENDING,
    Kind.PENDING: Answer.PENDING,
    Kind.FAILED: Answer.REFUSED,
    Kind.CLOSED: Answer.REFUSED,
}


class Refusal(Enum):
    """What a provider's error code says of a refund. A code that is in no table says nothing."""

    FINAL = auto()
    """By the provider's documentation the same request fails for ever."""
    MISSING = auto()
    """The provider does not know the payment or the refund."""
    REPEATED = auto()
    """This number may have been used already: what became of it is to be asked."""
    SPENT = auto()
    """Nothing is left to refund: by a refund of this number, perhaps not shown yet, or finally."""


#: What a refusal answers; a repeated number answers what is found of it.
_REFUND_ANSWERS: Final[Mapping[Refusal | None, Answer]] = {
    Refusal.FINAL: Answer.REFUSED,
    Refusal.MISSING: Answer.NOT_FOUND,
    Refusal.SPENT: Answer.NOT_FOUND,
}


def refused(
    status: int,
    code: str | None,
    table: Mapping[str, Refusal],
    ask: Callable[[], RefundAnswer],
) -> RefundAnswer:
    """The answer to an error with that HTTP status and code; `ask` asks for the same refund."""
    why = described(status, code)
    refusal = table.get(code or "") if is_refusal(status) else None
    if refusal in {Refusal.REPEATED, Refusal.SPENT}:
        found = ask()
        if refusal is Refusal.REPEATED or found.answer is not Answer.NOT_FOUND:
            return found
    return RefundAnswer(
        answer=_REFUND_ANSWERS.get(refusal, Answer.UNKNOWN),
        why=why,
        is_spent=refusal is Refusal.SPENT,
    )


def is_refusal(status: int) -> bool:
    """Whether the provider has understood the request and refused it."""
    return codes.is_client_error(status) and status != codes.TOO_MANY_REQUESTS


def described(status: int, code: str | None) -> str:
    """The error for people: never a provider's own sentence, which may name a person."""
    shown = code if code and _CODE.fullmatch(code) else "no known code"
    return f"HTTP {status}, {shown}"


def payment_answer(reading: Reading, raw: bytes) -> PaymentAnswer:
    """What a reading of the provider's object says of a payment."""
    if not isinstance(reading, Callback):
        return PaymentAnswer(answer=Answer.UNKNOWN, raw=raw, why=reading.why)
    answer = PAYMENT_ANSWERS.get(reading.kind, Answer.UNKNOWN)
    if answer is Answer.UNKNOWN:
        return PaymentAnswer(answer=answer, raw=raw, why=f"it says {reading.event_type}")
    return PaymentAnswer(answer=answer, callback=reading, raw=raw)


def no_payment(reply: Reply, code: str | None, missing: frozenset[str]) -> PaymentAnswer:
    """What an error says of a payment: only a code of the provider's means that there is none."""
    why = described(reply.status, code)
    found = is_refusal(reply.status) and code in missing
    answer = Answer.NOT_FOUND if found else Answer.UNKNOWN
    return PaymentAnswer(answer=answer, raw=reply.body, why=why)


def no_refund(status: int, code: str | None, missing: frozenset[str]) -> RefundAnswer:
    """What an error says of a refund that was asked after; likewise."""
    found = is_refusal(status) and code in missing
    answer = Answer.NOT_FOUND if found else Answer.UNKNOWN
    return RefundAnswer(answer=answer, why=described(status, code))
