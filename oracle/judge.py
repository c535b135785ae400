"""Compare our verdict and values with an SDK's, one callback at a time.

By the same code as the samples of `tests/vectors`: `tests/providers/vectors.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oracle.intended import BROADER, STRICTER, VALUES, Entry
from payments.callback import Callback, Reading
from payments.providers.port import Verified
from payments.providers.registry import PROVIDERS
from tests.providers.vectors import Sample, normalized, samples_of


@dataclass(frozen=True)
class Finding:
    """What came of one callback."""

    provider: str
    #: The SDK with its version.
    tool: str
    kind: str
    #: Whether the SDK calls it authentic.
    valid: bool
    #: The entries of `intended` by which it differs.
    intended: Sequence[Entry] = ()
    #: What differs although nobody meant it; empty where nothing does.
    fault: str = ""


def finding_on(document: dict[str, Any]) -> Finding:
    """Judge the one callback of a signer's line."""
    (case,), (sample,) = document["cases"], samples_of(document)
    provider, kind = document["provider"], case["kind"]
    try:
        intended, fault = _differences(sample, kind, case["oracle"]["verdict"])
    except Exception as error:  # noqa: BLE001 - an adapter never raises, so this is a finding
        intended, fault = [], f"{type(error).__name__}: {error}"
    return Finding(provider, case["oracle"]["tool"], kind, sample.valid, tuple(intended), fault)


def _differences(sample: Sample, kind: str, theirs: str) -> tuple[Sequence[Entry], str]:
    """The entries by which we differ, and what is left to say."""
    provider = PROVIDERS[sample.provider]
    verdict = sample.verdict(provider)
    ours = isinstance(verdict, Verified)
    readings = provider.read(sample.request, sample.account()) if ours else ()
    if ours and not readings:
        return [], "nothing is read"
    if ours is not sample.valid:
        entry = (sample.provider, kind)
        known = entry in (STRICTER if sample.valid else BROADER)
        return ([entry], "") if known else ([], f"{theirs!r}, but {verdict}")
    if not ours or sample.normalized is None:
        return [], ""
    if len(readings) != len(sample.normalized):
        return [], f"{len(readings)} events are read of {len(sample.normalized)}"
    used: list[Entry] = []
    for reading, says in zip(readings, sample.normalized, strict=True):
        entries, fault = _values(sample, reading, says)
        used += entries
        if fault:
            return used, fault
    return used, ""


def _values(
    sample: Sample, reading: Reading, says: Mapping[str, Any]
) -> tuple[Sequence[Entry], str]:
    if not isinstance(reading, Callback):
        return [], f"unreadable: {reading.why}"
    ours = normalized(reading, says, PROVIDERS[sample.provider])
    entries = [(sample.provider, word) for word in says if (sample.provider, word) in VALUES]
    meant = {word: VALUES[provider, word].ours(sample, says) for provider, word in entries}
    expected = {**says, **meant}
    used = [entry for entry in entries if meant[entry[1]] != says[entry[1]]]
    wrong = [
        f"{word} is {ours[word]!r}, not {expected[word]!r}"
        for word in says
        if ours[word] != expected[word]
    ]
    return used, "; ".join(wrong)
