"""How a conflict ended, which is kept in English, in the language of who reads it."""

import re
from typing import Final

from django.utils.translation import gettext as translated
from django.utils.translation import gettext_noop as _

from config.console import cells
from payments.models import Conflict

#: As the domain writes it.
_SAYS: Final = (
    _("accepted for order %(order)s"),
    _("accepted, and refund %(refund)s of %(excess)s"),
    _("matched to order %(order)s"),
    _("refund %(refund)s"),
    _("not ours"),
    _("dismissed"),
    _("the key was added"),
    _("the order appeared"),
    _("all of it was refunded"),
    _("it succeeded"),
    _("it failed"),
)
#: A number, or an amount with its currency.
_NAMED: Final = r"(?P<\1>\\S+(?: [A-Z]{3})?)"
_FORMS: Final = tuple((says, re.compile(re.sub(r"%\((\w+)\)s", _NAMED, says))) for says in _SAYS)


def how(row: Conflict) -> str:
    """In a few words; as it is kept where no form of ours knows it."""
    for says, form in _FORMS:
        found = form.fullmatch(row.resolution)
        if found:
            return cells.words(translated(says) % found.groupdict())
    return cells.words(row.resolution)
