"""Why a decision was not taken: nothing has changed, and the answer says what to do."""

from collections.abc import Sequence
from datetime import UTC, datetime

from django.utils.translation import gettext_noop as _

from payments.conflicts.facts import shown
from payments.conflicts.seen import Change
from payments.models import Conflict, Proposal
from payments.saying import Sentence, in_english, says


class Refused(Exception):
    """The decision was not taken, and nothing has changed; the message says why."""

    @property
    def kept(self) -> str:
        """What it says, as the audit keeps it: in English."""
        return str(in_english(self.args[0]))


class NotAllowed(Refused):
    """The person may not do this."""


class AlreadyDecided(Refused):
    """Somebody or something has decided it before: who, what and when."""

    def __init__(self, conflict: Conflict) -> None:
        at = conflict.resolved_at or datetime.min.replace(tzinfo=UTC)
        who = _who(conflict)
        super().__init__(
            says(
                _("%(who)s decided it at %(at)s: %(how)s, %(resolution)s."),
                who=who,
                at=f"{at:%Y-%m-%d %H:%M:%S} UTC",
                how=conflict.decision or conflict.status,
                resolution=conflict.resolution,
            )
        )
        self.who, self.how, self.at = who, conflict.decision, at


class AlreadyProposed(Refused):
    """Somebody has proposed a decision that waits for another person."""

    def __init__(self, proposal: Proposal) -> None:
        who, at = proposal.proposed_by.get_username(), proposal.proposed_at
        super().__init__(
            says(
                _(
                    "%(who)s proposed it at %(at)s: %(how)s. It waits for another person to "
                    "approve or reject it."
                ),
                who=who,
                at=f"{at:%Y-%m-%d %H:%M:%S} UTC",
                how=proposal.resolution,
            )
        )
        self.proposal = proposal


class Moved(Refused):
    """What the decision rests on has moved since it was seen; `changes` says what."""

    def __init__(self, changes: Sequence[Change]) -> None:
        moved = [change.sentence for change in changes]
        told = Sentence("; ".join(moved))
        told.english = "; ".join(map(in_english, moved))
        super().__init__(says(_("It has moved since: %(changes)s."), changes=told))
        self.changes = tuple(changes)


class DoesNotFit(Refused):
    """The state of the conflict, its order or its money does not allow it."""


class NeedsTwoPeople(Refused):
    """One person alone may decide up to the merchant's amount only: propose it instead."""

    def __init__(self, amount_minor: int, limit_minor: int, currency: str) -> None:
        super().__init__(
            says(
                _("%(amount)s is above %(limit)s: one person proposes, another approves."),
                amount=shown(amount_minor, currency),
                limit=shown(limit_minor, currency),
            )
        )
        self.amount_minor, self.limit_minor = amount_minor, limit_minor


class NoReason(Refused):
    """This decision needs to say why."""

    def __init__(self) -> None:
        super().__init__(says(_("This decision needs to say why.")))


def _who(conflict: Conflict) -> str:
    if conflict.decided_by is not None:
        return conflict.decided_by.get_username()
    if conflict.policy is not None:
        return says(_("Policy version %(version)s"), version=conflict.policy.version)
    return says(_("A fact that came"))
