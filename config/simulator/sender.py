"""Send what is due and let time pass: one thread beside the server."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from typing import Final

import httpx2

from config.simulator import callbacks, moves
from config.simulator.accounts import Account, Accounts
from config.simulator.store import Row, Store
from payments.providers.hmac_sign import sign
from payments.providers.simulator import SCHEME

_AT_ONCE: Final = 16
_TICK_SECONDS: Final = 0.05


class Sender(threading.Thread):
    """Sends callbacks until it is told to stop; what is left is sent after the next start."""

    def __init__(self, store: Store, accounts: Accounts, clock: Callable[[], datetime]) -> None:
        super().__init__(name="sender", daemon=True)
        self._store = store
        self._accounts = accounts
        self._clock = clock
        self._ended = threading.Event()

    def run(self) -> None:
        """Send what is due, again and again."""
        timeout = httpx2.Timeout(15, connect=3)
        with (
            httpx2.Client(timeout=timeout, trust_env=False) as client,
            ThreadPoolExecutor(_AT_ONCE) as senders,
        ):
            while not self._ended.is_set():
                moves.make(self._store, now=self._clock())
                batch = callbacks.due(self._store, now=self._clock(), limit=_AT_ONCE)
                if not batch:
                    self._ended.wait(_TICK_SECONDS)
                    continue
                list(senders.map(partial(self._send, client, self._accounts()), batch))

    def stop(self) -> None:
        """Finish what is being sent, and end."""
        self._ended.set()
        self.join(20)

    def _send(self, client: httpx2.Client, known: Sequence[Account], row: Row) -> None:
        account = next((each for each in known if each.account_no == row["account"]), None)
        done, answer = False, "no such account"
        if account is not None:
            headers = sign(SCHEME, account.signing_secret, row["body"], now=self._clock())
            if row["forged"]:
                headers[SCHEME.signature.header] = (
                    f"t={int(self._clock().timestamp())},v1={'0' * 64}"
                )
            try:
                reply = client.post(account.callback_url, content=row["body"], headers=headers)
                done, answer = reply.is_success, str(reply.status_code)
            except httpx2.TransportError as error:
                answer = type(error).__name__
        callbacks.answered(self._store, row, answer, done=done, now=self._clock())
