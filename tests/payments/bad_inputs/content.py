"""C: what may stand where an amount, a number or a text should."""

from tests.payments.bad_inputs.cases import (
    NO_MONEY,
    UNREADABLE,
    Make,
    authentic,
    custom_bytes,
    custom_says,
    stripe,
)
from tests.payments.bad_inputs.shop import Shop
from tests.payments.over_http import (
    call,
    custom_body,
    standard_paid,
)


def standard_amount(amount: str) -> Make:
    return lambda shop, order_no: call(shop.standard, standard_paid(order_no, amount))


def paid_json(**fields: str) -> str:
    """JSON that pays the order, with these members written as given."""
    members = {
        "id": '"e#N"',
        "type": '"paid"',
        "payment_id": '"p#N"',
        "order": '"ORDER"',
        "amount": "1099",
        "currency": '"USD"',
        **fields,
    }
    return "{" + ",".join(f'"{name}":{value}' for name, value in members.items()) + "}"


def padded(shop: Shop, order_no: str) -> bytes:
    """The largest body that is taken: 1 MiB."""
    body = custom_body(order_no)
    return call(shop.custom, body + b" " * (1024 * 1024 - len(body)))


CONTENT = [
    *(
        authentic(f"C38 a body of {body[:12]!r}", custom_bytes(body), *UNREADABLE)
        for body in (
            *(
                b"{}",
                b"[]",
                b"null",
                b'"x"',
                b"1",
                b"true",
                b"x",
                b"{",
                b"[1,",
                b'{"id"',
                b" ",
                b"\n",
            ),
            *(b"\x00", b"id=e1&type=paid&amount=1099", b"<xml/>", b"{}{}", b'{"id":"e1",}'),
            b"--x\r\nContent-Disposition: form-data; name=id\r\n\r\ne1\r\n--x--",
        )
    ),
    authentic(
        "C39 the amount twice, first the wrong one",
        custom_bytes(paid_json().replace('"amount":', '"amount":100,"amount":')),
        *UNREADABLE,
    ),
    authentic(
        "C39 the amount twice, last the wrong one",
        custom_bytes(paid_json().replace('"amount":1099', '"amount":1099,"amount":1')),
        *UNREADABLE,
    ),
    authentic(
        "C39 the order twice, the same",
        custom_bytes(paid_json().replace('"order":', '"order":"ORDER","order":')),
        *UNREADABLE,
    ),
    authentic(
        "C39 twice what nobody reads", custom_bytes(paid_json(note='{"a":1,"a":2}')), "APPLIED"
    ),
    *(
        authentic(f"C40 {value} for an amount", custom_bytes(paid_json(amount=value)), *UNREADABLE)
        for value in ("NaN", "Infinity", "-Infinity", "nan", '"NaN"', '"Infinity"')
    ),
    authentic("C40 NaN in what nobody reads", custom_bytes(paid_json(note="NaN")), *UNREADABLE),
    *(
        authentic(f"C41 {value} minor units", custom_bytes(paid_json(amount=value)), *UNREADABLE)
        for value in (
            *("10.99", "1099.0", "1e2", "1E400", "true", "null", "[1099]", '{"v":1099}', '"1_099"'),
            *(
                '" 1099"',
                '"1099 "',
                '"1,099"',
                '"\uff11\uff10\uff19\uff19"',
                '"\u0661\u0660"',
                '""',
            ),
            *('"0x44b"', '"+1099"', '"1099.0"', "1" * 20, str(2**63), '"' + "9" * 19 + '"'),
        )
    ),
    authentic("C41 digits in quotes", custom_bytes(paid_json(amount='"1099"')), "APPLIED"),
    authentic("C41 an amount that is missing", custom_says(amount=None), *UNREADABLE),
    *(
        authentic(f"C41 {value} in major units", standard_amount(value), *UNREADABLE)
        for value in (
            *(
                '"1,099.00"',
                '"10,99"',
                '" 10.99"',
                '"10.99 "',
                '"10.99 USD"',
                '"+10.99"',
                '"$10.99"',
            ),
            *(
                '"1_0.99"',
                '".99"',
                '"10."',
                '"1e1"',
                '"\uff11\uff10.\uff19\uff19"',
                '"ten"',
                "true",
            ),
            *("1E400", "1E-400", '"NaN"', "[]", "{}", '"1' + "0" * 30 + '"', '"10.9900000000000"'),
        )
    ),
    *(
        authentic(f"C41 {value} in major units", standard_amount(value), "APPLIED")
        for value in ('"10.99"', "10.99", '"10.990"', "10.9900", "1099e-2", '"010.99"')
    ),
    *(
        authentic(f"C41 {value} in major units", standard_amount(value), *NO_MONEY)
        for value in ('"10.991"', "10.991", "0", '"0.00"', '"-0.00"', "-10.99", "0.001")
    ),
    authentic(
        "C42 5,000 digits for an amount", custom_bytes(paid_json(amount="9" * 5000)), *UNREADABLE
    ),
    authentic(
        "C42 5,000 digits in what nobody reads",
        custom_bytes(paid_json(note="9" * 5000)),
        *UNREADABLE,
    ),
    authentic(
        "C42 an exponent of 5,000 digits",
        custom_bytes(paid_json(note="1e" + "9" * 5000)),
        *UNREADABLE,
    ),
    authentic("C43 100,000 brackets", custom_bytes("[" * 100_000), *UNREADABLE),
    authentic("C43 100,000 objects", custom_bytes('{"a":' * 50_000), *UNREADABLE),
    authentic(
        "C43 65 levels in what nobody reads",
        custom_bytes(paid_json(note="[" * 64 + "]" * 64)),
        *UNREADABLE,
    ),
    authentic(
        "C43 brackets within a text are none",
        custom_bytes(paid_json(note='"' + "[{" * 200 + '"')),
        "APPLIED",
    ),
    authentic(
        "C44 NUL in the order's number",
        custom_bytes(paid_json(order='"ORDER\\u0000"')),
        *UNREADABLE,
    ),
    authentic(
        "C44 NUL in the payment's number",
        custom_bytes(paid_json(payment_id='"\\u0000p#N"')),
        *UNREADABLE,
    ),
    authentic("C44 NUL in the type", custom_bytes(paid_json(type='"paid\\u0000"')), *UNREADABLE),
    authentic(
        "C44 NUL in a name", custom_bytes(paid_json(payer='{"name":"A\\u0000B"}')), "APPLIED"
    ),
    authentic("C44 a raw NUL", custom_bytes(paid_json(payer='"A\0B"')), *UNREADABLE),
    authentic(
        "C45 half a character in a name", custom_bytes(paid_json(payer='"\\ud800"')), "APPLIED"
    ),
    authentic(
        "C45 half a character in the order's number",
        custom_bytes(paid_json(order='"ORDER\\ud800"')),
        *UNREADABLE,
    ),
    authentic(
        "C45 half a character in raw bytes", custom_bytes(paid_json(payer='"\ud800"')), *UNREADABLE
    ),
    *(
        authentic(f"C45 in {encoding}", custom_bytes(paid_json().encode(encoding)), *UNREADABLE)
        for encoding in ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32")
    ),
    authentic(
        "C45 Latin-1", custom_bytes(paid_json(payer='"caf\xe9"').encode("latin-1")), *UNREADABLE
    ),
    authentic(
        "C45 UTF-8 that is longer than it needs to be",
        custom_bytes(paid_json(payer='"').encode()[:-1] + b'\xc0\xaf"}'),
        *UNREADABLE,
    ),
    *(
        authentic(
            f"C46 the order number {written!r}", custom_bytes(paid_json(order=written)), *UNREADABLE
        )
        for written in (
            *('"\u2160"', '"ORDER\u200b"', '"\u041eRDER"', '"\uff2fRDER"', '"e\u0301"', '"ORDER "'),
            *(
                '" ORDER"',
                '"ORDER\\n"',
                '"ORDER/1"',
                '"../ORDER"',
                '"' + "x" * 65 + '"',
                "[]",
                "1.5",
            ),
            *("{}", "true"),
        )
    ),
    authentic(
        "C46 the order number in another case",
        lambda shop, order_no: call(shop.custom, custom_body(order_no.lower())),
        "PARKED",
    ),
    authentic("C46 an empty order number", custom_says(order=""), "PARKED"),
    authentic(
        "C46 a number for an order", custom_bytes(paid_json(order="90071992547409931")), "PARKED"
    ),
    *(
        authentic(
            f"C46 the payment's number {written[:20]!r}",
            custom_bytes(paid_json(payment_id=written)),
            *UNREADABLE,
        )
        for written in (
            '""',
            "null",
            '"a b"',
            '"\u2160"',
            '"' + "x" * 129 + '"',
            "1.0",
            "1E+5",
            "[]",
        )
    ),
    *(
        authentic(
            f"C49 the content type {written!r}",
            stripe(headers={"Content-Type": written}),
            "APPLIED",
        )
        for written in (
            *("text/plain", "application/x-www-form-urlencoded", "", "x", "application/xml"),
            *("application/json; charset=utf-16", "multipart/form-data; boundary=x"),
            "multipart/form-data",
        )
    ),
    authentic("C49 no content type", stripe(without=["Content-Type"]), "APPLIED"),
    authentic("D51 the largest body", padded, "APPLIED"),
]
