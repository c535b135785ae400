"""The addresses of the API."""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from config.simulator import api
from config.simulator.api import Call
from config.simulator.refused import Refused
from config.simulator.wire import Reply, Request


class Route(NamedTuple):
    """An address, and the operation that scenarios are set for, if any."""

    method: str
    path: str
    answer: Callable[[Call], Reply]
    operation: str = ""


_NO: Final = r"([A-Za-z0-9_.:-]{1,128})"
ROUTES: Final = (
    Route("POST", r"/api/payments", api.pay, "pay"),
    Route("GET", r"/api/payments", api.payments, "query_payment"),
    Route("GET", rf"/api/payments/{_NO}", api.payment, "query_payment"),
    Route("GET", rf"/api/payments/{_NO}/callbacks", api.sent),
    Route("POST", rf"/api/payments/{_NO}/disputes", api.dispute, "dispute"),
    Route("POST", rf"/api/disputes/{_NO}/(won|lost)", api.end_dispute, "dispute"),
    Route("POST", r"/api/refunds", api.refund, "refund"),
    Route("GET", rf"/api/refunds/{_NO}", api.refund_state, "query_refund"),
    Route("GET", r"/api/counters", api.counters),
    Route("GET", rf"/api/statements/{_NO}", api.statement, "statement"),
    Route("GET", r"/api/scenarios", api.get_scenarios),
    Route("PUT", r"/api/scenarios/([a-z_]{1,40})", api.put_scenario),
)


def find(request: Request) -> tuple[Route, tuple[str, ...]]:
    """The route and the parts of its address. Raises Refused."""
    methods = []
    for route in ROUTES:
        found = re.fullmatch(route.path, request.path)
        if found and route.method == request.method:
            return route, found.groups()
        methods += [route.method] if found else []
    if methods:
        raise Refused(405, "method_not_allowed", f"Use {' or '.join(methods)}")
    raise Refused(404, "no_such_address", "There is nothing at this address")
