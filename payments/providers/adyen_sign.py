"""Sign an item as Adyen does: for trying things out with a key of one's own."""

from collections.abc import Mapping
from typing import Any

from orders.strict_json import JsonObject
from payments.providers.adyen_item import SCHEME, signed_fields
from payments.providers.hmac_verify import KEY_PURPOSE
from payments.providers.port import Key


def signed_item(item: Mapping[str, Any], hex_key: bytes) -> dict[str, Any]:
    """The item with its signature.

    Raises StrictJsonError if the item cannot be signed, and Misconfigured if the key is not hex.
    """
    signed_text = signed_fields(_json(item)).signed_text
    signature = SCHEME.signature_of(SCHEME.secret(Key("k", KEY_PURPOSE, hex_key)), signed_text)
    additional = {**item.get("additionalData", {}), "hmacSignature": signature.decode()}
    return {**item, "additionalData": additional}


def _json(value: Any) -> Any:
    """The same, as the reader of JSON would give it."""
    if isinstance(value, Mapping):
        return JsonObject([(name, _json(inner)) for name, inner in value.items()])
    return value
