"""The ends of a session: after idling, and after a working day whatever happens in it."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from config.csp import CONSOLE

_BEGAN: Final = "began"
_SEEN: Final = "seen"
#: Being seen is written down no more often.
_SEEN_EVERY: Final = timedelta(minutes=1)


class SessionEndMiddleware:
    """Logs out who idles in the console, or has been in it for too long.

    That a changed password ends all other sessions is Django's own doing.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer one request, or lead to the login."""
        if request.path.startswith(CONSOLE) and request.user.is_authenticated:
            why = _end(request, timezone.now())
            if why:
                logout(request)
                messages.info(request, why)
                return redirect_to_login(_back(request), reverse("admin:login"))
        return self.get_response(request)


def _end(request: HttpRequest, now: datetime) -> str:
    """Why the session is over; empty while it is not."""
    session = request.session
    began = datetime.fromisoformat(session.setdefault(_BEGAN, now.isoformat()))
    seen = datetime.fromisoformat(session.setdefault(_SEEN, now.isoformat()))
    if now - began >= timedelta(seconds=settings.SESSION_COOKIE_AGE):
        return _("Your session has come to its end. Log in again to go on.")
    if now - seen >= settings.CONSOLE_IDLE:
        return _("You were logged out because nothing was done here for %(minutes)s minutes.") % {
            "minutes": settings.CONSOLE_IDLE // timedelta(minutes=1)
        }
    if now - seen >= _SEEN_EVERY:
        session[_SEEN] = now.isoformat()
    return ""


def _back(request: HttpRequest) -> str:
    """Where to go on after the login: no form is sent again."""
    return request.get_full_path() if request.method == "GET" else reverse("admin:index")
