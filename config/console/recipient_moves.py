"""Say who shall be told of conflicts, send a test, and stop telling somebody."""

from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.contrib import admin, messages
from django.db import OperationalError, transaction
from django.db.models import Prefetch
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget

from config.console import cells, deeds, rights
from config.console.deeds import Asked
from orders.models import Merchant
from payments.models import Level, NotificationKind, NotificationMessage, Recipient
from payments.notifications import recipients

KINDS: Final[Mapping[NotificationKind, str | Promise]] = {
    NotificationKind.EMAIL: _("E-mail"),
    NotificationKind.WEBHOOK: _("Webhook, signed as Standard Webhooks"),
    NotificationKind.SLACK: _("Chat: Slack or Mattermost"),
    NotificationKind.DINGTALK: _("Chat: DingTalk or WeCom"),
}
LEVELS: Final[Mapping[Level, str | Promise]] = {
    Level.TICKET: _("every conflict"),
    Level.PAGE: _("urgent ones, and others once they are overdue"),
    Level.OVERDUE_PAGE: _("urgent ones once they are overdue"),
}


class RecipientForm(forms.Form):
    """Whom to tell, and of what."""

    kind = forms.ChoiceField(
        choices=list(KINDS.items()), label=_("Told by"), widget=UnfoldAdminSelectWidget
    )
    address = forms.CharField(
        max_length=500,
        label=_("Address"),
        help_text=_("An e-mail address, or the URL of the webhook or of the chat's hook."),
        widget=forms.TextInput(attrs=deeds.LOOK | {"autocomplete": "off"}),
    )
    least = forms.TypedChoiceField(
        coerce=int,
        choices=list(LEVELS.items()),
        initial=Level.PAGE,
        label=_("Tell of"),
        widget=UnfoldAdminSelectWidget,
    )
    merchant = forms.ModelChoiceField(
        queryset=Merchant.objects.order_by("code"),
        required=False,
        empty_label=_("all merchants"),
        label=_("Conflicts of"),
        widget=UnfoldAdminSelectWidget,
    )


def unsent() -> "Prefetch[Any]":
    """The message of each that is not through, as `unsent`."""
    return Prefetch("messages", NotificationMessage.objects.filter(sent_at=None), to_attr="unsent")


def add(request: HttpRequest) -> HttpResponse:
    """Ask, or add one; a secret is shown once. Raises PermissionDenied."""
    rights.require(request, rights.NOTIFY)
    form = RecipientForm(request.POST or None)
    back = reverse("admin:payments_recipient_changelist")
    if request.method == "POST" and form.is_valid():
        try:
            added = _add(request, form.cleaned_data)
        except recipients.BadAddress as refusal:
            form.add_error("address", str(refusal))
        except recipients.TooMany as refusal:
            form.add_error(None, str(refusal))
        except OperationalError:
            messages.error(request, deeds.BUSY)
            return HttpResponseRedirect(back)
        else:
            if added.secret:
                return _shown_once(request, added)
            messages.success(
                request, _("%(address)s is told from now on.") % {"address": added.recipient.shown}
            )
            return HttpResponseRedirect(cells.page_of(added.recipient))
    asked = Asked(
        title=str(_("Tell somebody of conflicts")),
        says=[
            str(
                _(
                    "One message every few minutes at most, and each conflict once; once more when "
                    "it is overdue. It names the reason, the merchant and the page, nothing else."
                )
            )
        ],
        button=str(_("Tell them")),
        back=back,
        form=form,
    )
    return deeds.ask(request, Recipient, asked)


def test(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask, or put a message on its way that names no conflict."""
    recipient = _found(request, pk)
    if request.method == "POST":
        return deeds.done(request, lambda: _test(request, recipient), cells.page_of(recipient))
    asked = Asked(
        title=str(_("Send a test to %(address)s") % {"address": recipient.shown}),
        says=[str(_("It says that it is a test. Whether it arrived is shown on the next page."))],
        button=str(_("Send it")),
        back=cells.page_of(recipient),
    )
    return deeds.ask(request, Recipient, asked, recipient)


def stop(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask, or tell them nothing any more."""
    recipient = _found(request, pk)
    if request.method == "POST":
        return deeds.done(request, lambda: _stop(request, recipient), cells.page_of(recipient))
    asked = Asked(
        title=str(_("Stop telling %(address)s") % {"address": recipient.shown}),
        says=[str(_("They are told of nothing any more, not even of what is on its way now."))],
        button=str(_("Stop")),
        back=cells.page_of(recipient),
        grave=True,
    )
    return deeds.ask(request, Recipient, asked, recipient)


@transaction.atomic
def _add(request: HttpRequest, chosen: dict[str, Any]) -> recipients.Added:
    added = recipients.add(
        NotificationKind(chosen["kind"]),
        chosen["address"],
        least=Level(chosen["least"]),
        merchant=chosen["merchant"],
        now=timezone.now(),
    )
    _keep(request, "recipient.added", added.recipient)
    return added


@transaction.atomic
def _test(request: HttpRequest, recipient: Recipient) -> str:
    try:
        recipients.send_test(recipient, now=timezone.now())
    except recipients.StillOnItsWay as refusal:
        raise deeds.Refused(str(refusal)) from refusal
    _keep(request, "recipient.tested", recipient)
    return str(_("A test is on its way."))


@transaction.atomic
def _stop(request: HttpRequest, recipient: Recipient) -> str:
    if not recipients.stop(recipient):
        raise deeds.Refused(str(_("they were stopped before")))
    _keep(request, "recipient.stopped", recipient)
    return str(_("%(address)s is told of nothing any more.") % {"address": recipient.shown})


def _keep(request: HttpRequest, action: str, recipient: Recipient) -> None:
    """Whom it is about by his number: the audit keeps no addresses of people."""
    after = {
        "kind": recipient.kind,
        "least": Level(recipient.least).name,
        "merchant": recipient.merchant.code if recipient.merchant else "",
    }
    deeds.keep(request, action, str(recipient.pk), after=after)


def _shown_once(request: HttpRequest, added: recipients.Added) -> HttpResponse:
    context = admin.site.each_context(request) | {
        "title": _("The new secret"),
        "opts": Recipient._meta,  # noqa: SLF001 - Django's documented way to a model's names
        "original": added.recipient,
        "secret": added.secret,
        "back": cells.page_of(added.recipient),
    }
    return TemplateResponse(request, "console/secret.html", context)


def _found(request: HttpRequest, pk: int) -> Recipient:
    rights.require(request, rights.NOTIFY)
    recipient = Recipient.objects.filter(pk=pk, active=True).select_related("merchant").first()
    if recipient is None:
        raise Http404
    return recipient
