"""Who sits before the browser, as the domain and the audit name him."""

import hashlib

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.http import HttpRequest

from audit.actors import Actor
from audit.models import ActorKind
from payments.conflicts import people
from payments.conflicts.people import Person


def origin(request: HttpRequest | None) -> str:
    """The address, and a name for the session that opens nothing."""
    if request is None:
        return "no request"
    key = getattr(getattr(request, "session", None), "session_key", None)
    session = f", session {hashlib.sha256(key.encode()).hexdigest()[:8]}" if key else ""
    return f"{address(request)}{session}"


def address(request: HttpRequest) -> str:
    """From where the request comes; behind a trusted proxy, what the proxy itself has seen.

    A proxy adds the address of its own client at the end: what stands before it anybody may write.
    """
    behind = settings.TRUSTED_PROXY and request.headers.get("X-Forwarded-For", "")
    seen = behind.rpartition(",")[2].strip() if behind else ""
    return seen or str(request.META.get("REMOTE_ADDR") or "unknown address")


def user(request: HttpRequest) -> User:
    """The user who asks; screens let nobody else in."""
    assert isinstance(request.user, User)  # noqa: S101 - the console is for those logged in
    return request.user


def person(request: HttpRequest) -> Person:
    """The user who asks, as the domain knows him."""
    return people.person(user(request), origin=origin(request))


def actor(user: AbstractBaseUser | AnonymousUser | None, request: HttpRequest | None) -> Actor:
    """A user as the audit names him; whoever is none is a stranger."""
    if isinstance(user, User):
        return people.person(user, origin=origin(request)).actor
    return Actor(kind=ActorKind.STRANGER, name="", origin=origin(request))
