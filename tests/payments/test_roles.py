"""The roles are groups whose permissions are what the table says, after every migrate."""

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.management import call_command

from payments.roles import ROLES, keep_roles

pytestmark = pytest.mark.django_db


def held(role: str) -> set[str]:
    permissions = Group.objects.get(name=role).permissions.select_related("content_type")
    return {f"{one.content_type.app_label}.{one.codename}" for one in permissions}


@pytest.mark.parametrize("role", ROLES)
def test_a_role_may_exactly_what_the_table_says(role: str) -> None:
    assert held(role) == ROLES[role]


def test_migrating_mends_what_was_changed_by_hand_and_leaves_other_groups_alone() -> None:
    approver = Group.objects.get(name="approver")
    approver.permissions.add(Permission.objects.get(codename="resolve_conflict"))
    Group.objects.get(name="viewer").delete()
    own = Group.objects.create(name="night shift")
    own.permissions.add(Permission.objects.get(codename="view_order"))

    call_command("migrate", verbosity=0)

    assert held("approver") == ROLES["approver"]
    assert held("viewer") == ROLES["viewer"]
    assert held("night shift") == {"orders.view_order"}


def test_keeping_them_costs_three_questions(django_assert_num_queries: object) -> None:
    with django_assert_num_queries(3):  # type: ignore[operator]
        keep_roles()


def test_nobody_gets_to_decide_and_approve_or_to_change_money_by_one_role() -> None:
    both = {"payments.resolve_conflict", "payments.approve_conflict"}
    assert [role for role, rights in ROLES.items() if both <= rights] == []
    policies = {"payments.propose_policy", "payments.approve_policy"}
    assert [role for role, rights in ROLES.items() if policies <= rights] == []
    writing = ("add_", "change_", "delete_")
    written = {
        right for rights in ROLES.values() for right in rights if any(w in right for w in writing)
    }
    people = {"auth.user", "auth.group", "orders.membership"}
    assert {f"{right.partition('.')[0]}.{right.rpartition('_')[2]}" for right in written} == people


def test_a_member_may_what_his_role_may() -> None:
    user = User.objects.create_user("alice", is_staff=True)
    user.groups.add(Group.objects.get(name="reviewer"))

    assert user.has_perm("payments.resolve_conflict")
    assert not user.has_perm("payments.approve_conflict")
