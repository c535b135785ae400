"""Throw bytes at every provider, guided by coverage: `make fuzz`.

An input is two bytes that pick a signed sample (its provider, account, headers and address), a
line that replaces the sample's signature headers unless it is empty, and a body. Whatever it is,
`authenticate` and `read` must not raise, and what is read must be storable. Where a signature
vouches for every byte of the body, a body that no sample has must not be authentic.

Arguments are libFuzzer's. Files are an input each, to see again what went wrong.
"""

import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import atheris

with atheris.instrument_imports(include=["payments", "orders"]):
    from payments.callback import PROVIDER_ID, Callback, Unreadable
    from payments.providers.hmac_provider import HmacProvider
    from payments.providers.port import SignedRequest, Verified
    from payments.providers.registry import PROVIDERS
    from tests.providers.hmac_senders import CUSTOM, NOW
    from tests.providers.vectors import Sample, samples_in

VECTORS: Final = Path(__file__).parent.parent / "vectors"
FOLDER: Final = Path("var/fuzz")
HALF: Final = 0.5
#: One of each kind that JSON has, and what is awkward about some.
VALUES: Final[tuple[Any, ...]] = (
    *(None, True, 0, -1, 10**30, 1.5, 1e400),
    *("", "x", "\0", "\ud800", " 1", "9" * 200),
    *([], [1], {}, {"a": 1}, [{}]),
)


class Fault(AssertionError):
    """A provider did what none may do."""


def samples_by_provider() -> list[list[Sample]]:
    """The samples of each provider that has any: the simulator, which is ours, has none."""
    found: dict[str, list[Sample]] = defaultdict(list)
    own = Sample(
        provider="custom",
        name="own",
        request=CUSTOM.genuine(),
        configured=CUSTOM.account,
        now=NOW,
        valid=True,
        normalized=None,
        certificates={},
    )
    for sample in [own, *samples_in(VECTORS)]:
        found[sample.provider].append(sample)
    return [found[name] for name in sorted(PROVIDERS) if found[name]]


SAMPLES: Final = samples_by_provider()
SIGNED: Final = {sample.request.body for samples in SAMPLES for sample in samples}


def try_one(data: bytes) -> None:
    """Judge and read one input."""
    if len(data) < 2:
        return
    samples = SAMPLES[data[0] % len(SAMPLES)]
    sample = samples[data[1] % len(samples)]
    line, _, body = data[2:].partition(b"\n")
    request = SignedRequest(_headers(sample, line), body, sample.request.url)
    provider = PROVIDERS[sample.provider]
    verdict = replace(sample, request=request).verdict(provider)
    if isinstance(provider, HmacProvider) and isinstance(verdict, Verified) and body not in SIGNED:
        raise Fault(f"{sample.provider}: authentic, but nobody signed it")
    readings = provider.read(request, sample.account())
    if not readings:
        raise Fault(f"{sample.provider}: no reading")
    for reading in readings:
        _check(sample.provider, reading)


def _headers(sample: Sample, line: bytes) -> tuple[tuple[str, str], ...]:
    if not line:
        return sample.request.headers
    value = line.decode("latin-1")
    return tuple(
        (name, value if "sig" in name or "hmac" in name else given)
        for name, given in sample.request.headers
    )


def _check(provider: str, reading: object) -> None:
    if not isinstance(reading, Callback | Unreadable):
        raise Fault(f"{provider}: neither a callback nor unreadable")
    words = [reading.event_id]
    if isinstance(reading, Callback):
        words += [reading.event_type, reading.stated_amount, reading.order_no or ""]
    else:
        words.append(reading.why)
        if not reading.why:
            raise Fault(f"{provider}: unreadable without a reason")
    if not PROVIDER_ID.fullmatch(reading.event_id):
        raise Fault(f"{provider}: an event id that is none")
    for word in words:
        if "\0" in word or word != word.encode("utf-8", "replace").decode():
            raise Fault(f"{provider}: text that no database stores")


def write_corpus(folder: Path) -> None:
    """Begin with the samples: a good body is what mutation cannot find by itself."""
    folder.mkdir(parents=True, exist_ok=True)
    for provider, samples in enumerate(SAMPLES):
        for number, sample in enumerate(samples):
            data = bytes([provider, number % 256]) + b"\n" + sample.request.body
            (folder / f"{sample.provider}-{sample.name}").write_bytes(data)


def mutate(data: bytes, size_max: int, seed: int) -> bytes:
    """Every other time put another value somewhere into the JSON; bytes alone seldom get there."""
    chance = random.Random(seed)  # noqa: S311 - libFuzzer's seed, so that a run can be repeated
    head, newline, body = data.partition(b"\n")
    try:
        document = json.loads(body) if newline and chance.random() < HALF else None
    except (ValueError, RecursionError):
        document = None
    places = list(places_in(document))
    if not places:
        return bytes(atheris.Mutate(data, size_max))
    holder, name = chance.choice(places)
    holder[name] = chance.choice(VALUES)
    return (head + newline + json.dumps(document).encode())[:size_max]


def places_in(node: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a document that holds a value, with what it is a place of."""
    names = node if isinstance(node, dict) else range(len(node) if isinstance(node, list) else 0)
    for name in names:
        yield node, name
        yield from places_in(node[name])


def main(arguments: Sequence[str]) -> None:
    """Fuzz with these arguments of libFuzzer, until its limits or the first fault."""
    corpus = FOLDER / "corpus"
    write_corpus(corpus)
    atheris.Setup(
        [sys.argv[0], f"-artifact_prefix={FOLDER}/", *arguments, str(corpus)],
        try_one,
        custom_mutator=mutate,
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
