"""Variables of the environment that are not just text; what cannot be read is refused by name.

Each raises ImproperlyConfigured. No message repeats an address: it may hold a password.
"""

import os
import re
from collections.abc import Collection
from typing import Final

from django.core.exceptions import ImproperlyConfigured

ON: Final = ("true", "yes", "on", "1")
OFF: Final = ("false", "no", "off", "0")
#: What a BROKER_URL may begin with.
BROKER_SCHEMES: Final = ("redis", "rediss", "amqp", "amqps")
#: The characters of https://www.rfc-editor.org/rfc/rfc3986#section-2.
_URI_REFERENCE: Final = re.compile(r"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+")


def number(name: str, default: int, *, least: int = 0) -> int:
    """A whole number, not less than `least`."""
    text = _given(name) or str(default)
    if not text.isascii() or not text.isdecimal() or int(text) < least:
        raise ImproperlyConfigured(
            f"{name} is {text!r}; it must be a whole number from {least} on."
        )
    return int(text)


def switch(name: str) -> bool:
    """Whether something is on; off unless it is said."""
    text = _given(name).lower() or OFF[0]
    if text not in (*ON, *OFF):
        # A misspelt "true" must not be a silent "false": some switches guard something.
        raise ImproperlyConfigured(f"{name} is {text!r}; it must be true or false.")
    return text in ON


def choice(name: str, default: str, allowed: Collection[str]) -> str:
    """One of the allowed words."""
    text = _given(name) or default
    if text not in allowed:
        raise ImproperlyConfigured(f"{name} is {text!r}; it must be one of {', '.join(allowed)}.")
    return text


def names(name: str) -> list[str]:
    """Words like order.paid, with commas between; none unless some are given."""
    words = [word.strip() for word in _given(name).split(",") if word.strip()]
    for word in words:
        if not re.fullmatch(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*", word):
            raise ImproperlyConfigured(
                f"{name} holds {word!r}; each must be a name like order.paid."
            )
    return words


def address(name: str, default: str, schemes: Collection[str]) -> str:
    """An address that begins with one of the schemes."""
    text = _given(name) or default
    if text.partition("://")[0] not in schemes:
        beginnings = " or ".join(f"{scheme}://" for scheme in schemes)
        raise ImproperlyConfigured(f"{name} must begin with {beginnings}")
    return text


def uri_reference(name: str, default: str) -> str:
    """A URI, or the relative part of one."""
    text = _given(name) or default
    if not _URI_REFERENCE.fullmatch(text):
        raise ImproperlyConfigured(
            f"{name} is {text!r}; it must be a URI or a path, with everything else as %XX."
        )
    return text


def _given(name: str) -> str:
    return os.environ.get(name, "").strip()
