"""Whatever goes wrong, the answer is a problem that says what to do next, and nothing more."""

import gzip
import json
from typing import Any

import httpx2
import psycopg
import pytest
from django.core.exceptions import PermissionDenied
from django.db import DataError, InterfaceError, InternalError, OperationalError, connection
from django.test import Client
from rest_framework.exceptions import NotAuthenticated, Throttled, ValidationError

from orders.api.problem_types import KINDS
from orders.api.problems import exception_handler, pointer_errors
from tests.orders.client import ApiClient, problem


@pytest.mark.parametrize(
    ("method", "path"),
    [
        *(("DELETE", "/v1/orders"), ("PUT", "/v1/orders"), ("PATCH", "/v1/orders/A-1")),
        *(("OPTIONS", "/v1/orders"), ("POST", "/v1/orders/A-1"), ("GET", "/v1/orders/A-1/close")),
    ],
)
@pytest.mark.django_db
def test_another_method_is_a_problem(method: str, path: str) -> None:
    response = Client().generic(method, path, headers=ApiClient().headers)

    assert problem(response) == (405, "method-not-allowed")
    assert method not in response.headers["Allow"].split(", ")


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "path",
    ["/v1/", "/v1/order", "/v1/orders/A-1/pay", "/v1//orders", "/v1/ORDERS", "/v1/orders/A%201"],
)
def test_an_address_that_leads_nowhere_is_a_problem(method: str, path: str) -> None:
    assert problem(Client().generic(method, path)) == (404, "not-found")


@pytest.mark.parametrize("path", ["/v1/schema", "/v1/docs"])
def test_what_describes_the_api_errs_as_the_api_does(path: str) -> None:
    assert problem(Client().delete(path)) == (405, "method-not-allowed")
    assert problem(Client().get(path, headers={"Accept": "image/png"})) == (406, "not-acceptable")


@pytest.mark.django_db
def test_who_asks_comes_before_what_is_asked() -> None:
    assert problem(Client().post("/v1/orders", b"{", content_type="text/plain")) == (
        401,
        "unauthenticated",
    )


def _answer(error: Exception) -> tuple[int, dict[str, Any], dict[str, str]]:
    response = exception_handler(error, {})
    return response.status_code, json.loads(response.content), dict(response.headers)


def _caused_by(error: Exception, cause: psycopg.Error) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "error",
    [
        _caused_by(OperationalError("canceling statement: secret"), psycopg.errors.QueryCanceled()),
        _caused_by(OperationalError("lock: secret"), psycopg.errors.LockNotAvailable()),
        _caused_by(OperationalError("deadlock: secret"), psycopg.errors.DeadlockDetected()),
        _caused_by(InternalError("read-only: secret"), psycopg.errors.ReadOnlySqlTransaction()),
        OperationalError("connection refused at secret"),
        InterfaceError("connection already closed: secret"),
    ],
)
def test_trouble_of_the_database_is_not_the_callers_fault(error: Exception) -> None:
    status, content, headers = _answer(error)

    assert (status, content["type"]) == (503, "urn:paidonce:problem:unavailable")
    assert headers["Retry-After"] == "2"
    assert "secret" not in json.dumps(content)


@pytest.mark.parametrize("error", [DataError("secret"), ZeroDivisionError("secret"), KeyError("s")])
def test_what_nobody_expected_leaves_no_trace_in_the_answer(error: Exception) -> None:
    status, content, _ = _answer(error)

    assert (status, content["type"]) == (500, "urn:paidonce:problem:unexpected")
    assert content.keys() == {"type", "title", "status", "detail"}
    assert "secret" not in json.dumps(content)
    assert type(error).__name__ not in json.dumps(content)


def test_other_refusals_have_their_status_and_headers() -> None:
    assert _answer(PermissionDenied())[0] == 403
    assert _answer(NotAuthenticated())[2]["WWW-Authenticate"] == "Bearer"
    assert _answer(Throttled(wait=7.2))[2]["Retry-After"] == "8"
    assert _answer(Throttled())[0] == 429


def test_errors_point_at_what_they_are_about() -> None:
    detail: dict[str, Any] = {"a": {"b/c": ["one", "two"]}, "non_field_errors": ["three"]}

    assert pointer_errors(ValidationError(detail).detail) == [
        {"pointer": "#/a/b~1c", "detail": "one"},
        {"pointer": "#/a/b~1c", "detail": "two"},
        {"pointer": "#", "detail": "three"},
    ]


def test_each_kind_of_problem_has_a_name_of_its_own_and_advice() -> None:
    assert len({kind.type for kind in KINDS}) == len(KINDS)
    assert [kind for kind in KINDS if not (kind.advice and kind.title)] == []
    assert [kind.name for kind in KINDS if not 400 <= kind.status < 600] == []


@pytest.mark.django_db(transaction=True)
def test_a_lock_that_is_not_let_go_makes_the_service_unavailable_and_changes_nothing() -> None:
    api = ApiClient()
    content = {"order_no": "A-1", "amount": {"amount_minor": 1, "currency": "USD"}}
    with psycopg.connect(**_parameters()) as other:
        other.execute("LOCK TABLE orders_order IN ACCESS EXCLUSIVE MODE")

        response = api.post("/v1/orders", content)

        assert problem(response) == (503, "unavailable")
        assert response.headers["Retry-After"] == "2"
        other.rollback()

    assert api.post("/v1/orders", content).status_code == 201


def test_connections_that_the_server_ended_cost_a_503_each_and_no_more(live_service: str) -> None:
    headers = ApiClient().headers

    def ask() -> httpx2.Response:
        return httpx2.get(f"{live_service}/v1/orders", headers=headers)

    assert {ask().status_code for _ in range(20)} == {200}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        (ended,) = cursor.fetchone()

    answers = [ask() for _ in range(40)]

    failed = [answer for answer in answers if answer.status_code != 200]
    assert 1 <= len(failed) <= ended
    assert {answer.status_code for answer in failed} == {503}
    assert {answer.headers["Content-Type"] for answer in failed} == {"application/problem+json"}


@pytest.mark.django_db(transaction=True)
def test_a_real_server_says_what_is_wrong_with_the_body(live_service: str) -> None:
    headers = ApiClient().headers | {"Idempotency-Key": "k"}
    url = f"{live_service}/v1/orders"
    as_json = headers | {"Content-Type": "application/json"}

    chunked = httpx2.post(url, content=iter([b"{", b"}"]), headers=as_json)
    undeclared = httpx2.post(url, content=b"{}", headers=headers)
    large = httpx2.post(url, content=b" " * 200_000, headers=as_json)
    zipped = httpx2.post(
        url, content=gzip.compress(b"{}"), headers=as_json | {"Content-Encoding": "gzip"}
    )
    latin = httpx2.post(
        url,
        content='{"order_no": "\xe9"}'.encode("latin-1"),
        headers=headers | {"Content-Type": "application/json; charset=latin-1"},
    )

    assert problem(chunked) == (411, "length-required")
    assert problem(undeclared) == (415, "unsupported-media-type")
    assert problem(large) == (413, "body-too-large")
    assert problem(zipped) == problem(latin) == (400, "unreadable-body")


def _parameters() -> dict[str, Any]:
    at = connection.settings_dict
    names = {
        "host": "HOST",
        "port": "PORT",
        "dbname": "NAME",
        "user": "USER",
        "password": "PASSWORD",
    }
    return {name: at[setting] for name, setting in names.items()}
