"""Nobody sees the console before his second factor, if he has one or needs one."""

from collections.abc import Callable
from typing import Final
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from config.access import second_factor
from config.access.models import SecondFactor
from config.csp import CONSOLE

_SHOWN: Final = "second_factor"


class SecondFactorMiddleware:
    """Leads who has given only a password to the page that asks for a code, and nowhere else."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer one request, or lead to the page that is missing."""
        if settings.CONSOLE_SECOND_FACTOR == "off" or not request.path.startswith(CONSOLE):
            return self.get_response(request)
        if isinstance(request.user, User):
            missing = _missing(request, request.user)
            always = {reverse("admin:logout"), reverse("access:language")}
            if missing and request.path not in {missing, *always}:
                query = urlencode({"next": request.get_full_path()})
                return HttpResponseRedirect(f"{missing}?{query}")
        return self.get_response(request)


def pass_on(request: HttpRequest, factor: SecondFactor) -> None:
    """This session has shown its second factor; whatever it was called before opens nothing."""
    request.session.cycle_key()
    request.session[_SHOWN] = second_factor.mark(factor)


def _missing(request: HttpRequest, user: User) -> str:
    """The page that comes before all others; empty if none does."""
    factor = second_factor.of(user)
    if factor is not None:
        is_shown = request.session.get(_SHOWN) == second_factor.mark(factor)
        return "" if is_shown else reverse("access:second_factor")
    return reverse("access:enrol") if second_factor.is_required(user) else ""
