"""What people and policies did about conflicts, as the audit has it, in words for the timeline."""

from collections.abc import Mapping
from typing import Any, Final

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit.models import ActorKind, AuditEntry
from config.console import cells
from config.console.conflict import resolutions

_SAYS: Final[Mapping[str, Any]] = {
    "conflict.resolved": gettext_lazy("Decided: %(how)s"),
    "conflict.proposed": gettext_lazy("Proposed: %(how)s"),
    "conflict.rejected": gettext_lazy("Proposal rejected: %(how)s"),
    "conflict.withdrawn": gettext_lazy("Proposal withdrawn: %(how)s"),
    "conflict.assigned": gettext_lazy("Given to %(to)s"),
    "conflict.refused": gettext_lazy("Tried, and refused: %(how)s"),
    "conflict.provider_asked": gettext_lazy("Asked the provider"),
    "conflict.provider_answered": gettext_lazy("The provider answered %(answer)s"),
}
#: Not a person's, and marked as such.
_POLICY: Final = {"POLICY": "info"}


def by(entry: AuditEntry) -> SafeString | str:
    """Who did it; a policy is marked."""
    name = cells.words(entry.actor)
    if entry.actor_kind == ActorKind.POLICY:
        return cells.two_lines(cells.label("POLICY", _POLICY), name)
    return name


def what(entry: AuditEntry) -> str:
    """What it was."""
    says = _SAYS.get(entry.action)
    if says is None:
        return entry.action
    how = str(entry.after.get("how") or entry.before.get("how") or "")
    words = {
        "how": str(resolutions.NAMES.get(how, how)),
        "to": cells.words(str(entry.after.get("assignee") or _("nobody"))),
        "answer": str(entry.after.get("answer") or ""),
    }
    told = str(says) % words
    refusal = entry.after.get("says") if entry.action == "conflict.refused" else ""
    return f"{told}. {cells.words(str(refusal))}" if refusal else told
