"""`Idempotency-Key` for a call of the API, in one line above its method.

    @idempotent(operation="place_order", path="/v1/orders", shape=NewOrderSerializer)
    def post(self, request, wanted): ...

The method runs in the transaction that also records its answer, and runs again in place if a
deadlock ended that; it leaves the network alone. What it raises as the client's fault is a final
answer too. Work that outlives a transaction calls `answered` with `idempotency.leased.run`
instead. `docs/idempotency.md` has the table of answers.
"""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from django.db import transaction
from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from idempotency import claims, front, one_transaction
from idempotency.claims import Mismatch, Replay, Running
from idempotency.deadlocks import retry_deadlocks
from idempotency.digest import Path
from idempotency.keys import Intent
from idempotency.leased import Outcome
from idempotency.lifecycle import Result
from idempotency.one_transaction import Refused
from orders.api.authentication import merchant_of
from orders.api.idempotency_key import Operation, Wanted, key_of
from orders.api.idempotent_answers import answer_to, refusal_of, result_of
from orders.api.limits import count_new_key

Method = Callable[..., Response]


def idempotent(
    *,
    operation: str,
    path: str,
    shape: type[Serializer[Any]] | None = None,
    version: int = 1,
    key_required: bool = True,
    irrelevant: frozenset[Path] = frozenset(),
) -> Callable[[Method], Callable[..., HttpResponse]]:
    """Adopt the protocol for a method `(view, request, wanted, **arguments of the address)`.

    `operation` scopes the keys and never changes; a new meaning takes a new `version`, which
    begins without keys. `path` is the address as OpenAPI writes it. Where no key is required, a
    call without one runs as it is: for calls that are idempotent by nature.
    """
    described = Operation(
        name=operation, path=path, shape=shape, version=version, irrelevant=irrelevant
    )

    def decorate(method: Method) -> Callable[..., HttpResponse]:
        @wraps(method)
        def call(view: Any, request: Request, **arguments: str) -> HttpResponse:
            run = partial(method, view, request)
            key = key_of(request, required=key_required)
            if key is None:
                return _without_key(partial(run, described.wanted(request), **arguments))
            headers: dict[str, str] = {}

            def carry_out(intent: Intent, wanted: Wanted) -> Outcome:
                work = partial(_work, partial(run, wanted, **arguments), headers)
                return one_transaction.run(intent, work)

            return answered(described, request, key, arguments, carry_out, headers=headers)

        return call

    return decorate


def answered(
    operation: Operation,
    request: Request,
    key: str,
    arguments: dict[str, str],
    carry_out: Callable[[Intent, Wanted], Outcome],
    *,
    headers: dict[str, str] | None = None,
) -> HttpResponse:
    """Answer by what is known of the key, or carry it out.

    Another meaning is refused before the body's shape is looked at, and that before any row.
    """
    intent = operation.intent(request, key, arguments)

    def decide() -> Outcome:
        known = _known(intent)
        if known is not None:
            return known
        wanted = operation.wanted(request)
        count_new_key(merchant_of(request))
        return carry_out(intent, wanted)

    outcome = front.configured().answer(intent, decide)
    return answer_to(intent.scope, intent.key, outcome, headers)


def _known(intent: Intent) -> Outcome | None:
    standing = claims.look(intent)
    return standing if isinstance(standing, Replay | Mismatch | Running) else None


def _work(run: Callable[[], Response], headers: dict[str, str]) -> Result:
    headers.clear()  # It may have run before, in a transaction that did not commit.
    try:
        response = run()
    except Exception as error:
        refusal = refusal_of(error)
        if refusal is None:
            raise
        raise Refused(refusal) from error
    headers.update(response.headers)
    return result_of(response)


def _without_key(run: Callable[[], Response]) -> HttpResponse:
    return retry_deadlocks(lambda: _in_one_transaction(run))


@transaction.atomic(durable=True)
def _in_one_transaction(run: Callable[[], Response]) -> HttpResponse:
    return run()
