"""Signed HTTP to merchants."""

from typing import Final

from tests.mutants.mutant import Edit, Mutant, mutant

HTTP_OUT = "tests/outbox/webhooks/test_exchange.py"
WEBHOOKS = "tests/outbox/webhooks/test_relay.py"
WEBHOOKS_CROWD = "tests/outbox/webhooks/test_crowd.py"

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
        "bool(endpoint.failures or endpoint.is_probe",
        "bool(endpoint.is_probe",
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
    mutant(
        "webhooks: an answer that nobody can read stops all the others",
        "outbox/webhooks/schedule.py",
        "except (ValueError, OverflowError):",
        "except ValueError:",
        "tests/outbox/webhooks/test_schedule.py",
    ),
    mutant(
        "webhooks: a fault of ours at one endpoint stops all the others",
        "outbox/webhooks/relay.py",
        "        except Exception:\n",
        "        except ZeroDivisionError:\n",
        *(WEBHOOKS_CROWD, "-k", "fault_of_ours"),
    ),
    mutant(
        "webhooks: endpoints that hang take all threads",
        "outbox/webhooks/relay.py",
        "return min(1 - busy, self._doubtful_room())",
        "return 1 - busy",
        *(WEBHOOKS_CROWD, "-k", "however_many"),
    ),
    mutant(
        "webhooks: what is asked for at one endpoint takes all threads",
        "outbox/webhooks/attempts.py",
        "SELECT DISTINCT ON (asked.destination_id) asked.id",
        "SELECT asked.id",
        *(WEBHOOKS_CROWD, "-k", "asked_for_at_one"),
    ),
    mutant(
        "webhooks: an old address that is gone disables the new one",
        "outbox/webhooks/settle.py",
        'if destination.config["url"] != errand.url:',
        "if False:",
        *(WEBHOOKS, "-k", "old_address"),
    ),
    mutant(
        "webhooks: a new address waits for the schedule of the old one",
        "outbox/webhooks/endpoints.py",
        "    ).update(next_attempt_at=None)\n",
        "    )\n",
        *(WEBHOOKS, "-k", "new_address or resumes_an"),
    ),
    mutant(
        "webhooks: a merchant gets what is internal",
        "outbox/webhooks/endpoints.py",
        "return list(settings.OUTBOX_WEBHOOK_TYPES)",
        "return []",
        *(WEBHOOKS, "-k", "without_named"),
    ),
    mutant(
        "webhooks: a removed endpoint that is resumed is sent to",
        "outbox/webhooks/due.py",
        "      AND endpoint.removed_at IS NULL\n",
        "",
        *(WEBHOOKS, "-k", "somebody_resumes"),
    ),
    mutant(
        "webhooks: a lost answer of the database is written down twice",
        "outbox/webhooks/settle.py",
        "if again and attempts.is_recorded(errand, run):",
        "if False:",
        *(WEBHOOKS, "-k", "lost_answer"),
    ),
)
