"""Where conflicts to practise on are played: who pays, and who tells the service."""

import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Final, NamedTuple

from config.demo.scenes import ServiceRefused, Stage
from config.demo.simulated import SimulatedPayers
from config.demo.stripe import PretendStripe

AMOUNT: Final = 1099


class Practice(NamedTuple):
    """The shop's own provider, its account at a pretend Stripe, and the simulator if one runs.

    What the simulator can play is played there, because its money can be asked about and sent
    back; what no provider should do is told by the shop's own.
    """

    stage: Stage
    stripe: PretendStripe
    simulator: SimulatedPayers | None
    clock: Callable[[], datetime]

    def pay(self, order_no: str, amount_minor: int = AMOUNT, *, currency: str = "USD") -> str:
        """Pay, and be told of it; the payment's number. Raises ServiceRefused."""
        if self.simulator is not None:
            return self.simulator.pay(order_no, amount_minor, currency)
        txn_no = payment_no()
        self.tell_paid(order_no, amount_minor, currency=currency, txn_no=txn_no)
        return txn_no

    def refund(self, order_no: str, txn_no: str, amount_minor: int) -> None:
        """Send back a part of what `pay` has paid in USD. Raises ServiceRefused."""
        if self.simulator is not None:
            self.simulator.refund(txn_no, amount_minor, "USD")
        else:
            self.tell_refunded(order_no, txn_no, amount_minor)

    def tell_paid(
        self, order_no: str, amount_minor: int = AMOUNT, *, currency: str = "USD", txn_no: str
    ) -> None:
        """Say that it was paid under this number. Raises ServiceRefused."""
        paid = self.stage.provider.body(
            order_no=order_no, amount_minor=amount_minor, currency=currency, txn_no=txn_no
        )
        self.taken(self.stage.send(paid))

    def tell_refunded(self, order_no: str, txn_no: str, amount_minor: int) -> None:
        """Say that this went back of it. Raises ServiceRefused."""
        refunded = self.stage.provider.refund_body(
            order_no=order_no, txn_no=txn_no, amount_minor=amount_minor
        )
        self.taken(self.stage.send(refunded))

    def taken(self, status: int) -> None:
        """Raise ServiceRefused unless a callback was acknowledged with this status."""
        if status != 200:  # noqa: PLR2004 - what callbacks are acknowledged with
            raise ServiceRefused(f"a callback was answered {status}")


def payment_no() -> str:
    """A number for a payment that the shop's own provider tells of."""
    return f"pay_{uuid.uuid4().hex[:16]}"
