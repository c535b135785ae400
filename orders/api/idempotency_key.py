"""Which intent a request names: its key, its scope and its meaning."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rest_framework import serializers
from rest_framework.fields import empty
from rest_framework.request import Request

from idempotency.digest import NoCanonicalForm, Path, meaning_of
from idempotency.keys import Intent, MalformedKey, Scope, intent, well_formed
from orders.api import problem_types
from orders.api.authentication import merchant_of
from orders.api.problems import Problem
from orders.models import Merchant

KEY_HEADER: Final = "Idempotency-Key"

#: What a call's shape read from its body.
Wanted = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Operation:
    """A call that takes keys.

    `path` is its template, `shape` reads its body (None: it has none). Members that are optional
    and may be null mean the same as absent ones; `irrelevant` names members without a meaning.
    """

    name: str
    path: str
    shape: type[serializers.Serializer[Any]] | None = None
    version: int = 1
    method: str = "POST"
    irrelevant: frozenset[Path] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        _OPERATIONS[self.name] = self

    def intent(self, request: Request, key: str, arguments: Mapping[str, str]) -> Intent:
        """The intent of this request. Raises Problem if its body has no canonical form."""
        try:
            digest = meaning_of(
                method=self.method,
                path=self.path,
                arguments=arguments,
                body=None if self.shape is None else request.data,
                optional=() if self.shape is None else frozenset(_optional(self.shape())),
                irrelevant=self.irrelevant,
            )
        except NoCanonicalForm as error:
            self.wanted(request)  # It can say better where.
            raise Problem(problem_types.UNREADABLE_BODY, "It has half a character.") from error
        return intent(scope=scope_of(merchant_of(request), self.name), key=key, digest=digest)

    def wanted(self, request: Request) -> Wanted:
        """What the body says. Raises ValidationError."""
        if self.shape is None:
            return {}
        serializer = self.shape(data=request.data)
        serializer.is_valid(raise_exception=True)
        return dict(serializer.validated_data)


_OPERATIONS: Final[dict[str, Operation]] = {}


def scope_of(merchant: Merchant, operation: str) -> Scope:
    """The scope of a merchant's keys for an operation. Raises KeyError for an unknown one."""
    return Scope(str(merchant.pk), operation, _OPERATIONS[operation].version)


def scopes_of(merchant_ids: Iterable[int]) -> list[str]:
    """Every scope that keys of these merchants may have, those of earlier versions too."""
    return [
        str(Scope(str(merchant_id), operation.name, version))
        for merchant_id in merchant_ids
        for operation in _OPERATIONS.values()
        for version in range(1, operation.version + 1)
    ]


def operations() -> list[str]:
    """The names of all operations that take keys."""
    return sorted(_OPERATIONS)


def key_of(request: Request, *, required: bool) -> str | None:
    """The request's key. Raises Problem if it is malformed, or missing where it is required."""
    key = request.headers.get(KEY_HEADER)
    if key is None:
        if required:
            raise Problem(problem_types.IDEMPOTENCY_KEY_MISSING)
        return None
    try:
        return well_formed(key)
    except MalformedKey as error:
        raise Problem(problem_types.IDEMPOTENCY_KEY_MALFORMED) from error


def _optional(serializer: serializers.Serializer[Any], path: Path = ()) -> Iterator[Path]:
    for name, inner in serializer.fields.items():
        here = (*path, name)
        if inner.allow_null and not inner.required and inner.default in (None, empty):
            yield here
        # Items of a list have the path of the list.
        below = inner.child if isinstance(inner, serializers.ListSerializer) else inner
        if isinstance(below, serializers.Serializer):
            yield from _optional(below, here)
