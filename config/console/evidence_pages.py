"""Make an evidence pack: the page that asks for what, and the file or the page to be printed."""

import base64
import hashlib
from typing import Any, Final

from django import forms
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminRadioSelectWidget

from audit import chain
from config.console import cells, deeds, evidence_pack, finding, rights, who
from config.console.deeds import Asked, Deed
from config.console.evidence_pack import Pack
from orders.models import Order
from payments.models import Conflict

#: What a pack can be about.
KINDS: Final[dict[str, type[Order | Conflict]]] = {"order": Order, "conflict": Conflict}
_STYLE: Final = "console/evidence.css"


class PackForm(deeds.WhyForm):
    """Why it is made, and in which form."""

    form = forms.ChoiceField(
        label=gettext_lazy("Form"),
        choices=(
            ("page", gettext_lazy("A page to be printed")),
            ("json", gettext_lazy("JSON, for programs")),
        ),
        initial="page",
        widget=UnfoldAdminRadioSelectWidget,
    )


def links(request: HttpRequest, row: Any) -> list[Deed]:
    """The way to the pack of an order or a conflict, for who may make one."""
    kind = next((name for name, model in KINDS.items() if isinstance(row, model)), "")
    if not kind or not rights.may(request, rights.EXPORT):
        return []
    return [Deed(_("Evidence"), reverse("console_evidence", args=[kind, row.pk]))]


def view(request: HttpRequest, kind: str, pk: int) -> HttpResponse:
    """Ask, or make it. Raises PermissionDenied, Http404."""
    rights.require(request, rights.EXPORT)
    row = _row(request, kind, pk)
    form = PackForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        return _made(request, kind, row, form.cleaned_data)
    asked = Asked(
        title=_("Evidence about %(row)s") % {"row": row},
        says=[
            _(
                "All that is known of it: money, callbacks as they came with their digests and "
                "verdicts, refunds, conflicts, decisions and events, in the order of time."
            ),
            _(
                "Secrets and what says who the payer is are masked. That it was made is entered "
                "in the audit, with its digest."
            ),
        ],
        button=_("Make it"),
        back=cells.page_of(row),
        form=form,
        stays=True,
    )
    return deeds.ask(request, type(row), asked, row)


def _row(request: HttpRequest, kind: str, pk: int) -> Order | Conflict:
    model: type[Model] | None = KINDS.get(kind)
    if model is None:
        raise Http404
    rows = finding.seen(request, model)
    if rows is None:
        raise PermissionDenied
    row: Order | Conflict | None = rows.filter(pk=pk).first()
    if row is None:
        raise Http404
    return row


def _made(
    request: HttpRequest, kind: str, row: Order | Conflict, wanted: dict[str, str]
) -> HttpResponse:
    now = timezone.now()
    pack = evidence_pack.make(request, row, now=now)
    raw = evidence_pack.as_json(pack)
    digest = hashlib.sha256(raw).hexdigest()
    with transaction.atomic():
        chain.record(
            by=who.actor(request.user, request),
            action=f"{kind}.evidence_made",
            object_type=kind,
            object_id=row.pk,
            after={"form": wanted["form"], "sha256": digest},
            why=wanted["why"],
        )
    response = (
        HttpResponse(raw, content_type="application/json")
        if wanted["form"] == "json"
        else HttpResponse(_page(pack, digest))
    )
    name = f"evidence-{kind}-{row.pk}-{now:%Y%m%dT%H%M%SZ}"
    if wanted["form"] == "json":
        response["Content-Disposition"] = f'attachment; filename="{name}.json"'
    response["Content-Security-Policy"] = _policy()
    response["Cache-Control"] = "no-store"
    return response


def _page(pack: Pack, digest: str) -> str:
    return render_to_string("console/evidence.html", {"pack": pack, "digest": digest})


def _policy() -> str:
    """The printed page stands alone: it loads nothing, nothing in it runs, and one style counts."""
    style = hashlib.sha256(render_to_string(_STYLE).encode()).digest()
    return (
        f"default-src 'none'; style-src 'sha256-{base64.b64encode(style).decode()}'; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )
