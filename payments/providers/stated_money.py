"""From a provider's amount and currency to Money, in the unit that this provider uses."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NamedTuple

from orders.money import Money, NotMoney, TooManyDecimals, exponent_of, from_major, from_minor
from orders.strict_json import StrictJsonError, at, text

UNITS: Final = ("minor", "major")
_WHOLE: Final = re.compile(r"-?[0-9]{1,19}", re.ASCII)


class Stated(NamedTuple):
    """The money; or no money and the provider's words, where no whole minor unit fits them."""

    money: Money | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class AmountRule:
    """`exponents` has the currencies whose minor unit is not ISO 4217's at this provider."""

    unit: str
    exponents: Mapping[str, int]

    def money(self, amount: str | int | Decimal, currency: str) -> Stated:
        """Money from what `json_amount` found. Raises NotMoney if it is none."""
        try:
            if self.unit == "major":
                return Stated(from_major(amount, currency))
            if isinstance(amount, str) and _WHOLE.fullmatch(amount):
                amount = int(amount)
            if type(amount) is not int:
                raise NotMoney("an amount in minor units is a whole number")
            exponent = self.exponents.get(currency)
            if exponent is None:
                exponent = exponent_of(currency)
            return Stated(from_minor(amount, currency, exponent=exponent))
        except TooManyDecimals:
            return Stated(words=f"{amount} {currency}")

    def written(self, money: Money) -> str | int:
        """The amount as this provider writes it: text in major units, or whole minor units.

        Raises TooManyDecimals if its unit is too coarse.
        """
        if self.unit == "major":
            return money.major
        exponent = self.exponents.get(money.currency, exponent_of(money.currency))
        amount = Decimal(money.major).scaleb(exponent)
        if amount != int(amount):
            raise TooManyDecimals(f"{money} is no whole number of this provider's units")
        return int(amount)


#: Amounts in ISO 4217's own units.
MINOR: Final = AmountRule("minor", {})
MAJOR: Final = AmountRule("major", {})


def json_amount(node: object, *path: str) -> str | int | Decimal | None:
    """An amount as a provider writes it: text or any JSON number. Raises StrictJsonError."""
    value = at(node, *path)
    if value is None or type(value) is int or isinstance(value, Decimal):
        return value
    if isinstance(value, str):
        return text(node, *path)
    raise StrictJsonError(f"{'.'.join(path)} is not an amount")
