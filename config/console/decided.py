"""Who or what decided a conflict, in words: a person, two of them, a policy, or a fact."""

from typing import Final

from django.utils.translation import gettext as _

from config.console import text
from payments.models import Conflict, DecidedAs

#: What `by` reads of a conflict.
RELATED: Final = ("policy", "decided_by", "proposed_by")


def by(row: Conflict) -> str:
    """Who it was; empty while nothing is decided."""
    names = {
        "version": row.policy.version if row.policy else "",
        "who": row.decided_by.get_username() if row.decided_by else "",
        "proposer": row.proposed_by.get_username() if row.proposed_by else "",
    }
    match row.decided_as:
        case DecidedAs.POLICY:
            said = _("by policy, version %(version)s") % names
        case DecidedAs.FACT:
            said = _("by what came")
        case DecidedAs.PERSON if row.needs_two:
            said = _("by %(who)s, as %(proposer)s proposed") % names
        case DecidedAs.PERSON:
            said = _("by %(who)s") % names
        case _other:
            said = ""
    return text.visible(said)
