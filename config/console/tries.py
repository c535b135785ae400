"""Tries at merchants' endpoints: when, what came back in how long, and whose tries they were."""

from collections.abc import Iterable
from typing import Final

from django.db.models import QuerySet
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from config.console import cells, text
from config.console.related import ROWS_MAX
from orders.asked_by import told_to_merchant
from outbox.models import Attempt
from outbox.webhooks.due import TEST_TYPE

#: What of a reply is shown before it is unfolded.
_FIRST_LETTERS: Final = 60


def table(rows: QuerySet[Attempt], *, for_merchant: bool = False) -> SafeString:
    """Tries at an endpoint: those that were asked for and are not made yet, then newest first.

    Merchants are told of our people only that it was one of them.
    """
    shown: Iterable[Attempt] = (
        rows.select_related("dispatch__event")
        .defer("dispatch__event__payload", "dispatch__event__headers")
        .order_by("-at", "-asked_at")[:ROWS_MAX]
    )
    return cells.table(
        (_("Made"), _("Event"), _("Answer"), _("ms"), _("Reply or error"), _("Whose try")),
        [
            (
                cells.moment(row.at) if row.at else _("asked for"),
                cells.link(row.dispatch, row.dispatch.event.type) if row.dispatch else TEST_TYPE,
                _answer(row),
                cells.NOTHING if row.milliseconds is None else row.milliseconds,
                _folded(row.error or row.reply),
                _whose(row, for_merchant=for_merchant),
            )
            for row in shown
        ],
    )


def _whose(attempt: Attempt, *, for_merchant: bool) -> str:
    if not attempt.asked_by:
        return _("the relay's")
    return cells.words(told_to_merchant(attempt.asked_by) if for_merchant else attempt.asked_by)


def _answer(attempt: Attempt) -> SafeString | str:
    if attempt.at is None:
        return cells.NOTHING
    if attempt.status is None:
        return cells.label("NONE", {"NONE": "danger"})
    shown = str(attempt.status)
    taken = 200 <= attempt.status < 300  # noqa: PLR2004
    return cells.label(shown, {shown: "success" if taken else "danger"})


def _folded(written: str) -> SafeString | str:
    """Text that others wrote: its first letters, and all of it when that is asked for."""
    if len(written) <= _FIRST_LETTERS and "\n" not in written:
        return cells.words(written)
    first = " ".join(written[:_FIRST_LETTERS].split())
    return format_html(
        '<details class="c-folded"><summary>{} ..</summary><pre class="c-block">{}</pre></details>',
        text.visible(first),
        text.visible(written),
    )
