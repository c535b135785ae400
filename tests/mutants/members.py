"""Merchants' people in the console."""

from typing import Final

from tests.mutants.mutant import mutant

MEMBERS = "tests/console/test_members.py"
SCREENS = "config/console/screens.py"

MUTANTS: Final = (
    mutant(
        "members: every page is open to them",
        "config/console/members.py",
        "if page.url_name not in PAGES | BESIDE:",
        "if False:",
        MEMBERS,
    ),
    mutant(
        "members: a screen shows them everybody's rows",
        SCREENS,
        "return members.own(request, super().get_queryset(request))",
        "return super().get_queryset(request)",
        MEMBERS,
    ),
    mutant(
        "members: a role without a merchant shows everybody's rows",
        "payments/roles.py",
        '"merchant": frozenset({"orders.act_for_merchant"}),',
        '"merchant": frozenset({"orders.act_for_merchant"}) | _view(*_MACHINERY),',
        MEMBERS,
    ),
    mutant(
        "members: other rights count too",
        "config/console/rights.py",
        "return or_member and request.user.has_perm(MEMBER)",
        "return request.user.has_perm(right)",
        MEMBERS,
    ),
    mutant(
        "members: the deeds know no owner",
        "config/console/resending.py",
        "members.own(request, rows).filter(pk=pk)",
        "rows.filter(pk=pk)",
        MEMBERS,
    ),
    mutant(
        "members: events show all their ways",
        "config/console/events.py",
        'members.own(request, Dispatch.objects.select_related("destination"))',
        'Dispatch.objects.select_related("destination")',
        MEMBERS,
    ),
    mutant(
        "members: a filter tells of others' dispatches",
        "config/console/filters.py",
        "members.own(request, Dispatch.objects.filter(wanted))",
        "Dispatch.objects.filter(wanted)",
        MEMBERS,
    ),
    mutant(
        "members: what an operator has let rest is theirs to undo",
        "outbox/webhooks/endpoints.py",
        "~Q(rested_by=Party.OPERATOR)",
        "Q()",
        "tests/outbox/webhooks/test_resting.py",
    ),
)
