"""Walk the chain, and say where it breaks."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from audit import chain
from audit.models import AuditEntry

PAGE: Final = 1000


class Anchor(NamedTuple):
    """An entry's number and hash: kept elsewhere, it shows whether the chain was cut or redone."""

    seq: int
    hash: bytes

    def __str__(self) -> str:
        return f"{self.seq}:{self.hash.hex()}"


class Walked(NamedTuple):
    """How many entries were right, the last of them, and what is wrong with the next, if it is."""

    entries: int
    last: Anchor
    broken: str


def read_anchor(text: str) -> Anchor:
    """The anchor that ``Anchor.__str__`` wrote. Raises ValueError."""
    seq, _, digest = text.partition(":")
    found = Anchor(int(seq), bytes.fromhex(digest))
    if len(found.hash) != len(chain.GENESIS):
        raise ValueError(text)
    return found


def last() -> Anchor:
    """The end of the chain as it is stored; nothing is verified."""
    entry = AuditEntry.objects.order_by("-seq").first()
    return Anchor(0, chain.GENESIS) if entry is None else Anchor(entry.seq, bytes(entry.hash))


def walk(*, kept: Anchor | None = None, page: int = PAGE) -> Walked:
    """Verify every entry from the first, a page at a time, and that `kept` is one of them.

    What was cut off from the end leaves a chain that is whole: only an anchor shows it.
    """
    end = Anchor(0, chain.GENESIS)
    for entry in _entries(page):
        wrong = _wrong(entry, end)
        if not wrong and kept is not None and entry.seq == kept.seq:
            wrong = "" if bytes(entry.hash) == kept.hash else "it is not the entry of the anchor"
        if wrong:
            return Walked(end.seq, end, f"entry {entry.seq}: {wrong}")
        end = Anchor(entry.seq, bytes(entry.hash))
    if kept is not None and kept.seq > end.seq:
        return Walked(end.seq, end, f"entry {kept.seq}: it was kept as an anchor, and is gone")
    return Walked(end.seq, end, "")


def _wrong(entry: AuditEntry, end: Anchor) -> str:
    if entry.seq != end.seq + 1:
        return f"entries {end.seq + 1} to {entry.seq - 1} are missing"
    if bytes(entry.previous) != end.hash:
        return "it does not follow the entry before it"
    if chain.digest(end.hash, chain.content_of(entry)) != bytes(entry.hash):
        return "its content is not what was written"
    return ""


def _entries(page: int) -> Iterator[AuditEntry]:
    after = 0
    while True:
        found = list(AuditEntry.objects.filter(seq__gt=after).order_by("seq")[:page])
        yield from found
        if len(found) < page:
            return
        after = found[-1].seq
