"""Enter in the audit who logs in, who fails to, and who logs out."""

from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.http import HttpRequest

from audit import chain
from audit.actors import Actor
from config.console import who


def connect() -> None:
    """Listen: Django tells of logins in no other way."""
    user_logged_in.connect(_logged_in, dispatch_uid="audit.login")
    user_logged_out.connect(_logged_out, dispatch_uid="audit.logout")
    user_login_failed.connect(_failed, dispatch_uid="audit.failed_login")


def _logged_in(*, request: HttpRequest | None, user: User, **_: Any) -> None:
    _record("login", who.actor(user, request), user.pk)


def _logged_out(*, request: HttpRequest | None, user: User | None, **_: Any) -> None:
    if user is not None:
        _record("logout", who.actor(user, request), user.pk)


def _failed(*, credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    # What is nobody's name may be a password in the wrong field: it is not kept.
    name = str(credentials.get("username", ""))
    user = User.objects.filter(username=name).first()
    _record("login.failed", who.actor(None, request), user.pk if user else "unknown")


def _record(action: str, by: Actor, user_id: int | str) -> None:
    chain.record(by=by, action=action, object_type="user", object_id=user_id)
