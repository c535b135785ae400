import io
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from django.test import Client


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Any:
    file: Path = tmp_path_factory.mktemp("openapi") / "schema.yml"
    call_command(
        *("spectacular", "--validate", "--fail-on-warn", "--file", str(file)),
        stdout=io.StringIO(),
    )
    return yaml.safe_load(file.read_text())


def test_each_call_is_described_once(document: Any) -> None:
    calls = {
        (method.upper(), path): call["operationId"]
        for path, methods in document["paths"].items()
        for method, call in methods.items()
    }

    assert calls == {
        ("POST", "/v1/orders"): "place_order",
        ("GET", "/v1/orders"): "list_orders",
        ("GET", "/v1/orders/{order_no}"): "read_order",
        ("POST", "/v1/orders/{order_no}/close"): "close_order",
        ("GET", "/v1/idempotency/{key}"): "read_idempotency_key",
        ("POST", "/v1/orders/{order_no}/refunds"): "request_refund",
        ("GET", "/v1/orders/{order_no}/refunds"): "list_refunds",
        ("GET", "/v1/refunds/{refund_no}"): "read_refund",
        ("POST", "/v1/webhook-endpoints"): "add_webhook_endpoint",
        ("GET", "/v1/webhook-endpoints"): "list_webhook_endpoints",
        ("GET", "/v1/webhook-endpoints/{code}"): "read_webhook_endpoint",
        ("PATCH", "/v1/webhook-endpoints/{code}"): "change_webhook_endpoint",
        ("DELETE", "/v1/webhook-endpoints/{code}"): "remove_webhook_endpoint",
        ("POST", "/v1/webhook-endpoints/{code}/secrets"): "add_webhook_secret",
        ("DELETE", "/v1/webhook-endpoints/{code}/secrets/{secret_id}"): "retire_webhook_secret",
        ("POST", "/v1/webhook-endpoints/{code}/test"): "test_webhook_endpoint",
        ("GET", "/v1/webhook-endpoints/{code}/attempts"): "list_webhook_attempts",
        ("GET", "/v1/webhook-endpoints/{code}/deliveries/{event_id}"): "read_webhook_delivery",
        ("POST", "/v1/webhook-endpoints/{code}/deliveries/{event_id}/resend"): "resend_webhook",
    }


def test_each_call_needs_the_key_and_says_how_it_fails(document: Any) -> None:
    for methods in document["paths"].values():
        for call in methods.values():
            assert call["security"] == [{"apiKey": []}]
            assert call["summary"]
            assert call["description"]
            failures = {
                code: set(answer.get("content", ())) for code, answer in call["responses"].items()
            }
            assert {"401", "500", "503"} <= failures.keys()
            assert {
                media for code, medias in failures.items() if code >= "400" for media in medias
            } == {"application/problem+json"}

    assert document["components"]["securitySchemes"]["apiKey"]["scheme"] == "bearer"


def test_amounts_are_whole_numbers_everywhere(document: Any) -> None:
    amount = document["components"]["schemas"]["Amount"]["properties"]["amount_minor"]

    assert (amount["type"], amount["minimum"], amount["maximum"]) == ("integer", 1, 2**63 - 1)
    assert "number" not in {
        schema.get("type")
        for component in document["components"]["schemas"].values()
        for schema in component.get("properties", {}).values()
    }


def test_the_description_is_open_to_all() -> None:
    assert Client().get("/v1/schema").status_code == 200
    page = Client().get("/v1/docs")
    assert page.status_code == 200
    # Nothing comes from elsewhere: the page works in a closed network.
    assert b"https://" not in page.content
