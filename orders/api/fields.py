"""Fields that take a value of exactly one JSON type, and give no second reading to any other."""

import re
from datetime import UTC, datetime
from typing import Any, Final, NoReturn

from rest_framework import serializers

_RFC3339: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?"
    r"(?:[Zz]|[+-][0-9]{2}:[0-9]{2})",
    re.ASCII,
)


class WholeNumberField(serializers.IntegerField):
    """A JSON integer: not ``1099.0``, ``"1099"`` or ``true``, which DRF would take as well."""

    def to_internal_value(self, data: Any) -> int:
        """The number as it is."""
        if type(data) is not int:
            raise serializers.ValidationError("This must be a JSON integer.", code="type")
        return data


class PatternField(serializers.RegexField):
    """A JSON string that matches as a whole; nothing is trimmed or converted."""

    def __init__(self, pattern: str, *, mismatch: str, **options: Any) -> None:
        super().__init__(
            re.compile(rf"\A(?:{pattern})\Z", re.ASCII),
            trim_whitespace=False,
            error_messages={"invalid": mismatch},
            **options,
        )

    def to_internal_value(self, data: Any) -> str:
        """The text as it is."""
        if not isinstance(data, str):
            raise serializers.ValidationError("This must be a JSON string.", code="type")
        return data


class MomentField(serializers.DateTimeField):
    """An RFC 3339 time with its offset from UTC: without one, nobody knows which moment it is."""

    def to_internal_value(self, value: Any) -> datetime:
        """The moment in UTC."""
        if not isinstance(value, str) or not _RFC3339.fullmatch(value):
            self._refuse()
        try:
            return datetime.fromisoformat(value.upper()).astimezone(UTC)
        except (ValueError, OverflowError):
            self._refuse()

    def _refuse(self) -> NoReturn:
        raise serializers.ValidationError(
            "This must be an RFC 3339 time with an offset, such as 2031-05-04T18:30:00Z, with "
            "at most 6 decimals of a second.",
            code="type",
        )
