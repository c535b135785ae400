"""The callback that a conflict came from: masked, with digest, key and verdict."""

from typing import NamedTuple

from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from config.console import cells, colours, masking, text
from payments.models import Conflict, Delivery

VIEW = "payments.view_delivery"


class Told(NamedTuple):
    """What is known of it, line by line, and its bytes."""

    lines: list[tuple[str, SafeString | str]]
    body: str
    link: SafeString | str


def of(request: HttpRequest, conflict: Conflict) -> Told | None:
    """The delivery; None if no callback told it, or this user may not see deliveries."""
    if conflict.delivery_id is None or not request.user.has_perm(VIEW):
        return None
    row = Delivery.objects.select_related("account").get(pk=conflict.delivery_id)
    why = text.visible(row.detail or row.reason)
    verdict = cells.two_lines(cells.label(row.outcome, colours.OUTCOME), why)
    lines = [
        (_("Received"), cells.moment(row.received_at)),
        (_("Verdict"), verdict),
        (_("Verified with"), cells.two_lines(cells.mono(row.key_id), row.assurance)),
        (_("Event"), cells.mono(f"{row.event_type} {row.event_id}".strip())),
        (_("SHA-256"), cells.mono(bytes(row.body_sha256).hex())),
    ]
    body = masking.masked(bytes(row.body)) if row.body is not None else ""
    return Told(
        lines, body[: text.TEXT_BYTES_MAX], cells.link(row, _("The delivery, with its headers"))
    )
