import io

import pytest
from django.core.management import CommandError, call_command

from orders import api_keys
from orders.models import ApiKey, Merchant
from tests.factories import ApiKeyFactory, MerchantFactory

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command(*arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_a_merchant_is_created_with_its_name() -> None:
    run("create_merchant", "shop", "--name", "The Shop")

    assert Merchant.objects.values("code", "name", "active").get() == {
        "code": "shop",
        "name": "The Shop",
        "active": True,
    }


def test_a_merchant_without_a_name_is_called_by_its_code() -> None:
    run("create_merchant", "shop")

    assert Merchant.objects.get().name == "shop"


@pytest.mark.parametrize("code", ["", "a shop", "a/b", "é", "x" * 41])
def test_a_merchants_code_must_fit_into_addresses(code: str) -> None:
    with pytest.raises(CommandError):
        run("create_merchant", code)


def test_a_code_is_given_once() -> None:
    MerchantFactory.create(code="shop")

    with pytest.raises(CommandError, match="already exists"):
        run("create_merchant", "shop")


def test_standard_output_is_the_key_and_nothing_else() -> None:
    merchant = MerchantFactory.create(code="shop")

    out, err = run("create_api_key", "shop", "--label", "checkout")

    key = ApiKey.objects.get()
    assert (key.merchant, key.label) == (merchant, "checkout")
    assert api_keys.find(out.removesuffix("\n")) == key
    assert key.prefix in err
    assert out.split("_", 2)[2].strip() not in err


def test_a_key_is_made_for_a_merchant_that_exists_only() -> None:
    with pytest.raises(CommandError, match="no merchant 'shop'"):
        run("create_api_key", "shop")


def test_a_label_too_long_is_refused() -> None:
    MerchantFactory.create(code="shop")

    with pytest.raises(CommandError, match="60"):
        run("create_api_key", "shop", "--label", "x" * 61)


def test_a_key_is_revoked_by_its_prefix() -> None:
    key = ApiKeyFactory.create()

    first, _ = run("revoke_api_key", key.prefix)
    again, _ = run("revoke_api_key", key.prefix)

    key.refresh_from_db()
    assert key.revoked_at is not None
    assert (first, again) == (
        f"API key {key.prefix} revoked.\n",
        f"API key {key.prefix} was revoked before.\n",
    )


def test_a_prefix_that_no_key_has_is_said_to_be_wrong() -> None:
    with pytest.raises(CommandError, match="no API key"):
        run("revoke_api_key", "0" * 16)
