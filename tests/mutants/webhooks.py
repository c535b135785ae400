"""Signed HTTP to merchants."""

from typing import Final

from tests.mutants.mutant import Edit, Mutant, mutant

HTTP_OUT = "tests/outbox/webhooks/test_exchange.py"
WEBHOOKS = "tests/outbox/webhooks/test_relay.py"

MUTANTS: Final = (
    mutant(
        "webhooks: a name is looked up again to connect",
        "outbox/webhooks/pinned.py",
        "connecting.connect((str(address), self._target.port))",
        "connecting.connect((self._target.host, self._target.port))",
        HTTP_OUT,
    ),
    mutant(
        "webhooks: one good address is enough",
        "outbox/webhooks/target.py",
        "if not all(is_allowed(",
        "if not any(is_allowed(",
        HTTP_OUT,
    ),
    mutant(
        "webhooks: an IPv4 address within another one passes",
        "outbox/webhooks/networks.py",
        "return address.version == 4 or address in _GLOBAL_UNICAST",
        "return True",
        "tests/outbox/webhooks/test_target.py",
    ),
    mutant(
        "webhooks: the address is not checked before it is connected to",
        "outbox/webhooks/pinned.py",
        "check_addresses(addresses, private=self._private)",
        "pass",
        HTTP_OUT,
    ),
    mutant(
        "webhooks: an answer in drops is waited for",
        "outbox/webhooks/pinned.py",
        "self._socket.settimeout(self._deadline.left())\n        return self._socket.recv",
        "self._socket.settimeout(5)\n        return self._socket.recv",
        HTTP_OUT,
    ),
    mutant(
        "webhooks: any certificate will do",
        "outbox/webhooks/pinned.py",
        "server_hostname=server_hostname)",
        'server_hostname="hooks.example.com")',
        HTTP_OUT,
    ),
    mutant(
        "webhooks: a redirect delivers",
        "outbox/webhooks/settle.py",
        "200 <= status < 300",
        "200 <= status < 400",
        WEBHOOKS,
    ),
    Mutant(
        "webhooks: an endpoint that rests is sent to",
        [
            Edit(
                "outbox/webhooks/due.py",
                "AND (endpoint.open_until IS NULL OR endpoint.open_until <= clock_timestamp())",
                "",
            ),
            Edit("outbox/webhooks/relay.py", "not breaker.take_probe(endpoint.pk)", "False"),
        ],
        (WEBHOOKS, "-k", "rests"),
    ),
    mutant(
        "webhooks: everybody tries an endpoint that rests",
        "outbox/webhooks/breaker.py",
        "AND open_until <= clock_timestamp()",
        "",
        WEBHOOKS,
    ),
    mutant(
        "webhooks: one that fails has as many in flight as any",
        "outbox/webhooks/relay.py",
        "careful = endpoint.failures or endpoint.is_probe",
        "careful = endpoint.is_probe",
        "tests/outbox/webhooks/test_crowd.py",
        "-k",
        "dead",
    ),
    mutant(
        "webhooks: only the newest secret signs",
        "outbox/webhooks/signature.py",
        "for key in keys)",
        "for key in keys[:1])",
        WEBHOOKS,
    ),
    mutant(
        "webhooks: 410 costs the event an attempt",
        "outbox/webhooks/settle.py",
        "return DispatchState.PENDING if claims.released([setback]) else None",
        "claims.refused([setback], attempts_max=9)\n        return DispatchState.PENDING",
        WEBHOOKS,
    ),
    mutant(
        "webhooks: a removed endpoint goes on collecting",
        "outbox/webhooks/endpoints.py",
        "destination.event_types = NOTHING",
        "destination.event_types = []",
        WEBHOOKS,
    ),
    mutant(
        "webhooks: what was asked for is sent for ever",
        "outbox/webhooks/attempts.py",
        "elif errand.asked is not None:",
        "elif False:",
        "tests/outbox/webhooks/test_asked.py",
    ),
)
