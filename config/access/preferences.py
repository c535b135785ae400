"""The language and the time zone in which somebody reads the console."""

import zoneinfo
from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from config.access.models import Preferences
from config.csp import CONSOLE

_LANGUAGE: Final = "language"
_TIME_ZONE: Final = "time_zone"


class PreferencesMiddleware:
    """The console speaks to each in his language and of his hours; the API to all in English.

    They are read once for each session. Before the login a cookie knows the language of this
    browser, else the browser says what it likes.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer one request."""
        if not request.path.startswith(CONSOLE):
            return self.get_response(request)
        if isinstance(request.user, User) and _TIME_ZONE not in request.session:
            kept = Preferences.objects.filter(user=request.user).first() or Preferences()
            _remember(request, kept.language, kept.time_zone)
        with translation.override(_language(request)), timezone.override(time_zone(request)):
            answer = self.get_response(request)
            answer.headers.setdefault("Content-Language", translation.get_language())
        return answer


def time_zone(request: HttpRequest) -> zoneinfo.ZoneInfo:
    """The zone of this user's hours; the service's, where he chose none or it is gone."""
    chosen = request.session.get(_TIME_ZONE) or settings.TIME_ZONE
    try:
        return zoneinfo.ZoneInfo(chosen)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return zoneinfo.ZoneInfo(settings.TIME_ZONE)


def shown_time_zone(_request: HttpRequest) -> tuple[str, str]:
    """For the head of each page: whose hours they are."""
    return _("Times in %(zone)s") % {"zone": timezone.get_current_timezone_name()}, "info"


def keep(request: HttpRequest, **chosen: str) -> None:
    """Keep the `language`, the `time_zone` or both, for the user and for this session."""
    if isinstance(request.user, User):
        kept = Preferences.objects.update_or_create(user=request.user, defaults=chosen)[0]
        _remember(request, kept.language, kept.time_zone)


def keep_in_browser(answer: HttpResponse, language: str) -> None:
    """Keep the language for the login page."""
    answer.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        max_age=365 * 24 * 60 * 60,
        secure=settings.LANGUAGE_COOKIE_SECURE,
        httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
        samesite="Lax",
    )


def _remember(request: HttpRequest, language: str, zone: str) -> None:
    request.session[_LANGUAGE], request.session[_TIME_ZONE] = language, zone


def _language(request: HttpRequest) -> str:
    chosen = request.session.get(_LANGUAGE, "")
    known = dict(settings.LANGUAGES)
    return chosen if chosen in known else translation.get_language_from_request(request)
