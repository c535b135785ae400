from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orders.money import (
    AMOUNT_MINOR_MAX,
    Money,
    NotMoney,
    TooManyDecimals,
    exponent_of,
    from_major,
    from_minor,
)

CURRENCIES = ["JPY", "USD", "EUR", "CNY", "KWD", "BHD", "OMR", "CLF"]
currencies = st.sampled_from(CURRENCIES)
amounts = st.integers(-AMOUNT_MINOR_MAX, AMOUNT_MINOR_MAX)
# What from_major takes as text: at most 18 digits before the point.
writable = st.integers(-(10**18) + 1, 10**18 - 1)


@given(writable, currencies)
def test_money_written_out_and_read_again_is_the_same(amount: int, currency: str) -> None:
    money = Money(amount, currency)

    assert from_major(money.major, currency) == money


@given(amounts, currencies)
def test_money_shows_all_decimals_of_its_currency(amount: int, currency: str) -> None:
    _, _, decimals = Money(amount, currency).major.partition(".")

    assert len(decimals) == exponent_of(currency)


@given(writable, currencies, st.integers(1, 6))
def test_superfluous_zeros_change_nothing(amount: int, currency: str, zeros: int) -> None:
    money = Money(amount, currency)
    point = "" if "." in money.major else "."

    assert from_major(f"{money.major}{point}{'0' * zeros}", currency) == money


@given(writable, currencies, st.integers(1, 9))
def test_one_decimal_too_many_is_refused_and_never_rounded(
    amount: int, currency: str, digit: int
) -> None:
    major = Money(amount, currency).major
    point = "" if "." in major else "."

    with pytest.raises(TooManyDecimals):
        from_major(f"{major}{point}{digit}", currency)


@given(writable, currencies, st.integers(0, 4))
def test_a_providers_own_exponent_converts_exactly_or_is_refused(
    amount: int, currency: str, exponent: int
) -> None:
    exact = Decimal(amount).scaleb(exponent_of(currency) - exponent)

    if exact == exact.to_integral_value() and abs(exact) <= AMOUNT_MINOR_MAX:
        assert from_minor(amount, currency, exponent=exponent) == Money(int(exact), currency)
    else:
        with pytest.raises(NotMoney):
            from_minor(amount, currency, exponent=exponent)


@given(st.text())
def test_any_text_is_money_or_not_money(text: str) -> None:
    try:
        money = from_major(text, "USD")
    except NotMoney:
        return
    assert text.isascii()
    assert Decimal(money.amount_minor) / 100 == Decimal(text)


@given(st.floats())
def test_a_float_is_never_money_in_minor_units(number: float) -> None:
    with pytest.raises(NotMoney):
        Money(number, "USD")  # type: ignore[arg-type]


@given(st.decimals())
def test_any_decimal_is_money_or_not_money(number: Decimal) -> None:
    try:
        money = from_major(number, "KWD")
    except NotMoney:
        return
    assert Decimal(money.amount_minor).scaleb(-3) == number


@pytest.mark.parametrize(
    ("text", "minor"),
    [("19.99", 1999), ("8.20", 820), ("599.80", 59980), ("0.29", 29), ("10", 1000), ("-1", -100)],
)
def test_prices_that_floats_get_wrong_are_exact(text: str, minor: int) -> None:
    assert from_major(text, "EUR") == Money(minor, "EUR")
    assert from_major(Decimal(text), "EUR") == Money(minor, "EUR")


def test_an_amount_of_thirty_digits_is_never_rounded() -> None:
    with pytest.raises(TooManyDecimals):
        from_major("12345678901234567.000000000001", "USD")


@pytest.mark.parametrize("text", ["1.005", "10.001"])
def test_a_fraction_of_a_cent_is_refused(text: str) -> None:
    with pytest.raises(TooManyDecimals):
        from_major(text, "EUR")


@pytest.mark.parametrize(
    "text",
    [
        "1,000.00",
        " 10.00",
        "10.00 ",
        "\uff11\uff10",
        "1_000",
        "1e2",
        "",
        ".5",
        "5.",
        "+1",
        "0x1",
        "NaN",
        "∞",
    ],
)
def test_other_ways_to_write_a_number_are_refused(text: str) -> None:
    with pytest.raises(NotMoney):
        from_major(text, "EUR")


@pytest.mark.parametrize("amount", [True, False])
def test_truth_is_not_an_amount(amount: bool) -> None:
    with pytest.raises(NotMoney):
        from_major(amount, "EUR")
    with pytest.raises(NotMoney):
        Money(amount, "EUR")
    with pytest.raises(NotMoney):
        from_minor(amount, "EUR", exponent=2)


def test_a_number_too_long_to_write_out_is_refused_at_once() -> None:
    with pytest.raises(NotMoney):
        from_major(Decimal("1E999999"), "EUR")


@pytest.mark.parametrize(
    ("currency", "exponent"), [("JPY", 0), ("USD", 2), ("KWD", 3), ("BHD", 3), ("OMR", 3)]
)
def test_each_currency_has_its_own_decimals(currency: str, exponent: int) -> None:
    assert exponent_of(currency) == exponent


@pytest.mark.parametrize(
    "currency", ["usd", "US", "USDX", "", "XYZ", "XAU", "XXX", "\uff35\uff33\uff24"]
)
def test_what_is_no_currency_to_pay_in_is_refused(currency: str) -> None:
    with pytest.raises(NotMoney):
        Money(1, currency)


def test_three_decimals_of_dinars() -> None:
    assert from_major("18.600", "KWD") == from_major("18.6", "KWD") == Money(18600, "KWD")
    assert str(Money(18600, "KWD")) == "18.600 KWD"
    assert str(Money(5, "KWD")) == "0.005 KWD"


@pytest.mark.parametrize("amount", [AMOUNT_MINOR_MAX + 1, -AMOUNT_MINOR_MAX - 1])
def test_what_no_bigint_holds_is_refused(amount: int) -> None:
    with pytest.raises(NotMoney):
        Money(amount, "USD")
