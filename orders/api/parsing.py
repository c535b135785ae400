"""Read a request's JSON so that it can mean one thing only."""

from collections.abc import Mapping
from typing import IO, Any, Final

from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser

from orders.strict_json import StrictJsonError, loads_strict

#: No request of this API needs a tenth of it.
BODY_BYTES_MAX: Final = 64 * 1024


class BodyTooLarge(APIException):
    """The body is longer than BODY_BYTES_MAX; the rest of it was not read."""

    status_code = 413
    default_detail = f"The body is longer than {BODY_BYTES_MAX} bytes."


class StrictJSONParser(BaseParser):
    """UTF-8 JSON without duplicate members, NaN or Infinity; anything else is a ParseError."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,  # noqa: ARG002 - DRF's signature
        parser_context: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> Any:
        """The value of the body."""
        body = stream.read(BODY_BYTES_MAX + 1)
        if len(body) > BODY_BYTES_MAX:
            raise BodyTooLarge
        try:
            return loads_strict(body)
        except StrictJsonError as error:
            raise ParseError(f"The body cannot be read: {error}.") from error
