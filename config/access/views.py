"""The pages about oneself: language and time zone; and what all such pages are made with."""

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import translation
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from config.access import preferences
from config.access.forms import PreferencesForm
from config.console.deeds import Asked


@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Choose a language from the menu, and go on where one was."""
    form = PreferencesForm(request.POST)
    form.full_clean()
    answer = HttpResponseRedirect(next_of(request))
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
    return page(request, "console/asked.html", asked=asked, title=asked.title)


def page(request: HttpRequest, template: str, **context: object) -> HttpResponse:
    """A page of the console that is about no row."""
    request.current_app = admin.site.name  # as Django's own pages do
    return TemplateResponse(request, template, admin.site.each_context(request) | context)


def next_of(request: HttpRequest) -> str:
    """Where to go on: nowhere else."""
    wanted = request.POST.get("next") or request.GET.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if is_ours else reverse("admin:index")
