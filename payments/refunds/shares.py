"""How much of a payment each refund and chargeback counts: arithmetic on what the ledger holds.

Amounts are minor units. Facts count whole, as long as there is room; the order in which they were
told decides only who takes the room that is too small for all.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Single:
    """A refund told by itself. A total told before `since` cannot have it; None: any may."""

    amount: int
    since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A refund that came back: when, as its provider stated it, and when we were told."""

    amount: int
    since: datetime | None = None
    at: datetime | None
    told_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """All that was refunded so far: when that was true, if stated, and when we were told."""

    pk: int
    amount: int
    at: datetime | None
    told_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """A refund of ours that is under way: its room must be there when it succeeds."""

    amount: int
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a row is owed, and what of that it has. `told_at`: a total's, which may be ours."""

    pk: int
    owed: int
    has: int
    told_at: datetime | None = None


def owed_to_totals(
    totals: Iterable[Total], singles: Sequence[Single], failed: Sequence[Failed]
) -> dict[int, int]:
    """What each total adds to all that single refunds and the totals before it explain.

    A total told before a refund failed still has it, as far as there is anything left in the total
    that could be it. A total told after that is what stands refunded now: no provider documents
    whether it goes down when a refund fails, so the larger of the two readings counts, and a
    person is asked as about any refund from elsewhere.
    """
    owed, highest = {}, 0
    for total in sorted(totals, key=lambda each: each.pk):
        left = total.amount - sum(each.amount for each in singles if _may_have(total, each.since))
        for each in failed:
            if each.amount <= left and _has_failed_one(total, each):
                left -= each.amount
        owed[total.pk] = max(0, left - highest)
        highest = max(highest, left)
    return owed


def share_out(
    room: int, claims: Sequence[Claim], promises: Sequence[Promise]
) -> tuple[dict[int, int], int]:
    """What each claim gets of the room, and how much must stay reserved for the promises.

    Claims keep what they have, in the order given; then the oldest takes what is free, and so on.
    A total that may tell a refund under way uses the room that is promised to that one.
    """
    sharing = _Sharing(room, promises)
    for claim in claims:
        sharing.give(claim, min(claim.has, claim.owed))
    for claim in sorted(claims, key=lambda each: each.pk):
        sharing.give(claim, claim.owed)
    return sharing.got, sharing.promised - absorbed(sharing.parts.values(), promises)


def absorbed(parts: Iterable[tuple[datetime, int]], promises: Sequence[Promise]) -> int:
    """How much of the promises the parts of totals may already tell.

    A total told before a refund was asked for is never that refund.
    """
    newest = sorted(parts)
    pool = taken = 0
    # The promise that the fewest totals may tell chooses first.
    for promise in sorted(promises, key=lambda each: each.since, reverse=True):
        while newest and newest[-1][0] >= promise.since:
            pool += newest.pop()[1]
        part = min(pool, promise.amount)
        pool, taken = pool - part, taken + part
    return taken


def beyond_promises(
    parts: Mapping[int, tuple[datetime, int]], promises: Sequence[Promise]
) -> dict[int, int]:
    """What of each total no refund under way explains, the oldest total explained first."""
    beyond, so_far, before = {}, [], 0
    for pk, part in sorted(parts.items()):
        so_far.append(part)
        after = absorbed(so_far, promises)
        beyond[pk] = part[1] - (after - before)
        before = after
    return beyond


class _Sharing:
    """The room while it is shared out."""

    def __init__(self, room: int, promises: Sequence[Promise]) -> None:
        self.promises = promises
        self.promised = sum(promise.amount for promise in promises)
        self.free = room - self.promised
        self.got: dict[int, int] = {}
        self.parts: dict[int, tuple[datetime, int]] = {}

    def give(self, claim: Claim, wanted: int) -> None:
        """Raise what the claim gets to what is wanted, as far as the room goes."""
        has = self.got.setdefault(claim.pk, 0)
        unasked = self._from_promises(claim, wanted) if claim.told_at else 0
        more = max(0, min(wanted - has, self.free + unasked))
        self.free -= max(0, more - unasked)
        self.got[claim.pk] = has + more
        if claim.told_at:
            self.parts[claim.pk] = (claim.told_at, has + more)

    def _from_promises(self, claim: Claim, wanted: int) -> int:
        """What of it the promises give, if the claim gets all that is wanted."""
        assert claim.told_at is not None  # noqa: S101 - asked by the caller
        before = absorbed(self.parts.values(), self.promises)
        parts = self.parts | {claim.pk: (claim.told_at, wanted)}
        return absorbed(parts.values(), self.promises) - before


def _may_have(total: Total, since: datetime | None) -> bool:
    return since is None or total.told_at >= since


def _has_failed_one(total: Total, failed: Failed) -> bool:
    if not _may_have(total, failed.since):
        return False
    if total.at is not None and failed.at is not None and total.at != failed.at:
        return total.at < failed.at
    return failed.told_at is None or total.told_at <= failed.told_at
