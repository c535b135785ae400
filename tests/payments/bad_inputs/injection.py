"""E: texts that mean to be more than texts."""

from tests.payments.bad_inputs.cases import UNREADABLE, Case, authentic, custom_says

NASTY = 'a\r\nSet-Cookie: x=1\n{"event":"forged"}\x1b[31m%n%s\u2028\x85\x7f<script>\'"--'

INJECTION = [
    authentic("E61 control characters in a name", custom_says(payer=NASTY), "APPLIED"),
    authentic("E61 control characters in the type", custom_says(type=NASTY), *UNREADABLE),
    authentic(
        "E61 control characters in the order's number", custom_says(order=NASTY), *UNREADABLE
    ),
    authentic(
        "E61 control characters in the payment's number", custom_says(payment_id=NASTY), *UNREADABLE
    ),
    authentic("E61 control characters in the id", custom_says(id=NASTY), *UNREADABLE),
    authentic("E61 control characters in the currency", custom_says(currency=NASTY), *UNREADABLE),
    authentic("E61 control characters in the account", custom_says(merchant=NASTY), *UNREADABLE),
    authentic("E61 control characters in the time", custom_says(at=NASTY), "APPLIED"),
    authentic("E61 a field of 250 kB", custom_says(payer="x" * 250_000), "APPLIED"),
    authentic("E61 a type of 250 kB", custom_says(type="x" * 250_000), *UNREADABLE),
    Case("E61 a field of 1 MB", custom_says(payer="x" * 2**20), 413),
    authentic(
        "E62 SQL, HTML, a formula, a template",
        custom_says(payer="=1+1'; DROP TABLE orders_order;--<img src=x>{{7*7}}${7*7}"),
        "APPLIED",
    ),
    authentic("E62 SQL for an order", custom_says(order="1' OR '1'='1"), *UNREADABLE),
    authentic("E62 SQL for a payment", custom_says(payment_id="1'OR'1'='1"), "APPLIED"),
]
