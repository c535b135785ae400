"""What the cells of lists and pages are made of: safe HTML from values that are not trusted."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from django.contrib.admin.utils import quote
from django.db.models import Model
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import localize
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from config.console import text

#: Where there is nothing to show.
NOTHING: Final = "-"


class Section(NamedTuple):
    """A part of a page below the fields of its row."""

    title: str
    content: str


def label(value: str, colours: Mapping[str, str]) -> SafeString | str:
    """A status in its colour: success, info, warning, danger, or plain if it has none."""
    if not value:
        return NOTHING
    context = {"text": value, "type": colours.get(value, "")}
    return render_to_string("unfold/helpers/label.html", context)


def moment(at: datetime | None) -> str:
    """A time as all pages write it, in the reader's time zone: 2031-05-04 18:30:00 UTC."""
    return NOTHING if at is None else str(localize(timezone.localtime(at)))


def late(value: str) -> SafeString:
    """A time that has passed."""
    return format_html('<span class="c-late">{}</span>', value)


def mono(value: str) -> SafeString | str:
    """An id, to be compared letter by letter."""
    return format_html('<span class="c-mono">{}</span>', text.visible(value)) if value else NOTHING


def short(value: str) -> SafeString | str:
    """An id in a narrow column: its end may be cut off, and shows when pointed at."""
    if not value:
        return NOTHING
    shown = text.visible(value)
    return format_html('<span class="c-mono c-short" title="{}">{}</span>', shown, shown)


def brief(value: str) -> SafeString | str:
    """Text that others wrote, in one line of a list: its end may be cut off, as with an id."""
    if not value:
        return NOTHING
    shown = text.visible(value)
    return format_html('<span class="c-brief" title="{}">{}</span>', shown, shown)


def two_lines(first: str, second: str) -> SafeString | str:
    """A value, and a lesser one below it."""
    return format_html('{}<span class="c-under">{}</span>', first, second) if second else first


def words(value: str) -> str:
    """Text that others wrote."""
    return text.visible(value) or NOTHING


def amount(value: str) -> SafeString:
    """An amount, to stand right-aligned below others."""
    return format_html('<span class="c-amount">{}</span>', value)


def link(row: Model | None, name: str = "") -> SafeString | str:
    """A link to the page of a row."""
    if row is None:
        return NOTHING
    shown = text.visible(name or str(row))
    return format_html('<a class="c-link" href="{}">{}</a>', page_of(row), shown)


def page_of(row: Model) -> str:
    """The address of the page of a row."""
    meta = row._meta  # noqa: SLF001 - Django's documented way to a model's names
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[quote(str(row.pk))])


def list_of(model: type[Model], name: str, **filters: Any) -> SafeString:
    """A link to the list of the rows that match."""
    meta = model._meta  # noqa: SLF001 - as above
    address = reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")
    return format_html('<a class="c-link" href="{}?{}">{}</a>', address, urlencode(filters), name)


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, more: str = "") -> SafeString:
    """A table; below it, where to find what it does not show."""
    context = {"columns": columns, "rows": list(rows), "more": more}
    return render_to_string("console/table.html", context)


def narrow(content: SafeString) -> SafeString:
    """A table whose columns break their lines where there is little room, instead of scrolling."""
    return format_html('<div class="c-fits">{}</div>', content)


def block(shown: str, *, note: str = "") -> SafeString:
    """Text with its lines as they are, below a note about it."""
    return render_to_string("console/block.html", {"text": shown, "note": note})


def padded(content: str) -> SafeString:
    """A cell's content by itself in a card."""
    return format_html('<div class="c-pad">{}</div>', content)


def json_block(value: Any) -> SafeString:
    """A JSON value, indented."""
    shown, is_cut = text.bounded(text.pretty_json(value))
    note = _("The first %(number)s characters.") % {"number": text.TEXT_BYTES_MAX}
    return block(shown, note=note if is_cut else "")
