"""Whatever address of the console is posted to, with whatever right: no table of money changes."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db.models import Model, QuerySet
from django.test import Client, RequestFactory
from django.urls import NoReverseMatch, reverse

from orders.models import Merchant
from payments.models import Recipient
from tests.console.rooms import Rows, deletion_of, list_of

#: The packages that store what was paid, told and done.
OURS = ("audit", "idempotency", "orders", "outbox", "payments")
#: What a form of Django's, an inline one, a bulk action or a page of ours would send.
FORMS: tuple[dict[str, Any], ...] = (
    {"post": "yes", "ids": "", "seen": "", "reason": "x"},
    {
        "_save": "1",
        "status": "PAID",
        "amount_minor": "1",
        "state": "PUBLISHED",
        "name": "x",
        "form-TOTAL_FORMS": "1",
        "form-INITIAL_FORMS": "1",
        "form-0-id": "1",
    },
)


def money_models() -> list[type[Model]]:
    models = (model for app in OURS for model in apps.get_app_config(app).get_models())
    # Whom to tell of conflicts is neither money nor a record of it.
    return [model for model in models if model is not Recipient]


def screens() -> list[type[Model]]:
    return [model for model in money_models() if admin.site.is_registered(model)]


def standing() -> dict[str, list[Any]]:
    """All rows of all tables."""
    return {
        model._meta.label: list(QuerySet(model).order_by("pk").values())  # noqa: SLF001 - Django's documented way to a model's names
        for model in money_models()
    }


def addresses(model: type[Model], key: str) -> Iterator[str]:
    """Every address of a screen, and those that a screen without limits would have."""
    meta = model._meta  # noqa: SLF001 - as above
    start = f"/admin/{meta.app_label}/{meta.model_name}/"
    yield from (start, f"{start}add/", f"{start}{key}/", f"{start}{key}/change/")
    yield from (f"{start}{key}/delete/", f"{start}{key}/history/")
    if admin.site.is_registered(model):
        for pattern in admin.site.get_model_admin(model).get_urls():
            for arguments in ([], [key], [key, "change"]):
                if pattern.name:
                    try:
                        yield reverse(f"admin:{pattern.name}", args=arguments)
                    except NoReverseMatch:
                        continue


@pytest.mark.parametrize("model", money_models())
def test_no_post_to_any_address_changes_any_row(
    superuser: Client, rows: Rows, model: type[Model]
) -> None:
    row = QuerySet(model).first()
    key = str(row.pk) if row is not None else "1"
    before = standing()

    tried = sorted(set(addresses(model, key)))
    # A merchant's own form is the one that may be sent.
    sent = [page for page in tried if not (model is Merchant and page.endswith("/change/"))]
    for address in sent:
        for form in FORMS:
            answer = superuser.post(address, form)
            assert answer.status_code in (200, 302, 400, 403, 404, 405), address

    assert len(tried) >= 6
    # An export is entered in the audit: what was there stays, and more may follow.
    after = standing()
    entries = after["audit.AuditEntry"]
    after["audit.AuditEntry"] = entries[: len(before["audit.AuditEntry"])]
    assert after == before


@pytest.mark.parametrize("model", screens())
def test_no_action_of_a_list_changes_any_row(
    superuser: Client, rows: Rows, model: type[Model]
) -> None:
    screen = admin.site.get_model_admin(model)
    request = RequestFactory().get("/")
    request.user = User.objects.get(username="root")
    actions = {*screen.get_actions(request), "delete_selected"}
    before = standing()

    for action in sorted(actions):
        for across in ("0", "1"):
            form = {
                "action": action,
                "_selected_action": str(rows[model].pk),
                "select_across": across,
                "post": "yes",
            }
            assert superuser.post(list_of(model), form).status_code in (200, 302, 403)

    assert "delete_selected" not in screen.get_actions(request)
    assert standing() == before


@pytest.mark.parametrize("model", screens())
def test_no_screen_says_that_a_superuser_may(rows: Rows, model: type[Model]) -> None:
    screen = admin.site.get_model_admin(model)
    request = RequestFactory().get("/")
    request.user = User(username="root", is_superuser=True, is_active=True, is_staff=True)
    row = rows[model]

    may = (
        screen.has_add_permission(request),
        screen.has_change_permission(request, row),
        screen.has_delete_permission(request, row),
    )

    assert may == (False, model is Merchant, False)
    assert screen.inlines == ()


def test_a_user_or_a_group_that_is_deleted_takes_no_money_along(
    superuser: Client, rows: Rows
) -> None:
    clerk = User.objects.create_user("clerk")
    group = Group.objects.create(name="clerks")
    before = standing() | {"audit.AuditEntry": []}

    for row in (clerk, group):
        assert superuser.post(deletion_of(row), {"post": "yes"}).status_code == 302

    assert not User.objects.filter(pk=clerk.pk).exists()
    assert standing() | {"audit.AuditEntry": []} == before
