"""A merchant's member sees what goes to his merchant's endpoints, and nothing of anybody else's."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import get_resolver, reverse
from django.urls.resolvers import URLPattern, URLResolver

from audit.models import AuditEntry
from config import urls
from config.access import urls as access
from config.console import members
from orders.models import ApiKey, Membership, Merchant, Order
from outbox.destinations import directory
from outbox.models import BUS, Attempt, Destination, Dispatch, Endpoint, Event, Party
from payments.models import Conflict, Delivery, ProviderTransaction, Refund
from tests import factories
from tests.console.rooms import Rows, furnish, list_of, page_of
from tests.console.test_operating import said
from tests.console.test_webhook_pages import address, form
from tests.factories import CREATED_AT

#: What a member may open without naming a row.
OPEN = {
    *("index", "login", "logout", "jsi18n", "password_change", "password_change_done"),
    *("outbox_event_changelist", "outbox_dispatch_changelist", "outbox_endpoint_changelist"),
}
LISTS = (Event, Dispatch, Endpoint)


def shop(code: str) -> Rows:
    """A merchant with a row on every screen, each with his code in it."""
    return furnish(
        merchant_code=code,
        order_order_no=f"{code}-order",
        transaction_txn_no=f"{code}-txn",
        delivery_event_id=f"{code}-delivery",
        event_tenant=code,
        destination_tenant=code,
        destination_destination__code=f"we_{code}",
        attempt_reply=f"{code}-reply",
        dispatch_last_error=f"{code}-error",
    )


@pytest.fixture
def mine(db: None) -> Rows:
    return shop("mike")


@pytest.fixture
def others(db: None) -> Rows:
    return shop("zulu")


def enter(rows: Rows, *, name: str = "mia", role: str = "merchant", **more: Any) -> Client:
    user = User.objects.create_user(name, is_staff=True, **more)
    user.groups.set(Group.objects.filter(name=role))
    Membership.objects.create(user=user, merchant=rows[Merchant])
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def member(mine: Rows) -> Client:
    return enter(mine)


def all_rights(user: User) -> None:
    user.groups.set(Group.objects.all())
    user.user_permissions.set(Permission.objects.all())


#: Whatever else somebody is, a member is held to his merchant.
ALSO: dict[str, Callable[[User], object]] = {
    "nothing else": lambda _user: None,
    "every role and right": all_rights,
    "a superuser": lambda user: User.objects.filter(pk=user.pk).update(is_superuser=True),
}


@pytest.fixture(params=ALSO)
def somebody(request: pytest.FixtureRequest, mine: Rows) -> Client:
    client = enter(mine)
    ALSO[request.param](User.objects.get(username="mia"))
    return client


def addresses(rows: Rows) -> Iterator[tuple[str, str]]:
    """Every address of the console by its name, each about the rows of one merchant."""
    keys = {"auth_user": User.objects.create_user("somebody else").pk, "auth_group": "1"}
    keys |= {
        f"{table._meta.app_label}_{table._meta.model_name}": row.pk  # noqa: SLF001
        for table, row in rows.by_table.items()
    }
    console = next(
        each
        for each in get_resolver().url_patterns
        if isinstance(each, URLResolver) and each.namespace == "admin"
    )
    for name in filter(lambda name: isinstance(name, str), console.reverse_dict):
        ((_, wanted),) = console.reverse_dict.getlist(name)[0][0]
        of = next((key for table, key in keys.items() if name.startswith(f"{table}_")), "1")
        for verb in ("pause", "resume", "disable") if "verb" in wanted else ("",):
            known: dict[str, Any] = {
                "app_label": "outbox",
                "verb": verb,
                "content_type_id": "1",
                "how": "ACCEPT",
            }
            known |= dict.fromkeys(("pk", "id", "object_id", "proposal_id"), of)
            arguments = {field: known[field] for field in wanted}
            yield name, reverse(f"admin:{name}", kwargs=arguments)


def shown(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, address
    return answer.content.decode()


def test_every_address_about_anothers_row_is_closed_whoever_he_is_besides(
    somebody: Client, others: Rows
) -> None:
    before = list(AuditEntry.objects.values_list("action", flat=True))
    asked = list(addresses(others))
    answers = {
        (name, address): (
            somebody.get(address).status_code,
            somebody.post(address, {"seen": "x", "post": "yes", "ids": "1"}).status_code,
        )
        for name, address in asked
        if name not in OPEN
    }

    assert {found for both in answers.values() for found in both} <= {403, 404}, answers
    # None was passed over: all screens with all their pages, and those of our own.
    assert len(answers) > 80
    assert {name for name, _ in asked} >= members.PAGES | {"search", "autocomplete", "app_list"}
    assert list(AuditEntry.objects.values_list("action", flat=True)) == before
    assert Attempt.objects.filter(at=None).count() == 0


def test_no_page_that_is_open_shows_anything_of_anothers(
    somebody: Client, mine: Rows, others: Rows
) -> None:
    factories.ConflictFactory.create()
    factories.DispatchFactory.create(
        event=mine[Event], last_error="zulu-bus", state="DEAD", dead_at=CREATED_AT
    )
    pages = [reverse("admin:index"), *map(list_of, LISTS)]
    pages += [page_of(mine[table]) for table in LISTS]
    pages += [address(mine[Endpoint], "test"), address(mine[Dispatch], "resend")]
    questions = ("q=zulu", "q=we_zulu", f"q={others[Event].pk}")
    pages += [f"{list_of(table)}?{question}" for table in LISTS for question in questions]
    states = ("WAITING", "PUBLISHED", "DEAD")
    pages += [f"{list_of(table)}?state={state}" for table in (Event, Dispatch) for state in states]

    for page in pages:
        content = shown(somebody, page).partition("<body")[2].replace(page.partition("?")[2], "")
        for found in ("q=zulu", "q=we_zulu", 'value="zulu"', 'value="we_zulu"'):
            content = content.replace(found, "")  # what he asked for himself
        assert "zulu" not in content, page
        assert f"{BUS} <" not in content, page
        assert f">{BUS}<" not in content, page
        for table in (Conflict, ApiKey, Order, Delivery, ProviderTransaction, Refund, Merchant):
            assert f'href="{list_of(table)}' not in content, (page, table)


def test_lists_searches_and_filters_find_only_what_is_his(
    member: Client, mine: Rows, others: Rows
) -> None:
    factories.DispatchFactory.create(event=mine[Event], state="DEAD", dead_at=CREATED_AT)
    factories.EndpointFactory.create(tenant="mike")  # a filter with one choice is not offered
    there = others[Destination]

    def found(table: Any, question: str = "") -> int:
        return int(member.get(f"{list_of(table)}?{question}").context["cl"].result_count)

    assert [found(table) for table in LISTS] == [1, 1, 2]
    assert found(Event, "state=DEAD") == 0  # dead on its way to the bus, which is not his
    assert found(Event, "state=WAITING") == 1
    assert found(Event, f"q={others[Event].pk}") == 0
    assert found(Event, f"q={others[Event].aggregate_id}") == 0
    assert found(Dispatch, f"destination__id__exact={there.pk}") == 0
    assert found(Dispatch, f"q={there.code}") == 0
    assert found(Dispatch, f"q={BUS}") == 0
    assert found(Endpoint, f"q={there.code}") == 0
    assert found(Endpoint, f"q={there.tenant}") == 0
    assert found(Dispatch, f"q={mine[Destination].code}") == 1


def test_the_filter_by_destination_offers_his_own(member: Client, mine: Rows, others: Rows) -> None:
    second = factories.EndpointFactory.create(tenant="mike", destination__code="we_mike2")
    page = member.get(list_of(Dispatch))

    (chosen,) = [each for each in page.context["cl"].filter_specs if each.title == "destination"]
    offered = {name for _, name in chosen.lookup_choices}
    assert offered == {str(mine[Destination]), str(second)}


def test_the_first_page_counts_his_own(member: Client, mine: Rows, others: Rows) -> None:
    for _ in range(3):
        factories.DispatchFactory.create(destination=others[Destination])
    factories.DispatchFactory.create(
        destination=mine[Destination], state="DEAD", dead_at=CREATED_AT
    )

    context = member.get("/admin/").context

    assert [(each.title, each.number) for each in context["figures"]] == [
        ("Dispatches waiting", 1),
        ("Dispatches dead", 1),
    ]
    (section,) = context["sections"]
    assert f'href="{page_of(mine[Endpoint])}"' in section.content
    for figure in context["figures"]:
        assert member.get(figure.link).context["cl"].result_count == figure.number


def test_the_sidebar_leads_to_his_pages_only(member: Client) -> None:
    content = shown(member, "/admin/")
    titles = {title for title in ("Events", "Dispatches", "Webhooks") if title in content}
    assert titles == {"Events", "Dispatches", "Webhooks"}
    for title in ("Conflicts", "Deliveries", "Orders", "Merchants", "API keys", "Users"):
        assert f">{title}<" not in content.replace("\n", "").replace(" ", "")


@pytest.mark.parametrize("kind", ["a role and no merchant", "a merchant and no role"])
def test_one_without_the_other_opens_nothing(mine: Rows, kind: str) -> None:
    if kind == "a merchant and no role":
        client = enter(mine, role="none")
    else:
        client = enter(mine)
        Membership.objects.all().delete()

    for table in LISTS:
        assert client.get(list_of(table)).status_code == 403
        assert client.get(page_of(mine[table])).status_code in (403, 404)
    assert client.post(address(mine[Dispatch], "resend"), {"seen": "x"}).status_code == 403
    index = client.get("/admin/").context
    assert (index["figures"], index["sections"]) == ([], [])


def test_where_the_merchant_is_stopped_his_people_are_out(member: Client, mine: Rows) -> None:
    Merchant.objects.filter(code="mike").update(active=False)

    assert member.get("/admin/").status_code == 403
    assert member.get(page_of(mine[Endpoint])).status_code == 403
    assert member.get(f"/admin/find/?q={mine[Event].pk}").status_code == 403
    assert member.get("/admin/me/preferences/").status_code == 403
    assert member.post("/admin/logout/").status_code == 200


def test_pages_beside_the_admins_own_are_open_by_name_only(somebody: Client, mine: Rows) -> None:
    known = {"kind": "order", "pk": mine[Order].pk, "user_id": 1}
    ours: Any = urls.urlpatterns
    beside = [each for each in ours if str(each.pattern).startswith("admin/")]
    named: list[tuple[str, URLPattern]] = [
        (f"access:{each.name}", each) for each in access.urlpatterns
    ]
    named += [(str(each.name), each) for each in beside if isinstance(each, URLPattern)]

    closed = set()
    for name, page in named:
        wanted = {field: known[field] for field in page.pattern.converters}
        if somebody.get(reverse(name, kwargs=wanted)).status_code == 404:
            closed.add(page.name)

    assert closed == {page.name for _, page in named} - members.BESIDE - OPEN
    assert closed == {"console_evidence", "reset"}


def test_a_member_sends_one_again_and_the_audit_says_who(member: Client, mine: Rows) -> None:
    row = mine[Dispatch]
    door = address(row, "resend")
    assert f'href="{door}"' in shown(member, page_of(row))

    answer = member.post(door, form(member, row, "resend"))

    asked = Attempt.objects.get(dispatch=row, at=None)
    assert said(answer)[0].startswith(f"Attempt {asked.pk} is asked for")
    assert asked.asked_by == "merchant's user mia"
    entry = AuditEntry.objects.get(action="event.resent")
    assert (entry.actor_kind, entry.actor) == ("PERSON", "mia")
    assert "merchant&#x27;s user mia" in shown(member, page_of(row))


def test_a_member_tests_his_endpoint(member: Client, mine: Rows) -> None:
    row = mine[Endpoint]
    member.post(address(row, "test"), form(member, row, "test"))

    assert Attempt.objects.get(at=None).destination == mine[Destination]
    assert AuditEntry.objects.get(action="webhook.tested").actor == "mia"


@pytest.mark.parametrize("by", Party)
def test_a_member_resumes_his_endpoint_unless_an_operator_let_it_rest(
    member: Client, mine: Rows, by: Party
) -> None:
    row = mine[Destination]
    Destination.objects.filter(pk=row.pk).update(state="DISABLED", reason="why", rested_by=by)
    door = reverse("admin:outbox_destination_move", args=[row.pk, "resume"])
    content = shown(member, page_of(mine[Endpoint]))

    answer = member.post(door, {"seen": "DISABLED"})

    row.refresh_from_db()
    may = by != Party.OPERATOR
    assert (f'href="{door}"' in content) == may
    assert (row.state == "ACTIVE") == may
    assert ("let rest by whoever runs the service" in said(answer)[0]) == (not may)
    assert AuditEntry.objects.filter(action="destination.resume").exists() == may
    assert "/pause/" not in content
    assert "/disable/" not in content


def test_a_member_undoes_only_what_he_saw(member: Client, mine: Rows) -> None:
    row = mine[Destination]
    door = reverse("admin:outbox_destination_move", args=[row.pk, "resume"])
    directory.disable(row.code, reason="abuse")
    directory.resume(row.code)

    assert "is ACTIVE by now" in said(member.post(door, {"seen": "DISABLED"}))[0]


def test_a_member_is_told_of_our_people_only_that_it_was_one(member: Client, mine: Rows) -> None:
    factories.AttemptFactory.create(
        dispatch=mine[Dispatch], asked_by="console, olga", asked_at=CREATED_AT
    )
    for row in (mine[Dispatch], mine[Endpoint]):
        content = shown(member, page_of(row))
        assert "olga" not in content
        assert "operator" in content
        assert "mike-reply" in content


def test_a_question_to_us_is_no_event_of_his_unless_his_endpoint_asked_for_it(
    member: Client, mine: Rows
) -> None:
    about = {"aggregate_type": "conflict", "type": "conflict.opened", "tenant": "mike"}
    untold = factories.EventFactory.create(aggregate_id="7", **about)
    told = factories.EventFactory.create(aggregate_id="8", **about)
    factories.DispatchFactory.create(
        event=told,
        destination=mine[Destination],
        aggregate_type="conflict",
        aggregate_id="8",
    )

    assert member.get(page_of(untold)).status_code == 404
    assert page_of(mine[Conflict]) not in shown(member, page_of(told))


def test_a_members_page_asks_no_more_for_more_rows(
    member: Client, mine: Rows, django_assert_max_num_queries: Any
) -> None:
    for _ in range(20):
        event = factories.EventFactory.create(tenant="mike")
        factories.DispatchFactory.create(event=event, destination=mine[Destination])

    for table in LISTS:
        with django_assert_max_num_queries(14):
            member.get(list_of(table))


# --- Whose member somebody is ---


def saved(client: Client, user: User, **more: Any) -> Any:
    values = {
        "username": user.username,
        "is_active": "on",
        "is_staff": "on",
        "date_joined_0": "2026-03-01",
        "date_joined_1": "11:00:00",
        "membership-TOTAL_FORMS": "1",
        "membership-INITIAL_FORMS": "0",
        "membership-0-user": user.pk,
        **more,
    }
    return client.post(reverse("admin:auth_user_change", args=[user.pk]), values)


def test_an_admin_makes_somebody_a_member_and_the_audit_has_it(mine: Rows) -> None:
    clerk = User.objects.create_user("ada", is_staff=True)
    clerk.groups.set(Group.objects.filter(name="admin"))
    admin = Client()
    admin.force_login(clerk)
    user = User.objects.create_user("mia")
    assert "Member of a merchant" in shown(admin, reverse("admin:auth_user_change", args=[user.pk]))

    assert saved(admin, user, **{"membership-0-merchant": mine[Merchant].pk}).status_code == 302

    assert Membership.objects.get().merchant == mine[Merchant]
    entry = AuditEntry.objects.get(action="user.changed")
    assert (entry.before["merchant"], entry.after["merchant"]) == (None, "mike")


def test_a_superuser_is_made_nobodys_member(superuser: Client, mine: Rows) -> None:
    user = User.objects.create_user("mia")

    answer = saved(
        superuser, user, is_superuser="on", **{"membership-0-merchant": mine[Merchant].pk}
    )

    assert "make him no superuser" in answer.content.decode()
    assert Membership.objects.count() == 0
