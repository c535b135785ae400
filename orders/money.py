"""Money: a whole number of minor units with a currency, and the only way to make one from text.

Exponents (how many decimals a currency has) are ISO 4217's. A provider that counts
differently brings its own table, and its amounts are converted on the way in.
"""

import re
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import cache
from typing import Final

from iso4217 import Currency

#: The largest amount that a PostgreSQL bigint holds.
AMOUNT_MINOR_MAX: Final = 2**63 - 1

# More than any amount has, and few enough to be written out.
_MAGNITUDE_MAX: Final = 20
_DIGITS_MAX: Final = 40
# Thirty digits pass _DECIMAL; the default context would round them to 28 without a word.
_EXACT: Final = Context(prec=40)

# ASCII digits only: int() and Decimal() would also take "1_000", " 10" and full-width digits.
_DECIMAL: Final = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{1,12})?", re.ASCII)


class NotMoney(ValueError):
    """The amount or the currency cannot be money: unknown currency, wrong form, out of range."""


class TooManyDecimals(NotMoney):
    """The amount has more decimals than its currency; rounding it would invent or lose money."""


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in minor units (cents, fen; yen have none) of an ISO 4217 currency.

    Negative amounts are representable, because a provider may state one; who wants
    only positive money must check `amount_minor`.
    """

    amount_minor: int
    currency: str

    def __post_init__(self) -> None:
        if type(self.amount_minor) is not int:
            raise NotMoney(f"an amount in minor units is a whole number, not {self.amount_minor!r}")
        if abs(self.amount_minor) > AMOUNT_MINOR_MAX:
            raise NotMoney("the amount is out of range")
        exponent_of(self.currency)

    def __str__(self) -> str:
        """The amount in major units, with all its decimals: ``10.99 USD``, ``500 JPY``."""
        return f"{self.major} {self.currency}"

    @property
    def major(self) -> str:
        """The amount in major units as text: ``10.99``."""
        exponent = exponent_of(self.currency)
        return format(Decimal(self.amount_minor).scaleb(-exponent), "f")


@cache
def exponent_of(currency: str) -> int:
    """How many decimals the currency has by ISO 4217.

    Raises NotMoney for a code that is not in use, or not written as three capitals.
    """
    try:
        exponent = Currency(currency).exponent
    except ValueError as error:
        raise NotMoney(f"unknown currency {currency[:8]!r}") from error
    if exponent is None:
        raise NotMoney(f"{currency} is not a currency that is paid in")
    return int(exponent)


def from_major(amount: str | int | Decimal, currency: str) -> Money:
    """Money from an amount in major units: ``"10.99"``, ``10``, ``Decimal("10.990")``.

    Superfluous zeros are harmless; any other digit beyond the currency's decimals raises
    TooManyDecimals. Anything that is not a plain decimal number raises NotMoney.
    """
    if isinstance(amount, bool):
        raise NotMoney("an amount is a number, not true or false")
    text = format(amount, "f") if isinstance(amount, Decimal) and _is_small(amount) else str(amount)
    if not _DECIMAL.fullmatch(text):
        raise NotMoney(f"not a plain decimal amount: {text[:40]!r}")
    scaled = Decimal(text).scaleb(exponent_of(currency), context=_EXACT)
    if scaled != scaled.to_integral_value():
        raise TooManyDecimals(f"{text} has more decimals than {currency} has")
    return Money(int(scaled), currency)


def from_minor(amount: int, currency: str, *, exponent: int) -> Money:
    """Money from a whole number of a provider's minor units.

    `exponent` is how many decimals the *provider* gives the currency; where it differs
    from ISO 4217 the amount is converted, and what does not fit raises TooManyDecimals.
    """
    if type(amount) is not int or abs(amount) > AMOUNT_MINOR_MAX:
        raise NotMoney("an amount in minor units is a whole number within range")
    return from_major(Decimal(amount).scaleb(-exponent), currency)


def _is_small(amount: Decimal) -> bool:
    """Whether writing the number out is cheap: ``1E999999`` is not, and never is money."""
    return (
        amount.is_finite()
        and abs(amount.adjusted()) <= _MAGNITUDE_MAX
        and len(amount.as_tuple().digits) <= _DIGITS_MAX
    )
