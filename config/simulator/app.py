"""From a request to a reply: who calls, what shall go wrong, what happens."""

import time
from collections.abc import Callable
from datetime import datetime

from config.simulator import api, pages, routes, switched
from config.simulator.accounts import Account, Accounts
from config.simulator.refused import Refused
from config.simulator.scenario import BadScenario, Scenario, from_header, scenario, switches
from config.simulator.store import Store
from config.simulator.wire import Reply, Request, document, error


class App:
    """The simulator, free of any server."""

    def __init__(self, store: Store, accounts: Accounts, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._accounts = accounts
        self._clock = clock

    def answer(self, request: Request) -> Reply:
        """Answer one request."""
        try:
            if request.path == "/healthz":
                return document({"status": "alive"})
            if request.path.startswith("/api/"):
                return self._api(request)
            return pages.answer(request, self._store, self._accounts(), now=self._clock())
        except BadScenario as problem:
            return error(Refused(400, "bad_scenario", str(problem)))
        except Refused as refused:
            return error(refused)

    def _api(self, request: Request) -> Reply:
        account = self._caller(request)
        route, parts = routes.find(request)
        wanted = self._scenario(account, route, request)
        reply = self._carry_out(account, route, parts, request, wanted)
        # The work is done; what is late or lost is the word of it.
        time.sleep(wanted.lag)
        return Reply(dropped=True) if wanted.drop_reply else reply

    def _carry_out(
        self,
        account: Account,
        route: routes.Route,
        parts: tuple[str, ...],
        request: Request,
        wanted: Scenario,
    ) -> Reply:
        if wanted.status:
            told = Refused(wanted.status, "simulated", "This call was to fail; nothing was done")
            return error(told, **({"Retry-After": "1"} if wanted.status == 429 else {}))  # noqa: PLR2004
        if wanted.not_found:
            kind = "refund" if "refund" in route.operation else "payment"
            raise Refused(404, f"{kind}_not_found", f"There is no such {kind}")
        return route.answer(
            api.Call(
                account=account,
                request=request,
                parts=parts,
                wanted=wanted,
                store=self._store,
                now=self._clock(),
            )
        )

    def _caller(self, request: Request) -> Account:
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        accounts = [each for each in self._accounts() if each.opens_with(key.strip().encode())]
        if scheme.lower() != "bearer" or not accounts:
            raise Refused(
                401, "unauthorized", "Send an account's API key: Authorization: Bearer .."
            )
        return accounts[0]

    def _scenario(self, account: Account, route: routes.Route, request: Request) -> Scenario:
        """What is set for the account, then what the address says, then the call's own header."""
        if not route.operation:
            return Scenario()
        own = from_header(request.headers.get("simulate", ""))
        asked = scenario(switches(request.query), own)  # before a set one is used up
        return scenario(
            switched.take(self._store, account.account_no, route.operation), asked.given
        )
