"""Sign requests to WeChat Pay's APIv3, and take no answer that WeChat Pay has not signed.

What is signed is the method, the path with its query, a time, a nonce and the body, each with a
line feed after it. https://pay.weixin.qq.com/doc/v3/merchant/4012365342
"""

import secrets
from datetime import datetime
from typing import Final

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from payments.clients.wire import NoReply, Reply, Wire
from payments.providers.hmac_verify import KEY_PURPOSE
from payments.providers.port import Account, Key, Rejected, SignedRequest
from payments.providers.rsa_sign import signature
from payments.providers.wechatpay_v3_signature import signer

SCHEME: Final = "WECHATPAY2-SHA256-RSA2048"
_OK: Final = 200


class SignedWire:
    """The wire of one merchant, at one time."""

    def __init__(
        self, wire: Wire, account: Account, key: RSAPrivateKey, *, serial_no: str, now: datetime
    ) -> None:
        self._wire = wire
        self._account = account
        self._key = key
        self._serial_no = serial_no
        self._now = now

    def send(self, method: str, path: str, content: bytes) -> Reply:
        """One request, sent once. Raises NoReply."""
        headers = self._headers(method, path, content)
        return self._genuine(self._wire.send(method, path, headers=headers, content=content))

    def ask(self, path: str) -> Reply:
        """A question. Raises NoReply."""
        return self._genuine(self._wire.ask(path, headers=self._headers("GET", path, b"")))

    def download(self, url: str) -> bytes:
        """A bill, which is not signed. Raises NoReply."""
        base = self._wire.base_url
        if not url.startswith(f"{base}/"):
            raise NoReply("the bill's address is not WeChat Pay's")
        headers = self._headers("GET", url.removeprefix(base), b"")
        reply = self._wire.download(url, headers=headers)
        if reply.status != _OK:
            raise NoReply(f"HTTP {reply.status} for the bill")
        return reply.body

    def _headers(self, method: str, path: str, content: bytes) -> dict[str, str]:
        timestamp, nonce = str(int(self._now.timestamp())), secrets.token_hex(16)
        lines = (method.encode(), path.encode(), timestamp.encode(), nonce.encode(), content)
        signed = signature(self._key, b"".join(line + b"\n" for line in lines)).decode()
        mchid = self._account.account_no.partition("/")[0]
        headers = {
            "accept": "application/json",
            "content-type": "application/json",
            "authorization": f'{SCHEME} mchid="{mchid}",nonce_str="{nonce}",timestamp="{timestamp}"'
            f',serial_no="{self._serial_no}",signature="{signed}"',
        }
        public = [key.key_id for key in self._account.keys if key.purpose == KEY_PURPOSE]
        # Which key the answer is to be signed with.
        return {**headers, "wechatpay-serial": public[0]} if public else headers

    def _genuine(self, reply: Reply) -> Reply:
        found = signer(SignedRequest(reply.headers, reply.body), self._account, now=self._now)
        if isinstance(found, Key):
            return reply
        why = found.reason if isinstance(found, Rejected) else f"unknown key {found.key_id}"
        raise NoReply(f"HTTP {reply.status} whose signature is not WeChat Pay's: {why}")
