"""Alipay's gateway: one address, signed forms in, signed JSON out.

The answer's signature is over the very bytes of the object under ``<method>_response``; only
those are read. An answer without a good signature says nothing.
https://opendocs.alipay.com/common/02mse2
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, Final
from urllib.parse import urlencode

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from orders.strict_json import StrictJsonError, loads_strict, mapping, parse, required, text
from payments.clients.wire import NoReply, Reply, Wire
from payments.providers.hmac_verify import KEY_PURPOSE
from payments.providers.port import Account
from payments.providers.rsa_sign import signature
from payments.providers.rsa_verify import signing_key
from payments.providers.sorted_params import to_sign

PATH: Final = "/gateway.do"
SUCCESS: Final = "10000"
_BILL_URL: Final = re.compile(r"https?://([a-z0-9-]+\.alipay\.com/[!-~]*)", re.ASCII)
_BEIJING: Final = timezone(timedelta(hours=8))
_OK: Final = 200
#: What may stand before the signed object.
_BEFORE: Final = rb'\s*\{\s*(?:"(?:sign|alipay_cert_sn)"\s*:\s*"[^"\\]*"\s*,\s*)*"%b"\s*:\s*'


class Gateway:
    """The gateway for one app, at one time."""

    def __init__(self, wire: Wire, account: Account, key: RSAPrivateKey, *, now: datetime) -> None:
        self._wire = wire
        self._account = account
        self._key = key
        self._now = now

    def call(self, method: str, content: Mapping[str, str]) -> tuple[Any, bytes]:
        """The signed object in the answer, and its bytes. Raises NoReply or StrictJsonError."""
        form = self._signed_form(method, content)
        headers = {"content-type": "application/x-www-form-urlencoded;charset=utf-8"}
        reply = self._wire.send("POST", PATH, headers=headers, content=form)
        if reply.status != _OK:
            raise NoReply(f"HTTP {reply.status} from the gateway")
        signed = self._signed_part(reply, method)
        return parse(signed), signed

    def download(self, url: str) -> bytes:
        """A bill, which is not signed. Raises NoReply."""
        found = _BILL_URL.fullmatch(url)
        if found is not None:
            # Alipay writes http.
            url = f"https://{found[1]}"
        elif not url.startswith(f"{self._wire.base_url}/"):
            raise NoReply("the bill's address is not Alipay's")
        reply = self._wire.download(url, headers={})
        if reply.status != _OK:
            raise NoReply(f"HTTP {reply.status} for the bill")
        return reply.body

    def _signed_form(self, method: str, content: Mapping[str, str]) -> bytes:
        stated = self._now.astimezone(_BEIJING).strftime("%Y-%m-%d %H:%M:%S")
        fields = {
            b"app_id": self._account.account_no.encode(),
            b"method": method.encode(),
            b"format": b"JSON",
            b"charset": b"utf-8",
            b"sign_type": b"RSA2",
            b"timestamp": stated.encode(),
            b"version": b"1.0",
            b"biz_content": json.dumps(dict(content), ensure_ascii=False).encode(),
        }
        sign = signature(self._key, to_sign(fields, without=(), drop_empty=True))
        return urlencode({**fields, b"sign": sign}).encode()

    def _signed_part(self, reply: Reply, method: str) -> bytes:
        node = method.replace(".", "_") + "_response"
        document = loads_strict(reply.body)
        sign = required(text(document, "sign"), "sign").encode("ascii", "replace")
        if mapping(document, node) is None:
            raise StrictJsonError(f"{node} is missing")
        signed = _object_after(reply.body, re.compile(_BEFORE % node.encode()))
        keys = [
            key
            for key in self._account.keys
            if key.purpose == KEY_PURPOSE and key.valid_at(self._now)
        ]
        if signing_key(keys, signed, sign, now=self._now) is None:
            raise NoReply("the answer's signature is not Alipay's")
        return signed


def _object_after(body: bytes, before: re.Pattern[bytes]) -> bytes:
    """The bytes of the object that follows; the body is known to be JSON and UTF-8."""
    begin = before.match(body)
    if begin is None:
        raise StrictJsonError("the signed object does not stand where it should")
    rest = body[begin.end() :].decode()
    _, end = json.JSONDecoder().raw_decode(rest)
    return rest[:end].encode()
