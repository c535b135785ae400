"""Read a request that holds one event or many, each by the field map that knows its type.

One event that cannot be read never hides the others: its reading says what is wrong with it.
Two settings exist for every such provider whose merchants choose: ``order``, where the
merchant's order number stands in an event (a JSON pointer, or a list of them), and the
provider's own flags, which are true or false.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final

from orders.money import NotMoney
from orders.strict_json import StrictJsonError, parse
from payments.callback import Callback, Kind, Reading, Unreadable
from payments.providers.field_map import FieldMap, Meaning, Paths
from payments.providers.field_map_settings import paths
from payments.providers.options import Options
from payments.providers.port import Misconfigured

Settings = Mapping[str, Any]
#: The events in a document. It may complete them (a type that stands in two fields), and raises
#: StrictJsonError or NotMoney for a document that holds none.
Items = Callable[[Any, Settings], Sequence[Any]]

EMPTY_BATCH: Final = "(no events)"


def whole(document: Any, _settings: Settings) -> Sequence[Any]:
    """The document is the event."""
    return [document]


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedEvents:
    """Maps of one provider's events; the first says where the type stands, for all of them."""

    maps: tuple[FieldMap, ...]
    items: Items = whole
    flags: tuple[str, ...] = ()

    @property
    def meanings(self) -> Mapping[str, Meaning]:
        """What each type means; of two maps that know a type the first counts."""
        meanings: dict[str, Meaning] = {}
        for fields in self.maps:
            for name, meaning in fields.kinds.items():
                meanings.setdefault(name, meaning)
        return meanings

    def check(self, settings: Settings) -> None:
        """Refuse unknown settings and unusable values. Raises Misconfigured."""
        options = Options(settings, "settings")
        paths(options, "order")
        for flag in self.flags:
            options.flag(flag, default=False)
        options.finish()

    def read(self, body: bytes, settings: Settings) -> list[Reading]:
        """What each event says, at least one reading. Never raises."""
        digest = sha256(body).hexdigest()
        try:
            order = paths(Options(settings, "settings"), "order")
            items = self.items(parse(body), settings)
        except (StrictJsonError, NotMoney, Misconfigured) as error:
            return [Unreadable(str(error), digest)]
        if not items:
            return [Callback(event_id=digest, event_type=EMPTY_BATCH, kind=Kind.IGNORED)]
        if len(items) == 1:
            return [self._read(items[0], digest, order)]
        return [self._read(item, f"{digest}.{n}", order) for n, item in enumerate(items)]

    def _read(self, item: object, fallback_id: str, order: Paths) -> Reading:
        fields = self._map_of(item)
        if order:
            fields = replace(fields, order=order)
        return fields.read_event(item, fallback_id)

    def _map_of(self, item: object) -> FieldMap:
        try:
            event_type = self.maps[0].type_of(item)
        except StrictJsonError:  # the first map says the same, where it can be reported
            event_type = None
        return next((fields for fields in self.maps if event_type in fields.kinds), self.maps[0])


def without_fee(thing: Any, fee: str) -> None:
    """Take a fee that the customer bears off the amount: what is left is owed to the merchant."""
    if isinstance(thing, dict):
        amount, borne = thing.get("amount"), thing.get(fee)
        if type(amount) is int and type(borne) is int:
            thing["amount"] = amount - borne
