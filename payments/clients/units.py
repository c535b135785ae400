"""Write an amount as a provider wants it, exactly or not at all; read one as it states it."""

from collections.abc import Mapping

from orders.money import Money, exponent_of
from orders.strict_json import StrictJsonError
from payments.clients.wire import Impossible
from payments.providers.stated_money import AmountRule, json_amount


def minor_units(money: Money, exponents: Mapping[str, int], *, step: int = 1) -> int:
    """The amount in the provider's own minor units.

    `exponents` has the currencies that it counts otherwise than ISO 4217 does. Raises Impossible
    for an amount that is no whole number of them, or no multiple of `step`.
    """
    ours = exponent_of(money.currency)
    shift = exponents.get(money.currency, ours) - ours
    larger: int = 10 ** max(shift, 0)
    smaller: int = 10 ** max(-shift, 0)
    units, rest = divmod(money.amount_minor * larger, smaller)
    if rest or units % step:
        raise Impossible(f"{money} is finer than this provider refunds")
    return units


def major_units(money: Money, decimals: int | None = None) -> str:
    """The amount in major units with that many decimals, else with all of its currency's.

    Raises Impossible for an amount that has more.
    """
    ours = exponent_of(money.currency)
    kept = ours if decimals is None else decimals
    units = minor_units(money, {money.currency: kept})
    whole, part = divmod(units, 10**kept)
    return f"{whole}.{part:0{kept}d}" if kept else str(whole)


def money_in(rule: AmountRule, node: object, *path: str, currency: str | None) -> Money | None:
    """The money at that path; None where no whole minor unit fits what is stated.

    Raises StrictJsonError or NotMoney.
    """
    amount = json_amount(node, *path)
    if amount is None or not currency:
        raise StrictJsonError(f"{'.'.join(path)} or its currency is missing")
    return rule.money(amount, currency).money
