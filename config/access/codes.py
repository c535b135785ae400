"""The pages of second factors: asked for at the login, set up, and given up."""

from typing import Final

import segno
from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from config.access import attempts, gate, second_factor
from config.access.forms import CodeForm, too_many
from config.access.views import next_of, page
from config.console import deeds
from config.console.deeds import Asked

_SHOWN: Final = "second_factor_shown"


@require_http_methods(["GET", "POST"])
def ask(request: HttpRequest) -> HttpResponse:
    """The second half of the login: a code."""
    user = _user(request)
    factor = second_factor.of(user)
    if factor is None:
        return HttpResponseRedirect(next_of(request))
    form = CodeForm(request.POST or None)
    if form.is_valid() and _is_taken(request, form):
        gate.pass_on(request, factor)
        return HttpResponseRedirect(next_of(request))
    return page(request, "console/second_factor.html", form=form, title=_("Second factor"))


@require_http_methods(["GET", "POST"])
def enrol(request: HttpRequest) -> HttpResponse:
    """Put the secret into a telephone, and show with a code that it is there."""
    user = _user(request)
    if second_factor.of(user) is not None:
        return HttpResponseRedirect(reverse("access:mine"))
    shown = second_factor.begin(user, shown=request.session.get(_SHOWN, ""))
    request.session[_SHOWN] = second_factor.digest(shown)
    form = CodeForm(request.POST or None)
    codes = _confirmed(request, form) if form.is_valid() else None
    if codes:
        return page(request, "console/recovery_codes.html", codes=codes, title=_("Recovery codes"))
    return page(
        request,
        "console/enrol.html",
        form=form,
        title=_("Set up a second factor"),
        picture=_picture(second_factor.address(user, shown)),
        secret=" ".join(shown[at : at + 4] for at in range(0, len(shown), 4)),
        required=second_factor.is_required(user),
    )


@require_http_methods(["GET", "POST"])
def mine(request: HttpRequest) -> HttpResponse:
    """One's own second factor: none yet, or how to be rid of it."""
    user = _user(request)
    if second_factor.of(user) is None:
        return HttpResponseRedirect(reverse("access:enrol"))
    form = CodeForm(request.POST or None)
    if form.is_valid() and _is_taken(request, form):
        with transaction.atomic():
            second_factor.remove(user)
            deeds.keep(request, "user.second_factor_removed", str(user.pk))
        messages.success(request, _("Your second factor is removed."))
        return HttpResponseRedirect(reverse("admin:index"))
    asked = Asked(
        title=_("Remove your second factor"),
        says=[
            _("Whoever has your password can then log in. Set up the next telephone right away."),
            _("Give a code of the telephone that you have now, or a recovery code."),
        ],
        button=_("Remove it"),
        back=reverse("admin:index"),
        form=form,
        grave=True,
    )
    return page(request, "console/asked.html", asked=asked, title=asked.title)


def _confirmed(request: HttpRequest, form: CodeForm) -> list[str] | None:
    """The recovery codes, if the first code is right; else the form says what is wrong."""
    user = _user(request)
    if _is_held_back(user, form):
        return None
    with transaction.atomic():
        codes = second_factor.confirm(user, form.cleaned_data["code"], now=timezone.now())
        if codes is not None:
            deeds.keep(request, "user.second_factor_added", str(user.pk))
    factor = second_factor.of(user)
    if codes is None or factor is None:
        form.add_error("code", _wrong())
        return None
    attempts.forget("code", str(user.pk))
    gate.pass_on(request, factor)
    return codes


def _is_taken(request: HttpRequest, form: CodeForm) -> bool:
    """Whether the code is right, which takes it; else the form says what is wrong."""
    user = _user(request)
    if _is_held_back(user, form):
        return False
    with transaction.atomic():
        taken = second_factor.take(user, form.cleaned_data["code"], now=timezone.now())
        action = "user.second_factor" if taken else "user.second_factor_failed"
        deeds.keep(request, action, str(user.pk), after={"by": taken} if taken else None)
    if taken:
        attempts.forget("code", str(user.pk))
    else:
        form.add_error("code", _wrong())
    return bool(taken)


def _is_held_back(user: User, form: CodeForm) -> bool:
    wait = attempts.take("code", str(user.pk), now=timezone.now())
    if wait is not None:
        form.add_error("code", too_many(wait))
    return wait is not None


def _picture(content: str) -> SafeString:
    """What a telephone scans: an SVG, which segno draws of squares alone."""
    drawn = segno.make(content, error="m").svg_inline(scale=4, light="#fff", svgclass="c-picture")
    return mark_safe(drawn)  # noqa: S308 - no letter of the content is in it


def _wrong() -> str:
    return _("This code is not right, or it was used before. Wait for the next one and try that.")


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # noqa: S101 - these pages are for those logged in
    return request.user
