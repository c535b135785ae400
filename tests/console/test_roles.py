"""Roles are given by an admin to others, explained as they are, and no way to more than that."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from audit.models import AuditEntry
from config.console import role_pages, role_words
from payments.roles import ROLES
from tests.console.rooms import list_of, page_of
from tests.console.staff import member

pytestmark = pytest.mark.django_db

WHY = "joins the team"


@pytest.fixture
def admin() -> Client:
    return member("admin", name="ann")


def roles_of(name: str) -> list[str]:
    return sorted(User.objects.get(username=name).groups.values_list("name", flat=True))


def at(user: User) -> str:
    return reverse("admin:auth_user_roles", args=[user.pk])


def give(client: Client, user: User, *roles: str, seen: str = "", why: str = WHY) -> Any:
    return client.post(at(user), {"roles": roles, "why": why, "seen": seen})


def said(answer: Any) -> str:
    return [str(message) for message in get_messages(answer.wsgi_request)][-1]


def test_the_page_of_roles_says_of_each_right_who_has_it_and_misses_none(admin: Client) -> None:
    assert set(role_words.MEANS) == {right for rights in ROLES.values() for right in rights}
    assert role_pages.SUMMARIES.keys() == ROLES.keys()

    shown = admin.get("/admin/auth/group/roles/").content.decode()

    for right, means in role_words.MEANS.items():
        row = shown.partition(f"<td>{str(means).replace(chr(39), '&#x27;')}</td>")[2]
        cells = row.partition("</tr>")[0].split("</td>")[:-1]
        assert ["yes" in cell for cell in cells] == [right in held for held in ROLES.values()]


@pytest.mark.parametrize("role", [*ROLES, ""])
def test_every_role_reads_what_roles_may_and_only_admins_give_them(role: str) -> None:
    person = member(*filter(None, [role]), name="carol")
    dan = User.objects.create_user("dan")

    assert person.get("/admin/auth/group/roles/").status_code == 200
    expected = 200 if role == "admin" else 403
    assert person.get(at(dan)).status_code == expected
    assert give(person, dan, "approver").status_code == (302 if role == "admin" else 403)
    assert roles_of("dan") == (["approver"] if role == "admin" else [])


def test_an_admin_gives_roles_which_let_somebody_in_and_the_audit_says_why(admin: Client) -> None:
    dan = User.objects.create_user("dan")
    dan.groups.add(Group.objects.create(name="night shift"))
    form = admin.get(at(dan)).context["asked"]

    answer = give(admin, dan, "reviewer", "operator", seen=form.seen["seen"])
    give(admin, dan, "viewer", seen="operator,reviewer", why="moves on")

    assert said(answer) == "dan has these roles now: operator, reviewer."
    assert roles_of("dan") == ["night shift", "viewer"]
    dan.refresh_from_db()
    assert dan.is_staff
    entries = AuditEntry.objects.filter(action="user.roles").order_by("seq")
    assert list(
        entries.values_list("actor", "object_id", "before__roles", "after__roles", "why")
    ) == [
        ("ann", str(dan.pk), [], ["operator", "reviewer"], WHY),
        ("ann", str(dan.pk), ["operator", "reviewer"], ["viewer"], "moves on"),
    ]


@pytest.mark.parametrize(
    ("roles", "seen", "why", "says"),
    [
        (("reviewer",), "viewer", WHY, "has other roles by now: none"),
        ((), "", WHY, "has just these roles already"),
    ],
)
def test_a_page_that_is_out_of_date_and_a_second_click_change_nothing(
    admin: Client, roles: tuple[str, ...], seen: str, why: str, says: str
) -> None:
    dan = User.objects.create_user("dan")

    assert says in said(give(admin, dan, *roles, seen=seen, why=why))
    assert (roles_of("dan"), AuditEntry.objects.filter(action="user.roles").count()) == ([], 0)


def test_nothing_is_given_without_a_reason_and_no_group_that_is_no_role(admin: Client) -> None:
    dan = User.objects.create_user("dan")
    Group.objects.create(name="night shift")

    assert give(admin, dan, "viewer", why=" ").status_code == 200
    assert give(admin, dan, "night shift").status_code == 200
    assert roles_of("dan") == []


def test_the_last_admin_cannot_remove_himself_and_one_of_two_can(admin: Client) -> None:
    ann = User.objects.get(username="ann")

    alone = give(admin, ann, seen="admin")
    assert "ann is the last admin: make another one first" in said(alone)
    assert roles_of("ann") == ["admin"]

    member("admin", name="eve")
    give(admin, ann, "viewer", seen="admin")
    assert roles_of("ann") == ["admin"]  # Also not in exchange for another role.
    give(admin, ann, seen="admin")
    assert roles_of("ann") == []


@pytest.mark.parametrize("state", [{"is_active": False}, {"is_staff": False}])
def test_an_admin_who_cannot_enter_is_none(admin: Client, state: dict[str, bool]) -> None:
    member("admin", name="eve")
    User.objects.filter(username="eve").update(**state)

    give(admin, User.objects.get(username="ann"), seen="admin")

    assert roles_of("ann") == ["admin"]


def test_nobody_gives_a_role_to_himself(admin: Client) -> None:
    answer = give(admin, User.objects.get(username="ann"), "admin", "approver", seen="admin")

    assert "ann cannot give himself approver: another admin can" in said(answer)
    assert roles_of("ann") == ["admin"]


def test_a_superuser_has_no_roles_and_no_admin_touches_his_account(admin: Client) -> None:
    root = User.objects.create_superuser("root", password="correct horse 12")

    assert "root is a superuser" in said(give(admin, root, "viewer"))
    assert admin.post(page_of(root), {"username": "mine"}).status_code == 403
    new = {"password1": "another horse 12", "password2": "another horse 12"}
    password = reverse("admin:auth_user_password_change", args=[root.pk])
    assert admin.post(password, new).status_code == 403
    assert admin.post(reverse("admin:auth_user_delete", args=[root.pk])).status_code == 403
    root.refresh_from_db()
    assert (root.username, root.check_password("correct horse 12")) == ("root", True)


def test_the_forms_of_users_and_groups_lead_to_no_more_than_roles(admin: Client) -> None:
    ann, dan = User.objects.get(username="ann"), User.objects.create_user("dan")
    own = Group.objects.create(name="own")
    ann.groups.add(own)
    right = Permission.objects.get(codename="approve_conflict")
    form = {
        "is_superuser": "on",
        "is_active": "on",
        "is_staff": "on",
        "groups": [str(group.pk) for group in Group.objects.all()],
        "user_permissions": [str(right.pk)],
    }

    for user in (ann, dan):
        admin.post(page_of(user), form | {"username": user.username})
        user.refresh_from_db()
        assert not user.is_superuser
        assert not user.user_permissions.exists()
    assert roles_of("dan") == []
    admin.post(page_of(ann), {"username": "ann"})
    ann.refresh_from_db()
    assert (ann.is_active, ann.is_staff) == (True, True)
    for group in (own, Group.objects.get(name="admin")):
        changed = {"name": group.name, "permissions": [str(right.pk)]}
        assert admin.post(page_of(group), changed).status_code == 403
        assert admin.post(reverse("admin:auth_group_delete", args=[group.pk])).status_code == 403
    assert not own.permissions.exists()
    assert admin.post(reverse("admin:auth_user_delete", args=[ann.pk])).status_code == 403
    chosen = {"action": "delete_selected", "_selected_action": str(ann.pk), "post": "yes"}
    admin.post(list_of(User), chosen)
    assert User.objects.filter(username="ann").exists()


def test_the_list_of_users_says_who_has_which_role(admin: Client) -> None:
    member("reviewer", "operator", name="dan")
    assert "operator, reviewer" in admin.get(list_of(User)).content.decode()
