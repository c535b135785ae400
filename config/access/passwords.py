"""One's own password: the admin's page, with its entry in the audit, and its guesses held back."""

from django.contrib import admin, messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone

from config.access import attempts
from config.access.forms import too_many
from config.console import deeds, who


def change(request: HttpRequest) -> HttpResponse:
    """Ask, or change it; who has found an open session guesses here as he would at the login."""
    if request.method != "POST":
        return admin.site.password_change(request)
    user = who.user(request)
    wait = attempts.take("account", user.get_username(), now=timezone.now())
    if wait is not None:
        messages.error(request, too_many(wait))
        return HttpResponseRedirect(reverse("admin:password_change"))
    done = reverse("admin:password_change_done")
    with transaction.atomic():
        answer = admin.site.password_change(request)
        is_changed = isinstance(answer, HttpResponseRedirect) and answer.url == done
        if is_changed:
            deeds.keep(request, "user.changed", str(user.pk), after={"fields": ["password"]})
    if is_changed:
        attempts.forget("account", user.get_username())
    return answer
