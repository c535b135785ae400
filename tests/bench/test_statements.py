"""The yardstick runs what the service really sent, whichever way it was sent."""

import pytest

from bench import statements
from bench.statements import NotDerivable, Rows

ROWS = Rows(order_id=710000042, transaction_id=720000041)

#: A connection's first callback (cut short), then one whole callback of two connections at once.
SIMPLE = """@@7 LOG:  statement: SELECT set_config('x', 'y', false)
@@7 LOG:  statement: COMMIT
@@7 LOG:  statement: SELECT a.id
\t  FROM payments_provideraccount a WHERE a.name = 'bench'
@@7 LOG:  statement: BEGIN
@@8 LOG:  statement: SELECT 'of another connection'
@@7 LOG:  statement: SELECT id FROM orders_order WHERE order_no = 'B100000042'
@@7 LOG:  statement: INSERT INTO payments_providertransaction VALUES ('pi_100000042', 710000042)
@@7 LOG:  statement: INSERT INTO outbox_event VALUES ('0a62fbed0ab4cd5b3331a8b020d21fe1'::uuid, '{"n": "B100000042", "t": "2026-01-01T10:20:30Z"}'::jsonb)
@@7 LOG:  statement: INSERT INTO payments_delivery VALUES ('{pi_100000042,ch_100000042}', 720000041, 'it''s 1')
@@7 LOG:  statement: COMMIT
"""  # noqa: E501 - as the server writes it

PREPARED = """@@7 LOG:  statement: COMMIT
@@7 LOG:  statement: BEGIN
@@7 LOG:  execute _pg3_1: SELECT id FROM orders_order WHERE order_no = $1
@@7 DETAIL:  Parameters: $1 = 'B100000042'
@@7 LOG:  execute <unnamed>: INSERT INTO payments_providertransaction
\tVALUES ($1, $2, $3, $11)
@@7 DETAIL:  Parameters: $1 = 'pi_100000042', $2 = '710000042', $3 = NULL, $11 = 'it''s $1'
@@7 LOG:  execute _pg3_2: INSERT INTO outbox_event VALUES ($1)
@@7 DETAIL:  Parameters: $1 = '0a62fbed-0ab4-cd5b-3331-a8b020d21fe1'
@@7 LOG:  statement: COMMIT
"""


def _script(log: str, *, parameters: bool = False) -> list[str]:
    found = statements.of_one_callback(log)
    assert found is not None
    return statements.script(found, ROWS, parameters=parameters).splitlines()


def test_the_script_is_the_service_s_own_text_with_variables_for_what_varies() -> None:
    assert _script(SIMPLE) == [
        r"\set n :n + 1",
        r"\set i :first + :n * :clients + :client_id",
        "SELECT a.id",
        "  FROM payments_provideraccount a WHERE a.name = 'bench';",
        "BEGIN;",
        "SELECT id FROM orders_order WHERE order_no = 'B:i'",
        r"\gset order_",
        "INSERT INTO payments_providertransaction VALUES ('pi_:i', :order_id)",
        r"\gset txn_",
        (
            "INSERT INTO outbox_event VALUES (gen_random_uuid(),"
            ' \'{"n": "B:i", "t": "2026-01-01T10:20:30Z"}\'::jsonb);'
        ),
        "INSERT INTO payments_delivery VALUES ('{pi_:i,ch_:i}', :txn_id, 'it''s 1');",
        "COMMIT;",
    ]


def test_with_parameters_the_variables_stand_outside_of_literals() -> None:
    script = _script(SIMPLE, parameters=True)
    assert script[5] == "SELECT id FROM orders_order WHERE order_no = ('B' || :i || '')"
    assert script[10] == (
        "INSERT INTO payments_delivery VALUES"
        " (('{pi_' || :i || ',ch_' || :i || '}')::varchar[], :txn_id, 'it''s 1');"
    )


def test_values_that_were_sent_apart_are_put_in_their_places() -> None:
    assert _script(PREPARED)[2:] == [
        "BEGIN;",
        "SELECT id FROM orders_order WHERE order_no = 'B:i'",
        r"\gset order_",
        "INSERT INTO payments_providertransaction",
        "VALUES ('pi_:i', :order_id, NULL, 'it''s $1')",
        r"\gset txn_",
        "INSERT INTO outbox_event VALUES (gen_random_uuid());",
        "COMMIT;",
    ]


def test_a_connection_s_first_callback_is_not_taken() -> None:
    assert statements.of_one_callback(SIMPLE.partition("SELECT a.id")[0]) is None


def test_a_literal_that_pgbench_would_change_is_refused() -> None:
    log = SIMPLE.replace("it''s 1", "it is :i")
    with pytest.raises(NotDerivable, match="would take a part of this for a variable"):
        _script(log)


def test_a_callback_that_no_longer_looks_an_order_up_is_refused() -> None:
    with pytest.raises(NotDerivable, match="the order's lookup"):
        _script(SIMPLE.replace("orders_order", "orders_moved"))


def test_a_name_with_colons_is_no_variable_of_pgbench() -> None:
    log = SIMPLE.replace('"t": "2026', '"s": "urn:paidonce:1", "t": "2026')
    whole = "INSERT INTO outbox_event VALUES (gen_random_uuid(), "
    rest = '"t": "2026-01-01T10:20:30Z"}'
    assert f"""{whole}'{{"n": "B:i", "s": "urn:paidonce:1", {rest}'::jsonb);""" in _script(log)
    prepared = (
        f"""{whole}('{{"n": "B' || :i || '", "s": "urn:' || 'paidonce:1", {rest}')::jsonb);"""
    )
    assert prepared in _script(log, parameters=True)
