"""Providers whose only signature is a MAC of the body in a header: the kinds they share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from oracle.signers import openssl
from oracle.signers.cases import URL, Case, Chance, Signer, reserialised

#: An event's JSON and what it says.
Event = tuple[Any, dict[str, Any] | list[dict[str, Any]]]


@dataclass(frozen=True)
class RawHmac:
    """How one provider signs. `verify` is the SDK's: (body, signature or None, secret, url)."""

    provider: str
    tool: str
    header: str
    event: Callable[[Chance], Event]
    verify: Callable[[bytes, str | None, str, str], object]
    algorithm: str = "sha256"
    encoding: str = "hex"
    prefix: str = ""
    signs_url: bool = False
    secret: Callable[[Chance], str] = field(default=lambda chance: f"whk_{chance.word(24)}")
    #: An SDK's signing function instead of openssl: (body, secret).
    sign: Callable[[bytes, str], str] | None = None
    headers: Callable[[Chance], Sequence[tuple[str, str]]] = field(default=lambda _: [])

    def signer(self, **more: Callable[[Chance], Case]) -> Signer:
        """The signer, with kinds of its own besides the shared ones."""
        return Signer(
            self.provider, self.tool, self.genuine, self.judged, {**self._kinds(), **more}
        )

    def judged(self, case: Case) -> bool:
        """Whether one of the configured secrets made the signature, by the SDK."""
        signature, verdicts = case.header(self.header), []
        for secret in case.config["secrets"]:
            try:
                verdicts.append(bool(self.verify(case.body, signature, secret, case.url)))
            except Exception:  # the last secret's own error is what is told
                if secret == case.config["secrets"][-1] and not any(verdicts):
                    raise
        return any(verdicts)

    def signature(self, body: bytes, secret: str, url: str, **how: str) -> str:
        """The header's value."""
        if self.sign and not how and b"\xff" not in body:  # SDKs take text
            return self.sign(body, secret)
        message = (url.encode() if self.signs_url else b"") + body
        raw = openssl.mac(how.get("algorithm", self.algorithm), secret.encode(), message)
        return self.prefix + openssl.hex_or_base64(raw, how.get("encoding", self.encoding))

    def signed(self, chance: Chance, body: bytes, normalized: Any = None, **how: Any) -> Case:
        """The case with this body; `secrets` are those of the account, of which the last signs."""
        secrets = how.pop("secrets", None) or [self.secret(chance)]
        by = how.pop("by", secrets[-1])
        url = URL + chance.choice(["", "/", "?a=1&b=%20", "/é"]) if self.signs_url else URL
        return Case(
            config={"secrets": secrets, "notification_url": url},
            headers=[
                ("Content-Type", "application/json"),
                *self.headers(chance),
                (self.header, self.signature(body, by, url, **how)),
            ],
            body=body,
            now=chance.time(),
            normalized=normalized,
            url=url,
        )

    def genuine(self, chance: Chance) -> Case:
        """A callback as the provider sends it."""
        event, says = self.event(chance)
        return self.signed(chance, chance.dumps(event), says)

    def _kinds(self) -> Mapping[str, Callable[[Chance], Case]]:
        kinds: dict[str, Callable[[Chance], Case]] = {
            name: self._spoiled(how) for name, how in _SPOILED.items()
        }
        wrong = {"encoding": "base64" if self.encoding == "hex" else "hex"}
        other = {"algorithm": "sha512" if self.algorithm == "sha256" else "sha256"}
        kinds |= {
            "wrong_encoding": lambda chance: self._with(chance, **wrong),
            "wrong_algorithm": lambda chance: self._with(chance, **other),
            "sha1": lambda chance: self._with(chance, algorithm="sha1"),
            "other_secret": lambda chance: self._with(chance, by=self.secret(chance)),
            "second_secret": lambda chance: self._with(
                chance, secrets=[self.secret(chance), self.secret(chance)]
            ),
            "first_secret": self._by_first,
            "secret_with_line_end": self._with_line_end,
            "body_empty": lambda chance: self.signed(chance, b""),
            "body_not_utf8": lambda chance: self.signed(chance, b'{"x":"\xff\xfe\xe9"}'),
            "body_with_nul": lambda chance: self.signed(chance, b'{"x":"\x00"}'),
            "body_with_bom": lambda chance: self.signed(chance, b'\xef\xbb\xbf{"x":1}'),
            "body_not_json": lambda chance: self.signed(chance, chance.text().encode() + b"="),
            "body_deep": lambda chance: self.signed(chance, b"[" * 5000 + b"]" * 5000),
        }
        return kinds

    def _with(self, chance: Chance, **how: Any) -> Case:
        event, says = self.event(chance)
        return self.signed(chance, chance.dumps(event), says, **how)

    def _by_first(self, chance: Chance) -> Case:
        secrets = [self.secret(chance), self.secret(chance)]
        return self._with(chance, secrets=secrets, by=secrets[0])

    def _with_line_end(self, chance: Chance) -> Case:
        secret = self.secret(chance)
        return self._with(chance, secrets=[secret], by=secret + "\n")

    def _spoiled(self, how: Callable[["RawHmac", Chance, Case], Case]) -> Callable[[Chance], Case]:
        return lambda chance: how(self, chance, self.genuine(chance))

    def resigned(self, case: Case, signature: str | None) -> Case:
        """The case with another signature, or without one."""
        return case.with_headers(**{self.header: signature})


def _signature(
    change: Callable[[Chance, str], str | None],
) -> Callable[[RawHmac, Chance, Case], Case]:
    return lambda provider, chance, case: provider.resigned(
        case, change(chance, case.header(provider.header) or "")
    )


def _body(change: Callable[[Chance, bytes], bytes]) -> Callable[[RawHmac, Chance, Case], Case]:
    return lambda _, chance, case: replace(case, body=change(chance, case.body))


_SPOILED: Mapping[str, Callable[[RawHmac, Chance, Case], Case]] = {
    "body_bit": _body(lambda chance, body: chance.flip(body)),
    "body_longer": _body(lambda chance, body: body + chance.choice([b"\n", b" ", b"\0", b"\r\n"])),
    "body_shorter": _body(lambda _, body: body[:-1]),
    "body_reserialised": _body(lambda _, body: reserialised(body)),
    "body_of_another": lambda provider, chance, case: replace(
        case, body=provider.genuine(chance).body
    ),
    "signature_other": _signature(lambda chance, made: chance.other(made)),
    "signature_shorter": _signature(lambda _, made: made[:-1]),
    "signature_longer": _signature(lambda chance, made: made + chance.choice("0=aA")),
    "signature_swapped_case": _signature(lambda _, made: made.swapcase()),
    "signature_missing": _signature(lambda *_: None),
    "signature_empty": _signature(lambda *_: ""),
    "signature_not_ascii": _signature(lambda chance, made: made[:-1] + chance.choice("é😀\xa0")),
    "signature_unpadded": _signature(lambda _, made: made.rstrip("=")),
    "signature_in_quotes": _signature(lambda _, made: f'"{made}"'),
    "signature_spaced": _signature(lambda chance, made: chance.choice([f" {made}", f"{made} "])),
    "header_in_capitals": lambda provider, _, case: replace(
        case, headers=[(n.upper() if n == provider.header else n, v) for n, v in case.headers]
    ),
}
