"""Find whatever bears a number: exact, along an index, and within what the user may see.

Every screen is asked for its own rows, so that whoever sees only some of a list finds only those.
"""

import unicodedata
import uuid
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple

from django.contrib import admin
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest

from idempotency.models import Record
from orders.api.idempotency_key import scopes_of
from orders.models import Merchant, Order
from outbox.models import Destination, Dispatch, Event
from payments.models import (
    AccountKey,
    Confirmation,
    Conflict,
    Delivery,
    ProviderAccount,
    ProviderTransaction,
    Refund,
    TransactionKind,
)

#: Longer than any number that is kept.
TERM_LENGTH_MAX: Final = 255
#: How many of a kind are shown.
ROWS_MAX: Final = 20
_DIGEST_HEX_LENGTH: Final = 64
_ID_DIGITS_MAX: Final = 18
_AGGREGATE_TYPES: Final = ("order", "payment", "refund", "conflict")

#: The rows that audit entries, subjects of conflicts and lines of the log name by their id.
ROW_NAMES: Final[Mapping[str, type[Model]]] = {
    "order": Order,
    "transaction": ProviderTransaction,
    "delivery": Delivery,
    "refund": Refund,
    "conflict": Conflict,
    "confirmation": Confirmation,
    "record": Record,
    "dispatch": Dispatch,
    "key": AccountKey,
}


class Found(NamedTuple):
    """Some rows of one table; `more` if there are others."""

    model: type[Model]
    rows: list[Any]
    more: bool


class _Term:
    """What was typed, and what the indexes want to know besides it: they begin with an owner."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def merchants(self) -> list[int]:
        return list(Merchant.objects.values_list("pk", flat=True))

    @cached_property
    def accounts(self) -> list[int]:
        return list(ProviderAccount.objects.values_list("pk", flat=True))

    @cached_property
    def uuid(self) -> uuid.UUID | None:
        try:
            return uuid.UUID(self.text)
        except ValueError:
            return None

    @cached_property
    def digest(self) -> bytes | None:
        if len(self.text) != _DIGEST_HEX_LENGTH:
            return None
        try:
            return bytes.fromhex(self.text)
        except ValueError:
            return None

    @property
    def scopes(self) -> list[str]:
        return scopes_of(self.merchants)


def _delivery(term: _Term) -> Q:
    named = (
        Q(merchant__in=term.merchants, order_no=term.text)
        | Q(account__in=term.accounts, txn_no=term.text)
        | Q(event_id=term.text)
    )
    if term.digest is not None:
        named |= Q(body_sha256=term.digest, item_no=0)
    return named | Q(batch_id=term.uuid) if term.uuid else named


def _account(term: _Term) -> Q | None:
    provider, slash, name = term.text.partition("/")
    return Q(provider=provider, name=name) if slash else None


_By = Callable[[_Term], Q | None]
#: What bears the number itself.
_BEARERS: Final[tuple[tuple[type[Model], _By], ...]] = (
    (Order, lambda term: Q(merchant__in=term.merchants, order_no=term.text)),
    (
        ProviderTransaction,
        lambda term: Q(
            account__in=term.accounts, kind__in=TransactionKind.values, txn_no=term.text
        ),
    ),
    (
        Refund,
        lambda term: (
            Q(merchant__in=term.merchants, refund_no=term.text)
            | Q(account__in=term.accounts, provider_refund_no=term.text) & ~Q(provider_refund_no="")
        ),
    ),
    (Confirmation, lambda term: Q(account__in=term.accounts, txn_no=term.text)),
    (Event, lambda term: Q(pk=term.uuid) if term.uuid else None),
    (Record, lambda term: Q(scope__in=term.scopes, idem_key=term.text)),
    (ProviderAccount, _account),
    (Merchant, lambda term: Q(code=term.text)),
    (Destination, lambda term: Q(code=term.text)),
)
#: What only names it: asked where nothing bears it.
_TELLERS: Final[tuple[tuple[type[Model], _By], ...]] = (
    (Delivery, _delivery),
    (Event, lambda term: Q(aggregate_type__in=_AGGREGATE_TYPES, aggregate_id=term.text)),
)


def typed(text: str) -> str:
    """What was meant: without what a copy from a mail or a page brings along."""
    kept = "".join(letter for letter in text if unicodedata.category(letter) not in ("Cc", "Cf"))
    return kept.strip()


def find(request: HttpRequest, text: str) -> list[Found]:
    """What bears this number; if nothing does, what names it. Nothing that he may not see."""
    if not text or len(text) > TERM_LENGTH_MAX:
        return []
    term = _Term(text)
    found = [*_by_id(request, text), *_among(request, _BEARERS, term)]
    return found or list(_among(request, _TELLERS, term))


def seen(request: HttpRequest, model: type[Model]) -> QuerySet[Any] | None:
    """The rows of a table that this user may see; None if he may see none."""
    screen = admin.site.get_model_admin(model)
    if not screen.has_view_permission(request):
        return None
    # In no order: to sort by another index could mean to walk all of it.
    rows: QuerySet[Any] = screen.get_queryset(request).order_by().prefetch_related(None)
    beside = screen.get_list_select_related(request)
    return rows if isinstance(beside, bool) else rows.select_related(*beside)


def _by_id(request: HttpRequest, text: str) -> Iterator[Found]:
    name, _, digits = text.partition(":")
    model = ROW_NAMES.get(name.lower())
    is_id = digits.isascii() and digits.isdigit() and len(digits) <= _ID_DIGITS_MAX
    if model is not None and is_id:
        yield from _rows(request, model, Q(pk=int(digits)))


def _among(
    request: HttpRequest, kinds: tuple[tuple[type[Model], _By], ...], term: _Term
) -> Iterator[Found]:
    for model, by in kinds:
        wanted = by(term)
        if wanted is not None:
            yield from _rows(request, model, wanted)


def _rows(request: HttpRequest, model: type[Model], wanted: Q) -> Iterator[Found]:
    may_see = seen(request, model)
    if may_see is not None and (rows := list(may_see.filter(wanted)[: ROWS_MAX + 1])):
        yield Found(model, rows[:ROWS_MAX], more=len(rows) > ROWS_MAX)
