"""Send what was claimed to its destination, and sort it by what became of each."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import structlog

from outbox import retries
from outbox.claims import Claim, Setback
from outbox.destinations.port import PAYLOAD_BYTES_MAX, Destination, Message, Refused, Unavailable

logger = structlog.stdlib.get_logger(__name__)


@dataclass(slots=True)
class Round:
    """The dispatches of one round, sorted by what became of them."""

    sent: list[Claim] = field(default_factory=list)
    refused: list[Setback] = field(default_factory=list)
    released: list[Setback] = field(default_factory=list)
    failure: str = ""


def publish(destination: Destination, held: Sequence[Claim], stop_at: float) -> Round:
    """Send the claims' messages in order, until all are told of, it fails, or time is up.

    What was not sent by `stop_at` (by time.monotonic) is given back. Raises nothing.
    """
    done = Round()
    waiting: list[tuple[Claim, Message]] = []
    for claim in held:
        if claim.message is None:
            done.refused.append(
                retries.after_refusal(claim, f"larger than {PAYLOAD_BYTES_MAX} bytes")
            )
        else:
            waiting.append((claim, claim.message))
    told = 0
    try:
        for result in _results(destination, [message for _, message in waiting]):
            claim = waiting[told][0]
            told += 1
            if isinstance(result, Refused):
                done.refused.append(retries.after_refusal(claim, result.reason))
            else:
                done.sent.append(claim)
            if time.monotonic() >= stop_at:
                break
    except Unavailable as error:
        done.failure = str(error)
    done.released = retries.after_failure([claim for claim, _ in waiting[told:]], done.failure)
    return done


def _results(destination: Destination, messages: Sequence[Message]) -> Iterator[Refused | None]:
    """What the destination says of each; where its own code fails, the message is found out.

    An error that is not Unavailable may be one message's fault: each that was not told of is
    tried alone, and those that fail then have had an attempt. If all of several fail, the fault is
    the destination's, and they are not blamed. Raises Unavailable.
    """
    told = 0
    try:
        for result in destination.publish(messages):
            told += 1
            yield result
    except Unavailable:
        raise
    except Exception as error:
        logger.exception("destination_failed")
        destination.close()
        yield from _one_by_one(destination, messages[told:], error)


def _one_by_one(
    destination: Destination, messages: Sequence[Message], error: Exception
) -> Iterator[Refused | None]:
    failed: list[Refused | None] = []
    for message in messages:
        try:
            destination.ready()
            result = next(iter(destination.publish([message])))
        except Unavailable:
            raise
        except Exception as again:  # noqa: BLE001 - it was logged when it first came
            destination.close()
            failed.append(Refused(f"it cannot be sent: {type(again).__name__}: {again}"))
            continue
        # One got through, so the destination works, and those before it are to blame themselves.
        yield from failed
        failed.clear()
        yield result
    if len(failed) == len(messages) > 1:
        raise Unavailable(f"{type(error).__name__}: {error}")
    yield from failed
