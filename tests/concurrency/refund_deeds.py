"""What racers do with refunds, as calls that another process can be handed."""

import json
import os
import signal
import tempfile
from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from payments.clients.choice import Choice
from payments.clients.port import (
    Answer,
    PaymentAnswer,
    RefundAnswer,
    RefundOrder,
    StatementUnavailable,
)
from payments.models import ProviderAccount
from payments.refunds.carry_out import LEASE, carry_out
from payments.refunds.recover import recover
from payments.refunds.request import RefundExceeds, request
from tests.payments.refunds.asking import asked
from tests.payments.telling import NOW


@dataclass(frozen=True)
class FiledProvider:
    """A provider whose ledger is a folder, so that any process may die while it is asked.

    A refund number is executed once, by whoever makes its file; each request leaves a trace.
    `stops_after`: the asking process stops (SIGSTOP) when its request has been executed;
    `stops_before`: when it has not arrived yet.
    """

    folder: str
    stops_before: bool = False
    stops_after: bool = False

    def __call__(self, _: ProviderAccount) -> Choice:
        return Choice(self, "", timedelta(days=1))

    def refund(self, order: RefundOrder) -> RefundAnswer:
        if self.stops_before:
            os.kill(os.getpid(), signal.SIGSTOP)
        descriptor, _ = tempfile.mkstemp(prefix=f"request-{order.refund_no}-", dir=self.folder)
        os.close(descriptor)
        try:
            with (Path(self.folder) / f"executed-{order.refund_no}").open("x") as file:
                json.dump(order.amount.amount_minor, file)
        except FileExistsError:
            pass
        if self.stops_after:
            os.kill(os.getpid(), signal.SIGSTOP)
        return self._done(order)

    def query_refund(self, order: RefundOrder, *, provider_refund_no: str) -> RefundAnswer:  # noqa: ARG002
        if (Path(self.folder) / f"executed-{order.refund_no}").exists():
            return self._done(order)
        return RefundAnswer(answer=Answer.NOT_FOUND)

    def query_payment(self, *, txn_no: str, order_no: str) -> PaymentAnswer:  # noqa: ARG002
        return PaymentAnswer(answer=Answer.NOT_FOUND)

    def fetch_statement(self, business_date: date) -> bytes:
        raise StatementUnavailable(str(business_date))

    def _done(self, order: RefundOrder) -> RefundAnswer:
        return RefundAnswer(
            answer=Answer.SUCCEEDED,
            provider_refund_no=f"re_{order.refund_no}",
            amount=order.amount,
        )

    def executed(self) -> dict[str, int]:
        """What was paid out, by refund number: a number cannot be here twice."""
        files = Path(self.folder).glob("executed-*")
        return {file.name.removeprefix("executed-"): json.loads(file.read_text()) for file in files}

    def requests(self) -> Counter[str]:
        """How often each refund was asked for."""
        files = Path(self.folder).glob("request-*")
        return Counter(file.name.split("-", 1)[1].rsplit("-", 1)[0] for file in files)


def ask(
    account: ProviderAccount, refund_no: str, amount_minor: int | None, order_no: str = "A"
) -> str:
    """Ask for a refund; its status, or that there was not so much left."""
    wish = asked(refund_no, amount_minor, order_no=order_no)
    try:
        return request(merchant=account.merchant, asked=wish, now=NOW).refund.status
    except RefundExceeds:
        return "EXCEEDS"


def send(provider: FiledProvider, lease: timedelta = LEASE) -> dict[str, int]:
    """Carry out what is due."""
    return dict(carry_out(provider, now=NOW, lease=lease))


def send_or_ask(provider: FiledProvider, lease: timedelta = LEASE) -> dict[str, int]:
    """Ask about what is in doubt, then carry out what is due."""
    found = recover(provider, now=NOW, lease=lease, window=timedelta(0))
    return dict(found + carry_out(provider, now=NOW, lease=lease))


def until_done(provider: FiledProvider) -> Any:
    """Go on until nothing is due."""
    while send_or_ask(provider):
        pass
