"""Read an account's settings: every name known, every value of its type, every error clear."""

from collections.abc import Collection, Mapping
from typing import Any, Final

from payments.providers.port import Misconfigured

_ABSENT: Final = object()


class Options:
    """One object of an account's settings, read name by name.

    `finish` must be called last: it refuses the names that nobody asked for, because a
    misspelt name would otherwise be a rule that silently does not hold.
    """

    def __init__(self, given: object, where: str) -> None:
        if not isinstance(given, Mapping):
            raise Misconfigured(f"{where} must be an object")
        self.where = where
        self._given: dict[Any, Any] = dict(given)

    def __contains__(self, name: str) -> bool:
        return name in self._given

    def value(self, name: str, default: Any = _ABSENT) -> Any:
        """The value as it stands; without a default it must be there."""
        value = self._given.pop(name, default)
        if value is _ABSENT:
            raise self.error(name, "is missing")
        return value

    def text(
        self,
        name: str,
        default: Any = _ABSENT,
        *,
        choices: Collection[str] = (),
        empty: bool = False,
    ) -> str:
        """A text, one of `choices` if there are any, and not empty unless `empty`."""
        value = self.value(name, default)
        if not isinstance(value, str):
            raise self.error(name, "must be text")
        if choices and value not in choices:
            raise self.error(name, f"must be one of: {', '.join(map(repr, choices))}")
        if not value and not empty:
            raise self.error(name, "must not be empty")
        return value

    def integer(self, name: str, default: Any = _ABSENT, *, low: int, high: int) -> int:
        """A whole number from `low` to `high`."""
        value = self.value(name, default)
        if type(value) is not int or not low <= value <= high:
            raise self.error(name, f"must be a whole number from {low} to {high}")
        return value

    def flag(self, name: str, *, default: bool) -> bool:
        """True or false."""
        value = self.value(name, default)
        if not isinstance(value, bool):
            raise self.error(name, "must be true or false")
        return value

    def texts(self, name: str) -> list[str]:
        """A list of texts, none of them empty; absent is the empty list."""
        value = self.value(name, [])
        if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
            raise self.error(name, "must be a list of texts")
        return value

    def section(self, name: str) -> "Options":
        """The object under that name."""
        return Options(self.value(name), f"{self.where}.{name}")

    def finish(self) -> None:
        """Refuse what was given and never read."""
        for name in self._given:
            raise self.error(name, "is not a known setting")

    def error(self, name: object, problem: str) -> Misconfigured:
        """The error to raise about that name."""
        return Misconfigured(f"{self.where}.{name} {problem}")
