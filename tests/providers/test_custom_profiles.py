"""Nine real providers as settings of `custom`: its parameters are the right ones."""

from pathlib import Path
from typing import Any

import pytest

from payments.providers.custom import Custom
from payments.providers.port import Verified
from tests.providers.vectors import Sample, samples_in
from tests.signing import CUSTOM_SETTINGS

PROFILES: dict[str, dict[str, Any]] = {
    "square": {
        "algorithm": "sha256",
        "message": "{url}{body}",
        "url": "configured",
        "signature": {"header": "x-square-hmacsha256-signature", "encoding": "base64"},
    },
    "razorpay": {
        "algorithm": "sha256",
        "signature": {"header": "X-Razorpay-Signature", "encoding": "hex"},
    },
    "paystack": {
        "algorithm": "sha512",
        "signature": {"header": "x-paystack-signature", "encoding": "hex"},
    },
    "gocardless": {
        "algorithm": "sha256",
        "signature": {"header": "Webhook-Signature", "encoding": "hex"},
    },
    "shopify": {
        "algorithm": "sha256",
        "signature": {"header": "X-Shopify-Hmac-SHA256", "encoding": "base64"},
    },
    "checkoutcom": {
        "algorithm": "sha256",
        "signature": {"header": "Cko-Signature", "encoding": "hex"},
    },
    "mollie_nextgen": {
        "algorithm": "sha256",
        "signature": {
            "header": "X-Mollie-Signature",
            "encoding": "hex",
            "prefix": "sha256=",
            "prefix_required": False,
        },
    },
    "flutterwave_v4": {
        "algorithm": "sha256",
        "signature": {"header": "flutterwave-signature", "encoding": "base64"},
    },
    "coinbase_business": {
        "algorithm": "sha256",
        "message": "{timestamp}.{body}",
        "signature": {
            "header": "X-Hook0-Signature",
            "format": "kv",
            "key": "v0",
            "encoding": "hex",
        },
        "timestamp": {"source": "signature:t"},
    },
    # Closed since March 2026; what is still sent can be verified by a profile.
    "coinbase_commerce": {
        "algorithm": "sha256",
        "signature": {"header": "X-CC-Webhook-Signature", "encoding": "hex"},
    },
}

# Signs a list of other headers too, which the scheme does not do: refused, which is safe.
BEYOND_THE_SCHEME = {("coinbase_business", "v1_valid")}

VECTORS = Path(__file__).parent.parent / "vectors"
# Those under `profiles` are of providers that are nothing but a profile.
SAMPLES = [
    sample
    for sample in (*samples_in(VECTORS), *samples_in(VECTORS / "profiles"))
    if sample.provider in PROFILES
]


@pytest.mark.parametrize(
    "sample", SAMPLES, ids=[f"{sample.provider}-{sample.name}" for sample in SAMPLES]
)
def test_a_profile_judges_as_the_provider_does(sample: Sample) -> None:
    settings = {**CUSTOM_SETTINGS, "scheme": PROFILES[sample.provider]}
    verdict = Custom().authenticate(sample.request, sample.account(settings), now=sample.now)
    valid = sample.valid and (sample.provider, sample.name) not in BEYOND_THE_SCHEME
    assert isinstance(verdict, Verified) is valid, verdict


def test_every_profile_has_samples() -> None:
    assert {sample.provider for sample in SAMPLES} == set(PROFILES)
