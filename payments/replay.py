"""Take stored requests once more: see what would change now, then change it through `receive`.

An adapter that was mended, a key or an order that came later, an account that was set right: what
was kept can then become what it should have been. Nothing is verified anew, since only what was
authentic is kept; and nothing of what was kept is changed.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime

from django.db import OperationalError
from django.utils.translation import gettext as _

from audit import chain
from audit.actors import Actor
from payments.accounts import find_endpoint
from payments.deliveries import API_KEY_ID, Intake
from payments.held import TooManyHeld
from payments.models import Delivery
from payments.providers.port import Assurance, SignedRequest
from payments.receive import Verdict, receive
from payments.replayed import Replayed, Result, Said, Standing, standing
from payments.vault import Undecryptable


def requests(delivery_ids: Collection[int]) -> list[Delivery]:
    """The first deliveries of the requests that these belong to, as they came in, oldest first."""
    chosen = Delivery.objects.filter(pk__in=delivery_ids)
    batches = chosen.filter(replay_of=None).values_list("batch_id", flat=True)
    firsts = Delivery.objects.filter(batch_id__in=list(batches), item_no=0)
    originals = chosen.exclude(replay_of=None).values_list("replay_of", flat=True)
    return list(firsts.union(Delivery.objects.filter(pk__in=list(originals))).order_by("pk"))


def rehearse(first: Delivery, *, now: datetime) -> Replayed:
    """What would change now: the request is received, and all of that is undone."""
    return _replay(first, now=now, keep=lambda _found, _verdicts: False)


def carry_out(first: Delivery, *, seen: str, by: Actor, why: str, now: datetime) -> Replayed:
    """Receive it, if what changes is what was seen; the audit's entry is part of it.

    What would change nothing any more is not written once more.
    """

    def keep(found: Replayed, verdicts: Sequence[Verdict]) -> bool:
        if found.result is not Result.CHANGES or found.digest != seen:
            return False
        chain.record(
            by=by,
            action="delivery.replayed",
            object_type="delivery",
            object_id=first.pk,
            before={"verdicts": [str(said) for said in found.was]},
            after={
                "verdicts": [str(said) for said in found.now],
                "told": list(found.told),
                "deliveries": [verdict.delivery_id for verdict in verdicts],
            },
            why=why,
        )
        return True

    found = _replay(first, now=now, keep=keep)
    if found.result is Result.CHANGES and found.digest != seen:
        return Replayed(
            first=first, result=Result.DIFFERS, was=found.was, now=found.now, told=found.told
        )
    return found


def _replay(
    first: Delivery, *, now: datetime, keep: Callable[[Replayed, Sequence[Verdict]], bool]
) -> Replayed:
    was = _verdicts_of(first)
    if first.key_id == API_KEY_ID:
        return _cannot(first, was, _("it was the provider's own answer: ask the provider again"))
    found: list[Replayed] = []
    try:
        endpoint = find_endpoint(first.account.provider, first.account.name)
        if endpoint is None:
            return _cannot(first, was, _("its account is not active"))
        request = SignedRequest(
            headers=tuple((str(name), str(value)) for name, value in first.headers),
            body=bytes(first.body or b""),
        )
        intake = Intake(
            endpoint=endpoint,
            request=request,
            key_id=first.key_id,
            assurance=Assurance(first.assurance),
            received_at=now,
            replay_of=first.pk,
        )
        readings = endpoint.provider.read(request, endpoint.account)
        before = standing(first, [getattr(reading, "txn_no", "") for reading in readings], now)

        def judge(verdicts: Sequence[Verdict]) -> bool:
            found[:] = [_found(first, was, verdicts, before, now)]
            return keep(found[0], verdicts)

        receive(intake, readings, keep=judge)
    except OperationalError:
        return _cannot(first, was, _("the database is busy: try again"))
    except (TooManyHeld, Undecryptable) as error:
        return _cannot(first, was, str(error))
    return found[0]


def _found(
    first: Delivery,
    was: Sequence[Said],
    verdicts: Sequence[Verdict],
    before: Standing,
    now: datetime,
) -> Replayed:
    after = standing(first, before.txn_nos, now)
    return Replayed(
        first=first,
        result=Result.NOTHING if after == before else Result.CHANGES,
        was=was,
        now=[Said(verdict.outcome, verdict.reason) for verdict in verdicts],
        told=sorted(name for key, name in after.events.items() if key not in before.events),
    )


def _cannot(first: Delivery, was: Sequence[Said], why: str) -> Replayed:
    return Replayed(first=first, result=Result.CANNOT, was=was, why=why)


def _verdicts_of(first: Delivery) -> list[Said]:
    items = Delivery.objects.filter(batch_id=first.batch_id).order_by("item_no")
    return [Said(*row) for row in items.values_list("outcome", "reason")]
