"""What people can do on a page: a link to a page that says what will happen, and its button.

Nothing is done by a GET. What a page was shown of comes back with its form, so that a page that
is out of date, or a button that is clicked twice, does nothing that nobody meant.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from django import forms
from django.contrib import admin, messages
from django.db import OperationalError
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import INPUT_CLASSES

from audit import chain
from audit.models import WHY_LENGTH_MAX
from config.console import text, who
from payments.conflicts import refusals

BUSY: Final = _("The database is busy, and nothing was changed. Try again.")
#: For fields of forms, in the look of the others.
LOOK: Final = {"class": " ".join(INPUT_CLASSES)}

_Result = TypeVar("_Result")


class Deed(NamedTuple):
    """A link to the page where something can be done; `grave` if it is not easily undone."""

    name: str
    link: str
    grave: bool = False


class WhyForm(forms.Form):
    """Why it is done, for the audit."""

    why = forms.CharField(
        label=_("Why"), max_length=WHY_LENGTH_MAX, widget=forms.TextInput(attrs=LOOK)
    )


class Refused(Exception):
    """Nothing was done; the message says why, in words for the person who asked."""


class Asked(NamedTuple):
    """A page that asks whether to do it: what will happen, and with which words.

    Without a `button` there is nothing to do, and the page only says so. A page that `stays` after
    its button, because a file comes of it, may be asked again.
    """

    title: str
    says: Sequence[str]
    button: str
    back: str
    form: forms.Form | None = None
    #: What this page was shown of, to be compared when it comes back.
    seen: Mapping[str, Any] = {}
    grave: bool = False
    table: str = ""
    stays: bool = False


def ask(
    request: HttpRequest,
    model: type[Model],
    asked: Asked,
    row: Any = None,
    *,
    template: str = "console/asked.html",
) -> HttpResponse:
    """The page with its button; `row` is what it is about."""
    meta = model._meta  # noqa: SLF001 - Django's documented way to a model's names
    context = admin.site.each_context(request) | {
        "title": asked.title,
        "opts": meta,
        "original": row,
        "asked": asked._replace(says=[text.visible(line) for line in asked.says]),
    }
    request.current_app = admin.site.name  # as Django's own pages do
    return TemplateResponse(request, template, context)


def keep(
    request: HttpRequest,
    action: str,
    about: str,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    why: str = "",
) -> None:
    """Enter it in the audit, in the transaction that does it and as its last statement."""
    chain.record(
        by=who.actor(request.user, request),
        action=action,
        object_type=action.partition(".")[0],
        object_id=about,
        before=before,
        after=after,
        why=why,
    )


def unchanged(refusal: Refused) -> str:
    """What to tell somebody for whom nothing was done."""
    return gettext("Nothing was changed: %(why)s.") % {"why": refusal}


def refusing(work: Callable[[], _Result]) -> _Result:
    """Do it; what the domain refuses is refused here, in its words."""
    try:
        return work()
    except refusals.Refused as refusal:
        raise Refused(text.visible(str(refusal)).rstrip(".")) from refusal


def done(request: HttpRequest, deed: Callable[[], str], back: str) -> HttpResponse:
    """Do it, and go back with a word on what became of it."""
    try:
        messages.success(request, deed())
    except Refused as refusal:
        messages.warning(request, unchanged(refusal))
    except OperationalError:
        messages.error(request, BUSY)
    return HttpResponseRedirect(back)
