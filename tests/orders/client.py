"""A merchant's client of the API."""

import uuid
from typing import Any

from django.test import Client

from orders.models import Merchant
from tests.factories import ApiKeyFactory, api_token

PROBLEM = "urn:paidonce:problem:"


class ApiClient:
    """Speaks JSON with the merchant's key."""

    def __init__(self, merchant: Merchant | None = None) -> None:
        key = ApiKeyFactory.create(**{"merchant": merchant} if merchant else {})
        self.merchant = key.merchant
        self.headers = {"Authorization": f"Bearer {api_token(key)}"}
        self._client = Client(raise_request_exception=False)

    def get(self, path: str, **query: str) -> Any:
        return self._client.get(path, query, headers=self.headers)

    def post(self, path: str, content: Any = b"", *, key: str | None = "", **options: Any) -> Any:
        """`content` as JSON, or as it is where it is bytes; a new key unless one is given."""
        keyed = {} if key is None else {"Idempotency-Key": key or uuid.uuid4().hex}
        return self._client.post(
            path,
            content,
            **{"content_type": "application/json", "headers": self.headers | keyed} | options,
        )


def problem(response: Any) -> tuple[int, str]:
    """The status and the last part of the type of an answer, which must be a problem."""
    assert response.headers["Content-Type"] == "application/problem+json"
    content = response.json()
    assert content["status"] == response.status_code
    assert {"type", "title", "status", "detail"} <= content.keys() <= {*PROBLEM_MEMBERS}
    return response.status_code, content["type"].removeprefix(PROBLEM)


PROBLEM_MEMBERS = ("type", "title", "status", "detail", "errors")


def pointers(response: Any) -> list[str]:
    """What in the request is wrong, as the answer says."""
    return [error["pointer"] for error in response.json()["errors"]]
