"""The forms of the login, of codes, and of what somebody prefers."""

import zoneinfo
from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import structlog
from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.widgets import INPUT_CLASSES, SELECT_CLASSES

from config.access import attempts
from config.console import who

if TYPE_CHECKING:
    from django.contrib.admin.forms import AdminAuthenticationForm as _LoginForm
else:
    from unfold.forms import AuthenticationForm as _LoginForm

log = structlog.get_logger(__name__)

_CODE_LENGTH_MAX = 40


class LoginForm(_LoginForm):
    """The login, which holds back who guesses; its words are the same whoever has an account."""

    def clean(self) -> dict[str, Any]:
        """Count, then look: what is held back is not looked at."""
        name, given = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if not name or not given or self.request is None:
            return super().clean()
        now, place = timezone.now(), attempts.network(who.address(self.request))
        for kind, guessed in (("address", place), ("account", name)):
            wait = attempts.take(kind, guessed, now=now)
            if wait is not None:
                log.warning("login held back", kind=kind, seconds=int(wait.total_seconds()))
                raise ValidationError(too_many(wait), code="held_back")
        cleaned = super().clean()
        attempts.forget("account", name)
        attempts.give_back("address", place)
        attempts.forget_old(now=now)
        return cleaned


class CodeForm(forms.Form):
    """A code of the telephone, or one of those for its loss."""

    code = forms.CharField(
        label=_("Code"),
        max_length=_CODE_LENGTH_MAX,
        widget=forms.TextInput(
            attrs={
                "class": " ".join(INPUT_CLASSES),
                "autocomplete": "one-time-code",
                "autofocus": True,
                "spellcheck": "false",
            }
        ),
    )


class PreferencesForm(forms.Form):
    """Language and time zone."""

    language = forms.ChoiceField(
        label=_("Language"),
        choices=settings.LANGUAGES,
        widget=forms.Select(attrs={"class": " ".join(SELECT_CLASSES)}),
    )
    time_zone = forms.ChoiceField(
        label=_("Time zone"),
        help_text=_("All times of the console are shown in it, and each says so."),
        widget=forms.Select(attrs={"class": " ".join(SELECT_CLASSES)}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["time_zone"].choices = list(_zones())  # type: ignore[attr-defined]


def too_many(wait: timedelta) -> str:
    """What to tell somebody who is held back."""
    minutes, seconds = divmod(int(wait.total_seconds()) + 1, 60)
    if minutes:
        return ngettext(
            "There were too many attempts. Wait for about %(minutes)s minute, then try again.",
            "There were too many attempts. Wait for about %(minutes)s minutes, then try again.",
            minutes + 1,
        ) % {"minutes": minutes + 1}
    return ngettext(
        "There were too many attempts. Wait for %(seconds)s second, then try again.",
        "There were too many attempts. Wait for %(seconds)s seconds, then try again.",
        seconds,
    ) % {"seconds": seconds}


def _zones() -> Iterable[tuple[str, str]]:
    """Places, and UTC; no other names of offsets, which change their meaning with the season."""
    yield "UTC", "UTC"
    for name in sorted(zoneinfo.available_timezones()):
        if "/" in name and not name.startswith(("Etc/", "SystemV/", "posix/", "right/")):
            yield name, name.replace("_", " ")
