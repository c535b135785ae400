"""What the console's templates ask for."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import template
from django.utils.text import capfirst

from config.console.navigation import title_of

register = template.Library()


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
