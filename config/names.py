"""The names that models give to themselves and to their columns, in the language of who reads.

The packages below know no languages: they name a column once, in English.
"""

from collections.abc import Container, Iterator
from typing import Any, Final

from django.apps import apps
from django.db.models import Field, Model
from django.utils.translation import gettext_lazy

_OURS: Final = frozenset({"audit", "idempotency", "orders", "outbox", "payments"})


def is_ours(model: type[Model]) -> bool:
    """Whether a model is of this service; Django's own speak all languages."""
    return model._meta.app_label in _OURS  # noqa: SLF001 - Django's documented way to a model's names


def of(model: type[Model], columns: Container[str]) -> Iterator[str]:
    """The names that the model gives to itself and to these columns."""
    meta = model._meta  # noqa: SLF001 - as above
    with_plural = (meta.verbose_name_raw or "", str(meta.verbose_name_plural))
    yield from (
        *with_plural,
        *(str(field.verbose_name) for field in _columns(model) if field.name in columns),
    )


def translate() -> None:
    """Have them looked up whenever they are shown; what migrations compare stays as it is."""
    for model in filter(is_ours, apps.get_models()):
        meta = model._meta  # noqa: SLF001 - as above
        plural = str(meta.verbose_name_plural)
        meta.verbose_name = gettext_lazy(str(meta.verbose_name))
        meta.verbose_name_plural = gettext_lazy(plural)
        for field in _columns(model):
            field.verbose_name = gettext_lazy(str(field.verbose_name))


def _columns(model: type[Model]) -> Iterator["Field[Any, Any]"]:
    return (field for field in model._meta.get_fields() if isinstance(field, Field))  # noqa: SLF001
