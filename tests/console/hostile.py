"""Text that a stranger may have written, and rows that have it wherever they can."""

from tests import factories
from tests.console.rooms import Rows, furnish

MARKUP = "<img src=x onerror=alert(1)>"
TEMPLATE = "{{7*7}}"
SCRIPT_END = "</script>"
QUOTES = "\"'>"
REORDERING = "\u202etxet"
HOSTILE = f"{QUOTES}{MARKUP}{TEMPLATE}{SCRIPT_END}{REORDERING}"
#: Ids and names of events have nothing invisible in them: `Callback` sees to that.
PRINTABLE = f"{QUOTES}{MARKUP}{TEMPLATE}{SCRIPT_END}"
LONG = "A" * 10_000


def hostile_rows() -> Rows:
    """The rows with hostile text wherever the database would let somebody put it."""
    return furnish(
        merchant_name=HOSTILE,
        key_label=HOSTILE[:60],
        account_account_no=HOSTILE,
        account_settings={HOSTILE: [HOSTILE, LONG]},
        order_payable_through=HOSTILE,
        transaction_txn_no=PRINTABLE,
        transaction_stated_account_no=HOSTILE,
        delivery_body=f"{HOSTILE}{LONG}".encode(),
        delivery_headers=[[HOSTILE, HOSTILE], ["x-long", LONG]],
        delivery_key_id=HOSTILE,
        delivery_event_id=HOSTILE,
        delivery_event_type=PRINTABLE,
        delivery_txn_no=HOSTILE,
        delivery_linked_nos=[HOSTILE],
        delivery_reason="UNREADABLE",
        delivery_detail=HOSTILE,
        conflict_subject=PRINTABLE,
        conflict_expected={"order_no": HOSTILE, HOSTILE: HOSTILE, "currency": HOSTILE},
        conflict_received={"txn_no": HOSTILE, "stated_amount": HOSTILE, "occurred_at": HOSTILE},
        conflict_resolution=HOSTILE,
        event_type=PRINTABLE[:60],
        event_payload={HOSTILE: HOSTILE, "long": LONG},
        event_headers={HOSTILE: HOSTILE},
        dispatch_last_error=HOSTILE,
        destination_reason=HOSTILE,
        destination_state="PAUSED",
        destination_event_types=[PRINTABLE[:60]],
        recipient_shown=PRINTABLE,
        destination_url=f"https://shop.example.com/{HOSTILE}",
        attempt_reply=HOSTILE,
        attempt_asked_by=HOSTILE[:80],
        proposal_amount_minor=1290,
        proposal_currency="USD",
        proposal_consequence=HOSTILE,
        proposal_why=HOSTILE,
        policy_why=HOSTILE,
        manual_note=HOSTILE,
        record_reason=HOSTILE,
        attempt_asked_at=factories.CREATED_AT,
    )
