"""Evidence for a dispute: all that is known, exact, without secrets, in a form that stays."""

import base64
import hashlib
import json
import re
from typing import Any

import pytest
from django.test import Client

from audit.actors import command_line
from audit.chain import record
from audit.models import AuditEntry
from config.console import evidence_pack
from orders.models import Order
from payments.models import Conflict, Delivery, ProviderTransaction, Refund
from tests import factories
from tests.console.rooms import Rows, furnish, page_of
from tests.console.staff import staff

WHY = {"why": "dispute du_1"}

#: What a pack says, member by member: whoever reads it relies on these names.
MEMBERS = {
    "": {
        *("schema", "made_at", "made_by", "about", "question", "order", "payments", "refunds"),
        *("conflicts", "deliveries", "events", "audit", "timeline", "left_out", "cut"),
    },
    "order": {
        *("merchant", "order_no", "status", "owed", "refunded", "paid_txn_no", "created_at"),
        *("paid_at", "closed_at"),
    },
    "payments": {
        *("id", "account", "kind", "txn_no", "order_no", "disposition", "money", "reverses"),
        *("occurred_at", "occurred_at_is_stated", "recorded_at"),
    },
    "refunds": {
        *("refund_no", "provider_refund_no", "account", "payment", "status", "money", "reason"),
        *("why", "requested_at", "sent_at", "finished_at"),
    },
    "conflicts": {
        *("id", "reason", "severity", "status", "expected", "received", "opened_at", "due_at"),
        *("resolved_at", "decision", "decided_as", "decided_by", "proposed_by", "resolution"),
        "why",
    },
    "deliveries": {
        *("id", "received_at", "account", "event_id", "event_type", "kind", "txn_no", "order_no"),
        *("outcome", "reason", "verified_with", "assurance", "replay_of", "headers", "body"),
    },
    "events": {"id", "type", "about", "seq", "created_at", "payload"},
    "audit": {"seq", "at", "actor_kind", "actor", "action", "object", "why", "hash"},
    "timeline": {"at", "what", "which", "source"},
}


def address(row: Order | Conflict) -> str:
    return f"/admin/evidence/{type(row).__name__.lower()}/{row.pk}/"


def as_json(client: Client, row: Order | Conflict) -> dict[str, Any]:
    answer = client.post(address(row), WHY | {"form": "json"})
    assert answer.status_code == 200
    found: dict[str, Any] = json.loads(answer.content)
    return found


def printed(client: Client, row: Order | Conflict) -> str:
    return client.post(address(row), WHY | {"form": "page"}).content.decode()


@pytest.fixture
def told(rows: Rows) -> Rows:
    """With a decision in the audit."""
    record(
        by=command_line(),
        action="conflict.asked",
        object_type="conflict",
        object_id=rows[Conflict].pk,
        why="who knows",
    )
    return rows


@pytest.mark.parametrize("about", [Order, Conflict])
def test_a_pack_has_the_whole_story_in_members_that_are_documented(
    superuser: Client, told: Rows, about: type[Any]
) -> None:
    pack = as_json(superuser, told[about])

    assert pack["schema"] == "paidonce.evidence/1"
    assert pack["about"] == f"{about.__name__.lower()}:{told[about].pk}"
    for name, members in MEMBERS.items():
        part = pack[name] if name else pack
        for row in part if isinstance(part, list) else [part]:
            assert set(row) == members, name
    assert {name: len(pack[name]) for name in MEMBERS if isinstance(pack.get(name), list)} == {
        **dict.fromkeys(("payments", "refunds", "conflicts", "deliveries", "events"), 1),
        "audit": 1,
        "timeline": 7,
    }
    assert (pack["left_out"], pack["cut"]) == ([], [])
    assert (pack["question"] is None) == (about is Order)


def test_values_are_exact_and_times_are_in_order(superuser: Client, told: Rows) -> None:
    pack = as_json(superuser, told[Order])
    (delivery,) = pack["deliveries"]

    assert pack["order"]["owed"] == {"amount": "10.99", "amount_minor": 1099, "currency": "USD"}
    assert pack["payments"][0]["txn_no"] == told[ProviderTransaction].txn_no
    assert delivery["received_at"] == "2026-03-01T11:00:00.000000Z"
    assert delivery["verified_with"] == "key-0"
    assert delivery["body"] == {
        "sha256": told[Delivery].body_sha256.hex(),
        "bytes": 28,
        "text": '{\n  "type": "customer.created"\n}',
        "cut": False,
        "left_out": None,
    }
    assert [line["at"] for line in pack["timeline"]] == sorted(
        line["at"] for line in pack["timeline"]
    )
    assert (
        pack["audit"][0]["hash"]
        == bytes(AuditEntry.objects.get(action="conflict.asked").hash).hex()
    )


def test_that_it_was_made_is_in_the_audit_with_its_digest_and_why(
    superuser: Client, told: Rows
) -> None:
    order = told[Order]

    answer = superuser.post(address(order), WHY | {"form": "json"})

    entry = AuditEntry.objects.get(action="order.evidence_made")
    digest = hashlib.sha256(answer.content).hexdigest()
    assert (entry.object_type, entry.object_id) == ("order", str(order.pk))
    assert (entry.actor, entry.why) == ("root", "dispute du_1")
    assert entry.after == {"form": "json", "sha256": digest}
    assert re.fullmatch(
        rf'attachment; filename="evidence-order-{order.pk}-\d{{8}}T\d{{6}}Z.json"',
        answer["Content-Disposition"],
    )


def test_a_page_to_be_printed_stands_alone_and_runs_nothing(superuser: Client, told: Rows) -> None:
    answer = superuser.post(address(told[Conflict]), WHY | {"form": "page"})
    page = answer.content.decode()

    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; frame-ancestors 'none'"
    assert answer["Content-Security-Policy"].startswith(policy)
    assert re.search(r"<script|<link|<img|<a |src=|href=|url\(|\son\w+=", page) is None
    assert "@media print" in page
    assert "10.99 USD" in page
    assert told[Delivery].body_sha256.hex() in page
    assert AuditEntry.objects.get(action="conflict.evidence_made").after["sha256"] in page


def test_nothing_is_made_without_a_reason_or_by_looking(superuser: Client, told: Rows) -> None:
    order = told[Order]

    page = superuser.get(address(order))
    refused = superuser.post(address(order), {"why": " ", "form": "json"})
    unknown = superuser.post(address(order), WHY | {"form": "pdf"})

    assert (page.status_code, refused.status_code, unknown.status_code) == (200, 200, 200)
    assert refused["Content-Type"].startswith("text/html")
    assert not AuditEntry.objects.filter(action="order.evidence_made").exists()


def test_each_gets_what_he_may_see_and_the_pack_names_the_rest(told: Rows) -> None:
    viewer = staff("view_order", "view_conflict", name="vera")
    lawyer = staff("export_evidence", "view_order", "view_delivery", name="lena")
    order = told[Order]

    assert address(order) not in viewer.get(page_of(order)).content.decode()
    assert viewer.get(address(order)).status_code == 403
    assert address(order) in lawyer.get(page_of(order)).content.decode()
    assert lawyer.get(address(told[Conflict])).status_code == 403
    assert lawyer.get("/admin/evidence/order/0/").status_code == 404
    assert lawyer.get(f"/admin/evidence/delivery/{told[Delivery].pk}/").status_code == 404
    pack = as_json(lawyer, order)
    assert pack["left_out"] == ["audit", "conflicts", "events", "payments", "refunds"]
    assert (len(pack["deliveries"]), pack["payments"], pack["audit"]) == (1, [], [])


def test_a_conflict_without_an_order_has_the_story_of_its_money(
    superuser: Client, db: None
) -> None:
    conflict = factories.ConflictFactory.create()
    payment = ProviderTransaction.objects.get()
    delivery = factories.DeliveryFactory.create(transaction=payment, account=payment.account)
    refund = factories.RefundFactory.create(payment=payment)
    back = factories.ProviderTransactionFactory.create(
        account=payment.account, kind="REFUND", reverses=payment, disposition="APPLIED"
    )
    factories.DeliveryFactory.create()

    pack = as_json(superuser, conflict)

    assert pack["order"] is None
    assert [row["id"] for row in pack["payments"]] == [payment.pk, back.pk]
    assert [row["id"] for row in pack["deliveries"]] == [delivery.pk]
    assert [row["refund_no"] for row in pack["refunds"]] == [refund.refund_no]


def test_a_request_that_told_of_others_too_leaves_its_body_out(
    superuser: Client, rows: Rows
) -> None:
    delivery = rows[Delivery]
    factories.DeliveryFactory.create(
        account=delivery.account, batch_id=delivery.batch_id, item_no=1, body=None, order_no="other"
    )

    (told,) = as_json(superuser, rows[Order])["deliveries"]

    assert told["body"]["text"] is None
    assert "other payments" in told["body"]["left_out"]
    assert told["body"]["sha256"] == delivery.body_sha256.hex()


@pytest.mark.parametrize(
    ("body", "told", "cut"),
    [
        (b"\xff\x00", None, False),
        (b"a" * 20_000, None, False),
        (b"a=" + b"b" * 20_000, "a=" + "b" * 16_382, True),
    ],
)
def test_a_body_is_text_up_to_a_length_or_only_its_digest(
    superuser: Client, db: None, body: bytes, told: str | None, cut: bool
) -> None:
    order = factories.OrderFactory.create()
    factories.DeliveryFactory.create(merchant=order.merchant, order_no=order.order_no, body=body)

    (delivery,) = as_json(superuser, order)["deliveries"]

    assert (delivery["body"]["text"], delivery["body"]["cut"]) == (told, cut)
    assert delivery["body"]["sha256"] == hashlib.sha256(body).hexdigest()


def test_what_is_too_much_is_cut_and_named(
    superuser: Client, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence_pack, "ROWS_MAX", 1)
    order = rows[Order]
    factories.DeliveryFactory.create(merchant=order.merchant, order_no=order.order_no)

    pack = as_json(superuser, order)

    assert (len(pack["deliveries"]), pack["cut"]) == (1, ["deliveries"])


def test_hostile_text_is_text_and_secrets_are_nowhere(superuser: Client, db: None) -> None:
    markup, hidden = "<img src=x onerror=alert(1)></pre>", "\u202etxet"
    rows = furnish(
        account_secret="canary-of-key-material",
        delivery_body=json.dumps(
            {"note": f"{markup}{hidden}", "api_token": "canary-token-1", "email": "canary@mail"}
        ).encode(),
        delivery_headers=[["x-signature", "canary-of-a-signature"], [markup, markup]],
        delivery_event_id=markup,
        delivery_event_type=markup,
        delivery_key_id=f"{markup}{hidden}",
        transaction_txn_no=markup,
        conflict_received={"txn_no": f"{markup}{hidden}", markup: [markup]},
        conflict_resolution=markup,
        event_payload={markup: markup},
        refund_reason=markup,
    )
    order = rows[Order]

    page = printed(superuser, order)
    raw = superuser.post(address(order), WHY | {"form": "json"}).content

    assert markup not in page
    assert "\u202e" not in page
    assert raw.isascii()
    for canary in ("canary-of-key-material", "canary-of-a-signature", "canary-token-1", "canary@"):
        assert canary not in page, canary
        assert canary.encode() not in raw, canary
    assert Refund.objects.get().reason == markup
