"""Who asks: a merchant, by ``Authorization: Bearer pk_<prefix>_<secret>``."""

from typing import TYPE_CHECKING, cast

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from orders import api_keys
from orders.models import ApiKey, Merchant

if TYPE_CHECKING:
    # DRF reads this module while it is importing its views.
    from rest_framework.views import APIView


class ApiKeyAuthentication(BaseAuthentication):
    """One refusal for every key that is not valid, whatever is wrong with it."""

    def authenticate(self, request: Request) -> tuple[Merchant, ApiKey] | None:
        """The merchant and the key; None without a bearer token, which then is refused as well."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        key = api_keys.find(token.strip())
        if key is None:
            raise AuthenticationFailed
        return key.merchant, key

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 - DRF's signature
        """How to ask, for the 401."""
        return 'Bearer realm="paidonce"'


class IsMerchant(BasePermission):
    """Every call of the API is a merchant's."""

    def has_permission(self, request: Request, view: "APIView") -> bool:  # noqa: ARG002
        """Whether a key was accepted."""
        return isinstance(request.auth, ApiKey)


def merchant_of(request: Request) -> Merchant:
    """The merchant whose key came with an accepted request."""
    return cast("ApiKey", request.auth).merchant
