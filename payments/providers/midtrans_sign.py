"""Sign a notification as Midtrans does: for trying things out with a key of one's own."""

from collections.abc import Mapping
from typing import Any

from orders.strict_json import JsonObject
from payments.providers.midtrans import signed_fields


def signed_notification(fields: Mapping[str, Any], server_key: bytes) -> dict[str, Any]:
    """The fields with their digest. Raises StrictJsonError if they cannot be signed."""
    signed = signed_fields(JsonObject([*fields.items()]))
    return {**fields, "signature_key": signed.digest(server_key).decode()}
