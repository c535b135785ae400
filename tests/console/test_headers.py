"""What every answer tells the browser, whatever kind of address it has."""

import re

import pytest
from django.test import Client

from config import csp
from tests.console.rooms import Rows, pages
from tests.console.staff import staff

pytestmark = pytest.mark.django_db

#: One address of each kind, and how it answers to a stranger.
KINDS = {
    "/healthz": 200,
    "/readyz": 200,
    "/metrics": 404,
    "/nowhere": 404,
    "/v1/orders": 401,
    "/v1/nowhere": 404,
    "/v1/schema": 200,
    "/v1/docs": 200,
    "/callbacks/stripe/nobody": 405,
    "/static/console/console.css": 200,
    "/admin/": 302,
    "/admin/login/": 200,
    "/admin/jsi18n/": 302,
    "/admin/nowhere/": 302,
}


@pytest.mark.parametrize(("address", "status"), KINDS.items())
def test_every_kind_of_answer_has_its_headers(client: Client, address: str, status: int) -> None:
    answer = client.get(address)
    answer.close()  # of a static file

    assert answer.status_code == status
    assert answer["Content-Security-Policy"] == csp.policy_of(address)
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "same-origin"
    assert "camera=()" in answer["Permissions-Policy"]
    policy = answer["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "http" not in policy


@pytest.mark.parametrize("address", KINDS)
def test_inline_and_eval_are_where_a_decision_says(address: str) -> None:
    directives = [part.split() for part in csp.policy_of(address).split(";")]
    loose = {(name, word) for name, *words in directives for word in words if "unsafe" in word}

    allowed = {("script-src", "'unsafe-eval'"), ("style-src-attr", "'unsafe-inline'")}
    assert loose == (allowed if address.startswith("/admin/") else set())


def test_no_page_of_the_console_is_kept_or_has_script_or_style_in_its_text(
    superuser: Client, rows: Rows
) -> None:
    for page in ["/admin/login/", "/admin/password_change/", *pages(rows)]:
        answer = superuser.get(page, follow=True)
        shown = answer.content.decode()

        assert answer["Cache-Control"] == "no-store", page
        assert (
            re.search(r"<style|<script(?![^>]*\ssrc=)|\son[a-z]+=\"|javascript:", shown) is None
        ), page


def test_a_refusal_is_not_kept_either(rows: Rows) -> None:
    refused = staff("view_order").get("/admin/payments/conflict/")

    assert (refused.status_code, refused["Cache-Control"]) == (403, "no-store")


def test_the_description_of_the_api_starts_from_an_address(client: Client) -> None:
    page = client.get("/v1/docs").content.decode()
    (script,) = re.findall(r'src="(/v1/docs\?[^"]*)"', page)

    assert "<style" not in page
    assert "SwaggerUIBundle" in client.get(script).content.decode()
