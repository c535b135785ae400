"""An administrator takes away a colleague's second factor, for a telephone that is gone."""

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from config.access import second_factor
from config.console import deeds, rights
from config.console.deeds import Asked


@require_http_methods(["GET", "POST"])
def reset(request: HttpRequest, user_id: int) -> HttpResponse:
    """Ask, then do it; a superuser's only by a superuser, one's own where a code is asked for."""
    rights.require(request, "auth.change_user")
    user = get_object_or_404(User, pk=user_id)
    if user.is_superuser and not request.user.is_superuser:
        raise PermissionDenied
    if user.pk == request.user.pk:
        return HttpResponseRedirect(reverse("access:mine"))
    back = reverse("admin:auth_user_change", args=[user.pk])
    if request.method == "POST":
        with transaction.atomic():
            was_there = second_factor.remove(user)
            if was_there:
                deeds.keep(request, "user.second_factor_reset", str(user.pk))
        if was_there:
            messages.success(request, _("The second factor is removed."))
        else:
            messages.warning(request, _("Nothing was changed: there is no second factor."))
        return HttpResponseRedirect(back)
    asked = Asked(
        title=_("Reset the second factor of %(name)s") % {"name": user.get_username()},
        says=[
            _("The telephone and the recovery codes of this user count no longer."),
            _("Be sure who asked for it: until a new one is set up, the password alone opens."),
        ],
        button=_("Reset it"),
        back=back,
        grave=True,
    )
    return deeds.ask(request, User, asked)
