"""The roles of the people who work here, as groups with permissions.

The groups are kept as this table says by every `migrate`: to give people less or more, make a
group of your own. A person may have several roles; four eyes are still two people.
"""

from collections.abc import Mapping
from typing import Any, Final

from django.contrib.auth.models import Group, Permission

#: What everybody may look at who may enter the console at all.
_VIEWED: Final = (
    *("orders.merchant", "orders.order"),
    *("payments.provideraccount", "payments.providertransaction", "payments.delivery"),
    *("payments.confirmation", "payments.conflict", "payments.proposal"),
    *("payments.conflictpolicy", "payments.refund", "payments.manualpayment"),
)
_MACHINERY: Final = (
    *("outbox.event", "outbox.dispatch", "outbox.destination", "outbox.endpoint"),
    *("idempotency.record", "orders.apikey", "payments.accountkey", "audit.auditentry"),
    *("payments.recipient",),
)


def _view(*models: str) -> frozenset[str]:
    pairs = (model.split(".") for model in models)
    return frozenset(f"{app}.view_{name}" for app, name in pairs)


def _all(app: str, model: str) -> frozenset[str]:
    return frozenset(f"{app}.{verb}_{model}" for verb in ("view", "add", "change", "delete"))


#: Take stored deliveries once more.
REPLAY: Final = "payments.replay_delivery"
#: Take rows out of the console: lists as CSV, evidence for a dispute.
EXPORT: Final = "payments.export_evidence"
VIEWER: Final = _view(*_VIEWED)
ROLES: Final[Mapping[str, frozenset[str]]] = {
    "viewer": VIEWER,
    "reviewer": VIEWER
    | {"payments.resolve_conflict", "payments.ask_provider", "payments.record_payment", EXPORT},
    "approver": VIEWER | {"payments.approve_conflict", "payments.approve_policy", EXPORT},
    "operator": VIEWER
    | _view(*_MACHINERY)
    | {"payments.ask_provider", "payments.manage_recipient", REPLAY, EXPORT}
    | {"outbox.operate_destination", "outbox.rotate_endpointsecret"},
    "admin": VIEWER
    | _view(*_MACHINERY)
    | {"payments.propose_policy", "payments.manage_recipient", REPLAY, EXPORT}
    | _all("auth", "user")
    | _all("auth", "group")
    | _all("orders", "membership"),
    # No right of those who run the service: where somebody forgot to say whose member he is, he
    # sees nothing.
    "merchant": frozenset({"orders.act_for_merchant"}),
}


def keep_roles(**_: Any) -> None:
    """Make the groups as the table says, in a few statements; called after every `migrate`."""
    known = _permissions()
    groups = {group.name: group for group in Group.objects.filter(name__in=ROLES)}
    missing = [Group(name=role) for role in ROLES if role not in groups]
    if missing:
        groups |= {group.name: group for group in Group.objects.bulk_create(missing)}
    links = Group.permissions.through.objects
    held = set(links.filter(group__name__in=ROLES).values_list("group_id", "permission_id"))
    wanted = {
        (groups[role].pk, known[name])
        for role, names in ROLES.items()
        for name in names
        if name in known
    }
    for group in groups.values():
        extra = [right for holder, right in held - wanted if holder == group.pk]
        if extra:
            group.permissions.remove(*extra)
    links.bulk_create(
        [
            Group.permissions.through(group_id=group_id, permission_id=permission_id)
            for group_id, permission_id in sorted(wanted - held)
        ]
    )


def _permissions() -> dict[str, int]:
    """The ids of what the roles name; what is not there yet comes with a later `migrate`."""
    wanted = {name for names in ROLES.values() for name in names}
    codenames = {name.partition(".")[2] for name in wanted}
    rows = Permission.objects.filter(codename__in=codenames).values_list(
        "pk", "content_type__app_label", "codename"
    )
    return {f"{app}.{codename}": pk for pk, app, codename in rows}
