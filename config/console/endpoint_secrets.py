"""Rotate and retire what an endpoint's messages are signed with; a new secret is shown once."""

from datetime import timedelta
from typing import Final

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import BadRequest
from django.db import OperationalError, transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminSelectWidget

from config.console import cells, deeds, rights
from config.console.deeds import Asked
from config.console.endpoint_tests import present
from outbox.models import Destination, Endpoint
from outbox.webhooks import secrets

_HOUR: Final = timedelta(hours=1)


class OverlapForm(forms.Form):
    """How long the old secrets go on signing beside the new one."""

    hours = forms.IntegerField(
        min_value=0,
        max_value=secrets.OVERLAP_MAX // _HOUR,
        initial=secrets.OVERLAP // _HOUR,
        label=gettext_lazy("Hours until the old ones retire"),
        help_text=gettext_lazy(
            "Until then messages carry a signature of each. 0 if others know the old ones."
        ),
        widget=forms.NumberInput(attrs=deeds.LOOK),
    )


class SecretForm(forms.Form):
    """Which of those in force to end."""

    secret = forms.TypedChoiceField(coerce=int, widget=UnfoldAdminSelectWidget)

    def __init__(self, endpoint: Endpoint, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self.fields["secret"].choices = [  # type: ignore[attr-defined]
            (row.pk, f"{row.pk}, made {cells.moment(row.created_at)}")
            for row in secrets.in_force(endpoint.pk)
        ]


def rotate(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask, or make a new secret and show it. Raises PermissionDenied, Http404, BadRequest."""
    endpoint = _found(request, pk)
    form = OverlapForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            overlap = form.cleaned_data["hours"] * _HOUR
            secret = _rotate(request, endpoint, overlap)
        except deeds.Refused as refusal:
            messages.warning(request, deeds.unchanged(refusal))
        except OperationalError:
            messages.error(request, deeds.BUSY)
        else:
            return _shown_once(request, endpoint, secret)
        return HttpResponseRedirect(cells.page_of(endpoint))
    asked = Asked(
        title=_("A new secret for %(endpoint)s") % {"endpoint": endpoint.destination.code},
        says=[
            _("It is shown once, on the next page: keep it there and then."),
            _("In force now: %(number)s.") % {"number": len(_held(endpoint))},
        ],
        button=_("Make it"),
        back=cells.page_of(endpoint),
        form=form,
        seen={"seen": _standing(endpoint)},
    )
    return deeds.ask(request, Endpoint, asked, endpoint)


def retire(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask which, or end it. Raises PermissionDenied, Http404, BadRequest."""
    endpoint = _found(request, pk)
    form = SecretForm(endpoint, request.POST or None)
    if request.method == "POST" and form.is_valid():
        chosen = form.cleaned_data["secret"]
        return deeds.done(
            request, lambda: _retire(request, endpoint, chosen), cells.page_of(endpoint)
        )
    asked = Asked(
        title=_("Retire a secret of %(endpoint)s") % {"endpoint": endpoint.destination.code},
        says=[_("It ends at once. A receiver that knows only this one refuses all messages then.")],
        button=_("Retire it"),
        back=cells.page_of(endpoint),
        form=form,
        seen={"seen": _standing(endpoint)},
        grave=True,
    )
    return deeds.ask(request, Endpoint, asked, endpoint)


@transaction.atomic
def _rotate(request: HttpRequest, endpoint: Endpoint, overlap: timedelta) -> str:
    destination = _locked(endpoint, _seen(request))
    try:
        secret = secrets.rotate(destination, overlap=overlap, by=rights.by(request))
    except secrets.TooManySecrets as error:
        raise deeds.Refused(str(error)) from error
    after = {"overlap_hours": overlap // _HOUR, "in_force": _held(endpoint)}
    deeds.keep(request, "webhook.signed_anew", destination.code, after=after)
    return secret


@transaction.atomic
def _retire(request: HttpRequest, endpoint: Endpoint, chosen: int) -> str:
    destination = _locked(endpoint, _seen(request))
    try:
        secrets.retire(destination, chosen, by=rights.by(request))
    except (secrets.NoSuchSecret, secrets.OnlySecret) as error:
        raise deeds.Refused(str(error)) from error
    deeds.keep(request, "webhook.key_retired", destination.code, after={"retired": chosen})
    return _("Secret %(number)s is retired.") % {"number": chosen}


def _locked(endpoint: Endpoint, seen: str) -> Destination:
    """The destination, while nobody else changes its secrets; they are those that were seen."""
    held = Destination.objects.select_for_update(no_key=True).get(pk=endpoint.pk)
    if not present().filter(pk=endpoint.pk).exists():
        raise deeds.Refused(_("the endpoint was removed"))
    if _standing(endpoint) != seen:
        raise deeds.Refused(_("its secrets have changed since this page was shown"))
    return held


def _shown_once(request: HttpRequest, endpoint: Endpoint, secret: str) -> HttpResponse:
    context = admin.site.each_context(request) | {
        "title": _("The new secret"),
        "opts": Endpoint._meta,  # noqa: SLF001 - Django's documented way to a model's names
        "original": endpoint,
        "secret": secret,
        "back": cells.page_of(endpoint),
    }
    # As of every page of the console, no browser and no proxy keeps a copy.
    return TemplateResponse(request, "console/secret.html", context)


def _found(request: HttpRequest, pk: int) -> Endpoint:
    rights.require(request, rights.ROTATE)
    endpoint = present().filter(pk=pk).first()
    if endpoint is None:
        raise Http404
    return endpoint


def _seen(request: HttpRequest) -> str:
    seen = request.POST.get("seen")
    if not seen:
        raise BadRequest
    return seen


def _held(endpoint: Endpoint) -> list[int]:
    return list(secrets.in_force(endpoint.pk).values_list("pk", flat=True))


def _standing(endpoint: Endpoint) -> str:
    return f"secrets {' '.join(map(str, _held(endpoint)))}"
