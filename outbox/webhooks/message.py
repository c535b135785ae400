"""What a merchant's endpoint receives: the body and the headers of one attempt.

The body is the envelope of Standard Webhooks (``type``, ``timestamp``, ``data``), the same in every
attempt; ``webhook-timestamp`` and ``webhook-signature`` are new in each. The attributes of
CloudEvents 1.0 travel as ``ce-`` headers (HTTP binding, binary mode); they are not signed.
"""

import json
from collections.abc import Sequence
from typing import Final

from outbox.destinations.port import Message
from outbox.webhooks.signature import sign

#: The standard advises 20 KB; ours are below 2. More than this no endpoint is sent.
BODY_BYTES_MAX: Final = 256 * 1024
#: Told by Content-Type, and of the data within the body, respectively.
_NOT_AS_HEADERS: Final = frozenset(("datacontenttype", "dataschema", "traceparent"))


def body_of(message: Message) -> bytes:
    """The envelope around the payload, which goes in as it is stored."""
    attributes = message.attributes()
    head = json.dumps({"type": attributes["type"], "timestamp": attributes["time"]})
    return head.removesuffix("}").encode() + b', "data": ' + message.payload + b"}"


def headers_of(
    message: Message, body: bytes, keys: Sequence[bytes], *, timestamp: int
) -> dict[str, str]:
    """The headers of an attempt at this second (Unix time). Raises NoSecret."""
    attributes = message.attributes()
    extensions = {
        f"ce-{name}": value for name, value in attributes.items() if name not in _NOT_AS_HEADERS
    }
    if message.traceparent:
        extensions["traceparent"] = message.traceparent
    return {
        "content-type": "application/json",
        "user-agent": "paidonce",
        "accept-encoding": "identity",
        "connection": "close",
        **extensions,
        "webhook-id": attributes["id"],
        "webhook-timestamp": str(timestamp),
        "webhook-signature": sign(
            keys, message_id=attributes["id"], timestamp=timestamp, body=body
        ),
    }
