"""What the console's templates ask for."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from django import template
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from config.console import related, text
from config.console.navigation import title_of

register = template.Library()

_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)


@register.filter
def named(parts: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """A page's trail, with lists by the names that the sidebar gives them.

    Without the application, which is a matter of the code and no page of ours.
    """
    trail = list(parts[1:]) if len(parts) > 1 else list(parts)
    for place, part in enumerate(trail):
        known = title_of(str(part.get("link") or ""))
        title = known or (capfirst(part["title"]) if place == 0 else part["title"])
        trail[place] = {**part, "title": title}
    return trail


@register.filter
def visible(value: object) -> str:
    """Text that others wrote, with nothing hidden in it."""
    return text.visible(str(value))


@register.filter
def spaced(name: str) -> str:
    """The name of a value, as people write it."""
    return capfirst(name.replace("_", " "))


@register.filter
def clock(value: str) -> str:
    """A time of an evidence pack for people, who read no parts of a second."""
    return f"{value[:10]} {value[11:19]}"


@register.filter
def told(value: Any) -> str:
    """A value of an evidence pack: money with its currency, sides of a conflict line by line."""
    match value:
        case None | "":
            return "-"
        case bool():
            return _("yes") if value else _("no")
        case {"amount_minor": int(minor), "currency": str(currency), "amount": _amount}:
            return related.money(minor, currency)
        case str() if _MOMENT.fullmatch(value):
            return clock(value)
        case Mapping():
            return "; ".join(text.visible(f"{name}: {part}") for name, part in value.items())
        case _:
            return text.visible(str(value))


@register.filter
def evidence_parts(pack: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The lists of an evidence pack that are printed fact by fact, each with its title."""
    return [
        (_("Money"), pack["payments"]),
        (_("Refunds"), pack["refunds"]),
        (_("Conflicts and decisions"), pack["conflicts"]),
        (_("Events that were told"), pack["events"]),
        (_("Audit"), pack["audit"]),
    ]
