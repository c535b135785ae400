"""Signed samples that were made by other people's code, as test cases."""

import base64
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from payments.providers.port import Account, SignedRequest
from tests.signing import an_account


@dataclass(frozen=True)
class Sample:
    """One signed sample: the request, the keys and the clock to judge it with, the verdict."""

    provider: str
    name: str
    request: SignedRequest
    secrets: tuple[str, ...]
    now: datetime
    valid: bool
    #: What must be read from it, one entry per callback; None where the sample does not say.
    normalized: list[dict[str, Any]] | None = field(repr=False)

    def account(self, settings: dict[str, Any] | None = None) -> Account:
        return an_account(*self.secrets, settings=settings)


def samples_in(folder: Path) -> list[Sample]:
    """All samples of the folder's files."""
    return [
        _sample(document, case)
        for path in sorted(folder.glob("*.json"))
        for document in [json.loads(path.read_text(encoding="utf-8"))]
        for case in document["cases"]
    ]


def _sample(document: dict[str, Any], case: dict[str, Any]) -> Sample:
    config = {**document["config"], **(case.get("config_override") or {})}
    request, expected = case["request"], case["expected"]
    normalized = expected.get("normalized")
    return Sample(
        provider=document["provider"],
        name=case["name"],
        request=SignedRequest(
            headers=tuple((name.lower(), value) for name, value in request["headers"]),
            body=base64.b64decode(request["body_b64"]),
            url=config.get("notification_url", request["url"]),
        ),
        secrets=tuple(config.get("secrets", ())),
        now=datetime.fromtimestamp(case["now"], UTC),
        valid=expected["verdict"] == "valid",
        normalized=[normalized] if isinstance(normalized, dict) else normalized,
    )
