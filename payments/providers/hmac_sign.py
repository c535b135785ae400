"""Sign as a provider does, from the declaration that verifies it: for trying things out.

Not evidence that the declaration is right; that is what samples made by others are for.
"""

from datetime import datetime

from payments.providers.hmac_scheme import HmacScheme
from payments.providers.hmac_verify import KEY_PURPOSE
from payments.providers.port import Key


def sign(
    scheme: HmacScheme,
    secret: bytes,
    body: bytes,
    *,
    now: datetime,
    message_id: str = "",
    url: str = "",
) -> dict[str, str]:
    """The headers, in lower case, with which the provider would send this body at that time.

    `secret` is written as the key is stored; `url` is the public address, where the scheme
    signs it. Raises Misconfigured if the secret is not usable.
    """
    timestamp = ""
    if scheme.timestamp:
        unit = 1000 if scheme.timestamp.unit == "ms" else 1
        timestamp = str(int(now.timestamp() * unit))
    key = scheme.secret(Key("secret", KEY_PURPOSE, secret))
    signed_text = scheme.signed_text(body, timestamp=timestamp, message_id=message_id, url=url)
    headers = {
        "content-type": "application/json",
        scheme.signature.header: _written(
            scheme, scheme.signature_of(key, signed_text).decode(), timestamp
        ),
    }
    if scheme.timestamp and scheme.timestamp.header:
        headers[scheme.timestamp.header] = timestamp
    if scheme.id_header:
        headers[scheme.id_header] = message_id
    return headers


def _written(scheme: HmacScheme, signature: str, timestamp: str) -> str:
    rule = scheme.signature
    signature = rule.prefix + signature
    if rule.format == "versioned":
        return f"{rule.version}{rule.version_separator}{signature}"
    if rule.format == "raw":
        return signature
    items = [f"{rule.key}={signature}"]
    if scheme.timestamp and scheme.timestamp.item:
        items.insert(0, f"{scheme.timestamp.item}={timestamp}")
    return rule.item_separator.join(items)
