"""Every registered provider against signed samples that other people's code made.

Without VECTORS_DIR the samples are those of `tests/vectors`: each file must belong to a
registered provider, and each provider must have a file, except `custom`, which is no one
protocol (`test_custom_profiles.py`), and `simulator`, which nobody else speaks: a sample of our
own making would prove nothing (`tests/simulator`).

VECTORS_DIR names another folder. Its files for registered providers are run; files for
providers that are not registered are passed over, because such a folder may know more
providers than this version. A folder with nothing to run is a failure.
"""

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from payments.providers.port import Verified
from payments.providers.registry import PROVIDERS
from tests.providers.vectors import Sample, normalized, samples_in

OWN = Path(__file__).parent.parent / "vectors"
FOLDER = Path(os.environ.get("VECTORS_DIR") or OWN)
SAMPLES = [sample for sample in samples_in(FOLDER) if sample.provider in PROVIDERS]

#: Where we read something else on purpose; DIGEST is the digest of the body.
DIGEST = "digest"
OURS: dict[tuple[str, str], dict[str, Any]] = {
    # The samples take the refunded payment's number; parts of one payment must not be one refund.
    ("checkoutcom", "payment_refunded"): {"provider_txn_id": "act_2"},
    # The samples take the event's id from a header, which is not signed.
    ("razorpay", "payment_captured"): {"event_id": DIGEST},
    ("razorpay", "payment_failed"): {"event_id": DIGEST},
    ("razorpay", "refund_processed"): {"event_id": DIGEST},
    # So is the shop; and "#" is no character of an order number.
    ("shopify", "orders_paid"): {
        "event_id": DIGEST,
        "account": None,
        "merchant_order_no": "1001",
    },
    # Midtrans does not sign its transaction's number: with another one a replay would be news.
    **{
        ("midtrans", name): {"provider_txn_id": "ORDER-1"}
        for name in ("settlement", "capture_accept", "capture_challenge", "expire", "refund")
    },
    # The sample's maker has no word for it.
    ("braintree", "sample_refund_failed"): {"outcome": "refund_failed"},
    # The same amount, as ISO 4217 writes it.
    ("xendit", "valid"): {"amount": "50000.00"},
}


def each(samples: list[Sample]) -> pytest.MarkDecorator:
    names = [f"{sample.provider}-{sample.name}" for sample in samples]
    return pytest.mark.parametrize("sample", samples, ids=names)


def test_there_are_samples_to_run() -> None:
    assert SAMPLES, f"no file in {FOLDER} is for one of: {', '.join(PROVIDERS)}"


def test_every_provider_has_samples_and_every_file_a_provider() -> None:
    with_samples = {sample.provider for sample in samples_in(OWN)}
    assert with_samples == set(PROVIDERS) - {"custom", "simulator"}


@each(SAMPLES)
def test_a_sample_is_authentic_exactly_when_its_maker_says_so(sample: Sample) -> None:
    verdict = sample.verdict(PROVIDERS[sample.provider])
    assert isinstance(verdict, Verified) is sample.valid, verdict


@each([sample for sample in SAMPLES if sample.valid and sample.normalized is not None])
def test_a_sample_is_read_as_its_maker_says(sample: Sample) -> None:
    readings = PROVIDERS[sample.provider].read(sample.request, sample.account())
    assert sample.normalized is not None
    assert [
        normalized(reading, expected, PROVIDERS[sample.provider])
        for reading, expected in zip(readings, sample.normalized, strict=True)
    ] == [expected | differences(sample) for expected in sample.normalized]


@each([sample for sample in SAMPLES if sample.valid])
def test_an_authentic_sample_yields_readings_that_name_their_event(sample: Sample) -> None:
    readings = PROVIDERS[sample.provider].read(sample.request, sample.account())
    assert readings
    assert all(reading.event_id for reading in readings)


def test_each_difference_is_one() -> None:
    known = {(sample.provider, sample.name): sample for sample in samples_in(OWN)}
    for name in OURS:
        (expected,) = known[name].normalized or [{}]
        assert differences(known[name]).items().isdisjoint(expected.items())


def differences(sample: Sample) -> dict[str, Any]:
    """What is read from the sample otherwise than its maker says."""
    digest = sha256(sample.request.body).hexdigest()
    ours = OURS.get((sample.provider, sample.name), {})
    return {word: digest if value is DIGEST else value for word, value in ours.items()}
