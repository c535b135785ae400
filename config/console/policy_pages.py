"""What the pages that change a merchant's policy share: whose it is, what was seen, the answer."""

from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from config.console import deeds, rights, text, who
from orders.models import Merchant
from payments.models import PolicyStatus
from payments.policies import changing, current


def found(request: HttpRequest, pk: int) -> Merchant:
    """The merchant, for who may change his policy. Raises PermissionDenied, Http404."""
    rights.require(request, changing.PROPOSE)
    merchant = Merchant.objects.filter(pk=pk).first()
    if merchant is None:
        raise Http404
    return merchant


def shown_version(request: HttpRequest, merchant_id: int) -> str:
    """The version that counts, for the form to bring back; a form that came back keeps its own."""
    return request.POST.get("seen", str(current.version_of(merchant_id)))


def seen_version(request: HttpRequest) -> int:
    """The version that the form was shown of. Raises BadRequest."""
    return rights.number(request.POST.get("seen", ""))


def named(merchant: Merchant) -> dict[str, str]:
    """The merchant's code, for a sentence."""
    return {"merchant": text.visible(merchant.code)}


def address(verb: str, pk: int) -> str:
    """Where one of these pages is."""
    return reverse(f"admin:payments_conflictpolicy_{verb}", args=[pk])


def history(merchant_id: int) -> str:
    """Where a merchant's versions are listed."""
    versions = reverse("admin:payments_conflictpolicy_changelist")
    return f"{versions}?merchant__id__exact={merchant_id}"


def done(request: HttpRequest, merchant_id: int, work: Callable[[], str]) -> HttpResponse:
    """Do it, and go to the versions with a word on what became of it."""
    return deeds.done(request, lambda: deeds.refusing(work), history(merchant_id))


def propose(
    request: HttpRequest, merchant: Merchant, content: dict[str, Any], *, why: str, seen: int
) -> str:
    """Propose a version, and say whether it counts. Raises the domain's Refused."""
    policy = changing.propose(
        merchant, content, why=why, person=who.person(request), now=timezone.now(), seen=seen
    )
    names = {"version": policy.version}
    if policy.status == PolicyStatus.PROPOSED:
        return _("Version %(version)s waits for another person to approve it.") % names
    return _("Version %(version)s counts from now on.") % names
