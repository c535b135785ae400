"""What each right lets somebody do, in words: the page of roles is made of these."""

from collections.abc import Mapping
from typing import Final

from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console import cells
from payments.roles import ROLES

#: Every right that a role has, in the order of the page.
MEANS: Final[Mapping[str, Promise]] = {
    "payments.view_conflict": gettext_lazy("See conflicts, and both sides of each"),
    "payments.view_proposal": gettext_lazy("See what waits for approval"),
    "payments.view_conflictpolicy": gettext_lazy("See policies, and what they have decided"),
    "payments.view_manualpayment": gettext_lazy("See manual payments"),
    "orders.view_order": gettext_lazy("See orders"),
    "payments.view_providertransaction": gettext_lazy("See transactions"),
    "payments.view_refund": gettext_lazy("See refunds"),
    "payments.view_delivery": gettext_lazy("See deliveries, masked"),
    "payments.view_confirmation": gettext_lazy("See payments that wait for confirmation"),
    "payments.view_provideraccount": gettext_lazy("See accounts at providers"),
    "orders.view_merchant": gettext_lazy("See merchants"),
    "payments.resolve_conflict": gettext_lazy(
        "Decide conflicts up to the merchant's amount, propose decisions above it, and withdraw "
        "one's own proposals"
    ),
    "payments.record_payment": gettext_lazy(
        "Mark an order as paid outside of any provider, above the merchant's amount with another"
    ),
    "payments.ask_provider": gettext_lazy("Ask the provider about a payment"),
    "payments.approve_conflict": gettext_lazy("Approve or reject what another has proposed"),
    "payments.replay_delivery": gettext_lazy("Take stored deliveries once more"),
    "payments.export_evidence": gettext_lazy("Export lists, and evidence for a dispute"),
    "payments.propose_policy": gettext_lazy(
        "Propose policies and the amounts for two people, and switch policies off"
    ),
    "payments.approve_policy": gettext_lazy("Approve or reject a policy of another"),
    "outbox.view_event": gettext_lazy("See events"),
    "outbox.view_dispatch": gettext_lazy("See dispatches"),
    "outbox.view_destination": gettext_lazy("See destinations"),
    "outbox.view_endpoint": gettext_lazy("See webhooks"),
    "idempotency.view_record": gettext_lazy("See idempotency keys"),
    "payments.view_accountkey": gettext_lazy("See the keys of accounts, never what they are"),
    "orders.view_apikey": gettext_lazy("See API keys, never what they are"),
    "audit.view_auditentry": gettext_lazy("See the audit"),
    "outbox.operate_destination": gettext_lazy(
        "Let destinations rest and work again, send events and tests again"
    ),
    "outbox.rotate_endpointsecret": gettext_lazy("Make and retire webhooks' secrets"),
    "payments.view_recipient": gettext_lazy("See who is told of conflicts"),
    "payments.manage_recipient": gettext_lazy("Say who is told of conflicts"),
    "orders.act_for_merchant": gettext_lazy(
        "As a member of a merchant: see what goes to its endpoints, send it again, test and resume"
    ),
    "auth.view_user": gettext_lazy("See users"),
    "auth.add_user": gettext_lazy("Make users"),
    "auth.change_user": gettext_lazy(
        "Change users, and give or take roles, but give none to oneself"
    ),
    "auth.delete_user": gettext_lazy("Delete users who have done nothing yet"),
    "orders.view_membership": gettext_lazy("See whose member a user is"),
    "orders.add_membership": gettext_lazy("Make users members of merchants"),
    "orders.change_membership": gettext_lazy("Move members to other merchants"),
    "orders.delete_membership": gettext_lazy("End memberships"),
    "auth.view_group": gettext_lazy("See groups"),
    "auth.add_group": gettext_lazy("Make groups"),
    "auth.change_group": gettext_lazy("Change groups that are no roles and not one's own"),
    "auth.delete_group": gettext_lazy("Delete groups that are no roles and not one's own"),
}


def table() -> SafeString:
    """Each right, and which roles have it."""
    rows = [
        (MEANS.get(right, right), *(_yes() if right in held else "" for held in ROLES.values()))
        for right in sorted({right for held in ROLES.values() for right in held}, key=_place)
    ]
    return format_html('<div class="c-wraps">{}</div>', cells.table((_("May"), *ROLES), rows))


def _place(right: str) -> tuple[int, str]:
    known = list(MEANS)
    return (known.index(right) if right in MEANS else len(known), right)


def _yes() -> SafeString | str:
    yes = _("yes")
    return cells.label(yes, {yes: "success"})
