"""A list as a CSV file: as it is filtered, some rows at a time, entered in the audit."""

import hashlib
from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import BadRequest, PermissionDenied
from django.db import connection, transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit import chain
from config.console import columns, csv_cells, deeds, rights, text, who
from config.console.deeds import Asked
from config.console.navigation import title_of

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

    _Screen = ModelAdmin[Any]

#: How many rows a file has at most; who needs more asks for fewer days at a time.
ROWS_EXPORTED_MAX: Final = 1_000_000
#: How many are in memory at once.
_CHUNK: Final = 500
#: For as long whoever downloads may pause, and the database may look for the next rows.
_PATIENCE_SECONDS: Final = 60
_FILTER_LENGTH_MAX: Final = 1000
_BOM: Final = b"\xef\xbb\xbf"


class FormatForm(forms.Form):
    """What differs between those who open such files."""

    bom = forms.BooleanField(
        label=gettext_lazy("For a spreadsheet"),
        help_text=gettext_lazy(
            "Begin with the mark by which Excel knows UTF-8; programs are better off without it."
        ),
        required=False,
        initial=True,
    )


def address(screen: "_Screen") -> str:
    """Where a screen's list is exported."""
    return reverse(f"admin:{screen.opts.app_label}_{screen.opts.model_name}_export")


def link(screen: "_Screen", request: HttpRequest) -> str:
    """The way from a list to its file, its filter kept; empty for who may not."""
    if screen.model not in columns.EXPORTS or not rights.may(request, rights.EXPORT):
        return ""
    asked = request.GET.urlencode()
    return f"{address(screen)}?{asked}" if asked else address(screen)


def view(screen: "_Screen", request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
    """Ask, or send it. Raises PermissionDenied, BadRequest."""
    rights.require(request, rights.EXPORT)
    if not screen.has_view_permission(request) or screen.model not in columns.EXPORTS:
        raise PermissionDenied
    try:
        found = screen.get_changelist_instance(request)
    except IncorrectLookupParameters as error:
        raise BadRequest from error
    if request.method == "POST":
        return _file(screen, request, found.queryset, bom="bom" in request.POST)
    filtered = text.visible(_filter(request))
    whole = reverse(f"admin:{screen.opts.app_label}_{screen.opts.model_name}_changelist")
    name = title_of(whole) or screen.opts.verbose_name_plural
    asked = Asked(
        title=_("Export %(list)s as CSV") % {"list": name},
        says=[
            _("The rows as they are filtered now: %(filter)s") % {"filter": filtered}
            if filtered
            else _("The rows as the list shows them; no filter is set."),
            _("Columns: %(columns)s.")
            % {"columns": ", ".join(columns.head(columns.EXPORTS[screen.model]))},
            _(
                "At most %(most)s rows. The export is entered in the audit with its filter and "
                "its number of rows."
            )
            % {"most": f"{ROWS_EXPORTED_MAX:,}"},
        ],
        button=_("Download"),
        back=request.get_full_path().replace("export/", "", 1),
        form=FormatForm(),
        stays=True,
    )
    return deeds.ask(request, screen.model, asked)


def _file(
    screen: "_Screen", request: HttpRequest, rows: QuerySet[Any], *, bom: bool
) -> StreamingHttpResponse:
    label = screen.opts.label
    by = who.actor(request.user, request)
    began = chain.record(
        by=by,
        action="list.exported",
        object_type="list",
        object_id=label,
        after={"filter": _filter(request)},
    )

    def ended(sent: int, digest: str, *, complete: bool) -> None:
        chain.record(
            by=by,
            action="list.export_ended",
            object_type="list",
            object_id=label,
            after={
                "filter": _filter(request),
                "began": began,
                "rows": sent,
                "complete": complete,
                "sha256": digest,
            },
        )

    shape = columns.EXPORTS[screen.model]
    values = rows.prefetch_related(None).values_list(*columns.paths(shape))[:ROWS_EXPORTED_MAX]
    name = f"{screen.opts.model_name}-{timezone.now():%Y%m%dT%H%M%SZ}.csv"
    return StreamingHttpResponse(
        _parts(values, shape, _BOM if bom else b"", ended),
        content_type="text/csv; charset=utf-8; header=present",
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "Cache-Control": "no-store",
        },
    )


def _parts(
    values: QuerySet[Any], shape: columns.Columns, mark: bytes, ended: Any
) -> Iterator[bytes]:
    """The file in parts; whatever ends it, the audit hears how much of it was sent."""
    digest, sent, complete = hashlib.sha256(), 0, False
    try:
        part = mark + csv_cells.lines([columns.head(shape)])
        digest.update(part)
        yield part
        # A cursor of the server's sees one moment, and needs a transaction that may take longer.
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL statement_timeout = '{_PATIENCE_SECONDS}s'")
                cursor.execute(
                    f"SET LOCAL idle_in_transaction_session_timeout = '{_PATIENCE_SECONDS}s'"
                )
            # Closed here, whoever breaks off: the cursor is the transaction's.
            with closing(_rows(values)) as rows:
                while chunk := list(islice(rows, _CHUNK)):
                    part = csv_cells.lines(columns.line(shape, row) for row in chunk)
                    digest.update(part)
                    sent += len(chunk)
                    yield part
        complete = sent < ROWS_EXPORTED_MAX
    finally:
        ended(sent, digest.hexdigest(), complete=complete)


def _rows(values: QuerySet[Any]) -> Generator[Any]:
    yield from values.iterator(chunk_size=_CHUNK)


def _filter(request: HttpRequest) -> str:
    return request.GET.urlencode()[:_FILTER_LENGTH_MAX]
