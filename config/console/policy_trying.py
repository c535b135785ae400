"""Change what a merchant lets rules decide: ask for the rules, try them, propose them.

Nothing is proposed that was not tried: the page of the trial signs what it has tried, and only
that is taken.
"""

from datetime import timedelta
from typing import Any, Final

from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from config.console import cells, deeds, policy_pages, policy_trials, policy_words, text
from config.console.deeds import Asked
from config.console.policy_forms import RulesForm
from orders.models import Merchant
from payments.models import ConflictPolicy
from payments.policies import current, document, rules

#: How long what was tried may be proposed.
TRIED_FOR: Final = timedelta(hours=1)
_SALT: Final = "console.policy.trial"


def view(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask, try, or propose. Raises PermissionDenied, Http404, BadRequest."""
    merchant = policy_pages.found(request, pk)
    if "trial" in request.POST:
        return policy_pages.done(request, pk, lambda: _propose(request, merchant))
    form = RulesForm(current.rules_of(pk), request.POST or None)
    if request.method == "POST" and form.is_valid():
        return _tried(request, merchant, form.cleaned_data)
    asked = Asked(
        title=_("The policy of %(merchant)s") % policy_pages.named(merchant),
        says=[
            _("What it may decide of new conflicts by itself, within seconds of their opening."),
            _("The next page shows what it would have done to the last 30 days."),
        ],
        button=_("Try it on the last 30 days"),
        back=cells.page_of(merchant),
        form=form,
        seen={"seen": policy_pages.shown_version(request, pk)},
    )
    return deeds.ask(request, ConflictPolicy, asked, template="console/policy.html")


def _tried(request: HttpRequest, merchant: Merchant, cleaned: dict[str, Any]) -> HttpResponse:
    """The page that shows what the rules would have done, and offers to propose just these."""
    present, wanted = current.rules_of(merchant.pk), document.read(cleaned["document"])
    tried = {
        "merchant": merchant.pk,
        "by": request.user.pk,
        "rules": cleaned["document"],
        "why": cleaned["why"],
        "seen": policy_pages.seen_version(request),
    }
    widens = rules.widens(present, wanted)
    waits = _("It moves money that the policy before did not: another person must approve it.")
    at_once = _("It moves no money that the policy before did not: it counts at once.")
    asked = Asked(
        title=_("The new policy of %(merchant)s, tried") % policy_pages.named(merchant),
        says=[
            text.visible(_("Why: %(why)s") % {"why": cleaned["why"]}),
            waits if widens else at_once,
        ],
        button=_("Propose it") if widens else _("Switch it on"),
        back=policy_pages.address("edit", merchant.pk),
        seen={"trial": signing.dumps(tried, salt=_SALT)},
        table=policy_words.table(present, wanted)
        + policy_trials.shown(merchant, wanted, now=timezone.now()),
    )
    return deeds.ask(request, ConflictPolicy, asked)


def _propose(request: HttpRequest, merchant: Merchant) -> str:
    try:
        tried = signing.loads(request.POST["trial"], salt=_SALT, max_age=TRIED_FOR)
    except signing.BadSignature as error:
        raise deeds.Refused(_("try the policy first, and propose it within the hour")) from error
    if (tried["merchant"], tried["by"]) != (merchant.pk, request.user.pk):
        raise deeds.Refused(_("it was tried by another person, or for another merchant"))
    values = {"why": tried["why"], "seen": tried["seen"]}
    return policy_pages.propose(request, merchant, tried["rules"], **values)
