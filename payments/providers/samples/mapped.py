"""Samples of providers whose events are read by field maps: the maps, followed backwards.

What a map reads is written at its place; nothing else is. Which of a provider's types tells a
kind is tried in the order of the maps, and whoever asks takes the first that reads as meant.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from payments.callback import Kind
from payments.providers.field_map import FieldMap, Path
from payments.providers.field_map_settings import paths
from payments.providers.options import Options
from payments.providers.samples.occurrence import Hand, Occurrence
from payments.providers.samples.shapes import SHAPES

Document = dict[str, Any]

#: What a meaning that is computed looks at, where no type tells the kind by itself.
_EXTRAS: Final[Mapping[tuple[str, Kind], tuple[Path, str]]] = {
    ("paystack", Kind.DISPUTE_WON): (("data", "resolution"), "declined"),
    ("paystack", Kind.DISPUTE_LOST): (("data", "resolution"), "merchant-accepted"),
    ("paypal", Kind.DISPUTE_WON): (
        ("resource", "dispute_outcome", "outcome_code"),
        "RESOLVED_SELLER_FAVOUR",
    ),
    ("paypal", Kind.DISPUTE_LOST): (
        ("resource", "dispute_outcome", "outcome_code"),
        "RESOLVED_BUYER_FAVOUR",
    ),
}


def bodies(name: str, maps: Sequence[FieldMap], told: Occurrence, hand: Hand) -> Iterator[bytes]:
    """Bodies that might tell it. Raises NotMoney if the amount cannot be written."""
    shape = SHAPES.get(name)
    for fields in maps:
        for event_type, status in _types(fields, told.kind):
            document = _filled(fields, event_type, status, told, hand)
            if (name, told.kind) in _EXTRAS:
                _put(document, *_EXTRAS[name, told.kind])
            yield json.dumps(shape(document) if shape else document).encode()


def _types(fields: FieldMap, kind: Kind) -> Iterator[tuple[str, str]]:
    """The types, each with a status where that decides, which tell or might tell the kind."""
    for event_type, meaning in fields.kinds.items():
        if isinstance(meaning, Mapping):
            yield from ((event_type, status) for status, told in meaning.items() if told is kind)
        elif not isinstance(meaning, Kind) or meaning is kind:
            yield event_type, ""


def _filled(
    fields: FieldMap, event_type: str, status: str, told: Occurrence, hand: Hand
) -> Document:
    order = paths(Options(hand.account.settings, "settings"), "order") or fields.order
    values: list[tuple[Sequence[Path], Any]] = [
        (fields.type, event_type),
        (fields.event_id, told.event_id),
        (fields.transaction, told.txn_no),
        (order if fields.order else (), told.order_no),
        (fields.amount, fields.amount_rule.written(told.money)),
        (fields.currency, told.money.currency),
        (fields.account, hand.account.account_no),
        (fields.occurred_at, told.at.strftime("%Y-%m-%dT%H:%M:%SZ")),
        (fields.status, status),
        (fields.linked if told.is_reversal else (), told.payment_no),
        (fields.reverses if told.is_reversal else (), told.payment_no),
    ]
    if fields.mode:
        stated = fields.mode.live if hand.account.live else fields.mode.test
        values.append((fields.mode.paths, stated))
    document: Document = {}
    for places, value in values:
        if places and value != "":
            _put(document, places[0], value)
    return document


def _put(document: Any, path: Path, value: Any) -> None:
    """Write the value at the path, unless something stands there; ``0`` is a list's only item."""
    first, *rest = path
    if first == "0":
        if not document:
            document.append({} if rest else value)
        first_held = document[0]
    elif rest:
        first_held = document.setdefault(first, [] if rest[0] == "0" else {})
    else:
        document.setdefault(first, value)
        return
    if rest:
        _put(first_held, tuple(rest), value)
