from datetime import UTC, datetime

import pytest
from django.test import Client

from orders import api_keys
from tests.factories import API_SECRET, ApiKeyFactory, MerchantFactory, api_token
from tests.orders.client import problem

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def _asks(authorization: str) -> object:
    return Client().get("/v1/orders", headers={"Authorization": authorization})


def _status(authorization: str) -> int:
    return _asks(authorization).status_code  # type: ignore[attr-defined, no-any-return]


def test_a_live_key_is_accepted() -> None:
    token = api_token(ApiKeyFactory.create())

    assert _status(f"Bearer {token}") == 200
    assert _status(f"bearer  {token} ") == 200


def test_nobody_gets_in_without_a_key() -> None:
    response = Client().get("/v1/orders")

    assert problem(response) == (401, "unauthenticated")
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="paidonce"'


def test_no_refusal_tells_what_is_wrong_with_the_key() -> None:
    live = ApiKeyFactory.create()
    revoked = ApiKeyFactory.create(revoked_at=NOW)
    inactive = ApiKeyFactory.create(merchant=MerchantFactory.create(active=False))
    refused = [
        api_token(revoked),
        api_token(inactive),
        f"pk_{live.prefix}_{'x' * 43}",
        f"pk_{'f' * 16}_{API_SECRET}",
        f"pk_{live.prefix}_",
        f"pk_{live.prefix}",
        f"pk_{live.prefix.upper()}_{API_SECRET}",
        f"{api_token(live)} x",
        API_SECRET,
        "",
        "pk_é_\xff",
        "x" * 8000,
    ]

    answers = {
        (response.status_code, response.headers["WWW-Authenticate"], response.content)  # type: ignore[attr-defined]
        for response in (_asks(f"Bearer {token}") for token in refused)
    }

    assert len(answers) == 1
    assert answers.pop()[0] == 401


@pytest.mark.parametrize("scheme", ["Basic", "Token", ""])
def test_another_scheme_is_refused(scheme: str) -> None:
    assert _status(f"{scheme} {api_token(ApiKeyFactory.create())}") == 401


def test_two_keys_of_a_merchant_work_until_one_is_revoked() -> None:
    merchant = MerchantFactory.create()
    (old, old_token), (_, new_token) = (
        api_keys.create(merchant=merchant),
        api_keys.create(merchant=merchant),
    )
    assert _status(f"Bearer {old_token}") == _status(f"Bearer {new_token}") == 200

    assert api_keys.revoke(prefix=old.prefix, now=NOW) is True

    assert (_status(f"Bearer {old_token}"), _status(f"Bearer {new_token}")) == (401, 200)


def test_a_key_is_revoked_once() -> None:
    key = ApiKeyFactory.create(revoked_at=NOW)

    assert api_keys.revoke(prefix=key.prefix, now=datetime(2026, 4, 1, tzinfo=UTC)) is False
    key.refresh_from_db()
    assert key.revoked_at == NOW
    with pytest.raises(api_keys.NoSuchKey):
        api_keys.revoke(prefix="f" * 16, now=NOW)


def test_the_database_holds_no_secret() -> None:
    key, token = api_keys.create(merchant=MerchantFactory.create(), label="checkout")
    secret = token.split("_", 2)[2]

    key.refresh_from_db()
    kept = f"{key.prefix} {bytes(key.secret_sha256)!r} {key.label} {key}"
    assert secret not in kept
    assert len(bytes(key.secret_sha256)) == 32
    assert api_keys.find(token) == key


def test_each_key_is_another() -> None:
    merchant = MerchantFactory.create()

    tokens = {api_keys.create(merchant=merchant)[1] for _ in range(50)}

    assert len(tokens) == 50
