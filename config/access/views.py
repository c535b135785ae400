"""The pages about oneself: codes, language, time zone."""

import segno
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from config.access import attempts, gate, preferences, second_factor
from config.access.forms import CodeForm, PreferencesForm, too_many
from config.console import deeds
from config.console.deeds import Asked


@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Choose a language from the menu, and go on where one was."""
    form = PreferencesForm(request.POST)
    form.full_clean()
    answer = HttpResponseRedirect(_next(request))
    if chosen := form.cleaned_data.get("language"):
        preferences.keep(request, language=chosen)
        preferences.keep_in_browser(answer, chosen)
    return answer


@require_http_methods(["GET", "POST"])
def prefer(request: HttpRequest) -> HttpResponse:
    """Choose language and time zone."""
    form = PreferencesForm(
        request.POST or None,
        initial={
            "language": translation.get_language(),
            "time_zone": preferences.time_zone(request).key,
        },
    )
    if form.is_valid():
        chosen = form.cleaned_data
        preferences.keep(request, **chosen)
        with translation.override(chosen["language"]):
            messages.success(request, _("Your language and time zone are kept."))
        answer = HttpResponseRedirect(reverse("access:preferences"))
        preferences.keep_in_browser(answer, chosen["language"])
        return answer
    asked = Asked(
        title=_("Language and time zone"),
        says=[],
        button=_("Keep"),
        back=reverse("admin:index"),
        form=form,
    )
    return _page(request, "console/asked.html", asked=asked, title=asked.title)


@require_http_methods(["GET", "POST"])
def ask(request: HttpRequest) -> HttpResponse:
    """The second half of the login: a code."""
    user = _user(request)
    factor = second_factor.of(user)
    if factor is None:
        return HttpResponseRedirect(_next(request))
    form = CodeForm(request.POST or None)
    if form.is_valid():
        taken = _take(request, form)
        if taken:
            gate.pass_on(request, factor)
            deeds.keep(request, "user.second_factor", str(user.pk), after={"by": taken})
            return HttpResponseRedirect(_next(request))
    return _page(request, "console/second_factor.html", form=form, title=_("Second factor"))


@require_http_methods(["GET", "POST"])
def enrol(request: HttpRequest) -> HttpResponse:
    """Put the secret into a telephone, and show with a code that it is there."""
    user = _user(request)
    if second_factor.of(user) is not None:
        return HttpResponseRedirect(reverse("access:mine"))
    shown = second_factor.begin(user)
    form = CodeForm(request.POST or None)
    if form.is_valid():
        wait = attempts.take("code", str(user.pk), now=timezone.now())
        codes = (
            None
            if wait
            else second_factor.confirm(user, form.cleaned_data["code"], now=timezone.now())
        )
        factor = second_factor.of(user)
        if codes and factor:
            attempts.forget("code", str(user.pk))
            gate.pass_on(request, factor)
            deeds.keep(request, "user.second_factor_added", str(user.pk))
            return _page(
                request, "console/recovery_codes.html", codes=codes, title=_("Recovery codes")
            )
        form.add_error("code", too_many(wait) if wait else _wrong())
    picture = segno.make(second_factor.address(user, shown), error="m")
    return _page(
        request,
        "console/enrol.html",
        form=form,
        title=_("Set up a second factor"),
        # Made of our own secret and the user's name, which segno draws as squares.
        picture=mark_safe(picture.svg_inline(scale=4, light="#fff", svgclass="c-picture")),  # noqa: S308
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
    if form.is_valid() and _take(request, form):
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
    return _page(request, "console/asked.html", asked=asked, title=asked.title)


def _take(request: HttpRequest, form: CodeForm) -> str:
    """Which code it was, if it is right; else the form says what is wrong."""
    user = _user(request)
    wait = attempts.take("code", str(user.pk), now=timezone.now())
    if wait:
        form.add_error("code", too_many(wait))
        return ""
    taken = second_factor.take(user, form.cleaned_data["code"], now=timezone.now())
    if taken:
        attempts.forget("code", str(user.pk))
    else:
        form.add_error("code", _wrong())
        deeds.keep(request, "user.second_factor_failed", str(user.pk))
    return taken


def _wrong() -> str:
    return _("This code is not right, or it was used before. Wait for the next one and try that.")


def _page(request: HttpRequest, template: str, **context: object) -> HttpResponse:
    request.current_app = admin.site.name  # as Django's own pages do
    return TemplateResponse(request, template, admin.site.each_context(request) | context)


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # noqa: S101 - these pages are for those logged in
    return request.user


def _next(request: HttpRequest) -> str:
    """Where to go on: nowhere else."""
    wanted = request.POST.get("next") or request.GET.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if is_ours else reverse("admin:index")
