"""Make a notification as Braintree does, signed with a private key: for trying things out."""

import base64
from urllib.parse import urlencode

from payments.providers.braintree_signature import signature_of


def signed_form(document: bytes, public_key: str, private_key: bytes) -> bytes:
    """The body of the request that carries this XML document."""
    payload = base64.encodebytes(document)
    signature = f"{public_key}|".encode() + signature_of(payload, private_key)
    return urlencode({"bt_signature": signature, "bt_payload": payload}).encode()
