"""Above which amounts two people decide for a merchant, and the switch that ends all his rules."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from config.console import cells, deeds, limits, policy_pages, policy_words, who
from config.console.approving import WhyForm
from config.console.deeds import Asked, Deed
from config.console.policy_forms import AboveForm
from orders.models import Merchant
from payments.models import ConflictPolicy
from payments.policies import changing, current


def links(request: HttpRequest, merchant_id: int) -> list[Deed]:
    """What this person may do about a merchant's policy."""
    if not request.user.has_perm(changing.PROPOSE):
        return []
    found = [
        Deed(_("Change the policy"), policy_pages.address("edit", merchant_id)),
        Deed(_("Change when two people decide"), policy_pages.address("above", merchant_id)),
    ]
    if current.rules_of(merchant_id).by_kind:
        off = policy_pages.address("off", merchant_id)
        found.append(Deed(_("Switch the policy off"), off, grave=True))
    return found


def above(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for the amounts, or propose them. Raises PermissionDenied, Http404, BadRequest."""
    merchant = policy_pages.found(request, pk)
    present = current.rules_of(pk)
    form = AboveForm(request.POST or None, initial={"above": limits.write(present.four_eyes_above)})
    if request.method == "POST" and form.is_valid():
        content = _with_amounts(pk, form.cleaned_data["above"])
        values = {"why": form.cleaned_data["why"], "seen": policy_pages.seen_version(request)}
        return policy_pages.done(
            request, pk, lambda: policy_pages.propose(request, merchant, content, **values)
        )
    asked = Asked(
        title=_("When two people decide for %(merchant)s") % policy_pages.named(merchant),
        says=[
            policy_words.two_people(present),
            _("Raising an amount counts when another person has approved it; lowering, at once."),
        ],
        button=_("Change it"),
        back=cells.page_of(merchant),
        form=form,
        seen={"seen": policy_pages.shown_version(request, pk)},
    )
    return deeds.ask(request, ConflictPolicy, asked)


def off(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask whether to end all rules, or do it. Raises as `above`."""
    merchant = policy_pages.found(request, pk)
    form = WhyForm(request.POST or None, initial={"why": _("Switched off")})
    if request.method == "POST" and form.is_valid():
        values = {"why": form.cleaned_data["why"], "seen": policy_pages.seen_version(request)}
        return policy_pages.done(request, pk, lambda: _switch_off(request, merchant, values))
    asked = Asked(
        title=_("Switch off the policy of %(merchant)s") % policy_pages.named(merchant),
        says=[
            _("From now on a person is asked about every conflict. It counts at once."),
            _("What the policy has decided stays decided; when two people decide does not change."),
        ],
        button=_("Switch it off"),
        back=cells.page_of(merchant),
        form=form,
        seen={"seen": policy_pages.shown_version(request, pk)},
        grave=True,
    )
    return deeds.ask(request, ConflictPolicy, asked)


def _switch_off(request: HttpRequest, merchant: Merchant, values: dict[str, Any]) -> str:
    person = who.person(request)
    policy = changing.switch_off(merchant, **values, person=person, now=timezone.now())
    return _("Switched off, as version %(version)s.") % {"version": policy.version}


def _with_amounts(merchant_id: int, amounts: dict[str, int]) -> dict[str, Any]:
    """The document that counts, with other amounts for two people."""
    policy = current.active(merchant_id)
    content = {} if policy is None else dict(policy.rules)
    content.pop("four_eyes_above", None)
    return content | ({"four_eyes_above": amounts} if amounts else {})
