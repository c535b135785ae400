"""What a provider sent, for people: the body as it came, the headers without what they prove."""

import re
from collections.abc import Iterable
from typing import Final

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from config.console import cells, masking, text
from payments.models import Delivery

#: Names of headers whose value proves or opens something.
TELLING: Final = re.compile(r"sig|sign|hmac|auth|token|secret|key|digest|password", re.IGNORECASE)
#: How much of such a value is shown: enough to tell two of them apart.
SHOWN_LENGTH: Final = 8
_CUT: Final = "%(start)s... (%(number)s characters)"


def headers(kept: Iterable[Iterable[object]]) -> SafeString:
    """The headers in the order they came."""
    pairs = [[str(part) for part in pair] for pair in kept]
    cut = _("%(start)s... (%(number)s characters)")
    return cells.table(
        (_("Header"), _("Value")),
        [(cells.words(name), cells.mono(masked(name, value, cut))) for name, value in pairs],
    )


def masked(name: str, value: str, cut: str = _CUT) -> str:
    """The value; cut short, with its length, where the name says that it proves something."""
    if not TELLING.search(name) or len(value) <= SHOWN_LENGTH:
        return value
    return cut % {"start": value[:SHOWN_LENGTH], "number": len(value)}


def body(row: Delivery) -> SafeString:
    """The bytes as text with what is personal hidden, or as they are where nobody can tell.

    In hex if they are no text; where they are kept if not here.
    """
    if row.body is None:
        holder = Delivery.objects.filter(batch_id=row.batch_id, item_no=0).defer("body").first()
        return cells.table(
            (_("Kept once for the batch"),), [(cells.link(holder, _("With its first item")),)]
        )
    raw = bytes(row.body)
    notes = [_("%(number)s bytes") % {"number": len(raw)}]
    if len(raw) > text.TEXT_BYTES_MAX:
        notes.append(_("the first %(number)s are shown") % {"number": text.TEXT_BYTES_MAX})
    masked_body = masking.masked(raw)
    if masked_body:
        notes.append(_("personal data is hidden"))
        return cells.block(masked_body[: text.TEXT_BYTES_MAX], note=", ".join(notes))
    shown, form = text.from_bytes(raw)
    if form == "hex":
        notes.append(_("not text, shown in hex"))
    return cells.block(shown, note=", ".join(notes))
