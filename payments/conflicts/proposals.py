"""A decision that waits for a second person: what exactly it says, and how it ends."""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from payments.conflicts import lifecycle
from payments.conflicts import seen as seeing
from payments.conflicts.seen import Held
from payments.models import WHY_LENGTH_MAX, ConflictStatus, Proposal, ProposalStatus

#: Each status, and the statuses it may be entered from.
ENTERED_FROM: Final[Mapping[ProposalStatus, frozenset[ProposalStatus]]] = {
    ProposalStatus.PENDING: frozenset(),
    ProposalStatus.APPROVED: frozenset({ProposalStatus.PENDING}),
    ProposalStatus.REJECTED: frozenset({ProposalStatus.PENDING}),
    ProposalStatus.WITHDRAWN: frozenset({ProposalStatus.PENDING}),
    ProposalStatus.EXPIRED: frozenset({ProposalStatus.PENDING}),
}


class NoSuchProposal(LookupError):
    """There is no proposal of this number."""


def lock(proposal_id: int) -> tuple[Held, Proposal]:
    """The proposal with its conflict, all locked; the proposal last. Raises NoSuchProposal."""
    known = Proposal.objects.filter(pk=proposal_id).first()
    if known is None:
        raise NoSuchProposal(f"there is no proposal {proposal_id}")
    held = seeing.lock(known.conflict_id, target_no=known.order_no)
    proposals = Proposal.objects.select_related("proposed_by")
    return held, proposals.select_for_update(no_key=True, of=("self",)).get(pk=proposal_id)


def end(
    proposal: Proposal, status: ProposalStatus, user_id: int | None, *, why: str, now: datetime
) -> None:
    """End a proposal that the caller holds. Raises NotThatStatus."""
    allowed = [str(present) for present in ENTERED_FROM[status]]
    moved = Proposal.objects.filter(pk=proposal.pk, status__in=allowed).update(
        status=status, decided_by_id=user_id, decided_at=now, decided_why=why
    )
    if moved != 1:
        raise lifecycle.NotThatStatus(f"proposal {proposal.pk} cannot become {status}")


def take_back(
    held: Held,
    proposal: Proposal,
    status: ProposalStatus,
    *,
    why: str,
    user_id: int | None,
    now: datetime,
) -> None:
    """End a proposal that is not carried out; its conflict, if undecided, is open again."""
    end(proposal, status, user_id, why=why[:WHY_LENGTH_MAX], now=now)
    if held.conflict.status == ConflictStatus.PROPOSED:
        lifecycle.reopen(
            held.conflict,
            why=f"proposal {status.lower()}: {why}"[:WHY_LENGTH_MAX],
            due_at=held.conflict.due_at,
            now=now,
        )


def digest_of(proposal: Proposal) -> str:
    """The name of exactly this action with these parameters and this amount in this state."""
    content = {**shown(proposal), "conflict": proposal.conflict_id, "seen": proposal.seen}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def shown(proposal: Proposal) -> dict[str, str | int]:
    """What it says, without the state that it says it in."""
    return {
        "how": str(proposal.resolution),
        "order_no": proposal.order_no,
        "amount_minor": proposal.amount_minor,
        "currency": proposal.currency,
        "consequence": proposal.consequence,
    }
