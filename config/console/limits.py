"""Amounts for each currency as people write them: ``50.00 USD, 500 JPY``."""

import re
from collections.abc import Mapping
from typing import Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from config.console import deeds, related
from orders.money import NotMoney, from_major

_TEXT_LENGTH_MAX: Final = 4000
_APART: Final = re.compile(r"[,;\n]")


class LimitsField(forms.CharField):
    """One amount for each currency, in major units; its value is in minor units by currency."""

    def __init__(self, **kwargs: object) -> None:
        kwargs |= {"max_length": _TEXT_LENGTH_MAX, "widget": forms.TextInput(attrs=deeds.LOOK)}
        super().__init__(required=False, **kwargs)  # type: ignore[arg-type]

    def clean(self, value: object) -> dict[str, int]:
        """The amounts. Raises ValidationError, which names the part that is none."""
        written = super().clean(value)
        return read(written)


def read(written: str) -> dict[str, int]:
    """What was written, in minor units by currency. Raises ValidationError."""
    found: dict[str, int] = {}
    for part in _APART.split(written):
        if not part.strip():
            continue
        amount, _space, currency = part.strip().partition(" ")
        currency = currency.strip().upper()
        try:
            minor = from_major(amount, currency).amount_minor
        except NotMoney as error:
            raise _no_amount(part) from error
        if minor < 0:
            raise _no_amount(part)
        if currency in found:
            says = _("%(currency)s is there twice.")
            raise ValidationError(says, params={"currency": currency})
        found[currency] = minor
    return found


def write(amounts: Mapping[str, int]) -> str:
    """The amounts as `read` reads them."""
    return ", ".join(
        related.money(amount, currency) for currency, amount in sorted(amounts.items())
    )


def _no_amount(part: str) -> ValidationError:
    says = _("“%(part)s” is no amount: write it as 50.00 USD, several with commas between.")
    return ValidationError(says, params={"part": part.strip()[:40]})
